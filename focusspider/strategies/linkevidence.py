"""What a crawl has seen of links: flat arrays, that another thread can read while they grow.

Everything a strategy learns is computed from these tables anew
(:mod:`~focusspider.strategies.linktables`), so they are all that it has to remember. They are
bounded: when there are more than ``max_links`` links or rows, the pages that were fetched first
are forgotten with their links, a quarter of them all, and with them the nodes and texts that
nothing else leads to.
"""

from __future__ import annotations

from heapq import nlargest
from itertools import islice
from math import log
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from focusspider.growing import GrowingArray
from focusspider.keytable import ABSENT, KeyTable, url_key
from focusspider.strategies.linkforgetting import without_rows, without_words
from focusspider.strategies.linkgroups import FIRST_OF, SAME_DIRECTORY, SAME_HOST, link_groups
from focusspider.strategies.linknames import LinkNames, WordHashes
from focusspider.strategies.linktables import LAYOUT, USUAL, Snapshot
from focusspider.strategies.pairfilter import PairFilter, mixed
from focusspider.strategies.urlspelling import MAX_WORDS, URL_GROUPS, place_of, url_spelling
from focusspider.text import Terms, cosine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focusspider.page import Page

__all__ = ["LinkEvidence"]

#: Columns of ``node_groups``.
_DIRECTORY, _HOST = URL_GROUPS.index("directory"), URL_GROUPS.index("host")
#: Words of a page that are kept, the most frequent; and of all pages, the latest.
_PAGE_WORDS, _MOST_PAGE_WORDS = 100, 1_000_000
#: Links that are looked at together when all of them are looked at anew.
_CHUNK = 4_096


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
        :data:`~focusspider.strategies.linktables.TRAINED` for each model.

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
            **LAYOUT,
            "link_trained": (np.float16, len(trained)),
        }
        self.forgotten = 0
        self.names = LinkNames()
        self._hashes = WordHashes(self.names)
        self._page_hashes = WordHashes()  # of which nothing is told
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
        depths = self._arrays["row_depth"].values
        if parent != ABSENT:
            depth = int(depths[parent]) + 1
        elif page.pointing is None:  # the crawl began with it
            depth = 0
        else:  # the page with the link is forgotten, or another worker's: likely near the last
            depth = max(1, int(depths[row - 1])) if row else 1
        host, directory = place_of(page.url)
        self.names.add("host", crc32(host), host)
        self.names.add("directory", crc32(host + directory), host + directory)
        if page.links:
            self._add_links(page, row, node, crc32(host), crc32(host + directory))
        self._add_words(page.terms)
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
            ("page_end", len(self._arrays["page_words"])),
        ):
            self._arrays[name].append(value)
        if max(len(self), self.n_rows) > self._max_links:
            self._forget()

    def _add_links(self, page: Page, row: int, node: int, host: int, directory: int) -> None:
        n = len(page.links)
        nodes: list[int] = []
        paths: list[int] = []
        tags: dict[str, int] = {}
        for link, key in zip(page.links, page.link_keys.tolist(), strict=True):
            nodes.append(self._node(key, link.url, row))
            path = tags.get(link.tag_path)
            if path is None:
                name = link.tag_path.encode("utf-8", "replace")
                path = tags[link.tag_path] = crc32(name)
                self.names.add("path", path, name)
            paths.append(path)
        anchors, contexts = self._texts_of(page)
        columns: dict[str, NDArray[Any]] = {
            "link_node": np.array(nodes, dtype=np.int32),
            "link_row": np.full(n, row, dtype=np.int32),
            "link_path": np.array(paths, dtype=np.uint32),
            "link_anchor": anchors,
            "link_context": contexts,
            "link_place": (np.arange(n) / n).astype(np.float16),
            "link_trained": np.zeros(n * self._layout["link_trained"][1], dtype=np.float16),
        }
        ids = columns["link_node"]
        groups = link_groups(
            columns["link_row"],
            columns["link_path"],
            anchors,
            contexts,
            np.full(n, host, dtype=np.uint32),
            np.full(n, directory, dtype=np.uint32),
        )
        columns["link_flags"] = self._stays(node, ids) | self._first(groups, ids)
        for column, values in columns.items():
            self._arrays[column].extend(values)

    def _stays(self, node: int, ids: NDArray[np.int32]) -> NDArray[np.uint8]:
        """Return whether links of a node to others stay on its host and in its directory."""
        groups = self._arrays["node_groups"].view().reshape(-1, len(URL_GROUPS))
        same = groups[ids] == groups[node]
        host, directory = same[:, _HOST], same[:, _HOST] & same[:, _DIRECTORY]
        stays: NDArray[np.uint8] = host * np.uint8(SAME_HOST) + directory * np.uint8(SAME_DIRECTORY)
        return stays

    def _first(self, groups: tuple[NDArray[Any], ...], ids: NDArray[np.int32]) -> NDArray[np.uint8]:
        """Return of which groups each link is the first to its node, as bits, (n_links,)."""
        bits = np.arange(len(FIRST_OF))[:, None]
        pairs = mixed(np.stack([group.astype(np.uint32) for group in groups]), ids, bits)
        first = self._seen.first(pairs.ravel()).reshape(pairs.shape)
        flags: NDArray[np.uint8] = np.bitwise_or.reduce(
            first.astype(np.uint8) << bits.astype(np.uint8)
        )
        return flags

    def _texts_of(self, page: Page) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the texts that are the anchor and the context of each link; add the new ones."""
        n_texts, n_words = len(self._arrays["text_key"]), len(self._arrays["text_words"])
        known: dict[str, int] = {}
        anchors: list[int] = []
        contexts: list[int] = []
        keys: list[int] = []
        cosines: list[float] = []
        lengths: list[float] = []
        words: list[int] = []
        ends: list[int] = []
        anchor_terms, context_terms = page.anchor_terms, page.context_terms
        number_of, hash_of = self._texts.get, self._hashes.__getitem__
        for link in page.links:
            for text, terms_of, numbers in (
                (link.anchor, anchor_terms, anchors),
                (link.context, context_terms, contexts),
            ):
                number = known.get(text)
                if number is None:
                    key = url_key(text)
                    number = number_of(key)
                    if number == ABSENT:
                        number = n_texts + len(keys)
                        terms = terms_of(link) if text else Terms()
                        words += map(hash_of, islice(terms, MAX_WORDS))
                        keys.append(key)
                        cosines.append(cosine(self._keywords, terms))
                        lengths.append(log(1 + len(text)))
                        ends.append(n_words + len(words))
                    known[text] = number
                numbers.append(number)
        for key in keys:
            self._texts.put(key, n_texts)
            n_texts += 1
        for name, values in (
            ("text_key", keys),
            ("text_cosine", cosines),
            ("text_length", lengths),
            ("text_words", words),
            ("text_end", ends),
        ):
            self._arrays[name].extend(np.array(values, dtype=LAYOUT[name][0]))
        return np.array(anchors, dtype=np.int32), np.array(contexts, dtype=np.int32)

    def _add_words(self, terms: Terms) -> None:
        """Add the words of a page; where there are too many, pages of long ago lose theirs."""
        kept = nlargest(_PAGE_WORDS, terms.items(), key=itemgetter(1))
        words = [self._page_hashes[word] for word, _ in kept]
        if len(self._arrays["page_words"]) + len(words) > _MOST_PAGE_WORDS:
            ends = self._arrays["page_end"].view()
            rows = int(np.searchsorted(ends, _MOST_PAGE_WORDS // 4)) + 1
            shorter = without_words(self._views(), rows)
            shorter["page_end"] = np.concatenate([np.zeros(rows, np.int64), shorter["page_end"]])
            for name, values in shorter.items():
                self._arrays[name] = GrowingArray.of(values)
        counts = [min(count, 255) for _, count in kept]
        self._arrays["page_words"].extend(np.array(words, dtype=np.uint32))
        self._arrays["page_counts"].extend(np.array(counts, dtype=np.uint8))

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
        ids = arrays["link_node"]
        if first_anew:
            flags = self._arrays["link_flags"].values[: len(rows)]
            flags &= SAME_HOST | SAME_DIRECTORY
            for start in range(0, len(rows), _CHUNK):  # their pairs need not all be in memory
                some = slice(start, start + _CHUNK)
                flags[some] |= self._first(tuple(group[some] for group in groups), ids[some])
        else:
            for bit, group in enumerate(groups):
                self._seen.add(mixed(group, ids, bit))

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
