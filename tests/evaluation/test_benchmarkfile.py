from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest
from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from focusspider.commands.evaluate import Command
from focusspider.errors import FocusError
from focusspider.evaluation.benchmarkfile import CRAWL_KEYS, load_benchmark

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "benchmarks").glob("*.toml"))

GOOD = """
strategies = ["dom", { name = "dom", label = "dom-half", alpha = 0.5 }]

[corpus]
archive = ["a.warc.gz", "b.warc.gz"]
labels = "labels.csv"

[[sites]]
name = "north"
seeds = ["http://n.example/"]
allow = ["n.example"]

[[sites]]
name = "south"
seeds = ["http://s.example/"]

[[topics]]
name = "tides"
keywords = ["tide"]
label = ["tide", "ebb"]

[[topics]]
name = "moon"
keywords = ["moon"]
label = "moon"
match = "prefix"
"""


def load(tmp_path: Path, text: str):
    path = tmp_path / "b.toml"
    path.write_text(text, encoding="utf-8")
    return load_benchmark(path)


def test_sites_are_crossed_with_topics(tmp_path: Path) -> None:
    benchmark = load(tmp_path, GOOD)
    ids = ["north-tides", "north-moon", "south-tides", "south-moon"]
    assert [crawl.id for crawl in benchmark.crawls] == ids
    crawl = benchmark.crawls[1]
    assert (crawl.site, crawl.topic) == ("north", "moon")
    assert dict(crawl.arguments) == {
        "name": "north-moon",
        "keywords": ["moon"],
        "language": "english",
        "seeds": ["http://n.example/"],
        "allow": ["n.example"],
        "pages": None,
        "relevance": {
            "kind": "labels",
            "file": str(tmp_path / "corpora/labels.csv"),
            "label": "moon",
            "match": "prefix",
        },
    }
    assert benchmark.archive == tuple(
        str(tmp_path / "corpora" / name) for name in ("a.warc.gz", "b.warc.gz")
    )
    assert [path.name for path in benchmark.missing] == ["a.warc.gz", "b.warc.gz", "labels.csv"]
    assert benchmark.name == "b"


def test_the_one_site_and_the_one_topic_need_no_name(tmp_path: Path) -> None:
    one = GOOD[: GOOD.index("[[topics]]")] + '[[topics]]\nkeywords = ["tide"]\nlabel = "tide"\n'
    assert [crawl.id for crawl in load(tmp_path, one).crawls] == ["north", "south"]


def test_the_parameters_of_strategies(tmp_path: Path) -> None:
    text = GOOD.replace("alpha = 0.5", 'model = "{corpora}/{site}-{topic}.npz"')
    benchmark = load(tmp_path, text)
    filled = benchmark.strategies[1].of(benchmark.crawls[1], Path("/c"))
    assert filled == {"name": "dom", "model": "/c/north-moon.npz"}


def test_a_benchmark_is_narrowed(tmp_path: Path) -> None:
    benchmark = load(tmp_path, GOOD)
    less = benchmark.narrowed(crawls=benchmark.crawls[:1], pages=7)
    assert [crawl.arguments["pages"] for crawl in less.crawls] == [7]
    assert less.strategies == benchmark.strategies
    assert benchmark.crawls[0].arguments["pages"] is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[corpus]", "paegs = 3\n[corpus]", "paegs: not a key (did you mean 'pages'?)"),
        ("[corpus]", "pages = 0\n[corpus]", "pages: give a whole number of 1 or more, not 0"),
        ("[corpus]", "[x", "not TOML in UTF-8"),
        ("[corpus]", 'baseline = "x"\n[corpus]', "baseline: 'x' is not a known strategy"),
        ('"dom",', '"dum",', "strategies[0]: 'dum' is not a known strategy"),
        ("alpha = 0.5", "alpha = 5", "strategies[1]: strategy 'dom': alpha"),
        (', label = "dom-half"', "", "strategies[1]: the label 'dom' is taken"),
        ("archive =", "archives =", "corpus.archives: not a key (did you mean 'archive'?)"),
        ('labels = "labels.csv"', "", "crawl north-tides: label: there is no table of them"),
        ('label = "moon"\n', 'label = "moon"\njudge = { kind = "labls" }\n',
         "crawl north-moon: judge: relevance: 'labls' is not a known"),
        ('label = "moon"\n', 'label = "moon"\njudge = "table"\n',
         "crawl north-moon: judge: give a table, not 'table'"),
        ('label = "moon"\n', 'label = "moon"\nrelevance = { kind = "keywords", any = ["x"] }\n',
         "crawl north-moon: label: there is relevance, too, and each is the truth; leave one"),
        ("[corpus]", 'baseline = ["dom"]\n[corpus]', "baseline: ['dom'] is no text"),
        ('label = "moon"\n', "", "crawl north-moon: match: it is the match of a label"),
        ('label = ["tide", "ebb"]', "", "crawl north-tides: there is no truth"),
        ('keywords = ["moon"]', 'keywords = ["moon"]\nseeds = ["http://m.example/"]',
         "topics.seeds: it is given in [[sites]] too"),
        ("http://n.example/", "n.example", "crawl north-tides: seeds: \"n.example\" has no scheme"),
        ('["n.example"]', '["m.example"]', "crawl north-tides: sites.allow"),
        ('name = "south"', 'name = "north"', "'north-tides' is the id of two crawls"),
        ('name = "south"', 'name = "so/uth"', "'so/uth-tides' is no id of a crawl"),
        ("[[topics]]", "[[topic]]", "topic: not a key"),
        ("alpha = 0.5", "random = 1", "strategies[1].random: give true or false, not 1"),
        ('"dom-half"', '"breadth-first"', "strategies[1]: breadth-first is what headroom"),
        ("[corpus]", "[testbed]\nsplit = 3\n[corpus]", "testbed: split is not a key of it"),
        ("[corpus]", "[testbed]\nseeds = 0\n[corpus]", "testbed: seeds = 0: give a whole number"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_message_with_the_file_and_the_key(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in GOOD
    with pytest.raises(FocusError) as caught:
        load(tmp_path, GOOD.replace(old, new))
    text = str(caught.value)
    assert text.startswith(f"{tmp_path / 'b.toml'}: ")
    assert message in text
    assert "\n" not in text or "TOML" in text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_benchmark_loads(path: Path) -> None:
    benchmark = load_benchmark(path)
    assert benchmark.name == path.stem
    assert benchmark.description
    names = {one.name for one in benchmark.strategies}
    assert (
        names in ({"hcla"}, {"auto"})
        or {"breadth-first", "best-first", "dom"} <= names
        or {"breadth-first", "apprentice", "xcrawl"} <= names
    )


def test_the_benchmarks_are_those_that_were_defined() -> None:
    ids = {path.stem: [c.id for c in load_benchmark(path).crawls] for path in FILES}
    universities = ("cornell", "texas", "washington", "wisconsin")
    topics = ("course", "faculty", "project", "student")
    assert ids["webkb"] == [f"{place}-{topic}" for place in universities for topic in topics]
    assert ids["manuals"] == ["httpd", "python", "postgresql", "git", "sqlite", "grass"]
    assert ids["uci"] == ["ml", "se", "graphics", "embedded"]
    assert len(ids["wikispeedia"]) == 8


def page() -> str:
    return (ROOT / "docs/evaluation.md").read_text(encoding="utf-8")


def test_the_examples_of_the_page_load(tmp_path: Path) -> None:
    first, texts, second = re.findall(r"^```toml\n(.*?)^```$", page(), re.MULTILINE | re.DOTALL)
    assert len(load(tmp_path, first).crawls) == 4
    learning = texts + first[first.index("[corpus]") :]
    assert load(tmp_path, learning).texts == {
        "others": {"allow": ("north.example", "south.example")}
    }
    head, bed = second.split("\n\n", 1)
    whole = first.replace(re.search(r"^pages.*$", first, re.MULTILINE)[0], head) + bed
    assert load(tmp_path, whole).testbed is not None


def test_every_option_key_and_benchmark_is_on_the_page() -> None:
    parser = argparse.ArgumentParser()
    command = Command()
    command.settings = Settings()
    ScrapyCommand.add_options(command, known := argparse.ArgumentParser())
    command.add_options(parser)
    options = set(parser._option_string_actions) - set(known._option_string_actions)
    documented = set(re.findall(r"^\| `(--[a-z]+)", page(), re.MULTILINE))
    assert documented == options
    rows = re.findall(r"^\| (`.*?) \|", page(), re.MULTILINE)
    words = {word for row in rows for word in re.findall(r"`([\w-]+)`", row)}
    assert set(CRAWL_KEYS) <= words
    assert {path.stem for path in FILES} <= words
