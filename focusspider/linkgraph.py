"""The crawled graph: which known page links to which, and which ones are fetched.

Nodes are numbered in the order in which they were met, as a fetched page or as a link on
one. Each is known by its key, the first 8 bytes of its request's fingerprint
(:func:`~focusspider.keytable.fingerprint_key`). Everything is in arrays that grow by a
quarter when they are full: a million nodes and ten million links take 90 MB, the matrix of
them 50 MB more, and what outgrown arrays leave behind in the heap up to 50 MB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focusspider.growing import GrowingArray, roomy
from focusspider.keytable import ABSENT, KeyTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_array

__all__ = ["KnownLinks", "LinkGraph", "Snapshot"]


class LinkGraph:
    """What the crawl knows of the web's links.

    A node is fetched or not; only a fetched one has links. Parallel links count once, and
    a page's links to itself not at all. The arrays that the properties return are
    read-only views of the moment: ask again after :meth:`add_page`.

    >>> graph = LinkGraph()
    >>> graph.add_page(7, [8, 9, 8, 7])
    True
    >>> graph.add_page(9, [8])
    True
    >>> graph.in_degrees([7, 8, 9, 1234]).tolist()
    [0, 2, 1, 0]
    >>> graph.csr().toarray().tolist()  # rows: pages 7 and 9; columns: 7, 8 and 9
    [[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]]
    """

    def __init__(self) -> None:
        self._nodes = KeyTable()
        self._keys = GrowingArray(np.uint64)
        self._in_degree = GrowingArray(np.int32)
        self._rows = GrowingArray(np.int32)
        self._fetched = GrowingArray(np.int32)
        self._ends = GrowingArray(np.int32)
        self._ends.append(0)
        self._links = GrowingArray(np.int32)
        self._moved_from = GrowingArray(np.int32)
        self._moved_to = GrowingArray(np.int32)
        self._ones = np.ones(0, dtype=np.float32)
        self._csr: csr_array | None = None

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self._keys)

    @property
    def n_fetched(self) -> int:
        """Number of fetched pages."""
        return len(self._fetched)

    @property
    def n_links(self) -> int:
        """Number of links, each pair of pages once."""
        return len(self._links)

    @property
    def keys(self) -> NDArray[np.uint64]:
        """Key of each node, (n_nodes,)."""
        return self._keys.view()

    @property
    def in_degree(self) -> NDArray[np.int32]:
        """How many fetched pages link to each node, (n_nodes,)."""
        return self._in_degree.view()

    @property
    def fetched(self) -> NDArray[np.int32]:
        """The fetched nodes in the order of fetching, (n_fetched,): the rows of :meth:`csr`."""
        return self._fetched.view()

    @property
    def rows(self) -> NDArray[np.int32]:
        """Row of each node in :meth:`csr`, or -1 where it is not fetched, (n_nodes,)."""
        return self._rows.view()

    def add_page(self, key: int, link_keys: Iterable[int] | NDArray[np.uint64]) -> bool:
        """Add a fetched page and its links.

        Returns False, and changes nothing, for a page that was added before: its first
        links stay.
        """
        node = self._nodes.get(key)
        if node != ABSENT and self._rows.values[node] != ABSENT:
            return False
        keys = link_keys.tolist() if isinstance(link_keys, np.ndarray) else link_keys
        node, *linked = self._number(dict.fromkeys([key, *keys]))
        links = np.array(sorted(linked), dtype=np.int32)  # sorted, as csr() promises
        self._in_degree.values[links] += 1
        self._rows.values[node] = len(self._fetched)
        self._fetched.append(node)
        self._links.extend(links)
        self._ends.append(len(self._links))
        self._csr = None
        return True

    def add_redirect(self, key: int, to: int) -> None:
        """Note that a URL redirects to a fetched page: links to it are links to that page.

        Only :meth:`Snapshot.links_among` follows it; the other arrays keep the two apart.
        """
        source, page = self._number([key])[0], self._nodes.get(to)
        if page == ABSENT or self._rows.values[page] == ABSENT:
            raise ValueError(f"the page {to} that {key} redirects to is not fetched: add it first")
        if self._rows.values[source] == ABSENT:
            self._moved_from.append(source)
            self._moved_to.append(page)

    def nodes(self, keys: ArrayLike) -> NDArray[np.int32]:
        """Return the nodes of many keys, with -1 for each that is not known."""
        return self._nodes.lookup(np.asarray(keys, dtype=np.uint64))

    def in_degrees(self, keys: ArrayLike) -> NDArray[np.int32]:
        """Return how many fetched pages link to each of many keys; 0 for an unknown one."""
        nodes = self.nodes(keys)
        degrees = np.zeros(len(nodes), dtype=np.int32)
        known = nodes != ABSENT
        degrees[known] = self._in_degree.values[nodes[known]]
        return degrees

    def csr(self) -> csr_array:
        """Return the links of the fetched pages as a sparse matrix, (n_fetched, n_nodes).

        Entry (r, v) is 1 where the r-th fetched page links to node v. The rows of the
        square matrix of all nodes are these, at the places that :attr:`fetched` names, and
        elsewhere empty. Indices are sorted, without duplicates; values are float32.

        Nothing is copied: the matrix shares the graph's arrays and must not be changed.
        What is added later does not show in it, so another thread may work on it while the
        crawl goes on. The same matrix is returned until the graph changes.
        """
        if self._csr is None:
            from scipy.sparse import csr_array

            n_links = len(self._links)
            if len(self._ones) < n_links:
                self._ones = np.ones(roomy(n_links), dtype=np.float32)
            self._csr = csr_array(
                (self._ones[:n_links], self._links.view(), self._ends.view()),
                shape=(self.n_fetched, len(self)),
                copy=False,
            )
            self._csr.has_canonical_format = True  # or scipy would look at every link
        return self._csr

    def snapshot(self) -> Snapshot:
        """Return the graph as it is now, for another thread to work on; nothing is copied."""
        return Snapshot(
            self.keys, self.fetched, self.csr(), self._moved_from.view(), self._moved_to.view()
        )

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return what :meth:`of` makes the graph of again."""
        return {
            "keys": self.keys,
            "fetched": self.fetched,
            "ends": self._ends.view(),
            "links": self._links.view(),
            "moved_from": self._moved_from.view(),
            "moved_to": self._moved_to.view(),
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> LinkGraph:
        """Return the graph whose :meth:`arrays` these are."""
        graph = cls()
        n_nodes, links, fetched = len(arrays["keys"]), arrays["links"], arrays["fetched"]
        graph._nodes.extend(arrays["keys"], np.arange(n_nodes, dtype=np.int32))
        graph._keys = GrowingArray.of(arrays["keys"])
        graph._in_degree = GrowingArray.of(np.bincount(links, minlength=n_nodes).astype(np.int32))
        rows = np.full(n_nodes, ABSENT, dtype=np.int32)
        rows[fetched] = np.arange(len(fetched))
        graph._rows = GrowingArray.of(rows)
        graph._fetched = GrowingArray.of(fetched)
        graph._ends = GrowingArray.of(arrays["ends"])
        graph._links = GrowingArray.of(links)
        graph._moved_from = GrowingArray.of(arrays["moved_from"])
        graph._moved_to = GrowingArray.of(arrays["moved_to"])
        return graph

    def _number(self, keys: Iterable[int]) -> list[int]:
        """Return the nodes of keys that differ from each other, new ones included."""
        get, put = self._nodes.get, self._nodes.put
        known = len(self._keys)
        nodes: list[int] = []
        new: list[int] = []
        for key in keys:
            node = get(key)
            if node == ABSENT:
                node = known + len(new)
                put(key, node)
                new.append(key)
            nodes.append(node)
        if new:
            self._keys.extend(np.array(new, dtype=np.uint64))
            self._in_degree.extend(np.zeros(len(new), dtype=np.int32))
            self._rows.extend(np.full(len(new), ABSENT, dtype=np.int32))
        return nodes


class KnownLinks(NamedTuple):
    """The links of fetched pages to fetched pages and to what waits.

    ``matrix`` is (n_pages, n_pages + n_waiting): entry (i, j) is 1 where page i links to
    page j, or to the waiting request j - n_pages; ``nodes`` are the nodes of its columns,
    -1 for a waiting one that no page links to.
    """

    matrix: csr_array
    nodes: NDArray[np.int32]


class Snapshot(NamedTuple):
    """A graph at one moment; see :meth:`LinkGraph.snapshot`.

    ``moved_from`` and ``moved_to`` are the nodes of redirects, one each.
    """

    keys: NDArray[np.uint64]
    fetched: NDArray[np.int32]
    links: csr_array
    moved_from: NDArray[np.int32]
    moved_to: NDArray[np.int32]

    def nodes(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the nodes of many keys, with -1 for each that is not known."""
        if not len(self.keys):
            return np.full(len(keys), ABSENT, dtype=np.int32)
        order = np.argsort(self.keys).astype(np.int32)
        places = np.searchsorted(self.keys, keys, sorter=order)
        nodes = order[np.minimum(places, len(order) - 1)]
        nodes[self.keys[nodes] != keys] = ABSENT
        return nodes

    def in_degrees(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return how many fetched pages link to each of many keys; 0 for an unknown one."""
        counts = np.bincount(self.links.indices, minlength=len(self.keys))
        nodes = self.nodes(keys)
        return np.where(nodes != ABSENT, counts[nodes] if len(counts) else 0, 0)

    def links_among(self, waiting: NDArray[np.uint64], *, first: int = 0) -> KnownLinks:
        """Return the links of pages among each other and to the waiting requests.

        Parameters
        ----------
        waiting
            The keys of what waits, (n_waiting,), none of them fetched.
        first
            Row of the first page that takes part: the earlier ones are left out.
        """
        from scipy.sparse import csr_array

        pages = self.fetched[first:]
        nodes = np.concatenate([pages, self.nodes(waiting)])
        place = np.full(len(self.keys), ABSENT, dtype=np.int32)  # column of each node
        known = np.flatnonzero(nodes != ABSENT)
        place[nodes[known]] = known
        moved = place[self.moved_from] == ABSENT
        place[self.moved_from[moved]] = place[self.moved_to[moved]]
        ends = self.links.indptr[first:]
        columns = place[self.links.indices[ends[0] :]]
        kept = columns != ABSENT
        if len(self.moved_from):  # a page may now link to itself, or twice to another
            rows = np.repeat(np.arange(len(pages)), np.diff(ends))
            kept &= columns != rows
        indptr = np.concatenate([[0], np.cumsum(kept)])[ends - ends[0]]
        matrix = csr_array(
            (np.ones(indptr[-1], dtype=np.float32), columns[kept], indptr),
            shape=(len(pages), len(nodes)),
        )
        if len(self.moved_from):
            matrix.sum_duplicates()
            matrix.data[:] = 1
        return KnownLinks(matrix, nodes)
