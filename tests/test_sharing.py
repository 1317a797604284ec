"""What strategies have learnt goes through a real Redis from worker to worker."""

from __future__ import annotations

import itertools
import json
import logging
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from focusspider import sharing
from focusspider.errors import FrontierError
from focusspider.frontier.redisclient import RedisClient
from focusspider.models.archive import pack_arrays, unpack_arrays
from focusspider.sharing import Sharing
from focusspider.strategies import build_strategy
from tests.pages import profile
from tests.redisserver import MISSING, RedisServer, find_redis
from tests.site import Site
from tests.test_workers import HOSTS, KEYWORDS, Web, Worker, reasons, seeds, workers_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

_names = itertools.count()

pytestmark = pytest.mark.skipif(find_redis() is None, reason=MISSING)


class Diary:
    """A strategy that gives one number, and keeps what others give."""

    def __init__(self) -> None:
        self.number = 0
        self.heard: dict[str, int] = {}

    def contribution(self) -> Mapping[str, NDArray[Any]]:
        return {"number": np.array(self.number)}

    def join(self, worker: str, contribution: Mapping[str, NDArray[Any]]) -> None:
        if contribution.keys() != {"number"}:
            raise ValueError("it is no number")
        self.heard[worker] = int(contribution["number"])


class Peer:
    """A worker's sharing, one round at a time."""

    def __init__(self, redis: RedisServer, crawl: str, worker: str) -> None:
        self.strategy = Diary()
        crawler = get_crawler()
        crawler.stats = MemoryStatsCollector(crawler)
        fleet: Any = SimpleNamespace(client=RedisClient(redis.url, crawl), worker=worker)
        session: Any = SimpleNamespace(strategy=self.strategy, begun=True, fetched=0)
        self.client = fleet.client
        self.stats = crawler.stats
        self.sharing = Sharing(fleet, session, crawler, seconds=1)

    def round(self, number: int | None = None) -> dict[str, int]:
        """Tell a number, or nothing, and return those that were heard now."""
        before, self.strategy.heard = self.strategy.heard, {}
        if number is not None:
            self.strategy.number = number
        given = self.strategy.contribution() if number is not None else None
        for worker, contribution in self.sharing._talk(given, True).read:
            self.sharing._join(worker, contribution)
        heard = self.strategy.heard
        self.strategy.heard = {**before, **heard}
        return heard


@pytest.fixture
def peers(redis_server: RedisServer) -> tuple[Peer, Peer]:
    crawl = f"sharing-{next(_names)}"
    return Peer(redis_server, crawl, "1"), Peer(redis_server, crawl, "2")


def test_each_reads_what_is_new_of_the_others(peers: tuple[Peer, Peer]) -> None:
    one, other = peers
    assert one.round(5) == {}
    assert other.round(7) == {"1": 5}
    assert other.round() == {}, "it has read that"
    assert one.round() == {"2": 7}
    one.round(6)
    one.round(8)
    assert other.round() == {"1": 8}
    assert other.stats.get_value("focus/fleet/joined") == 2


def test_what_a_worker_that_is_gone_has_told_stays(
    redis_server: RedisServer, peers: tuple[Peer, Peer]
) -> None:
    peers[0].round(5)
    peers[1].round(7)
    crawl = peers[0].client.prefix.removeprefix("focus:{").removesuffix("}")
    assert Peer(redis_server, crawl, "3").round() == {"1": 5, "2": 7}


@pytest.mark.parametrize("blob", ["noise", "empty", "pickled", "other", "large", "bomb"])
def test_a_bad_blob_is_counted_and_passed_over(
    peers: tuple[Peer, Peer],
    blob: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    one, other = peers
    one.round(5)
    assert other.round() == {"1": 5}
    if blob == "pickled":
        np.savez(tmp_path / "p.npz", number=np.array([{}], dtype=object))
    if blob == "bomb":
        np.savez_compressed(tmp_path / "p.npz", number=np.zeros(2_000_000))
    data = {
        "noise": lambda: b"PK\x03\x04" + bytes(range(256)),
        "empty": lambda: b"",
        "other": lambda: pack_arrays({"text": np.zeros(3)}),
        "large": lambda: pack_arrays({"number": np.zeros(200_000)}),
        "pickled": (tmp_path / "p.npz").read_bytes,
        "bomb": (tmp_path / "p.npz").read_bytes,
    }[blob]()
    monkeypatch.setattr(sharing, "MAX_CONTRIBUTION", 1_000_000)
    one.client.redis.hset(one.client.key("s"), "1", data)
    one.client.redis.hincrby(one.client.key("sv"), "1", 1)
    one.client.redis.hset(one.client.key("sv"), b"\xffno\nworker", b"1")
    with caplog.at_level(logging.WARNING):
        assert other.round() == {}
        assert other.round() == {}
    assert len(caplog.messages) == 1, "once, and not at each look"
    assert caplog.messages[0].startswith("What worker 1 has learnt cannot be read: ")
    assert other.stats.get_value("focus/fleet/unreadable") == 1
    assert other.strategy.heard == {"1": 5}
    one.round(9)
    assert other.round() == {"1": 9}


def test_too_much_is_not_told(peers: tuple[Peer, Peer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "MAX_CONTRIBUTION", 100)
    with pytest.raises(FrontierError, match=r"a contribution of \d+ bytes, and 100 are the most"):
        peers[0].round(5)
    assert not peers[0].client.redis.exists(peers[0].client.key("s"))


def own_examples(pages: list[tuple[str, int]]) -> int:
    """Return how many links of pages lead to one of them that came later; see :class:`Web`."""
    after = dict(zip(HOSTS, [*HOSTS[1:], HOSTS[0]], strict=True))
    place = {page: at for at, page in enumerate(pages)}
    return sum(
        place.get(to, -1) > at
        for (host, n), at in place.items()
        for to in ((host, 2 * n + 1), (host, 2 * n + 2), (after[host], n))
    )


def test_two_workers_learn_from_each_other(redis_server: RedisServer, tmp_path: Path) -> None:
    """And a third, which begins when all is done, knows what both have learnt."""
    name, exports = f"sharing-{next(_names)}", tmp_path / "exports"
    web = Web(lambda: workers_of(redis_server, name) == 2, delay=0.2)
    options = {
        "FOCUS_CRAWL": name,
        "FOCUS_SHARE_SECONDS": 1,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    }
    with Site(web, HOSTS) as web.site:
        arguments = ("focus", KEYWORDS, "-astrategy=apprentice", seeds(web.site))
        several = [Worker(exports, redis_server.url, *arguments, **options) for _ in range(2)]
        logs = [worker.wait() for worker in several]
        third = Worker(exports, redis_server.url, *arguments, **options).wait()
    assert reasons(exports) == ["finished"] * 3, logs
    for log in logs:
        assert "the strategy 'apprentice' also learns from what the other workers have" in log
        assert "'focus/fleet/joined': " in log
        assert "focus/fleet/unreadable" not in log
        assert "Traceback" not in log
    assert "'focus/fleet/joined': 2," in third
    client = RedisClient(redis_server.url, name)
    strategy: Any = build_strategy("apprentice", {})
    strategy.start(profile("clock"), np.random.default_rng(0))
    examples = alone = 0
    for worker in ("1", "2"):
        told = unpack_arrays(client.redis.hget(client.key("s"), worker))
        urls = [
            json.loads(line)["url"]
            for file in exports.glob(f"*/*/worker-{worker}/crawl.jsonl")
            for line in file.read_text().splitlines()
        ]
        assert len(told["page_keys"]) == len(urls) > 0
        pages = [(url.split(":")[1][2:], int(url.rpartition("/")[2])) for url in urls]
        examples += int(told["examples"].sum())
        alone += own_examples(pages)
        strategy.join(worker, told)
    assert strategy._model.n_examples == examples
    assert examples > alone, "links to the other's pages were learnt from"


@pytest.mark.parametrize(
    ("strategy", "seconds", "says"),
    [("auto", 0, True), ("pagerank", 10, True), ("best-first", 10, False)],
)
def test_the_log_says_what_is_not_shared(
    strategy: str, seconds: int, says: bool, caplog: pytest.LogCaptureFixture
) -> None:
    fleet: Any = SimpleNamespace(client=None, worker="3")
    session: Any = SimpleNamespace(strategy=build_strategy(strategy, {}), strategy_name=strategy)
    crawler: Any = None  # it is asked for nothing
    with caplog.at_level(logging.INFO):
        Sharing(fleet, session, crawler, seconds=seconds).start()
        Sharing(fleet, None, crawler, seconds=seconds).start()  # a crawl without a topic
    expected = f"Worker 3: the strategy {strategy!r} learns from the pages of this worker alone."
    assert caplog.messages == [expected] * says
