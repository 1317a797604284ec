"""How often links of one kind have led to something: by page, tag path, host, word and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.models.rocchio import Documents, Rocchio
from focusspider.models.success_table import SuccessTable, SuccessTables
from focusspider.strategies.linkcandidates import Candidates, candidates, distinct, folds_of
from focusspider.strategies.linkgroups import FIRST_OF, link_groups
from focusspider.strategies.urlspelling import URL_GROUPS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from focusspider.strategies.linkcredit import PageValues
    from focusspider.strategies.linksharing import Elsewhere
    from focusspider.strategies.linktables import Snapshot

__all__ = ["WORDS", "Successes", "fetched_nodes", "groups_of", "word_trials"]


class Successes:
    """How often groups of links and of URLs, and words, have led to something.

    ``host_paths`` is the table of the links of one tag path on one host.

    Parameters
    ----------
    seen
        What the crawl has seen.
    values
        What came of each row.
    mean
        What comes of a page, in (0, 1).
    prior, word_prior
        Number of trials that the mean counts for, in a group, and for a word.
    folded
        Whether a model is to be fitted to these, and members ask without their own fold.
    own
        So many rows are this worker's; what became of the others its links tell of, and
        nothing else. None: all.
    elsewhere
        What other workers have counted.
    """

    def __init__(
        self,
        seen: Snapshot,
        values: PageValues,
        *,
        mean: float,
        prior: float,
        word_prior: float,
        folded: bool = False,
        own: int | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.values = values if own is None else values.until(own)
        self.mean = mean
        outcomes = values.outcomes
        rows = seen.node_row[seen.link_node]  # (n_links,)
        fetched = np.flatnonzero(rows >= 0)
        of_link = outcomes[rows[fetched]]
        folds = folds_of(seen, seen.link_node[fetched]) if folded else None
        flags = seen.link_flags[fetched]
        links = []
        numbered = {
            "page": seen.n_rows,
            "anchor": len(seen.text_key),
            "context": len(seen.text_key),
        }
        for bit, (name, groups) in enumerate(zip(FIRST_OF, groups_of(seen, fetched), strict=True)):
            first = (flags >> bit & 1).astype(np.bool_)
            links.append(
                SuccessTable(
                    groups[first],
                    of_link[first],
                    folds[first] if folds is not None else None,
                    mean=mean,
                    prior=prior,
                    numbered=numbered.get(name),
                    added=elsewhere.counts(name, seen) if elsewhere else None,
                )
            )
        self.links = SuccessTables(links)
        self.host_paths = links[FIRST_OF.index("host path")]
        of_url = seen.node_groups[seen.row_node[:own]]  # (n_rows, n_groups)
        of_row = folds_of(seen, seen.row_node[:own]) if folded else None
        urls = [
            SuccessTable(
                of_url[:, column],
                outcomes[:own],
                of_row,
                mean=mean,
                prior=prior,
                added=elsewhere.counts(f"url {name}", seen) if elsewhere else None,
            )
            for column, name in enumerate(URL_GROUPS)
        ]
        self.urls = SuccessTables(urls)
        self.words = []
        every = fetched_nodes(seen)
        known = every if own is None else fetched_nodes(seen.until(own))
        for kind, _ in WORDS:
            of = known if kind == "url words" else every
            words, of_word, of_fold = word_trials(seen, of, outcomes, kind)
            self.words.append(
                SuccessTable(
                    words,
                    of_word,
                    of_fold if folded else None,
                    mean=mean,
                    prior=word_prior,
                    added=elsewhere.counts(kind, seen) if elsewhere else None,
                )
            )

        of_page = Documents(seen.page_words, seen.page_counts, seen.page_end)
        n = len(seen.page_end)  # own rows: what pages of others say is not known
        self._pages = Rocchio(of_page, outcomes[:n], folds_of(seen, seen.row_node[:n]))

    def likeness(self, seen: Snapshot, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return how near rows are to pages that have led to something, by their words, (n,).

        In [-1, 1], and 0 of a page without words. What a row itself has led to is left out.
        """
        cosines = self._pages.cosines
        new = distinct(rows[rows >= len(cosines)])  # since these were counted
        if len(new):
            words, lengths = _pieces(seen.page_end, new)
            later = Documents(seen.page_words[words], seen.page_counts[words], np.cumsum(lengths))
            cosines = np.append(cosines, self._pages.cosines_of(later))
            rows = np.where(
                rows < len(cosines) - len(new),
                rows,
                len(cosines) - len(new) + np.searchsorted(new, rows),
            )
        return cosines[rows]

    def drop_folds(self) -> None:
        """Forget what is in which fold, when the model has been fitted."""
        self.links.drop_folds()
        self.urls.drop_folds()
        for table in self.words:
            table.drop_folds()


def groups_of(seen: Snapshot, links: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
    """Return the groups of links, in the order of ``FIRST_OF``, each (n_links,)."""
    rows = seen.link_row[links]
    return link_groups(
        rows,
        seen.link_path[links],
        seen.link_anchor[links],
        seen.link_context[links],
        seen.row_host[rows],
        seen.row_directory[rows],
    )


def _pieces(
    ends: NDArray[np.int64], chosen: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the chosen pieces of a ragged array, and the length of each."""
    starts = ends[chosen - 1]
    starts[chosen == 0] = 0
    lengths = ends[chosen] - starts
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(starts - before, lengths), lengths


def _url_words(seen: Snapshot, of: Candidates) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    places, lengths = _pieces(seen.node_end, of.nodes)
    return np.repeat(np.arange(len(lengths)), lengths), seen.node_words[places]


def _text_words(
    seen: Snapshot, of: Candidates, texts: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the words of the texts of links, each once for a node, in the nodes' order."""
    pairs = of.owners << 32 | texts[of.links]
    if not of.has_one_each:
        pairs = distinct(pairs)
    chosen = pairs & 0xFFFFFFFF
    places, lengths = _pieces(seen.text_end, chosen)
    words = distinct(np.repeat(pairs - chosen, lengths) | seen.text_words[places])
    return words >> 32, (words & 0xFFFFFFFF).astype(np.uint32)


def _anchor_words(seen: Snapshot, of: Candidates) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    return _text_words(seen, of, seen.link_anchor)


def _context_words(seen: Snapshot, of: Candidates) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    return _text_words(seen, of, seen.link_context)


WORDS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("url words", _url_words),
    ("anchor words", _anchor_words),
    ("context words", _context_words),
)


def fetched_nodes(seen: Snapshot) -> Candidates:
    """Return the nodes that are fetched, each with all links that are known to lead to it."""
    links = np.flatnonzero(seen.node_row[seen.link_node] >= 0)
    nodes = distinct(np.concatenate([seen.link_node[links], seen.row_node]))
    return candidates(seen, nodes, links, folds_of(seen, nodes))


def word_trials(
    seen: Snapshot, of: Candidates, outcomes: NDArray[np.float64], kind: str
) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.int64] | None]:
    """Return the words of each fetched node, each once for a node, its outcome, and its fold.

    ``of`` is of :func:`fetched_nodes`, and ``kind`` a name in :data:`WORDS`.
    """
    owners, words = dict(WORDS)[kind](seen, of)
    return words, outcomes[seen.node_row[of.nodes]][owners], of.folds_of(owners)
