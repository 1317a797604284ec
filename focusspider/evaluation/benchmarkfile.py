"""Reads a benchmark file, and checks it as a whole.

What is wrong is one :class:`BenchmarkError` that names the file, the key and the remedy. A
crawl is a topic, and its values are checked as those of a topic file.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focusspider.config import is_folder_name
from focusspider.errors import BenchmarkError, TopicError, UnknownNameError, nearest
from focusspider.evaluation.benchmark import BASELINE, Benchmark, CrawlSpec, StrategySpec
from focusspider.evaluation.testbed import TestbedSpec
from focusspider.evaluation.texts import TEXTS_KEYS
from focusspider.relevance import topic_relevance
from focusspider.replay.spec import SAMPLE
from focusspider.resources import located
from focusspider.sites import Sites
from focusspider.strategies import build_strategy
from focusspider.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["CRAWL_KEYS", "load_benchmark"]

_KEYS = (
    "name", "description", "baseline", "pages", "corpus", "strategies", "settings",
    "sites", "topics", "crawls", "texts", "testbed",
)  # fmt: skip
_CORPUS = ("archive", "labels")
#: What a crawl, a site or a topic may have.
CRAWL_KEYS = (
    "name", "topic", "seeds", "keywords", "description", "targets", "language",
    "label", "match", "relevance", "judge", "allow", "deny", "pages",
)  # fmt: skip
_STRATEGY = ("name", "label", "random")
_PLACE = re.compile(r"\{texts\.([^{}]*)\}")


def load_benchmark(path: str | Path, corpora: str | Path | None = None) -> Benchmark:
    """Read a benchmark file; ``corpora`` is the folder of its archives.

    Without one that is the folder ``corpora`` beside the file.
    """
    path = Path(path)
    folder = Path(corpora) if corpora else path.parent / "corpora"
    return _Reader(path, folder.expanduser().absolute()).benchmark()


class _Reader:
    """Reads and checks one file."""

    def __init__(self, path: Path, corpora: Path) -> None:
        self.path = path
        self.corpora = corpora
        self.table = self._read()

    def error(self, key: str, problem: str) -> BenchmarkError:
        return BenchmarkError(
            f"{self.path}: {key}: {problem}" if key else f"{self.path}: {problem}"
        )

    def benchmark(self) -> Benchmark:
        table = self.table
        self._known("", table, _KEYS)
        name = table.get("name", self.path.stem)
        if not isinstance(name, str) or not is_folder_name(name):
            raise self.error("name", f"{name!r} is no name that a folder can have; give one")
        corpus = self._table("corpus", table.get("corpus"))
        self._known("corpus", corpus, _CORPUS)
        archive = self._texts("corpus.archive", corpus.get("archive"))
        labels = corpus.get("labels")
        if labels is not None:
            labels = self.corpora / self._texts("corpus.labels", labels)[0]
        strategies = self._strategies(table.get("strategies"))
        baseline = table.get("baseline", BASELINE)
        known = dict.fromkeys([*(one.label for one in strategies), BASELINE])
        if not isinstance(baseline, str):
            raise self.error("baseline", f"{baseline!r} is no text; give a strategy's label")
        if baseline not in known:
            raise UnknownNameError("strategy", baseline, known, where=f"{self.path}: baseline")
        pages = table.get("pages")
        self._whole("pages", pages)
        testbed = table.get("testbed")
        if testbed is not None:
            try:
                testbed = TestbedSpec.from_table(self._table("testbed", testbed))
            except ValueError as wrong:
                raise self.error("testbed", str(wrong)) from None
        return Benchmark(
            name=name,
            source=str(self.path),
            description=str(table.get("description", "")),
            archive=archive
            if archive == (SAMPLE,)
            else tuple(str(self.corpora / entry) for entry in archive),
            labels=labels,
            corpora=self.corpora,
            crawls=self._crawls(labels, pages),
            strategies=strategies,
            baseline=baseline,
            pages=pages,
            settings=self._table("settings", table.get("settings", {})),
            texts=self._read_texts(strategies, testbed),
            testbed=testbed,
        )

    # -- crawls ----------------------------------------------------------------------

    def _crawls(self, labels: Path | None, pages: int | None) -> tuple[CrawlSpec, ...]:
        """Return the crawls that are listed, and those of each site with each topic."""
        sites = self._tables("sites", self.table.get("sites", []))
        topics = self._tables("topics", self.table.get("topics", []))
        merged = [("crawls", "", "", one) for one in
                  self._tables("crawls", self.table.get("crawls", []))]  # fmt: skip
        if bool(sites) != bool(topics):
            raise self.error(
                "sites", "[[sites]] and [[topics]] are crossed; give both, or list [[crawls]]"
            )
        merged += [self._crossed(site, topic) for site in sites for topic in topics]
        if not merged:
            raise self.error(
                "crawls", "there are none; give [[crawls]], or [[sites]] and [[topics]]"
            )
        crawls = [self._crawl(*one, labels, pages) for one in merged]
        ids = [crawl.id for crawl in crawls]
        for one in ids:
            if ids.count(one) > 1:
                raise self.error("crawls", f"{one!r} is the id of two crawls; give them names")
        return tuple(crawls)

    def _crossed(
        self, site: Mapping[str, Any], topic: Mapping[str, Any]
    ) -> tuple[str, str, str, dict[str, Any]]:
        names = [str(part["name"]) for part in (site, topic) if part.get("name")]
        both = sorted((set(site) & set(topic)) - {"name"})
        if both:
            raise self.error(
                f"topics.{both[0]}", "it is given in [[sites]] too; leave it in one of them"
            )
        table = {**site, **topic, "name": "-".join(names)}
        return "sites and topics", str(site.get("name", "")), str(topic.get("name", "")), table

    def _crawl(
        self,
        key: str,
        site: str,
        topic: str,
        table: Mapping[str, Any],
        labels: Path | None,
        pages: int | None,
    ) -> CrawlSpec:
        name = table.get("name")
        if not isinstance(name, str) or not is_folder_name(name):
            raise self.error(
                key, f"{name!r} is no id of a crawl; give name = with letters, digits and -"
            )
        where = f"crawl {name}"
        self._whole(f"{where}: pages", table.get("pages"))
        try:
            arguments = self._arguments(table, labels, where)
            judge = self._judge(table, where)
        except TopicError as wrong:
            raise BenchmarkError(str(wrong)) from wrong.__cause__
        arguments["name"] = name
        arguments["pages"] = table.get("pages", pages)
        return CrawlSpec(id=name, site=site, topic=topic, arguments=arguments, judge=judge)

    def _arguments(
        self, table: Mapping[str, Any], labels: Path | None, where: str
    ) -> dict[str, Any]:
        """Return the arguments of the spider, checked as a topic."""
        values = {
            key: value
            for key, value in table.items()
            if key not in {"name", "topic", "label", "match", "judge", "pages"}
        }
        if "label" in table:
            if "relevance" in table:
                raise self.error(
                    f"{where}: label", "there is relevance, too, and each is the truth; leave one"
                )
            if labels is None:
                raise self.error(f"{where}: label", "there is no table of them; give corpus.labels")
            match = {"match": table["match"]} if "match" in table else {}
            values["relevance"] = {
                "kind": "labels", "file": str(labels), "label": table["label"], **match,
            }  # fmt: skip
        elif "match" in table:
            raise self.error(f"{where}: match", "it is the match of a label; give label, too")
        topic = self._topic(table, values, where)
        if topic.relevance.kind is None and "relevance" not in table and "label" not in table:
            raise self.error(where, "there is no truth; give label =, or relevance =")
        return _spider_arguments(topic)

    def _topic(self, table: Mapping[str, Any], values: dict[str, Any], where: str) -> Topic:
        sites: dict[str, Any] = {key: values.pop(key) for key in ("allow", "deny") if key in values}
        if "topic" in table:
            return Topic.load(self.path.parent / str(table["topic"]), arguments={**values, **sites})
        whole = {"name": where, **values, "sites": sites} | {"name": str(table["name"])}
        return Topic.from_table(whole, source=f"{self.path}: {where}", base_dir=self.path.parent)

    def _judge(self, table: Mapping[str, Any], where: str) -> dict[str, Any] | None:
        """Return the relevance by which a crawl judges where it is not told the truth."""
        if "judge" not in table:
            return None
        judge = self._table(f"{where}: judge", table["judge"])
        left_out = {"name", "topic", "label", "match", "relevance", "judge", "pages"}
        values = {key: value for key, value in table.items() if key not in left_out}
        topic = self._topic(table, {**values, "relevance": judge}, f"{where}: judge")
        topic_relevance(topic)  # or a wrong name would be said by each crawl
        arguments: dict[str, Any] = _spider_arguments(topic)["relevance"]
        return arguments

    # -- strategies ------------------------------------------------------------------

    def _strategies(self, entries: object) -> tuple[StrategySpec, ...]:
        if not isinstance(entries, list) or not entries:
            raise self.error("strategies", 'give a list of names or tables, such as ["dom"]')
        found: list[StrategySpec] = []
        for number, entry in enumerate(entries):
            key = f"strategies[{number}]"
            spec = self._strategy(key, {"name": entry} if isinstance(entry, str) else entry)
            if spec.label in {one.label for one in found} | {"omniscient"}:
                raise self.error(key, f"the label {spec.label!r} is taken; give another, label =")
            found.append(spec)
        return tuple(found)

    def _strategy(self, key: str, entry: object) -> StrategySpec:
        table = self._table(key, entry)
        name, random = table.get("name"), table.get("random", False)
        label = table.get("label", name)
        if not isinstance(name, str) or not isinstance(label, str) or not is_folder_name(label):
            raise self.error(
                key, f"{label!r} is no name; give name =, and label = where it repeats"
            )
        if BASELINE in (name, label) and (name != label or len(table) > 1 + ("label" in table)):
            raise self.error(
                key, f"{BASELINE} is what headroom is measured from; leave it as it is"
            )
        if not isinstance(random, bool):
            raise self.error(f"{key}.random", f"give true or false, not {random!r}")
        params = {name: value for name, value in table.items() if name not in _STRATEGY}
        if not any("{" in str(value) for value in params.values()):
            build_strategy(name, params, where=f"{self.path}: {key}")
        return StrategySpec(label=label, name=name, params=params, random=random)

    def _read_texts(
        self, strategies: tuple[StrategySpec, ...], testbed: TestbedSpec | None
    ) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the tables of texts that strategies learn from."""
        known = self._table("texts", self.table.get("texts", {}))
        if known and testbed is not None:
            raise self.error("texts", "a test bed draws its targets from all pages; leave it out")
        named = {name for one in strategies for name in _PLACE.findall(str(one.params))}
        for name in sorted(named):
            if name not in known:
                raise UnknownNameError("texts", name, known, where=f"{self.path}: strategies")
        read: dict[str, dict[str, tuple[str, ...]]] = {}
        for name, entry in known.items():
            table = self._table(f"texts.{name}", entry)
            self._known(f"texts.{name}", table, TEXTS_KEYS)
            read[name] = {k: self._texts(f"texts.{name}.{k}", v) for k, v in table.items()}
            try:
                Sites(**read[name])
            except ValueError as wrong:
                raise self.error(f"texts.{name}", str(wrong)) from None
        return read

    # -- values ----------------------------------------------------------------------

    def _known(self, key: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
        known = tuple(known)
        for name in table:
            if name not in known:
                raise self.error(
                    f"{key}.{name}" if key else name,
                    f"not a key{nearest(name, known)}; known: {', '.join(known)}",
                )

    def _table(self, key: str, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.error(key, f"give a table, not {value!r}")
        return value

    def _tables(self, key: str, value: object) -> list[dict[str, Any]]:
        if not isinstance(value, list):
            raise self.error(key, f"give tables, [[{key}]], not {value!r}")
        for number, one in enumerate(value):
            self._known(f"{key}[{number}]", self._table(f"{key}[{number}]", one), CRAWL_KEYS)
        return value

    def _texts(self, key: str, value: object) -> tuple[str, ...]:
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not values or not all(
            isinstance(one, str) and one.strip() for one in values
        ):  # fmt: skip
            raise self.error(key, f"give a path, or a list of paths, not {value!r}")
        return tuple(values)

    def _whole(self, key: str, value: object) -> None:
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self.error(key, f"give a whole number of 1 or more, not {value!r}")

    def _read(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self.path.read_text(encoding="utf-8-sig"))
        except FileNotFoundError:
            raise self.error("", "there is no such file; mend the path") from None
        except OSError as wrong:
            raise self.error("", f"cannot be read: {wrong.strerror}") from None
        except (ValueError, RecursionError) as wrong:
            raise self.error("", f"not TOML in UTF-8: {wrong}; mend it there") from None


def _spider_arguments(topic: Topic) -> dict[str, Any]:
    """Return a topic as the arguments of ``scrapy crawl focus``, JSON-safe.

    The limits of a topic file are for live crawls, and left out.
    """
    table = topic.to_dict()
    arguments = {
        key: table[key]
        for key in ("keywords", "description", "language", "seeds", "targets")
        if table[key]
    }
    relevance = {key: value for key, value in table["relevance"].items() if value is not None}
    for key in ("file", "model", "negatives"):  # the arguments have no file to be relative to
        if isinstance(relevance.get(key), str):
            relevance[key] = str(located(relevance[key], topic.base_dir).absolute())
        elif isinstance(relevance.get(key), list | tuple):
            relevance[key] = [str(located(p, topic.base_dir).absolute()) for p in relevance[key]]
    arguments |= {key: value for key, value in table["sites"].items() if value}
    return arguments | {"relevance": relevance}
