"""Texts to learn from: the pages of a stored web that a crawl of it will not come to.

A strategy with a corpus must not learn it from the pages that it is to find. So each crawl
has texts of its own, as the leave-one-out of Almpanidis, Kotropoulos and Pitas 2007 (5.1):
they crawl one university, and learn from the texts of the others.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from focusspider.corpus import Corpus
from focusspider.errors import BenchmarkError
from focusspider.evaluation.bound import StoredTruth, reached_urls
from focusspider.evaluation.graph import stored_graph
from focusspider.parsing import parser_of
from focusspider.replay import open_archive
from focusspider.sites import Sites

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from focusspider.evaluation.benchmark import Benchmark
    from focusspider.evaluation.graph import StoredGraph
    from focusspider.replay import Archive
    from focusspider.text import Terms

__all__ = ["TEXTS_KEYS", "place_texts", "write_texts"]

#: What a table of texts may have.
TEXTS_KEYS = ("allow", "deny")
#: Of a crawl, what tells which pages it comes to.
_SCOPE = ("allow", "deny", "seeds", "language")


def place_texts(
    benchmark: Benchmark,
    folder: Path,
    key: Callable[[Mapping[str, Any]], str],
    *,
    fresh: bool = False,
) -> tuple[dict[str, dict[str, str]], list[dict[str, Any]]]:
    """Return where the texts of each crawl are, by its id and their name, and what to write.

    Only those that a strategy names; crawls of one scope share them. ``key`` tells one
    content from another, and is the name of the file. What is there is not written again,
    unless all is to be ``fresh``.
    """
    params = " ".join(str(strategy.params) for strategy in benchmark.strategies)
    texts = {f"{{texts.{name}}}": table for name, table in benchmark.texts.items()}
    places: dict[str, dict[str, str]] = {}
    wanted: dict[str, dict[str, Any]] = {}
    for crawl in benchmark.crawls:
        scope = {name: crawl.arguments.get(name) for name in _SCOPE}
        for place, table in texts.items():
            if place not in params:
                continue
            file = str(folder / f"{key({'texts': dict(table), 'scope': scope})}.npz")
            places.setdefault(crawl.id, {})[place] = file
            wanted[file] = {"file": file, "sites": dict(table), "arguments": dict(crawl.arguments)}
    return places, [one for file, one in wanted.items() if fresh or not Path(file).exists()]


def write_texts(job: Mapping[str, Any]) -> None:
    """Write the texts that a job names, each as a :class:`~focusspider.corpus.Corpus`.

    Raises BenchmarkError where there are none.
    """
    from scrapy.settings import Settings

    settings = Settings(job["settings"])
    archive = open_archive(job["archive"])
    graph: StoredGraph | None = None
    terms: dict[str, dict[str, Terms | None]] = {}  # by language and URL
    pages = tuple(_pages(archive))  # once: to ask for each is to unpack the archive
    for one in job["texts"]:
        truth = StoredTruth(one["arguments"], archive, settings)
        own: Callable[[str], bool] = truth.topic.sites.allows
        if not truth.topic.sites.allow:
            graph = graph or stored_graph(archive, parser_of("english", settings))
            own = frozenset(reached_urls(graph, truth)).__contains__
        wanted = Sites(**{key: tuple(value) for key, value in one["sites"].items()})
        corpus = Corpus(truth.topic.language)
        known = terms.setdefault(truth.topic.language, {})
        for url in pages:
            if not own(url) and wanted.allows(url):
                if url not in known:
                    page = truth.page(url)
                    known[url] = page.terms if page is not None else None
                found = known[url]
                if found:
                    corpus.add(found)
        if not len(corpus):
            raise BenchmarkError(
                f"crawl {truth.topic.name}: no page of the corpus is left to learn from beside "
                f"those that it can come to; mend texts"
            )
        path = Path(one["file"])
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".part")
        corpus.save(draft)
        draft.replace(path)


def _pages(archive: Archive) -> Iterable[str]:
    """Return the URLs of the pages of an archive; redirects and errors are none."""
    for url in archive.urls():
        stored = archive.get(url)
        if stored is not None and 200 <= stored.status < 300:
            yield stored.url
