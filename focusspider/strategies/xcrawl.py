"""xCrawl: walks over each site to its hubs, and fetches what they list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusspider.keytable import ABSENT
from focusspider.priority import HELD, scalar_priorities
from focusspider.registry import check_choice, check_flag, check_share, check_whole
from focusspider.strategies.base import BaseStrategy, LinkScores, Reranking
from focusspider.strategies.sitegraph import VARIANTS, SiteGraph
from focusspider.strategies.sitewalk import Asked, SiteWalk
from focusspider.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focusspider.frontier import FrontierView
    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.relevance.base import Judgement
    from focusspider.strategies.base import State

__all__ = ["XCrawl"]


class XCrawl(BaseStrategy):
    """Walks over each site until it finds no more hubs, then fetches what the hubs list.

    Shchekotykhin, Jannach and Friedrich, "xCrawl: a high recall crawling method for Web
    mining", section 4. A site is a host, and begins with its first page; the seeds should be
    pages that are what the user wants. A page that the judge accepts is an authority. What a
    walk is: :class:`~.sitewalk.SiteWalk`; how nodes are weighed: :class:`~.sitegraph.SiteGraph`.

    All links are held back, and at any time only that is fetched which a walk has come to, one
    page a site, or what a site's hubs list. Where several sites wait, a harvest comes first,
    then the site with the fewest pages. The crawl ends when every site is done.

    Parameters
    ----------
    restart : float
        Probability that a walk ends after a step, in (0, 1].
    max_iterations : int
        A site's walks end when so many in a row have found no new hub.
    variant : {"topic-sensitive", "pagerank", "hits"}
        How nodes are weighed.
    c : float
        Damping factor of PageRank, in [0, 1).
    min_authorities : int
        A hub links to so many authorities, at least.
    hub_share : float
        A hub has so much of the largest hub weight, at least. The paper names no bound; with
        0 every page is a hub that links to some authorities, and new ones never end.
    max_iter : int
        Most iterations of PageRank after a page, and of HITS after a walk.
    early : bool
        Whether what hubs list is fetched after each walk that has found a new one, and not
        only after the last walk, as in the paper.
    stop : bool
        Whether a site is done after the first harvest, as in the paper. False: walks and
        harvests go on until nothing of it is left.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"graph", "outline"})
    #: Only what the walks ask for is fetched.
    holds = True
    rerank_every = 1

    def __init__(
        self,
        *,
        restart: float = 0.15,
        max_iterations: int = 50,
        variant: str = "topic-sensitive",
        c: float = 0.85,
        min_authorities: int = 2,
        hub_share: float = 0.2,
        max_iter: int = 10,
        early: bool = False,
        stop: bool = True,
    ) -> None:
        check_share("restart", restart)
        if not restart:
            raise ValueError("restart must be above 0, or a walk never ends; got 0")
        check_whole("max_iterations", max_iterations)
        check_choice("variant", variant, VARIANTS)
        check_share("c", c)
        if c == 1:
            raise ValueError("c must be below 1, or authorities make no difference; got 1")
        check_whole("min_authorities", min_authorities)
        check_share("hub_share", hub_share)
        check_whole("max_iter", max_iter)
        check_flag("early", early)
        check_flag("stop", stop)
        self.restart = restart
        self.max_iterations = max_iterations
        self.variant = variant
        self.c = c
        self.min_authorities = min_authorities
        self.hub_share = hub_share
        self.max_iter = max_iter
        self.early = early
        self.stop = stop

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:  # noqa: ARG002
        """Begin without a site."""
        self._random = random_state
        self._sites: dict[str, SiteWalk] = {}
        self._changed: set[str] = set()  # hosts that had a page since the last rerank
        self._wanted: dict[str, dict[int, float]] = {}  # by host: keys, and how urgent each is
        self._met: dict[str, list[NDArray[np.uint64]]] = {}  # new links of pages, see _is_pushed

    def observe(self, page: Page, judgement: Judgement) -> None:
        """Add the page to its site."""
        host = host_of(page.url)
        site = self._sites.get(host)
        if site is None:
            site = self._sites[host] = self._site(host)
        self._changed.add(host)
        within = np.array([host_of(link.url) == host for link in page.links], dtype=np.bool_)
        keys = page.link_keys[within]
        new = keys[site.graph.links.nodes(keys) == ABSENT]
        if len(new):
            self._met.setdefault(host, []).append(new)
        site.add_page(
            page.key,
            page.link_keys,
            within,
            page.outline,
            accepted=judgement.relevant,
            moved_from=page.moved_from_keys,
        )

    def _site(self, host: str) -> SiteWalk:
        graph = SiteGraph(
            variant=self.variant,
            c=self.c,
            min_authorities=self.min_authorities,
            hub_share=self.hub_share,
            max_iter=self.max_iter,
        )
        return SiteWalk(
            host,
            graph,
            restart=self.restart,
            max_iterations=self.max_iterations,
            early=self.early,
            stop=self.stop,
            random_state=self._random,
        )

    def score(self, page: Page, state: State | None) -> LinkScores:  # noqa: ARG002
        """Hold all links of a page back, and say what the pages weigh that they lead to."""
        weights = np.zeros(len(page.links))
        site = self._sites.get(host_of(page.url))
        if site is not None:
            nodes = site.graph.links.nodes(page.link_keys)
            known = nodes != ABSENT
            weights[known] = site.graph.weights[nodes[known]]
        held = np.full(len(page.links), HELD, dtype=np.int64)
        return LinkScores(held, None, {"weight": weights})

    def rerank(self, frontier: FrontierView) -> Reranking | None:
        """Let every walk go on to the next page that it needs, and ask for that."""
        asked = Asked(frontier)
        before = {key: host for host, wanted in self._wanted.items() for key in wanted}
        later = set()
        for host in sorted(self._changed | set(self._lost(before, asked))):
            if not self._is_pushed(host, asked) and len(frontier.leased):
                later.add(host)
                continue
            self._met.pop(host, None)
            site = self._sites[host]
            keys = site.graph.links.keys
            self._wanted[host] = {
                int(keys[node]): share for node, share in site.advance(asked).items()
            }
        self._changed = later
        now: dict[int, float] = {}
        for wanted in self._wanted.values():
            now |= wanted
        keys = np.array([*now, *(key for key in before if key not in now)], dtype=np.uint64)
        priorities = np.full(len(keys), HELD, dtype=np.int64)
        priorities[: len(now)] = scalar_priorities(list(now.values()))
        places = asked.waiting(keys)
        waits = places != ABSENT
        return Reranking(frontier.ids[places[waits]], priorities[waits])

    def _is_pushed(self, host: str, asked: Asked) -> bool:
        """Return whether of each new page of a host some of the new links are in the frontier.

        Another page may ask for a rerank between a page and its links. Those would be taken
        for such as cannot come, and the site for one without any.
        """
        self._met[host] = [
            keys
            for keys in self._met.get(host, ())
            if not ((asked.waiting(keys) != ABSENT) | asked.coming(keys)).any()
        ]
        return not self._met[host]

    def _lost(self, raised: Mapping[int, str], asked: Asked) -> list[str]:
        """Return the hosts of what neither waits nor is on its way: it has come, or failed."""
        keys = np.array(list(raised), dtype=np.uint64)
        gone = (asked.waiting(keys) == ABSENT) & ~asked.coming(keys)
        return [raised[key] for key in keys[gone].tolist()]

    def memory(self) -> Mapping[str, NDArray[Any]]:
        """Return what is known of the sites."""
        memory = {
            "sites": np.array(list(self._sites), dtype=np.str_),
            "random": _words(self._random),
        }
        for number, (host, site) in enumerate(self._sites.items()):
            memory |= {f"{number}/{name}": array for name, array in site.memory().items()}
            wanted = self._wanted.get(host, {})
            memory[f"{number}/raised"] = np.array(list(wanted), dtype=np.uint64)
            memory[f"{number}/urgency"] = np.array(list(wanted.values()), dtype=np.float64)
        return memory

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was known."""
        _set_words(self._random, memory["random"])
        self._changed = set(memory["sites"].tolist())
        for number, host in enumerate(memory["sites"].tolist()):
            prefix = f"{number}/"
            site = self._sites[host] = self._site(host)
            known = {n.removeprefix(prefix): a for n, a in memory.items() if n.startswith(prefix)}
            site.recall(known)
            self._wanted[host] = dict(
                zip(known["raised"].tolist(), known["urgency"].tolist(), strict=True)
            )


def _words(random: np.random.Generator) -> NDArray[np.uint64]:
    """Return the state of a generator (PCG64) as numbers of 64 bits."""
    state: Any = random.bit_generator.state
    numbers = (state["state"]["state"], state["state"]["inc"])
    halves = [half for number in numbers for half in divmod(number, 2**64)]
    return np.array([*halves, state["has_uint32"], state["uinteger"]], dtype=np.uint64)


def _set_words(random: np.random.Generator, words: NDArray[np.uint64]) -> None:
    high, low, inc_high, inc_low, has_uint32, uinteger = words.tolist()
    random.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": high << 64 | low, "inc": inc_high << 64 | inc_low},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
