"""The focused walk of xCrawl on one site: which page is to be fetched next."""

from __future__ import annotations

import logging
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focusspider.keytable import ABSENT
from focusspider.outline import Outline
from focusspider.strategies.subtrees import beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from focusspider.frontier import FrontierView
    from focusspider.strategies.sitegraph import SiteGraph

__all__ = ["Asked", "Phase", "SiteWalk"]

logger = logging.getLogger(__name__)

#: Weights that differ by less, as a share, are a tie: they were only added up differently.
_SAME = 1e-9


class Phase(IntEnum):
    """What is done with a site."""

    WALK = 0
    HARVEST = 1
    OVER = 2


class Asked:
    """Which pages wait to be fetched, and which are on their way, at one moment."""

    def __init__(self, frontier: FrontierView) -> None:
        self._keys = frontier.keys
        self._leased = frontier.leased

    def waiting(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the place of each key among what waits, -1 where it does not, (n_keys,)."""
        found = np.full(len(keys), ABSENT, dtype=np.int64)
        if len(keys) and len(self._keys):
            order = np.argsort(keys)
            places = np.minimum(np.searchsorted(keys, self._keys, sorter=order), len(keys) - 1)
            same = np.flatnonzero(keys[order[places]] == self._keys)
            found[order[places[same]]] = same
        return found

    def coming(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which keys are on their way, (n_keys,)."""
        return np.isin(keys, self._leased)


class _Links(NamedTuple):
    """Where the links of a page lead, as nodes or -1, (n_links,), and where they stand."""

    nodes: NDArray[np.int32]
    outline: Outline


class SiteWalk:
    """Walks over a site until no new hub is found, and then fetches what its hubs list.

    Shchekotykhin, Jannach and Friedrich, figure 3. A walk begins at a random authority, and
    goes on to the node of highest weight that the page links to, ties at random; with the
    probability ``restart`` it ends after a step, hubs are looked for, and another begins. As
    long as a site has no authority, walks begin at any page of it.

    A page that is known costs no request, and known pages weigh most. So that walks get to new
    ones, they pass a known page once at most, only where it links to something that is not
    fetched yet, and only where it is a hub, or nothing else is to be followed; and no known
    authority.

    After ``max_iterations`` walks in a row without a new hub, all that stands in a sub-tree
    of a hub with links to known authorities is fetched. Among it there may be new authorities
    that show more of the hub, which is fetched too. Then it is over; or, without ``stop``, the
    walk goes on. Where it cannot get to anything new any more, it jumps to the page of highest
    weight, until nothing is left.
    """

    def __init__(
        self,
        name: str,
        graph: SiteGraph,
        *,
        restart: float,
        max_iterations: int,
        early: bool,
        stop: bool,
        random_state: np.random.Generator,
    ) -> None:
        self.name = name
        self.graph = graph
        self.restart = restart
        self.max_iterations = max_iterations
        self.early = early
        self.stop = stop
        self.phase = Phase.WALK
        self.iterations = 0
        self._random = random_state
        self._links: dict[int, _Links] = {}  # of pages that are no authority
        self._skipped = np.zeros(0, dtype=np.bool_)  # nodes that no walk goes to, (n_nodes,)
        self._at = ABSENT
        self._passed: set[int] = set()
        self._next = ABSENT
        self._open: NDArray[np.bool_] | None = None  # see _open_now
        self._quiet = 0  # walks since the last new hub
        self._known = 0  # pages when the next step was decided
        self._begun = 0  # pages when the last round of walks began
        self._wanted = np.zeros(0, dtype=np.int32)

    def add_page(
        self,
        key: int,
        link_keys: NDArray[np.uint64],
        within: NDArray[np.bool_],
        outline: Outline,
        *,
        accepted: bool,
        moved_from: Iterable[int],
    ) -> None:
        """Add a page that was fetched and judged; ``within`` are its links within the site."""
        node = self.graph.add_page(key, link_keys[within].tolist(), accepted=accepted)
        if not accepted:
            nodes = np.full(len(within), ABSENT, dtype=np.int32)
            nodes[within] = self.graph.links.nodes(link_keys[within])
            self._links[node] = _Links(nodes, outline)
        self._skip([node], skipped=accepted)
        for other in moved_from:
            self._skip([self.graph.add_page(other, [key], accepted=False)])
            if self._next == self._node(other):
                self._next = node

    def advance(self, asked: Asked) -> dict[int, float]:
        """Return what is to be fetched now: nodes, and how urgent each is, in [0, 1].

        All else of the site waits.
        """
        while self.phase is not Phase.OVER:
            if self.phase is Phase.HARVEST:
                wanted = self._still_wanted(asked)
                if wanted:
                    return wanted
            else:
                node = self._walk(asked)
                if node != ABSENT:
                    return {node: 0.25 / (1 + self.graph.links.n_fetched)}
                self.phase, self._wanted = Phase.HARVEST, self._listed()
        return {}

    # -- the walk --------------------------------------------------------------------

    def _walk(self, asked: Asked) -> int:
        """Walk to the next page that must be fetched; -1: the walk is over."""
        graph = self.graph
        while True:
            node = self._next
            if node == ABSENT or (not graph.is_fetched(node) and self._changed()):
                node = self._step()
            if node == ABSENT:
                if not self._restarted():
                    return ABSENT
            elif graph.is_fetched(node):
                self._next, self._at = ABSENT, node
                self._passed.add(node)
                if self._random.random() < self.restart and not self._restarted():
                    return ABSENT
            elif self._can_come(node, asked):
                self._next, self._known = node, graph.links.n_fetched
                return node
            else:  # it has failed, or is out of bounds
                self._next = ABSENT
                self._skip([node])

    def _changed(self) -> bool:
        return self._known != self.graph.links.n_fetched

    def _step(self) -> int:
        """Return where the best link of the page leads, -1 where there is none to follow."""
        graph = self.graph
        if self._at == ABSENT:
            self._at = self._start()
            self._passed = {self._at}
        if self._at == ABSENT:
            return ABSENT
        nodes = graph.onward(self._at)
        nodes = nodes[(self._open_now() & ~self._skipped_now())[nodes]]
        nodes = nodes[~np.isin(nodes, list(self._passed))]
        promising = (graph.links.rows[nodes] == ABSENT) | np.isin(nodes, list(graph.hubs))
        if promising.any():
            nodes = nodes[promising]
        if not len(nodes):
            return ABSENT
        weights = graph.weights[nodes]
        best = nodes[weights >= weights.max() * (1 - _SAME)]
        return int(best[self._random.integers(len(best))])

    def _open_now(self) -> NDArray[np.bool_]:
        """Return which nodes may be fetched, or link to one that may, (n_nodes,)."""
        if self._open is None:
            graph = self.graph.links
            left = self._left()
            self._open = left.copy()
            self._open[graph.fetched] = graph.csr() @ left.astype(np.float32) > 0
        return self._open

    def _start(self) -> int:
        """Return a random authority, or page where there is none."""
        pages: list[int] = list(self.graph.authorities) or list(self._links)
        return pages[self._random.integers(len(pages))] if pages else ABSENT

    def _restarted(self) -> bool:
        """Look for hubs after a walk, and return whether another begins."""
        self._at = self._next = ABSENT
        self.iterations += 1
        new = self.graph.find_hubs()
        self._quiet = 0 if new else self._quiet + 1
        if new and self.early:
            return False
        return self._quiet < self.max_iterations and bool(self._left().any())

    # -- the harvest -----------------------------------------------------------------

    def _listed(self) -> NDArray[np.int32]:
        """Return the unfetched nodes that hubs list beside known authorities."""
        graph = self.graph
        known = np.zeros(len(graph.links), dtype=np.bool_)
        known[list(graph.authorities)] = True
        left = self._left()
        listed: set[int] = set()
        for hub in graph.hubs:
            if hub not in self._links:  # a URL that redirects to an authority
                continue
            nodes, outline = self._links[hub]
            if left[nodes[nodes >= 0]].any():
                links = beside(outline, nodes, known[nodes] & (nodes >= 0))
                listed.update(nodes[links].tolist())
        wanted = np.array(sorted(listed), dtype=np.int32)
        return wanted[left[wanted]]

    def _still_wanted(self, asked: Asked) -> dict[int, float]:
        """Return what is left of the harvest; after its end the next phase has begun."""
        graph = self.graph
        while True:
            wanted = self._wanted[graph.links.rows[self._wanted] == ABSENT]
            keys = graph.links.keys[wanted]
            here = (asked.waiting(keys) != ABSENT) | asked.coming(keys)
            self._skip(wanted[~here].tolist())
            self._wanted = wanted = wanted[here]
            if len(wanted):
                weights = graph.weights[wanted]
                shares = 0.5 + 0.5 * weights / graph.weights.max()
                return dict(zip(wanted.tolist(), shares.tolist(), strict=True))
            graph.find_hubs()
            self._wanted = self._listed()
            if not len(self._wanted):
                self._end_harvest()
                return {}

    def _end_harvest(self) -> None:
        graph = self.graph
        fetched, is_left = graph.links.n_fetched, bool(self._left().any())
        self.phase = Phase.WALK
        if self.early and self._quiet < self.max_iterations and is_left:
            return
        if self.stop or not is_left:
            self.phase = Phase.OVER
            logger.info(
                "%s: %d pages, %d authorities and %d hubs after %d walks",
                self.name, fetched, len(graph.authorities), len(graph.hubs), self.iterations,
            )  # fmt: skip
            return
        self._quiet = 0
        if fetched == self._begun:  # neither walk nor harvest has brought a page
            self._next, self._known = self._best_left(), fetched
        self._begun = fetched

    def _best_left(self) -> int:
        """Return the node of highest weight that may still be fetched; the first of equals."""
        left = np.flatnonzero(self._left())
        return int(left[np.argmax(self.graph.weights[left])])

    # -- what survives the process ---------------------------------------------------

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return what :meth:`recall` takes up again."""
        links = self._links.values()
        return {
            **{f"graph/{name}": array for name, array in self.graph.memory().items()},
            "counts": np.array(
                [self.phase, self.iterations, self._at, self._next, self._quiet, self._known,
                 self._begun]
            ),
            "passed": np.array(sorted(self._passed), dtype=np.int32),
            "skipped": np.flatnonzero(self._skipped),
            "wanted": self._wanted,
            "pages": np.array(
                [(node, len(nodes), len(outline.parents))
                 for node, (nodes, outline) in self._links.items()],
                dtype=np.int32,
            ).reshape(-1, 3),
            "links": _joined([of.nodes for of in links]),
            "of_links": _joined([of.outline.of_links for of in links]),
            "parents": _joined([of.outline.parents for of in links]),
        }  # fmt: skip

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was known of the site."""
        self.graph.recall(
            {name.removeprefix("graph/"): a for name, a in memory.items() if name[:6] == "graph/"}
        )
        phase, self.iterations, self._at, self._next, self._quiet, self._known, self._begun = (
            memory["counts"].tolist()
        )
        self.phase = Phase(phase)
        self._passed = set(memory["passed"].tolist())
        self._skip(memory["skipped"].tolist())
        self._wanted = memory["wanted"]
        link = element = 0
        for node, n_links, n_elements in memory["pages"].tolist():
            links, elements = slice(link, link + n_links), slice(element, element + n_elements)
            outline = Outline(memory["parents"][elements], memory["of_links"][links])
            self._links[node] = _Links(memory["links"][links], outline)
            link, element = links.stop, elements.stop

    # -- what it knows ---------------------------------------------------------------

    def _node(self, key: int) -> int:
        return int(self.graph.links.nodes([key])[0])

    def _can_come(self, node: int, asked: Asked) -> bool:
        key = self.graph.links.keys[[node]]
        return bool(asked.waiting(key)[0] != ABSENT or asked.coming(key)[0])

    def _left(self) -> NDArray[np.bool_]:
        """Return which nodes may still be fetched, (n_nodes,)."""
        left: NDArray[np.bool_] = (self.graph.links.rows == ABSENT) & ~self._skipped_now()
        return left

    def _skip(self, nodes: list[int], *, skipped: bool = True) -> None:
        self._skipped_now()[nodes] = skipped
        self._open = None

    def _skipped_now(self) -> NDArray[np.bool_]:
        missing = len(self.graph.links) - len(self._skipped)
        if missing > 0:
            self._skipped = np.concatenate([self._skipped, np.zeros(missing, dtype=np.bool_)])
        return self._skipped


def _joined(arrays: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.concatenate([np.zeros(0, dtype=np.int32), *arrays])
