"""``scrapy focus-search``, as a user calls it, on the sample web and on local sites."""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from focusspider.commands.answers import Answers
from focusspider.commands.search import Command
from focusspider.errors import SettingError
from focusspider.replay.sample import relevant_urls
from focusspider.urllist import listed_urls
from tests.calls import call, command, environment
from tests.crawls import ROOT, crawl
from tests.jsonserver import Answer
from tests.searxngserver import SearxngServer
from tests.site import Reply, Site

if TYPE_CHECKING:
    from pathlib import Path

MILL = "<title>{}</title><p>The mill grinds corn: wheel, {} and sail, the miller's stones turn."


search = partial(call, "focus-search")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


def documented(call: str) -> str:
    page = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    return page.split(f"$ {call}\n")[1].split("```")[0]


def test_from_the_keywords_of_the_sample_web(models: Path, tmp_path: Path) -> None:
    out = models / "sample" / "authorities.txt"
    settings = {"FOCUS_REPLAY": "sample", "FOCUS_MODELS_DIR": models, "LOG_LEVEL": "WARNING"}
    done = search("sample", **settings)
    assert done.returncode == 0, done.stderr
    # a slow machine is told how far the archive is read
    assert [line for line in done.stderr.splitlines() if "Reading the archive" not in line] == []
    assert sorted(path.name for path in out.parent.iterdir()) == ["authorities.txt"]
    found = listed_urls(out)
    assert len(found) > 40
    assert set(found) <= set(relevant_urls())
    call = "scrapy focus-search sample -s FOCUS_REPLAY=sample -L WARNING"
    assert done.stdout.replace(str(models), "models") == documented(call)

    again = search("sample", **settings)
    assert again.returncode == 1
    assert again.stderr == (
        f"{out} is there already: call with --fresh to search again, or with --out to keep it\n"
    )
    again = search("sample", "--fresh", **settings)
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert listed_urls(out) == found

    # what was found is where a crawl begins
    crawled = crawl(tmp_path, "topic=sample", f"seeds={out}", "pages=20", FOCUS_REPLAY="sample")
    assert crawled.code == 0, crawled.log
    assert crawled.run["topic"]["seeds"] == list(found)
    assert len(crawled.items) == len(crawled.pages) == 20
    assert all(page["relevant"] for page in crawled.pages)


def test_from_sample_documents(models: Path, tmp_path: Path) -> None:
    samples = sorted(relevant_urls())[::6]
    targets = tmp_path / "samples.txt"
    targets.write_text("\n".join(samples))
    out = tmp_path / "found.txt"
    done = search(
        "sample", "--targets", targets, "--out", out, "--first", 5, "--length", 2, "--tokens", 9,
        "--max-iterations", 9, "--queries", 40, FOCUS_REPLAY="sample", FOCUS_MODELS_DIR=models,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"Tokens of: {len(samples)} sample documents" in done.stdout
    table = done.stdout.partition("\n\n")[2].partition("\n\n")[0].splitlines()
    assert len(table) == 1 + 9
    queries = re.findall(r"INFO: (.*): hits (\S+), results (\d+), accepted", done.stderr)
    assert max(len(query.split()) for query, _, _ in queries) == 2
    assert max(int(results) for _, _, results in queries) <= 5
    assert int(re.search(r"^(\d+) queries asked", done.stdout, re.MULTILINE)[1]) <= 40
    found = listed_urls(out)
    assert not set(found) & set(samples)
    fetched = int(re.search(r"'focus/search/fetched': (\d+)", done.stderr)[1])
    validated = int(re.search(r"(\d+) pages validated", done.stdout)[1])
    assert fetched <= validated + len(samples)


@pytest.fixture
def web(tmp_path: Path):
    """Mills on two hosts, and what an engine names besides."""
    pages = {
        "/robots.txt": Reply("User-agent: *\nDisallow: /private", headers={
            "Content-Type": "text/plain"}),
        "/sample": MILL.format("Sample", "cog"),
        "/private/mill": MILL.format("Private", "cog"),
        "/gone": Reply("gone", status=404),
        "/picture": Reply(b"\x89PNG", headers={"Content-Type": "image/png"}),
        "/moved": Reply(status=301, headers={"Location": "/mill1"}),
        "/back": Reply(status=301, headers={"Location": "/sample"}),
        "/other": "<title>Ferry</title><p>The ferry leaves at noon, and tides are high.",
        **{f"/mill{n}": MILL.format(f"Mill {n}", "cog") for n in range(4)},
    }  # fmt: skip
    with Site(pages, hosts=["127.0.0.1", "127.0.0.2"]) as site:
        named = {
            site.url(path, host): (path, "mill corn wheel cog sail miller stones turn grinds")
            for host in site.hosts
            for path in pages
            if path != "/robots.txt"
        }
        named["http://127.0.0.3:1/"] = ("outside", "mill corn wheel")
        (tmp_path / "mills.toml").write_text(
            f'keywords = ["mill"]\ntargets = ["{site.url("/sample")}"]\n'
            '[relevance]\nkind = "cosine"\nthreshold = 0.5\n'
            '[sites]\nallow = ["127.0.0.1", "127.0.0.2"]\n'
        )
        with SearxngServer(named, key="my-secret", page_size=50) as server:
            yield site, server


def live(server: SearxngServer, **settings: Any) -> dict[str, Any]:
    return {
        "FOCUS_SEARCH_ENGINE": "searxng", "FOCUS_SEARCH_URL": server.url, "FOCUS_SEARCH_DELAY": 0,
        "DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False, **settings,
    }  # fmt: skip


KEY = {"FOCUS_SEARCH_KEY": "my-secret"}


def test_in_any_project_and_politely(web: tuple[Site, SearxngServer], tmp_path: Path) -> None:
    site, server = web
    done = search(
        "mills.toml", "--tokens", 3, "--first", 50, cwd=tmp_path, env=KEY,
        **live(server, LOG_LEVEL="DEBUG", RETRY_ENABLED=False),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "my-secret" not in done.stdout + done.stderr
    expected = {site.url(f"/mill{n}", host) for n in range(4) for host in site.hosts}
    # the sample document of one host is a page like others at the other
    expected.add(site.url("/sample", "127.0.0.2"))
    assert set(listed_urls(tmp_path / "models/mills/authorities.txt")) == expected
    paths = [hit.path for hit in site.hits]
    assert "/private/mill" not in paths
    assert paths.count("/sample") <= 4  # itself, and what led back to it
    for reason in ("2 × status 404", "2 × robots", "2 × not_html"):
        assert reason in done.stdout, done.stdout
    assert "127.0.0.3" not in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mills.toml", "models"]


def test_an_engine_that_stops_is_gone_on_with(
    web: tuple[Site, SearxngServer], tmp_path: Path
) -> None:
    _, server = web
    usual, calls = server.answer, iter(range(1_000))
    refusal = Answer(402, {"message": "no more for my-secret"})
    server.answer = lambda *given: refusal if next(calls) >= 6 else usual(*given)  # type: ignore[method-assign]
    arguments = ["mills.toml", "--tokens", 4]
    done = search(*arguments, cwd=tmp_path, env=KEY, **live(server))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    out = tmp_path / "models/mills/authorities.txt"
    so_far, problem = done.stderr.splitlines()[-2:]
    assert re.fullmatch(r"\d+ pages were found so far: models/mills/authorities.txt", so_far)
    assert "the quota of the key is used up" in problem
    assert "what came so far is kept" in problem
    assert "my-secret" not in done.stdout + done.stderr
    first = listed_urls(out)
    assert len(first) == int(so_far.split()[0]) > 0
    assert len(server.asked) == 6
    server.answer = usual  # type: ignore[method-assign]
    done = search(*arguments, cwd=tmp_path, env=KEY, **live(server))
    assert done.returncode == 0, done.stderr
    asked = [query["q"] for query in server.asked]
    assert len(asked) == len(set(asked)) > 6  # nothing was asked twice
    assert listed_urls(out)[: len(first)] == first
    assert [path.name for path in out.parent.iterdir()] == ["authorities.txt"]


def test_stopped_it_goes_on(web: tuple[Site, SearxngServer], tmp_path: Path) -> None:
    _, server = web
    usual = server.answer

    def slow(*given: Any) -> Answer:
        time.sleep(0.3)
        return usual(*given)

    server.answer = slow  # type: ignore[method-assign]
    line = command("focus-search", "mills.toml", "--length", 2, **live(server))
    with subprocess.Popen(
        line, cwd=tmp_path, env=environment(KEY), stderr=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        deadline = time.monotonic() + 60
        while len(server.asked) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=60)
    assert process.returncode == 130
    assert log.splitlines()[-1] == "Stopped; the same command goes on from here."
    assert "Traceback" not in log
    server.answer = usual  # type: ignore[method-assign]
    before = len(server.asked)
    done = search("mills.toml", "--length", 2, cwd=tmp_path, env=KEY, **live(server))
    assert done.returncode == 0, done.stderr
    asked = [query["q"] for query in server.asked]
    assert len(asked) - len(set(asked)) <= 1  # the one that was on its way
    assert len(asked) > before


def test_nothing_is_found(web: tuple[Site, SearxngServer], tmp_path: Path) -> None:
    _, server = web
    server.pages = {}
    done = search("mills.toml", cwd=tmp_path, env=KEY, **live(server, LOG_LEVEL="WARNING"))
    assert done.returncode == 1
    assert "Ended: no token has a hit" in done.stdout
    assert done.stderr.startswith("No page was found: ")
    assert not list(tmp_path.glob("models/*/*"))


@pytest.mark.parametrize(
    ("topic", "arguments", "settings", "message"),
    [
        ("sample", [], {}, "the search engine local searches a stored web: set FOCUS_REPLAY"),
        ("sample", [], {"FOCUS_SEARCH_ENGINE": "google"}, "'google' is not a known search engine"),
        ("sample", [], {"FOCUS_SEARCH_ENGINE": "searxng"}, "set FOCUS_SEARCH_URL"),
        ("sample", [], {"FOCUS_REPLAY": "{tmp}/no.warc"}, "there is no such file or folder"),
        ("sample", ["--first", "0"], {}, "--first 0: give 1 or more"),
        ("sample", ["--max-iterations", "-1"], {}, "--max-iterations -1: give 1 or more"),
        ("sample", ["--queries", "20"], {},
         "--queries 20: each word takes one to be weighed, and there are up to 20; give more"),
        ("sample", ["--targets", "no.txt"], {}, "no.txt cannot be read: No such file"),
        ("smaple", [], {}, "did you mean 'sample'"),
        ("{tmp}/bare.toml", [], {"FOCUS_REPLAY": "sample"}, "nothing to make queries of"),
        ("sample", ["--out", "{tmp}/bare.toml"], {}, "no list of focus-search, and is left"),
        ("sample", ["--out", "package:focusspider/list"], {}, "no list can be written: name a"),
        ("sample", [], {"FOCUS_REPLAY": "sample", "FOCUS_MODELS_DIR": "package:focusspider/m"},
         "no search index can be written: set it to a folder"),
        ("sample", ["--out", "{tmp}/bare.toml/x"], {"FOCUS_REPLAY": "sample"},
         "--out: .* cannot be made"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_line(
    tmp_path: Path, models: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, topic: str, arguments: list[str], settings: dict[str, str],
    message: str,
) -> None:  # fmt: skip
    bare = tmp_path / "bare.toml"
    bare.write_text('description = "mills"\n')
    filled = [argument.format(tmp=tmp_path) for argument in arguments]
    if "--out" not in filled:
        filled += ["--out", str(tmp_path / "out" / "list")]
    monkeypatch.delenv("FOCUS_SEARCH_KEY", raising=False)
    searching = Command()
    values = {name: value.format(tmp=tmp_path) for name, value in settings.items()}
    places = {"FOCUS_TOPICS_DIR": ROOT / "topics", "FOCUS_MODELS_DIR": models}
    searching.settings = Settings({**places, **values})
    parser = argparse.ArgumentParser()
    searching.add_options(parser)
    searching.run([topic.format(tmp=tmp_path)], parser.parse_args(filled))
    said = capsys.readouterr().err
    assert searching.exitcode == 1
    assert re.search(message, said), said
    assert len(said.splitlines()) == 1
    assert not list(tmp_path.glob("out/*"))
    assert bare.read_text() == 'description = "mills"\n'


def test_targets_that_do_not_come(tmp_path: Path, models: Path) -> None:
    (tmp_path / "t.toml").write_text('targets = ["http://en.openwiki.example/no"]\n')
    settings = {"FOCUS_REPLAY": "sample", "FOCUS_MODELS_DIR": models, "LOG_LEVEL": "ERROR"}
    done = search(tmp_path / "t.toml", **settings)
    assert done.returncode == 1
    assert done.stderr == (
        f"{tmp_path}/t.toml: none of the 1 targets came (1 × status 404): mend their URLs\n"
    )
    assert not (models / "t").exists() or not list((models / "t").iterdir())


def test_answers_that_are_kept(tmp_path: Path) -> None:
    answers = Answers(tmp_path / "new" / "a.jsonl", "one")
    answers.keep("mill", 5, {"hits": [["http://a.example/", "\ud800"]], "total": None})
    answers.keep("mill", 9, ["later"])
    assert answers.get("mill", 9) == ["later"]
    with (tmp_path / "new" / "a.jsonl").open("ab") as file:
        file.write(b'{"source": "one", "question": "x\xff')
    assert Answers(tmp_path / "new" / "a.jsonl", "one").get("mill", 7) == ["later"]
    assert len(Answers(tmp_path / "new" / "a.jsonl", "two")) == 0
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match=r"--out: .* cannot be made: "):
        Answers(tmp_path / "file" / "a.jsonl", "one")
    (tmp_path / "new" / "a.jsonl").unlink()
    (tmp_path / "new" / "a.jsonl").mkdir()
    with pytest.raises(SettingError, match="cannot be written: "):
        answers.keep("corn", 1, [])
