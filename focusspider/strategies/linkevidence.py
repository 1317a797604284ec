"""What a crawl has seen of links: flat arrays, that another thread can read while they grow.

There are four tables.

- A *row* is a fetched page, in the order of fetching.
- A *node* is a URL that was met, whether it is fetched or not.
- A *link* is one link of one row to a node, in the order in which they were found.
- A *text* is an anchor or a context, once, however many links have it: menus are the same on
  page after page.

Everything a strategy learns is computed from them anew, so they are all that it has to
remember. They are bounded: when there are more than ``max_links`` links or rows, the pages
that were fetched first are forgotten with their links, a quarter of them all, and with them
the nodes and texts that nothing else leads to.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from focusspider.growing import GrowingArray
from focusspider.keytable import ABSENT, KeyTable, url_key
from focusspider.strategies.linkforgetting import without_rows
from focusspider.strategies.linkgroups import SAME_DIRECTORY, SAME_HOST, link_groups
from focusspider.strategies.linknames import LinkNames
from focusspider.strategies.pairfilter import PairFilter, mixed
from focusspider.strategies.urlspelling import MAX_WORDS, URL_GROUPS, place_of, url_spelling
from focusspider.text import Terms, cosine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from focusspider.page import Page

__all__ = ["TRAINED", "USUAL", "LinkEvidence", "Snapshot"]

#: What each trained model says of a link, in the columns of ``link_trained``: what it is worth,
#: in (0, 1], and how many links a target is away; and both of a link that is nothing much.
TRAINED = ("value", "distance")
USUAL = (0.05, 2.5)

#: Words whose hash is remembered.
_MOST_HASHES = 50_000

#: name of the array → its type, and columns
_LAYOUT: Mapping[str, tuple[type[np.generic], int]] = {
    "row_node": (np.int32, 1),
    "row_parent": (np.int32, 1),  # row of the page that first linked to it, or -1
    "row_depth": (np.int32, 1),
    "row_relevance": (np.float32, 1),
    "row_relevant": (np.uint8, 1),
    "row_cosine": (np.float32, 1),
    "row_hub": (np.float32, 1),
    "row_host": (np.uint32, 1),  # hashes
    "row_directory": (np.uint32, 1),
    "row_end": (np.int64, 1),  # number of links up to its last
    "node_key": (np.uint64, 1),
    "node_parent": (np.int32, 1),  # row of the page that first linked to it, or -1
    "node_groups": (np.uint32, len(URL_GROUPS)),  # hashes
    "node_numbers": (np.float16, 4),  # slashes, log of the length, keywords, a query or not
    "node_words": (np.uint32, 1),  # hashes
    "node_end": (np.int64, 1),  # number of words up to its last
    "link_node": (np.int32, 1),
    "link_row": (np.int32, 1),
    "link_path": (np.uint32, 1),  # hash of its tag path
    "link_anchor": (np.int32, 1),  # text
    "link_context": (np.int32, 1),  # text
    "link_place": (np.float16, 1),  # 0 for the first of its page, up to 1
    "link_flags": (np.uint8, 1),
    "text_key": (np.uint64, 1),
    "text_cosine": (np.float32, 1),
    "text_length": (np.float32, 1),  # log of 1 + its length
    "text_words": (np.uint32, 1),  # hashes
    "text_end": (np.int64, 1),
}


class Snapshot(NamedTuple):
    """The tables at one moment; see :class:`LinkEvidence`."""

    arrays: Mapping[str, NDArray[Any]]
    node_row: NDArray[np.int32]  # (n_nodes,): row of a node, or -1 where it is not fetched

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            return self.arrays[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def n_rows(self) -> int:
        """Number of fetched pages."""
        return len(self.arrays["row_node"])

    @property
    def n_nodes(self) -> int:
        """Number of URLs."""
        return len(self.node_row)

    def until(self, rows: int) -> Snapshot:
        """Return what was known when there were so many rows, but for URLs and texts."""
        links = int(self.row_end[rows - 1]) if rows else 0
        ends = {"row_": rows, "link_": links}
        arrays = {
            name: values[: ends.get(name[: name.index("_") + 1])]
            for name, values in self.arrays.items()
        }
        return Snapshot(arrays, np.where(self.node_row < rows, self.node_row, ABSENT))


class LinkEvidence:
    """What was seen of links so far.

    Parameters
    ----------
    keywords
        What texts and pages are compared with.
    max_links
        Most links that are kept, and most pages; after forgetting three quarters of them.
    trained
        Names of the figures of each link that come from elsewhere (:meth:`tell`): those of
        :data:`TRAINED` for each model.

    Attributes
    ----------
    forgotten : int
        Number of pages that were forgotten.
    names : LinkNames
        What the hashes of words, hosts, directories and tag paths stand for.
    """

    def __init__(self, keywords: Terms, *, max_links: int, trained: Sequence[str] = ()) -> None:
        self._keywords = keywords
        self._max_links = max_links
        self._trained = np.array([crc32(name.encode()) for name in trained], dtype=np.uint32)
        self._layout: dict[str, tuple[type[np.generic], int]] = {
            **_LAYOUT,
            "link_trained": (np.float16, len(trained)),
        }
        self.forgotten = 0
        self.names = LinkNames()
        self._hashes: dict[str, int] = {}
        self._begin({name: np.zeros(0, dtype=dtype) for name, (dtype, _) in self._layout.items()})
        self._node_row = GrowingArray(np.int32)

    def __len__(self) -> int:
        """Return the number of links."""
        return len(self._arrays["link_node"])

    @property
    def n_rows(self) -> int:
        """Number of fetched pages that are known."""
        return len(self._arrays["row_node"])

    def node_of(self, key: int) -> int:
        """Return the node of a URL, or -1."""
        return self._nodes.get(key)

    def row_of(self, key: int) -> int:
        """Return the row of a page, or -1."""
        node = self.node_of(key)
        return ABSENT if node == ABSENT else int(self._node_row.values[node])

    def links_of(self, row: int) -> tuple[int, int]:
        """Return the number of a page's first link, and that after its last."""
        ends = self._arrays["row_end"].values
        return int(ends[row - 1]) if row else 0, int(ends[row])

    def snapshot(self) -> Snapshot:
        """Return the tables as they are now; only what changes in place is copied."""
        return Snapshot(self._views(), self._node_row.view().copy())

    def glance(self) -> Snapshot:
        """Return the tables to be read before the next page is added: nothing is copied."""
        return Snapshot(self._views(), self._node_row.view())

    def add_page(self, page: Page, *, relevance: float, relevant: bool, hub: float) -> None:
        """Add a fetched page and its links; one that is known already changes nothing."""
        node = self._node(page.key, page.url, ABSENT)
        if self._node_row.values[node] != ABSENT:
            return
        row = self.n_rows
        parent = int(self._arrays["node_parent"].values[node])
        self._node_row.values[node] = row
        for key in page.moved_from_keys:  # links to them have led here
            source = self._nodes.get(key)
            if source != ABSENT and self._node_row.values[source] == ABSENT:
                self._node_row.values[source] = row
                if parent == ABSENT:
                    parent = int(self._arrays["node_parent"].values[source])
        depth = 0 if parent == ABSENT else int(self._arrays["row_depth"].values[parent]) + 1
        host, directory = place_of(page.url)
        self.names.add("host", crc32(host), host)
        self.names.add("directory", crc32(host + directory), host + directory)
        self._add_links(page, row, host, directory)
        for name, value in (
            ("row_node", node),
            ("row_parent", parent),
            ("row_depth", depth),
            ("row_relevance", relevance),
            ("row_relevant", relevant),
            ("row_cosine", cosine(self._keywords, page.terms)),
            ("row_hub", hub),
            ("row_host", crc32(host)),
            ("row_directory", crc32(host + directory)),
            ("row_end", len(self)),
        ):
            self._arrays[name].append(value)
        if max(len(self), self.n_rows) > self._max_links:
            self._forget()

    def _add_links(self, page: Page, row: int, host: bytes, directory: bytes) -> None:
        links = page.links
        n = len(links)
        if not n:
            return
        nodes: list[int] = []
        paths: list[int] = []
        anchors: list[int] = []
        contexts: list[int] = []
        flags = np.zeros(n, dtype=np.uint8)
        texts: dict[str, int] = {}
        tags: dict[str, int] = {}
        for number, (link, key) in enumerate(zip(links, page.link_keys.tolist(), strict=True)):
            nodes.append(self._node(key, link.url, row))
            path = tags.get(link.tag_path)
            if path is None:
                name = link.tag_path.encode("utf-8", "replace")
                path = tags[link.tag_path] = crc32(name)
                self.names.add("path", path, name)
            paths.append(path)
            for text, terms_of, numbers in (
                (link.anchor, page.anchor_terms, anchors),
                (link.context, page.context_terms, contexts),
            ):
                known = texts.get(text)
                if known is None:
                    known = texts[text] = self._text(text, partial(terms_of, link))
                numbers.append(known)
            to_host, to_directory = place_of(link.url)
            if to_host == host:
                flags[number] = SAME_HOST | (SAME_DIRECTORY if to_directory == directory else 0)
        ids = np.array(nodes, dtype=np.int32)
        groups = link_groups(
            np.full(n, row, dtype=np.int32),
            np.array(paths, dtype=np.uint32),
            np.array(anchors, dtype=np.int32),
            np.array(contexts, dtype=np.int32),
            np.full(n, crc32(host), dtype=np.uint32),
            np.full(n, crc32(host + directory), dtype=np.uint32),
        )
        for bit, group in enumerate(groups):
            flags |= self._seen.first(mixed(group, ids, bit)).astype(np.uint8) << bit
        self._arrays["link_node"].extend(ids)
        self._arrays["link_row"].extend(np.full(n, row, dtype=np.int32))
        self._arrays["link_path"].extend(np.array(paths, dtype=np.uint32))
        self._arrays["link_anchor"].extend(np.array(anchors, dtype=np.int32))
        self._arrays["link_context"].extend(np.array(contexts, dtype=np.int32))
        self._arrays["link_place"].extend((np.arange(n) / n).astype(np.float16))
        self._arrays["link_flags"].extend(flags)
        n_trained = self._layout["link_trained"][1]
        self._arrays["link_trained"].extend(np.zeros(n * n_trained, dtype=np.float16))

    def tell(self, row: int, figures: NDArray[np.float64]) -> None:
        """Set what trained models say of the links of a row, (n_links, n_trained)."""
        first, end = self.links_of(row)
        n_trained = self._layout["link_trained"][1]
        if figures.shape == (end - first, n_trained):
            flat = self._arrays["link_trained"].values
            flat[first * n_trained : end * n_trained] = figures.ravel()

    def _node(self, key: int, url: str, parent: int) -> int:
        node = self._nodes.get(key)
        if node != ABSENT:
            return node
        node = len(self._arrays["node_key"])
        self._nodes.put(key, node)
        self._arrays["node_key"].append(key)
        self._arrays["node_parent"].append(parent)
        self._node_row.append(ABSENT)
        groups, numbers, words = url_spelling(url, self._keywords)
        self._arrays["node_groups"].extend(np.array(groups, dtype=np.uint32))
        self._arrays["node_numbers"].extend(np.array(numbers, dtype=np.float16))
        self._arrays["node_words"].extend(np.array(words, dtype=np.uint32))
        self._arrays["node_end"].append(len(self._arrays["node_words"]))
        return node

    def _text(self, text: str, terms_of: Callable[[], Terms]) -> int:
        key = url_key(text)
        number = self._texts.get(key)
        if number != ABSENT:
            return number
        number = len(self._arrays["text_key"])
        self._texts.put(key, number)
        terms = terms_of() if text else Terms()
        words = [self._word(word) for word in islice(terms, MAX_WORDS)]
        self._arrays["text_key"].append(key)
        self._arrays["text_cosine"].append(cosine(self._keywords, terms))
        self._arrays["text_length"].append(log(1 + len(text)))
        self._arrays["text_words"].extend(np.array(words, dtype=np.uint32))
        self._arrays["text_end"].append(len(self._arrays["text_words"]))
        return number

    def _word(self, word: str) -> int:
        """Return the hash of a word, whose name is kept; the words of a web are few, and recur."""
        number = self._hashes.get(word)
        if number is None:
            name = word.encode("utf-8", "replace")
            number = crc32(name)
            self.names.add("word", number, name)
            if len(self._hashes) >= _MOST_HASHES:
                self._hashes.clear()
            self._hashes[word] = number
        return number

    def _views(self) -> dict[str, NDArray[Any]]:
        views = {}
        for name, (_, columns) in self._layout.items():
            view = self._arrays[name].view()
            if columns == 0:
                view = view.reshape(len(self._arrays["link_node"]), 0)
            views[name] = view.reshape(-1, columns) if columns > 1 else view
        return views

    def _begin(self, arrays: Mapping[str, NDArray[Any]], *, first_anew: bool = False) -> None:
        """Make the tables, and what finds things in them, of arrays.

        ``first_anew``: which link is the first of its group is looked for among these.
        """
        self._arrays = {name: GrowingArray.of(arrays[name].reshape(-1)) for name in self._layout}
        self._nodes, self._texts = KeyTable(), KeyTable()
        for table, keys in ((self._nodes, arrays["node_key"]), (self._texts, arrays["text_key"])):
            table.extend(keys, np.arange(len(keys), dtype=np.int32))
        self._seen = PairFilter()
        rows = arrays["link_row"]
        groups = link_groups(
            rows,
            arrays["link_path"],
            arrays["link_anchor"],
            arrays["link_context"],
            arrays["row_host"][rows],
            arrays["row_directory"][rows],
        )
        flags = self._arrays["link_flags"].values[: len(rows)]
        if first_anew:
            flags &= SAME_HOST | SAME_DIRECTORY
        for bit, group in enumerate(groups):
            pairs = mixed(group, arrays["link_node"], bit)
            if first_anew:
                flags |= self._seen.first(pairs).astype(np.uint8) << bit
            else:
                self._seen.add(pairs)

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return the tables as arrays."""
        forgotten = np.array(self.forgotten)
        return {
            **self._views(),
            "node_row": self._node_row.view(),
            "forgotten": forgotten,
            "trained": self._trained,
        }

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up the tables of :meth:`memory`.

        Other models may be asked now: what one says that was not asked is that a link is
        nothing much.
        """
        n, asked = len(memory["link_node"]), memory["trained"]
        told = memory["link_trained"].reshape(n, len(asked))
        figures = np.tile(np.array(USUAL, np.float16), (n, len(self._trained) // len(USUAL)))
        for column, name in enumerate(self._trained):
            for before in np.flatnonzero(asked == name):
                figures[:, column] = told[:, before]
        self._begin({**memory, "link_trained": figures})
        self._node_row = GrowingArray.of(memory["node_row"])
        self.forgotten = int(memory["forgotten"])

    def _forget(self) -> None:
        """Forget the pages that were fetched first, and what only they lead to."""
        now = self._views()
        kept_most = self._max_links * 3 // 4
        of_links = int(np.searchsorted(now["row_end"], len(self) - kept_most)) + 1
        rows = max(of_links, self.n_rows - kept_most)
        kept, node_row = without_rows(now, self._node_row.view(), rows)
        self._begin(kept, first_anew=True)
        self._node_row = GrowingArray.of(node_row)
        self.forgotten += rows
