"""What waits at the hosts of one worker, read from Redis for a rerank."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focusspider.frontier import RERANK_SLICE
from focusspider.frontier.checks import check_rerank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from focusspider.frontier.redisclient import RedisClient

__all__ = ["KEY_BYTES", "RedisView", "changes_of", "read_view"]

#: Of one call: Redis does nothing else meanwhile, for some 10 ms.
_HOSTS_A_READ, _REQUESTS_A_READ = 1_000, 10_000
#: Bytes of what names a request of a host: its age, and the first of its fingerprint.
_AGE_BYTES, KEY_BYTES = 6, 8
_AGES = 2 ** (8 * _AGE_BYTES) - 1
_ROW = np.dtype([("age", "u1", (_AGE_BYTES,)), ("key", ">u8"), ("priority", ">f8")])


class RedisView(NamedTuple):
    """The waiting requests as arrays of one length, by id, and the keys of the leased ones.

    ``hosts`` are the places of their hosts in ``names``. An id is an age.
    """

    ids: NDArray[np.int64]
    keys: NDArray[np.uint64]
    priorities: NDArray[np.int64]
    leased: NDArray[np.uint64]
    hosts: NDArray[np.int32]
    names: list[bytes]


def read_view(client: RedisClient, worker: str) -> RedisView:
    """Read what waits at a worker's hosts, some at a time."""
    redis, own = client.redis, worker.encode()
    with client.explained():
        owners: dict[bytes, bytes] = redis.hgetall(client.key("own"))
        leased: list[bytes] = redis.hkeys(client.key(f"l:{worker}"))
    names = [host for host, owner in owners.items() if owner == own]
    sizes = np.zeros(len(names), dtype=np.int64)
    parts: list[bytes] = []
    first = passed = 0
    while first < len(names):
        some = names[first : first + _HOSTS_A_READ]
        [answer] = client.run(("view", [worker, _REQUESTS_A_READ, passed, *some]))
        ended, passed, counts, packed = answer
        sizes[first : first + len(counts)] += counts
        parts.append(packed)
        first += ended
    rows = np.frombuffer(b"".join(parts), dtype=_ROW)
    ages = np.zeros((len(rows), 8), dtype=np.uint8)
    ages[:, 8 - _AGE_BYTES :] = rows["age"]
    ids = _AGES - ages.view(">u8").ravel().astype(np.int64)  # (n,)
    order = np.argsort(ids)
    return RedisView(
        ids[order],
        rows["key"].astype(np.uint64)[order],
        rows["priority"].astype(np.int64)[order],
        np.frombuffer(b"".join(leased), dtype=">u8").astype(np.uint64),
        np.repeat(np.arange(len(names), dtype=np.int32), sizes)[order],
        names,
    )


def changes_of(
    view: RedisView | None, ids: NDArray[np.int64], priorities: NDArray[np.int64]
) -> Iterator[list[tuple[bytes, bytes, int]]]:
    """Return what is to be changed as (host, member, priority), a slice at a time."""
    ids = np.asarray(ids, dtype=np.int64)  # (n,)
    priorities = np.asarray(priorities, dtype=np.int64)  # (n,)
    check_rerank(ids, priorities)
    if view is None or not len(view.ids):
        return
    places = np.minimum(np.searchsorted(view.ids, ids), len(view.ids) - 1)
    changed = (view.ids[places] == ids) & (view.priorities[places] != priorities)
    places, priorities = places[changed], priorities[changed]
    by_host = np.argsort(view.hosts[places], kind="stable")  # few hosts in one call
    places, priorities = places[by_host], priorities[by_host]
    view.priorities[places] = priorities
    for start in range(0, len(places), RERANK_SLICE // 10):
        part = slice(start, start + RERANK_SLICE // 10)
        yield [
            (
                view.names[host],
                (_AGES - age).to_bytes(_AGE_BYTES, "big") + key.to_bytes(KEY_BYTES, "big"),
                priority,
            )
            for host, age, key, priority in zip(
                view.hosts[places[part]].tolist(),
                view.ids[places[part]].tolist(),
                view.keys[places[part]].tolist(),
                priorities[part].tolist(),
                strict=True,
            )
        ]
