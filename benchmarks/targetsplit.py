"""The papers' way to training data: some targets of a topic to learn from, the others to find.

A topic's targets are halved. To learn from there are the training targets and the pages that
lead to them, as ``scrapy focus-collect`` finds these: four back-link layers of at most 600
pages, pages that are like a training target being targets too (Liu and Milios 2010, 3.1). The
seeds and the test targets are in no graph to learn from, and the truth of a crawl is a table of
labels without the training targets.

A person's browsing session (Liu, Janssen and Milios 2005, 2.1 and 5.2.2) is made up. It begins
at a page one or two categories above the topic, and follows links to a training target, never to
a page of a more general category: first it is drawn how special the next page is, of what the
page links to, and then the page. Then it begins anew, until 200 pages are visited. The labels of
a table stand in for a person's notion of what is general.
"""

from __future__ import annotations

import asyncio
import csv
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focusspider.profile import TopicProfile
from focusspider.relevance.target_vectors import TargetVectors
from focusspider.webgraph import WebGraph
from focusspider.webgraph.extra_targets import THRESHOLD
from focusspider.webgraph.layers import FetchedPage, grow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from focusspider.evaluation.graph import StoredGraph
    from focusspider.page import Page
    from focusspider.text import Analyzer
    from focusspider.topic import Topic

__all__ = ["Chosen", "TargetSplit", "browsed", "collected", "levels_of", "write_labels"]

#: Pages of a session, and most pages of a walk: the paper's sequences have 2 to 10.
SESSION_PAGES, WALK_PAGES = 200, 10
#: Walks that bring no page more, after which a session ends.
PATIENCE = 500


class TargetSplit(NamedTuple):
    """The targets of a topic to learn from and to find, masks over all pages, (n_pages,)."""

    training: NDArray[np.bool_]
    test: NDArray[np.bool_]
    seeds: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        targets: NDArray[np.bool_],
        seeds: NDArray[np.bool_],
        random_state: np.random.Generator,
    ) -> TargetSplit:
        """Halve the targets by chance; a seed is not learnt from, and the odd one is found."""
        free = np.flatnonzero(targets & ~seeds)
        training = np.zeros(len(targets), dtype=np.bool_)
        training[random_state.permutation(free)[: len(free) // 2]] = True
        return cls(training, targets & ~training, seeds)

    @property
    def unseen(self) -> NDArray[np.bool_]:
        """What nothing is learnt from, (n_pages,)."""
        return self.test | self.seeds


class Chosen(NamedTuple):
    """The pages of a graph to learn from, masks over all pages, (n_pages,).

    ``given`` are the training targets among them, ``targets`` those and what is like them.
    """

    pages: NDArray[np.bool_]
    given: NDArray[np.bool_]
    targets: NDArray[np.bool_]


def collected(
    graph: StoredGraph,
    pages: Sequence[Page],
    split: TargetSplit,
    topic: Topic,
    analyzer: Analyzer,
    *,
    threshold: float = THRESHOLD,
) -> Chosen:
    """Return the back-link layers of the training targets; ``threshold`` 0: no more targets."""
    sources: dict[int, list[int]] = defaultdict(list)
    for source in range(len(graph)):
        for node in graph.indices[graph.indptr[source] : graph.indptr[source + 1]].tolist():
            sources[node].append(source)
    number = {url: n for n, url in enumerate(graph.urls)}
    unseen = split.unseen

    async def ask(url: str, n: int) -> Sequence[str]:
        return [graph.urls[s] for s in sources[number[url]] if not unseen[s]][:n]

    async def fetch(urls: Sequence[str]) -> Sequence[FetchedPage]:
        return [FetchedPage(url, b"") for url in urls]

    targets = [graph.urls[n] for n in np.flatnonzero(split.training).tolist()]
    with (
        tempfile.TemporaryDirectory() as folder,
        WebGraph.create(Path(folder, "g.sqlite"), topic=topic.name, source="backlinks") as made,
    ):
        asyncio.run(grow(made, targets, ask=ask, fetch=fetch))
        known = graph.mask(page.url for page in made.pages())
    like = np.zeros(len(graph), dtype=np.bool_)
    if threshold:
        profile = TopicProfile(topic, analyzer)
        for n in np.flatnonzero(split.training).tolist():
            profile.add_target(pages[n])
        vectors = TargetVectors(profile, purpose="likeness")
        for n in np.flatnonzero(known & ~split.training).tolist():
            like[n] = vectors.similarities(pages[n].terms).max() >= threshold
    return Chosen(known, split.training & known, (split.training & known) | like)


def levels_of(
    urls: Iterable[str], labels: Mapping[str, Sequence[str]], wanted: str
) -> NDArray[np.int64]:
    """Return how far each page's categories agree with a topic's, (n_pages,).

    >>> labels = {"a": ["Science.Biology.Birds"], "b": ["Science.Physics", "Music"]}
    >>> levels_of(["a", "b", "c"], labels, "Science.Biology.Birds").tolist()
    [3, 1, 0]
    """
    parts = wanted.split(".")

    def level(label: str) -> int:
        same = [own == part for own, part in zip(label.split("."), parts, strict=False)]
        return same.index(False) if False in same else len(same)

    return np.array([max(map(level, labels.get(url, [""]))) for url in urls], dtype=np.int64)


def browsed(
    graph: StoredGraph,
    split: TargetSplit,
    levels: NDArray[np.int64],
    random_state: np.random.Generator,
) -> Chosen:
    """Return the pages of a session that goes from general categories to the topic's.

    ``levels`` are those of :func:`levels_of`; the highest is the topic's own.
    """
    top = int(levels[split.training].max())
    above = np.isin(levels, [top - 1, top - 2]) & ~split.unseen
    roots = np.flatnonzero(above & (np.diff(graph.indptr) > 0))
    visited = np.zeros(len(graph), dtype=np.bool_)
    in_vain = 0
    while visited.sum() < SESSION_PAGES and in_vain < PATIENCE:
        before = int(visited.sum())
        node = int(random_state.choice(roots))
        path = [node]
        while not split.training[node] and len(path) < WALK_PAGES:
            links = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
            links = links[~split.unseen[links] & (levels[links] >= levels[node])]
            links = links[~np.isin(links, path)]
            if not len(links):
                break
            level = random_state.choice(np.unique(levels[links]))
            node = int(random_state.choice(links[levels[links] == level]))
            path.append(node)
        visited[path] = True
        in_vain = in_vain + 1 if visited.sum() == before else 0
    useful = visited & split.training
    return Chosen(visited, useful, useful)


def write_labels(table: Path, learnt: Sequence[tuple[str, frozenset[str]]], path: Path) -> None:
    """Write a table of labels again without the rows by which training targets are targets.

    ``learnt`` has, for each topic, how its labels begin, and the URLs of its training targets.
    """
    with table.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    url, label = rows[0].index("url"), rows[0].index("label")
    kept = [
        row
        for row in rows[1:]
        if not any(row[label].startswith(wanted) and row[url] in urls for wanted, urls in learnt)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([rows[0], *kept])
