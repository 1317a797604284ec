"""The crawled graph: which known page links to which, and which ones are fetched.

Nodes are numbered in the order in which they were met, as a fetched page or as a link on
one. Each is known by its key, the first 8 bytes of its request's fingerprint
(:func:`~focusspider.keytable.fingerprint_key`). Everything is in arrays that grow by a
quarter when they are full: a million nodes and ten million links take 90 MB, the matrix of
them 50 MB more, and what outgrown arrays leave behind in the heap up to 50 MB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from focusspider.keytable import ABSENT, KeyTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_array

__all__ = ["LinkGraph"]

_Scalar = TypeVar("_Scalar", bound=np.generic)


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
        self._keys = _Column(np.uint64)
        self._in_degree = _Column(np.int32)
        self._rows = _Column(np.int32)
        self._fetched = _Column(np.int32)
        self._ends = _Column(np.int32)
        self._ends.append(0)
        self._links = _Column(np.int32)
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
                self._ones = np.ones(_capacity(n_links), dtype=np.float32)
            self._csr = csr_array(
                (self._ones[:n_links], self._links.view(), self._ends.view()),
                shape=(self.n_fetched, len(self)),
                copy=False,
            )
            self._csr.has_canonical_format = True  # or scipy would look at every link
        return self._csr

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


class _Column(Generic[_Scalar]):
    """An array that grows at its end."""

    __slots__ = ("_length", "values")

    def __init__(self, dtype: type[_Scalar]) -> None:
        self.values: NDArray[_Scalar] = np.empty(_capacity(0), dtype=dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def append(self, value: int) -> None:
        if self._length == len(self.values):
            self._grow(self._length + 1)
        self.values[self._length] = value
        self._length += 1

    def extend(self, values: NDArray[_Scalar]) -> None:
        end = self._length + len(values)
        if end > len(self.values):
            self._grow(end)
        self.values[self._length : end] = values
        self._length = end

    def view(self) -> NDArray[_Scalar]:
        view = self.values[: self._length]
        view.flags.writeable = False
        return view

    def _grow(self, length: int) -> None:
        grown = np.empty(_capacity(length), dtype=self.values.dtype)
        grown[: self._length] = self.values[: self._length]
        self.values = grown


def _capacity(length: int) -> int:
    return length + length // 4 + 64
