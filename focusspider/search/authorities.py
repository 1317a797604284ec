"""Authorities of a topic, found by asking a search engine (xCrawl, GetAuthorities)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from focusspider.registry import check_whole
from focusspider.search.queries import outwards, queries, weigh

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from focusspider.search.base import Answer
    from focusspider.search.queries import Token, WeighedToken

__all__ = ["Asked", "AuthoritySearch", "Findings", "SearchPlan", "Verdict"]


@dataclass(frozen=True, kw_only=True)
class SearchPlan:
    """How an engine is asked.

    Parameters
    ----------
    tokens
        Tokens of the sample documents that queries are made of.
    length
        Most tokens of a query.
    first
        Results of a query that are validated: the paper's n.
    max_iterations
        Queries without a new authority after which the search ends.
    max_queries
        Most queries that the engine is asked, those for the tokens' weights among them.
    """

    tokens: int = 20
    length: int = 3
    first: int = 10
    max_iterations: int = 50
    max_queries: int = 200

    def __post_init__(self) -> None:
        for name in ("tokens", "length", "first", "max_iterations", "max_queries"):
            check_whole(name, getattr(self, name))
        if self.max_queries <= self.tokens:
            raise ValueError(
                f"max_queries is {self.max_queries}, and to weigh {self.tokens} tokens takes one "
                "query each: raise it, or lower tokens"
            )


class Verdict(NamedTuple):
    """What became of a result: the URL at which its page was found, and whether it counts."""

    url: str
    accepted: bool


class Asked(NamedTuple):
    """One query: the engine's total, its results, how many were accepted, how many are new."""

    query: str
    total: int | None
    results: int
    accepted: int
    new: int


@dataclass(kw_only=True)
class Findings:
    """What a search has found, as far as it has come.

    Attributes
    ----------
    tokens : list of WeighedToken
        The greatest harmonic mean first.
    asked : list of Asked
        The queries whose results were validated, in their order.
    n_queries : int
        What the engine was asked: those, and the queries for the tokens' weights.
    authorities : dict of str to int
        URLs of the accepted pages in the order in which they were found, each with the
        number of results that led to it.
    validated : int
        Pages that the judge was asked about.
    stopped : str
        Why the search ended, ``""`` while it has not.
    """

    tokens: list[WeighedToken] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    n_queries: int = 0
    authorities: dict[str, int] = field(default_factory=dict)
    validated: int = 0
    stopped: str = ""

    @property
    def precision(self) -> float:
        """Share of the first n results of all queries that were accepted; 0 of none.

        A page counts as often as it is among the results.
        """
        results = sum(one.results for one in self.asked)
        return sum(one.accepted for one in self.asked) / results if results else 0.0


class AuthoritySearch:
    """Asks an engine with queries of tokens, and has the results validated.

    Parameters
    ----------
    ask
        Returns up to n hits of a query; see
        :meth:`~focusspider.search.base.SearchEngine.search`.
    validate
        Is given URLs, and returns the verdict on each, in their order: a black box.
    skip
        Whether a result is passed over, as if the engine did not know it: sample documents,
        and what may not be crawled.
    order
        Orders the weighed tokens, from which queries take the first ones first.
    told
        Is given each query when its results are validated.

    Attributes
    ----------
    found : Findings
        It grows, and what is found stays where something fails.
    """

    def __init__(
        self,
        plan: SearchPlan,
        *,
        ask: Callable[[str, int], Awaitable[Answer]],
        validate: Callable[[Sequence[str]], Awaitable[Sequence[Verdict]]],
        skip: Callable[[str], bool] = lambda _: False,
        order: Callable[[Sequence[WeighedToken]], Sequence[WeighedToken]] = outwards,
        told: Callable[[Asked], None] | None = None,
    ) -> None:
        self._plan = plan
        self._ask = ask
        self._validate = validate
        self._skip = skip
        self._order = order
        self._told = told
        self._answers: dict[str, Answer] = {}
        self._verdicts: dict[str, Verdict] = {}
        self.found = Findings()

    async def run(self, tokens: Sequence[Token]) -> Findings:
        """Weigh the tokens, and ask until nothing new is found."""
        found, plan = self.found, self._plan
        found.tokens = weigh(tokens, await self._hits([token.word for token in tokens]))
        words = [token.word for token in self._order(found.tokens)]
        idle = 0
        for query in queries(words, plan.length):
            if idle >= plan.max_iterations:
                found.stopped = f"{idle} queries in a row found no new authority"
                break
            answer = await self._answer(" ".join(query))
            if answer is None:
                found.stopped = f"the budget of {plan.max_queries} queries is used up"
                break
            asked = await self._validated(" ".join(query), answer)
            idle = 0 if asked.new else idle + 1
        else:
            found.stopped = "every combination was asked" if words else "no token has a hit"
        return found

    async def _hits(self, words: Iterable[str]) -> list[int] | None:
        """Return the engine's totals; None at the first that it does not tell."""
        hits = []
        for word in words:
            answer = await self._answer(word)
            if answer is None or answer.total is None:
                return None
            hits.append(answer.total)
        return hits

    async def _answer(self, query: str) -> Answer | None:
        """Ask the engine once for each query; None where the budget is used up."""
        if query not in self._answers:
            if self.found.n_queries >= self._plan.max_queries:
                return None
            self.found.n_queries += 1
            self._answers[query] = await self._ask(query, self._plan.first)
        return self._answers[query]

    async def _validated(self, query: str, answer: Answer) -> Asked:
        """Validate the results that no query has had yet, and count."""
        urls = [hit.url for hit in answer.hits[: self._plan.first] if not self._skip(hit.url)]
        unknown = [url for url in urls if url not in self._verdicts]
        if unknown:
            verdicts = await self._validate(unknown)
            self._verdicts.update(zip(unknown, verdicts, strict=True))
            self.found.validated += len(unknown)
        accepted = [self._verdicts[url].url for url in urls if self._verdicts[url].accepted]
        known = len(self.found.authorities)
        for url in accepted:
            self.found.authorities[url] = self.found.authorities.get(url, 0) + 1
        new = len(self.found.authorities) - known
        asked = Asked(query, answer.total, len(urls), len(accepted), new)
        self.found.asked.append(asked)
        if self._told is not None:
            self._told(asked)
        return asked
