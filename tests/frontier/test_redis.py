"""What several workers have of one frontier in Redis, and what is wrong with a Redis."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.commands.status import in_words
from focusspider.errors import FrontierError
from focusspider.frontier import Outcome
from focusspider.frontier.exchange import Exchange
from focusspider.frontier.redis import RedisFrontier
from focusspider.frontier.rediscalls import Beat, Bounds, Calls, Settled, beat_of, join, unsettled
from focusspider.frontier.redisclient import AwayError, RedisClient, public_url
from focusspider.frontier.redisstatus import crawls_of, read_status
from focusspider.frontier.shared import SharedFrontier
from tests.frontier.model import always, entry, fingerprint
from tests.redisserver import Cut, RedisServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_names = itertools.count()


class Worker:
    """A worker that speaks with Redis directly."""

    def __init__(
        self, server: RedisServer, crawl: str, url: str | None = None, machine: str = ""
    ) -> None:
        self.client = RedisClient(url or server.url, crawl)
        what = {"machine": machine}
        self.name, _ = join(self.client, run="run", what=what, common={"spider": "s"})
        self.calls = Calls(self.name, Bounds(1000, 1000))

    def push(self, *entries: Any, hosts: int | None = None) -> list[int]:
        return self.client.run(self.calls.push(entries, hosts))[0]

    def lease(self, n: int = 100, **options: Any) -> dict[int, str]:
        [answer] = self.client.run(self.calls.lease(n, **options))
        return {
            int.from_bytes(one.entry.fingerprint[:8], "big"): one.entry.host
            for one in self.calls.leased(answer)
        }

    def settle(
        self, *numbers: int, outcome: Outcome = Outcome.DONE, page: bool | None = True
    ) -> Any:
        settled = [Settled(fingerprint(number), outcome, page) for number in numbers]
        return [state for _, state in unsettled(self.client.run(self.calls.settle(settled))[0])]

    def beat(self, patience_ms: int = 60_000, **options: Any) -> Beat:
        return beat_of(self.client.run(self.calls.beat(patience_ms=patience_ms, **options))[0])

    def leave(self) -> None:
        self.client.run(self.calls.leave("finished"))

    def silent(self, seconds: float) -> None:
        """Have been heard for the last time so long ago."""
        key = self.client.key("w")
        heard = self.client.redis.zscore(key, self.name)
        now, _ = self.client.redis.time()
        self.client.redis.zadd(key, {self.name: min(heard, (now - seconds) * 1000)})


@pytest.fixture
def crawl() -> str:
    return f"crawl-{next(_names)}"


@pytest.fixture
def two(redis_server: RedisServer, crawl: str) -> Iterator[tuple[Worker, Worker]]:
    workers = Worker(redis_server, crawl), Worker(redis_server, crawl)
    yield workers
    for worker in workers:
        worker.client.close()


def hosts_of(leased: dict[int, str]) -> set[str]:
    return set(leased.values())


MANY = [entry(number, f"host{number % 40}", number) for number in range(200)]


def test_each_host_is_one_workers(two: tuple[Worker, Worker]) -> None:
    one, other = two
    assert one.push(*MANY)[0] == 200
    assert other.push(*MANY)[:2] == [0, 200], "known, whoever found it"
    mine, others = one.lease(200), other.lease(200)
    assert not hosts_of(mine) & hosts_of(others)
    assert mine.keys() | others.keys() == set(range(200))
    # rendezvous hashing: a share of 40 hosts for each, not all for one
    assert 8 <= len(hosts_of(mine)) <= 32


def test_hosts_of_a_worker_that_leaves_are_the_others(two: tuple[Worker, Worker]) -> None:
    one, other = two
    one.push(*MANY)
    one.lease(20)
    kept = hosts_of(other.lease(0)) or set()
    assert not kept
    one.leave()
    assert other.lease(200).keys() == set(range(200)), "what it had leased too"


def test_a_new_worker_moves_no_host_of_those_that_work(
    redis_server: RedisServer, crawl: str, two: tuple[Worker, Worker]
) -> None:
    one, other = two
    one.push(*MANY)
    before = one.client.redis.hgetall(one.client.key("own"))
    third = Worker(redis_server, crawl)
    one.beat()
    assert third.lease(10) == {}
    assert one.client.redis.hgetall(one.client.key("own")) == before
    # it has nothing to ask for, and says so: then it is given some, by each of those that do
    third.beat()
    assert one.beat().wanted == 0
    third.beat()
    assert len(hosts_of(third.lease(200))) >= 5
    other.client.close()


def test_a_busy_host_is_not_given_away(two: tuple[Worker, Worker]) -> None:
    one, other = two
    one.push(entry(1, "a"))
    owner = one if one.lease(1, a_host=1) else other
    idle = other if owner is one else one
    owner.push(*(entry(number, f"host{number}") for number in range(2, 30)))
    idle.settle(*idle.lease(100))
    idle.beat()
    busy = [f"host{number}" for number in range(2, 30)]
    assert owner.beat(busy=["a", *busy]).wanted > 0
    assert idle.lease(100) == {}
    assert owner.beat(busy=["a"]).wanted == 0, "they are free now, and given"
    assert idle.lease(100)


def test_a_silent_worker_is_gone_and_comes_back(two: tuple[Worker, Worker]) -> None:
    one, other = two
    one.push(*MANY)
    leased = sorted(one.lease(20))
    one.silent(100)
    beat = other.beat(patience_ms=30_000)
    assert [lost.worker for lost in beat.lost] == [one.name]
    assert beat.counts.leased == 0
    assert other.lease(200).keys() == set(range(200))
    other.settle(leased[0])
    assert one.settle(*leased[:2]) == ["done", "leased elsewhere"], "they were fetched twice"
    beat = one.beat()
    assert (beat.workers, beat.was_gone, beat.hosts) == (2, True, 40), "it is heard again"
    assert not one.beat().was_gone
    assert other.beat().counts.done == 1


def test_what_nobody_has_yet_is_settled_by_whom_it_was_taken_from(
    two: tuple[Worker, Worker],
) -> None:
    one, other = two
    one.push(entry(1, "a"))
    owner, idle = (one, other) if one.lease(1) else (other, one)
    owner.lease(1)
    owner.silent(100)
    idle.beat(patience_ms=30_000)
    assert owner.settle(1) == ["waiting"]
    counts = idle.beat().counts
    assert (counts.waiting, counts.leased, counts.done) == (0, 0, 1)


def test_nobody_is_gone_when_it_was_redis_that_was_away(two: tuple[Worker, Worker]) -> None:
    one, other = two
    one.push(*MANY)
    one.lease(5)
    for worker in two:
        worker.silent(100)
    now, _ = one.client.redis.time()
    one.client.redis.hset(one.client.key("n"), "beat", (now - 100) * 1000)
    other.push(entry(999))  # whatever is said first
    assert other.beat(patience_ms=30_000).lost == []
    assert one.lease(200), "it goes on as if nothing had been"


def test_an_outage_is_forgiven_for_a_moment_only(two: tuple[Worker, Worker]) -> None:
    one, other = two
    one.push(*MANY)
    one.silent(100)
    now, _ = one.client.redis.time()
    one.client.redis.hset(one.client.key("n"), "beat", (now - 100) * 1000)
    for _ in range(3):
        assert other.beat(patience_ms=1000).lost == []
        time.sleep(0.4)
    assert [lost.worker for lost in other.beat(patience_ms=1000).lost] == [one.name]


def test_a_call_that_is_made_again_changes_nothing(two: tuple[Worker, Worker]) -> None:
    one, _ = two
    one.push(*MANY)
    one.push(*MANY)
    leased = one.lease(5)
    assert one.lease(0, recover=True) == leased
    one.settle(*leased)
    assert one.settle(*leased) == ["done"] * 5
    beat = one.beat()
    assert (beat.counts.waiting, beat.counts.done, beat.pages) == (195, 5, 5)


def test_limits_are_those_of_the_crawl(two: tuple[Worker, Worker]) -> None:
    one, other = two
    fresh, known, refused, _ = one.push(*MANY, hosts=10)
    assert (fresh, known, refused) == (50, 0, 150)
    assert other.push(entry(999, "another"), hosts=10)[2] == 1
    taken = one.lease(100, pages=8)
    more = other.lease(100, pages=8)
    assert len(taken) + len(more) == 8, "as many as may become pages"
    assert one.lease(1, pages=8) == {}
    given_up = next(iter(taken))
    one.settle(given_up, page=None)
    freed = one.lease(100, pages=8) or other.lease(100, pages=8)
    assert len(freed) == 1, "it brought none: another may"
    one.settle(*(taken.keys() | freed.keys()) - {given_up})
    other.settle(*(more.keys() | freed.keys()))
    assert one.beat(pages=8).reason == "page_limit"
    assert one.beat(pages=9).reason == ""


def test_the_crawl_is_over_when_nobody_has_anything(two: tuple[Worker, Worker]) -> None:
    one, other = two
    assert one.beat(starting=True).reason == ""
    other.beat(starting=False)
    one.push(entry(1, "a"))
    assert one.beat(starting=False).reason == ""
    owner = one if one.lease(1) else other
    owner.lease(1)
    assert other.beat().reason == "", "what is on its way may bring more"
    owner.settle(1)
    assert (one.beat().reason, other.beat().reason) == ("finished", "finished")


def test_what_waits_in_memory_stays_with_its_worker(two: tuple[Worker, Worker]) -> None:
    one, other = two
    for worker in two:
        worker.push(*(entry(number, "a", payload=object()) for number in range(10)))
        break
    assert other.lease(100) == {}
    one.silent(100)
    counts = other.beat(patience_ms=30_000).counts
    assert (counts.waiting, counts.evicted) == (0, 10), "it is lost with it"


def test_two_crawls_on_one_redis(redis_server: RedisServer) -> None:
    one, other = (Worker(redis_server, f"apart-{name}") for name in "ab")
    one.push(*MANY)
    assert other.lease() == {}
    other.push(entry(1))
    other.lease(1)
    other.settle(1)
    assert one.beat().counts.waiting == 200


@pytest.mark.parametrize(
    ("common", "message"),
    [
        ({"spider": "other"}, "the spider 's', and this one has 'other'.*FOCUS_CRAWL"),
        ({"spider": "s", "topic": "tides"}, "the topic '', and this one has 'tides'"),
    ],
)
def test_another_crawl_of_the_same_name(
    redis_server: RedisServer, two: tuple[Worker, Worker], common: dict[str, str], message: str
) -> None:
    with pytest.raises(FrontierError, match=message):
        join(two[0].client, run="run", what={}, common=common)


def test_a_crawl_of_another_format(two: tuple[Worker, Worker]) -> None:
    client = two[0].client
    client.redis.hset(client.key("n"), "format", "99")
    with pytest.raises(FrontierError, match="of format 99, and this focusspider writes format 1"):
        join(client, run="run", what={}, common={})


def test_how_it_goes_is_seen_from_outside(redis_server: RedisServer, crawl: str) -> None:
    assert read_status(redis_server.url, crawl) is None
    one, other = Worker(redis_server, crawl), Worker(redis_server, crawl)
    one.push(*MANY)
    leased = sorted(one.lease(10))
    one.settle(*leased[:3], page=True)
    one.settle(leased[3], page=False)
    one.settle(leased[4], page=None, outcome=Outcome.DROPPED)
    other.silent(100)
    one.beat(patience_ms=30_000)
    status = read_status(redis_server.url, crawl)
    assert status is not None
    assert crawl in crawls_of(redis_server.url)
    assert (status.waiting, status.leased, status.done, status.dropped) == (190, 5, 4, 1)
    assert (status.pages, status.relevant, status.harvest_rate) == (4, 3, 0.75)
    assert (status.hosts, status.lost_workers) == (40, 1)
    [worker] = status.workers
    assert (worker.worker, worker.pages, worker.relevant, worker.leased) == (one.name, 4, 3, 5)
    assert 30 <= worker.hosts <= 40
    words = in_words(replace(status, topic="clocks")).splitlines()
    assert words[1] == "  pages    4; relevant 3, harvest rate 0.750"
    assert words[2].startswith("  frontier 190 waiting, 5 leased, 4 done, 1 dropped, 0 evicted; ")
    assert words[3] == "  workers  1, 1 lost"
    assert "4 pages, 3 relevant" in words[4]
    unjudged = in_words(status).splitlines()  # without a topic
    assert "pages" not in "".join(unjudged)
    assert unjudged[1:3] == words[2:4]


# -- the connection ----------------------------------------------------------------------


def test_no_password_in_a_message(tmp_path: Path) -> None:
    with RedisServer(tmp_path, password="hunter2") as server:
        RedisClient(server.url, "c").close()
        for wrong in ("redis://:hunter3@", "redis://me:hunter3@", "redis://"):
            url = f"{wrong}127.0.0.1:{server.port}/0?client_name=hunter4"
            with pytest.raises(FrontierError) as caught:
                RedisClient(url, "c")
            assert "hunter" not in str(caught.value)
            assert f"127.0.0.1:{server.port}" in str(caught.value)
            assert caught.value.__suppress_context__, "nor in a traceback"
    with pytest.raises(AwayError, match="cannot be reached") as caught:
        RedisClient(server.url, "c")
    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hunter2@127.0.0.1:nonsense/0",
        "redis://:hunter2@127.0.0.1:9/nonsense",
        "redis://:hunter2@127.0.0.1:9/0?hunter=3",
        "redis://:hunter/2@127.0.0.1:9/0",
        "redis://me:1/hunter@127.0.0.1:9/0",
        "redis://me:1#hunter@127.0.0.1:9/0",
        "redis://:hunter#2@127.0.0.1:9/0",
        "redis://:hunter?2@127.0.0.1:9/0",
        "redis://hunter:1?2@127.0.0.1:9/0",
        "unix://:hunter/2@/run/redis.sock",
    ],
)
def test_a_url_that_is_none_shows_no_password(url: str) -> None:
    with pytest.raises(FrontierError, match="is no URL of Redis") as caught:
        RedisClient(url, "c")
    assert "hunter" not in str(caught.value)
    error = caught.value
    assert error.__context__ is None or error.__suppress_context__, "nor in a traceback"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://", "redis://"),
        ("redis://localhost", "redis://localhost"),
        ("redis://my_redis-1.example:6379", "redis://my_redis-1.example:6379"),
        ("rediss://me:a%2Fb@[::1]:6379/3", "rediss://[::1]:6379/3"),
        ("redis://[fe80::1%25eth0]:6379", "redis://[fe80::1%25eth0]:6379"),
        ("redis://127.0.0.1/0?password=a@b", "redis://127.0.0.1/0"),
        ("unix://me:secret@/run/re@dis.sock?db=1", "unix:///run/re@dis.sock"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert public_url(url) == shown


def test_a_crawl_that_was_thrown_away(redis_server: RedisServer, crawl: str) -> None:
    one, other = Worker(redis_server, crawl), Worker(redis_server, crawl)
    one.push(*MANY)
    redis = one.client.redis
    redis.delete(*redis.keys(one.client.key("*")))
    Worker(redis_server, crawl)  # begins it anew, as number 1
    for call in (lambda: other.push(*MANY), other.lease, other.beat, other.settle, other.leave):
        with pytest.raises(FrontierError, match="no longer has the crawl") as caught:
            call()
        assert not isinstance(caught.value, AwayError)
    status = read_status(redis_server.url, crawl)
    assert status is not None
    assert (status.waiting, [worker.worker for worker in status.workers]) == (0, ["1"])


def test_something_else_than_redis() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            near, _ = server.accept()
            near.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            near.close()

        thread = threading.Thread(target=answer)
        thread.start()
        port = server.getsockname()[1]
        with pytest.raises(FrontierError, match=f"redis://127.0.0.1:{port}/0"):
            RedisClient(f"redis://127.0.0.1:{port}/0", "c")
        thread.join()


def test_a_redis_without_memory(tmp_path: Path) -> None:
    with RedisServer(tmp_path) as server:
        frontier = RedisFrontier(server.url, "full")
        frontier.push([entry(1)])
        client = RedisClient(server.url, "full")
        client.redis.config_set("maxmemory", "1mb")
        with pytest.raises(FrontierError, match="no memory left: raise its maxmemory"):
            frontier.push([entry(2, payload=b"x" * 100)])
        client.redis.config_set("maxmemory", "0")
        assert frontier.counts.waiting == 1
        assert not client.forgets
        client.redis.config_set("maxmemory", "100mb")
        client.redis.config_set("maxmemory-policy", "allkeys-lru")
        assert RedisClient(server.url, "full").forgets


def test_scripts_that_were_forgotten_are_loaded_again(two: tuple[Worker, Worker]) -> None:
    one, _ = two
    one.client.redis.script_flush()
    assert one.push(entry(1))[0] == 1


# -- the worker's side -------------------------------------------------------------------


def shared(worker: Worker, **options: Any) -> SharedFrontier:
    exchange = Exchange(worker.client, worker.calls, **{"a_host": 100, **options})
    return SharedFrontier(exchange, capacity=10)


def exchanged(frontier: SharedFrontier, **options: Any) -> None:
    batch = frontier.batch(**options)
    frontier.apply(batch, frontier.exchange.send(batch))


def test_a_worker_has_what_it_was_given(redis_server: RedisServer, crawl: str) -> None:
    frontier = shared(Worker(redis_server, crawl))
    pushed = [entry(number, "ab"[number % 2], number, b"[%d]" % number) for number in range(30)]
    assert frontier.push(pushed) == 30
    assert frontier.push(pushed) == 0, "it knows"
    assert frontier.lease(1, always()) == []
    exchanged(frontier)
    leased = frontier.lease(100, always())
    assert leased == pushed[:-11:-1], "no more than its capacity, the best first"
    for given in leased:
        frontier.brought(given.fingerprint, relevant=False, page=None)
        frontier.settle(given.fingerprint, Outcome.DONE)
    exchanged(frontier, beat={"patience_ms": 1000})
    assert frontier.counts[:3] == (20, 0, 10), "before it took more"
    with pytest.raises(FrontierError, match="only a leased request can be settled"):
        frontier.settle(leased[0].fingerprint, Outcome.DONE)
    frontier.close("finished")
    assert Worker(redis_server, crawl).beat().counts[:3] == (20, 0, 10), "the shelf is given back"


def test_a_link_that_was_lowered_is_raised_again(redis_server: RedisServer, crawl: str) -> None:
    """As in a frontier of one process: it is raised above what it has now, not what it had."""
    frontier = shared(Worker(redis_server, crawl))
    frontier.push([entry(number, priority=50, payload=b"[]") for number in range(13)])
    exchanged(frontier)  # it takes ten
    view = frontier.read_view()
    frontier.reprioritise(view.ids, np.array([30, 20, 10]))
    exchanged(frontier)
    found = [(12, 40), (11, 20), (0, 60)]
    frontier.push([entry(number, priority=high, payload=b"[]") for number, high in found])
    exchanged(frontier)
    assert frontier.read_view().priorities.tolist() == [30, 20, 40]
    frontier.close("finished")


def test_what_is_sent_again_is_taken_once(redis_server: RedisServer, crawl: str) -> None:
    """The line is cut when Redis has answered, so that nobody knows what it has done."""
    with Cut(redis_server.port) as cut:
        worker = Worker(redis_server, crawl, f"redis://127.0.0.1:{cut.port}/0")
        frontier = shared(worker)
        frontier.push([entry(number, payload=b"[]") for number in range(30)])
        frontier.lease(1, always())
        exchanged(frontier)
        leased = frontier.lease(99, always())
        assert len(leased) == 10
        for given in leased[:4]:
            frontier.settle(given.fingerprint, Outcome.DONE)
        frontier.push([entry(number, payload=b"[]") for number in range(30, 40)])
        batch = frontier.batch(beat={"patience_ms": 60_000})
        frontier.exchange.send(batch)  # and its answer is lost
        cut.cut()
        with pytest.raises(AwayError):
            frontier.exchange.send(batch)
        cut.mend()
        reply = frontier.exchange.send(batch)
        assert reply.late == []
        frontier.apply(batch, reply)
        assert frontier.counts == (20, 16, 4, 0, 0)
        numbers = [int.from_bytes(e.fingerprint[:8], "big") for e in frontier.lease(99, always())]
        assert numbers == list(range(10, 20)), "what was leased without an answer"


def test_hosts_that_are_to_go_are_given_back(redis_server: RedisServer, crawl: str) -> None:
    one = Worker(redis_server, crawl)
    frontier = shared(one)
    frontier.push([entry(number, f"host{number % 4}", payload=b"[]") for number in range(40)])
    exchanged(frontier)
    assert len(frontier.lease(3, always())) == 3
    idle = Worker(redis_server, crawl)
    idle.beat()
    exchanged(frontier, beat={"patience_ms": 60_000, "busy": sorted(frontier.busy)})
    going = [host for host in frontier.hosts if host != "host0"]
    frontier.release(going)
    exchanged(frontier)
    assert frontier.busy <= {"host0", "host1", "host2", "host3"}
    given = sorted(set(going) - frontier.busy)
    exchanged(frontier, beat={"patience_ms": 60_000, "given": given, "busy": sorted(frontier.busy)})
    assert hosts_of(idle.lease(100)) >= set(given)
    frontier.close("finished")


def test_what_was_taken_from_a_worker_is_not_asked_for(
    redis_server: RedisServer, crawl: str
) -> None:
    one, other = Worker(redis_server, crawl), Worker(redis_server, crawl)
    frontier = shared(one)
    frontier.push([entry(number, f"host{number % 4}", payload=b"[]") for number in range(40)])
    exchanged(frontier)
    [begun] = frontier.lease(1, always())
    one.silent(100)
    other.beat(patience_ms=30_000)
    assert len(other.lease(100)) == 40
    frontier.settle(begun.fingerprint, Outcome.DONE)
    batch = frontier.batch(beat={"patience_ms": 60_000})
    reply = frontier.exchange.send(batch)
    frontier.apply(batch, reply)
    assert reply.late == [begun.fingerprint], "it was under way"
    assert frontier.lease(100, always()) == []
    frontier.close("finished")


def test_the_files_of_a_dead_worker_are_one_workers_of_its_machine(
    redis_server: RedisServer, crawl: str
) -> None:
    dead, near, second = (Worker(redis_server, crawl, machine="here") for _ in range(3))
    far = Worker(redis_server, crawl, machine="there")
    dead.client.run(dead.calls.settle((), note='{"folder": "f"}'))
    dead.silent(100)
    assert far.beat(patience_ms=30_000).untidy == []
    [left] = near.beat().untidy
    assert (left.worker, left.note) == (dead.name, {"folder": "f"})
    assert second.beat().untidy == [], "another does it"
    near.leave()
    [left] = second.beat().untidy
    assert left.worker == dead.name, "which died before it said so"
    assert second.beat(tidied=[dead.name]).untidy == []
    assert far.beat().untidy == []
