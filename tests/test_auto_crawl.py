"""Auto, in real crawls of the sample web."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.crawls import ROOT, Crawl, crawl
from tests.site import Reply, Site

if TYPE_CHECKING:
    from pathlib import Path


def sample(tmp_path: Path, name: str, **settings: object) -> Crawl:
    done = crawl(
        tmp_path / name,
        "topic=topics/sample.toml",
        f"strategy={name}",
        FOCUS_REPLAY="sample",
        FOCUS_CRAWL_LOG_TIMES=False,
        **settings,
    )
    assert done.code == 0, done.log
    assert "ERROR" not in done.log, done.log
    assert "Traceback" not in done.log, done.log
    assert done.run["fetched"] == 150
    return done


@pytest.fixture(scope="module")
def one_at_a_time(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Crawl]:
    names = ("auto", "hub-seeking", "breadth-first")
    folder = tmp_path_factory.mktemp("crawls")
    return {name: sample(folder, name, CONCURRENT_REQUESTS=1, FOCUS_EXPLAIN=True) for name in names}


def test_one_request_at_a_time_gives_the_same_crawl_to_the_byte(
    tmp_path: Path, one_at_a_time: dict[str, Crawl]
) -> None:
    one = one_at_a_time["auto"]
    again = sample(tmp_path, "auto", CONCURRENT_REQUESTS=1, FOCUS_EXPLAIN=True)
    assert one.folder is not None
    assert again.folder is not None
    assert (one.folder / "crawl.jsonl").read_bytes() == (again.folder / "crawl.jsonl").read_bytes()
    assert one.stats["focus/strategy/rerank"] == reranks(150)


def reranks(pages: int) -> int:
    """Return how often what waits is reordered: from the fifth page on, after 4 % more pages."""
    last, count = 5, 1
    for fetched in range(6, pages):  # not after the last
        if fetched >= last * 1.04:
            last, count = fetched, count + 1
    return count


def test_it_begins_as_hub_seeking(one_at_a_time: dict[str, Crawl]) -> None:
    auto, hub_seeking = (
        [page["url"] for page in one_at_a_time[name].pages[:5]] for name in ("auto", "hub-seeking")
    )
    assert auto == hub_seeking


def test_what_it_has_learnt_can_be_read(one_at_a_time: dict[str, Crawl]) -> None:
    folder = one_at_a_time["auto"].folder
    assert folder is not None
    line = [sys.executable, "-W", "error", "-m", "scrapy", "focus-inspect", str(folder)]
    told = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True).stdout
    for title in ("How the trust grew", "Features that weigh most", "Hosts", "Tag paths"):
        assert f"\n{title}\n====" in told
    assert "www.greendoor.example" in told
    other = one_at_a_time["hub-seeking"].folder
    assert other is not None
    done = subprocess.run([*line[:-1], str(other)], capture_output=True, text=True, timeout=120,
                          check=False)  # fmt: skip
    assert done.returncode == 1
    assert "has no learnt.npz: only auto learns during a crawl" in done.stderr


def test_it_is_little_worse_than_what_it_begins_as(one_at_a_time: dict[str, Crawl]) -> None:
    found = {
        name: np.cumsum([page["relevant"] for page in done.pages])
        for name, done in one_at_a_time.items()
    }
    recall = {name: (sums / found["hub-seeking"][-1]).mean() for name, sums in found.items()}
    assert recall["auto"] >= recall["hub-seeking"] - 0.05
    assert recall["auto"] > recall["breadth-first"] + 0.1


def test_many_requests_at_a_time(tmp_path: Path) -> None:
    run = sample(tmp_path, "auto", CONCURRENT_REQUESTS=16, DOWNLOAD_DELAY=0.1)
    assert 1 <= run.stats["focus/strategy/rerank"] <= reranks(150)


def test_what_waits_is_explained_when_it_is_taken(one_at_a_time: dict[str, Crawl]) -> None:
    late = [page for page in one_at_a_time["auto"].pages if page["n"] > 20]
    told = [page for page in late if (page["explain"] or {}).keys() >= {"prior", "trust", "words"}]
    assert len(told) > 0.9 * len(late)


def test_files_are_learnt_from(tmp_path: Path) -> None:
    """A list of files and of pages that look alike, of which every third page is relevant."""
    file = Reply(b"\x00\x01", headers={"Content-Type": "application/octet-stream"})
    places = [f"/{kind}/{i}" for i in range(150) for kind in ("files", "pages")]
    pages: dict[str, str | Reply] = {
        place: f"<p>{'clock pendulum escapement' if i % 3 == 0 else 'bread butter tea'}</p>"
        for i, place in enumerate(places)
    }
    pages |= {place: file for place in places if "files" in place}
    pages["/"] = "".join(f"<p><a href='{place}'>item</a></p>" for place in places)
    with Site(pages) as site:
        done = crawl(
            tmp_path, f"seeds={site.url('/')}", "keywords=clock,pendulum,escapement", "pages=100",
            CONCURRENT_REQUESTS=1, DOWNLOAD_DELAY=0, ROBOTSTXT_OBEY=False,
        )  # fmt: skip
    assert done.code == 0, done.log
    assert done.run["fetched"] == 100
    assert done.stats["focus/page/not_html"] < 25
    assert done.run["relevant"] > 20


def test_a_resume_with_other_models_or_features_goes_on(tmp_path: Path) -> None:
    job = {"JOBDIR": tmp_path / "job", "FOCUS_REPLAY": "sample", "CONCURRENT_REQUESTS": 1}
    first = crawl(tmp_path / "exports", "topic=topics/sample.toml", CLOSESPIDER_PAGECOUNT=40, **job)
    assert first.run["fetched"] < 150
    topic = tmp_path / "sample.toml"
    text = (ROOT / "topics" / "sample.toml").read_text(encoding="utf-8")
    topic.write_text(text + '\n[strategy]\nname = "auto"\nwithout = ["words"]\n')
    done = crawl(tmp_path / "exports", f"topic={topic}", **job)
    assert done.code == 0, done.log
    assert "Traceback" not in done.log, done.log
    assert done.run["fetched"] == 150
    assert done.run["relevant"] > 40
