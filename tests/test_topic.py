from __future__ import annotations

import json
from pathlib import Path

import pytest

from focusspider.topic import ARGUMENTS, Limits, RelevanceSpec, Sites, Topic

FULL = """
name = "graph-search"
keywords = ["graph search", "graph search", " shortest path "]
description = "Algorithms that search graphs."
language = "EN"
seeds = ["https://example.org/", "https://example.org/", "http://example.com/a?b=1"]
targets = ["https://example.org/dijkstra", "pages/astar.html"]

[strategy]
name = "dom"
alpha = 0.5

[relevance]
kind = "cosine"
threshold = 1
weighting = "tf"

[limits]
pages = 1000
depth = 8
hosts = 50
pages_per_host = 200

[sites]
allow = ["example.org", "http://example.com/a"]
deny = ["re:[?&]sort="]
"""
MINIMAL = 'keywords = ["graphs"]\nseeds = ["https://example.org/"]\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with topics/, and two pages to take for targets."""
    monkeypatch.chdir(tmp_path)
    pages = Path("topics/pages")
    pages.mkdir(parents=True)
    (pages / "astar.html").write_text("<html><title>A*</title><p>Graphs", encoding="utf-8")
    (pages / "utf16.html").write_text("<html><p>Graphs", encoding="utf-16")
    return tmp_path


def write(text, name="t.toml"):
    path = Path("topics") / name
    if isinstance(text, str):
        text = text.encode()
    path.write_bytes(text)
    return str(path)


def test_a_full_file(folder):
    topic = Topic.from_toml(write(FULL))
    assert topic == Topic(
        name="graph-search",
        keywords=("graph search", "shortest path"),
        description="Algorithms that search graphs.",
        language="english",
        seeds=("https://example.org/", "http://example.com/a?b=1"),
        targets=("https://example.org/dijkstra", str(folder / "topics/pages/astar.html")),
        strategy="dom",
        strategy_params={"alpha": 0.5},
        relevance=RelevanceSpec(kind="cosine", threshold=1.0, params={"weighting": "tf"}),
        limits=Limits(pages=1000, depth=8, hosts=50, pages_per_host=200),
        sites=Sites(allow=("example.org", "http://example.com/a"), deny=("re:[?&]sort=",)),
        base_dir="topics",
        source="topics/t.toml",
    )
    assert topic.target_urls == ("https://example.org/dijkstra",)
    assert topic.target_files == (folder / "topics/pages/astar.html",)


def test_a_minimal_file_has_the_defaults(folder):
    topic = Topic.from_toml(write(b"\xef\xbb\xbf" + MINIMAL.encode()))  # Notepad's mark
    assert topic == Topic(
        name="t",
        keywords=("graphs",),
        seeds=("https://example.org/",),
        base_dir="topics",
        source="topics/t.toml",
    )


def test_a_name_may_stand_for_the_table(folder):
    topic = Topic.from_toml(write('strategy = "dom"\nrelevance = "keywords"\n' + MINIMAL))
    assert (topic.strategy, topic.relevance.kind) == ("dom", "keywords")


def test_a_file_name_that_is_no_folder_name_is_made_one(folder):
    assert Topic.from_toml(write(MINIMAL, "my topic (2).toml")).name == "my-topic-2"


def test_an_utf16_page_is_a_page(folder):
    topic = Topic.from_toml(write('targets = ["pages/utf16.html"]\n' + MINIMAL))
    assert [file.name for file in topic.target_files] == ["utf16.html"]


@pytest.mark.parametrize("suffix", ["", ".toml"])
def test_a_topic_is_found_by_name_and_by_path(folder, suffix):
    write(MINIMAL, "graphs.toml")
    (folder / "topics/more").mkdir()
    write(MINIMAL, "more/deep.toml")
    assert Topic.load(f"graphs{suffix}").source == "topics/graphs.toml"
    assert Topic.load(f"more/deep{suffix}").source == "topics/more/deep.toml"
    assert Topic.load("topics/graphs.toml").source == "topics/graphs.toml"
    assert Topic.load(folder / "topics/graphs.toml").name == "graphs"
    assert Topic.load("deep", folder / "topics/more").name == "deep"


def test_a_path_comes_before_a_name(folder):
    write(MINIMAL, "a.toml")
    Path("a.toml").write_text('name = "here"\n' + MINIMAL, encoding="utf-8")
    assert Topic.load("a.toml").name == "here"
    assert Topic.load("a").name == "a"


def test_inline_arguments_alone(folder):
    topic = Topic.from_arguments(
        name="graphs",
        keywords="graph search, , shortest path",
        description="Algorithms.",
        language="fr",
        seeds="https://example.org/,https://example.com/",
        targets='["https://example.org/a,b", "topics/pages/astar.html"]',
        strategy='{"name": "dom", "alpha": 0.5}',
        relevance="cosine",
        threshold="0.25",
        pages="1_000",
        depth=" 8 ",
        hosts=50,
        pages_per_host="",
        allow="example.org,example.com",
        deny='["re:z{1,2}"]',
    )
    assert topic == Topic(
        name="graphs",
        keywords=("graph search", "shortest path"),
        description="Algorithms.",
        language="french",
        seeds=("https://example.org/", "https://example.com/"),
        targets=("https://example.org/a,b", str(folder / "topics/pages/astar.html")),
        strategy="dom",
        strategy_params={"alpha": 0.5},
        relevance=RelevanceSpec(kind="cosine", threshold=0.25),
        limits=Limits(pages=1000, depth=8, hosts=50),
        sites=Sites(allow=("example.org", "example.com"), deny=("re:z{1,2}",)),
        given=topic.given,
    )


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"keywords": "Graph search!, x"}, "Graph-search"),
        ({"description": "x", "seeds": "https://www.example.org/"}, "www.example.org"),
        ({"keywords": "../.."}, "topic"),
    ],
)
def test_the_name_of_an_inline_topic(arguments, name):
    assert Topic.from_arguments(**{"seeds": "https://example.org/", **arguments}).name == name


def test_arguments_take_the_place_of_a_files_values(folder):
    path = write(FULL)
    topic = Topic.load(path, arguments={"pages": "5", "keywords": "x", "threshold": "", "deny": ""})
    file = Topic.load(path)
    assert topic.limits == Limits(pages=5, depth=8, hosts=50, pages_per_host=200)
    assert topic.keywords == ("x",)
    assert topic.relevance == RelevanceSpec(kind="cosine", params={"weighting": "tf"})
    assert topic.sites == Sites(allow=file.sites.allow)
    assert (topic.name, topic.seeds, topic.targets) == (file.name, file.seeds, file.targets)


def test_arguments_complete_a_file(folder):
    path = write('keywords = ["graphs"]')
    assert Topic.load(path, arguments={"seeds": "https://example.org/"}).keywords == ("graphs",)


def test_replace_is_the_same_as_loading_with_arguments(folder):
    path = write(FULL)
    arguments = {"pages": "5", "relevance": "keywords", "description": ""}
    assert Topic.load(path).replace(**arguments) == Topic.load(path, arguments=arguments)
    assert Topic.load(path).replace() == Topic.load(path)


@pytest.mark.parametrize(
    ("strategy", "params"),
    [
        ("dom", {"alpha": 0.5}),  # the file's own: its parameters stay
        ("best-first", {}),  # another: they are not its parameters
        ('{"name": "dom", "aggregation": "parent"}', {"aggregation": "parent"}),
        ("", {}),
    ],
)
def test_a_strategy_by_argument(folder, strategy, params):
    assert Topic.load(write(FULL), arguments={"strategy": strategy}).strategy_params == params


def test_another_judge_takes_no_threshold_over(folder):
    topic = Topic.from_toml(write(FULL))
    assert topic.replace(relevance="keywords").relevance == RelevanceSpec(kind="keywords")
    changed = topic.replace(relevance="keywords", threshold="0.5").relevance
    assert changed == RelevanceSpec(kind="keywords", threshold=0.5)
    changed = topic.replace(threshold="0.5", relevance="keywords").relevance
    assert changed == RelevanceSpec(kind="keywords", threshold=0.5)


def test_where_a_value_came_from(folder):
    topic = Topic.load(write(FULL), arguments={"strategy": "best-first", "pages": "5"})
    assert topic.place("strategy") == "argument strategy"
    assert topic.place("strategy.name") == "argument strategy"
    assert topic.place("limits.pages") == "argument pages"
    assert topic.place("limits.depth") == "topics/t.toml: limits.depth"
    assert topic.place("relevance") == "topics/t.toml: relevance"


def test_to_dict_is_json_and_has_the_form_of_the_file(folder):
    topic = Topic.from_toml(write(FULL))
    written = json.loads(json.dumps(topic.to_dict()))
    assert written.pop("source") == "topics/t.toml"
    text = json.dumps(written)
    assert '"strategy": {"name": "dom", "alpha": 0.5}' in text
    again = Topic.from_arguments(
        **{
            name: written[name] for name in ("name", "keywords", "description", "language", "seeds")
        },
        **{name: written[name] for name in ("targets", "strategy", "relevance")},
        **written["limits"],
        **written["sites"],
    )
    assert again.to_dict() == topic.to_dict() | {"source": "arguments"}


def test_each_argument_sets_one_key():
    assert len(set(ARGUMENTS.values())) == len(ARGUMENTS)


def test_lists_of_urls_are_taken_from_files(folder):
    (folder / "topics/found.txt").write_text(
        "# found\nhttps://a.example/\nhttps://b.example/x\n", encoding="utf-8"
    )
    (folder / "mine.txt").write_text("https://c.example/\n", encoding="utf-8")
    listed = ("https://a.example/", "https://b.example/x")
    path = write(
        'keywords = ["graphs"]\nseeds = ["https://b.example/x", "found.txt"]\n'
        'targets = ["found.txt", "pages/astar.html"]\n'
    )
    topic = Topic.from_toml(path)
    assert topic.seeds == listed[::-1]
    assert topic.targets == (*listed, str(folder / "topics/pages/astar.html"))
    # an argument's path is one of where the command is called
    for seeds in ("mine.txt", "topics/found.txt", "mine.txt,https://d.example/l.txt"):
        given = Topic.from_toml(path, {"seeds": seeds}).seeds
        assert (
            given
            == {
                "mine.txt": ("https://c.example/",),
                "topics/found.txt": listed,
                "mine.txt,https://d.example/l.txt": (
                    "https://c.example/",
                    "https://d.example/l.txt",
                ),
            }[seeds]
        )
    inline = Topic.from_arguments(keywords="graphs", seeds="mine.txt")
    assert inline.seeds == ("https://c.example/",)
    assert inline.replace(pages="3").seeds == inline.seeds
