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

__all__ = ["RedisView", "changes_of", "read_view"]

_HOSTS_A_READ = 1_000
_AGE_BYTES, _KEY_BYTES = 6, 8
_AGES = 2 ** (8 * _AGE_BYTES) - 1


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
    """Read what waits at a worker's hosts."""
    redis, own = client.redis, worker.encode()
    with client.explained():
        owners: dict[bytes, bytes] = redis.hgetall(client.key("own"))
        names = [host for host, owner in owners.items() if owner == own]
        leased: list[bytes] = redis.hkeys(client.key(f"l:{worker}"))
        members: list[bytes] = []
        scores: list[float] = []
        sizes: list[int] = []
        for start in range(0, len(names), _HOSTS_A_READ):
            pipe = redis.pipeline(transaction=False)
            for name in names[start : start + _HOSTS_A_READ]:
                pipe.zrange(client.key("h:").encode() + name, 0, -1, withscores=True)
            for waiting in pipe.execute():
                sizes.append(len(waiting))
                members += [member for member, _ in waiting]
                scores += [score for _, score in waiting]
    parts = np.frombuffer(b"".join(members), dtype=np.uint8)
    parts = parts.reshape(-1, _AGE_BYTES + _KEY_BYTES)  # (n, 14)
    ages = np.zeros((len(parts), 8), dtype=np.uint8)
    ages[:, 8 - _AGE_BYTES :] = parts[:, :_AGE_BYTES]
    ids = _AGES - ages.view(">u8").ravel().astype(np.int64)  # (n,)
    order = np.argsort(ids)
    return RedisView(
        ids[order],
        _keys(parts[:, _AGE_BYTES:])[order],
        np.array(scores, dtype=np.float64).astype(np.int64)[order],
        _keys(np.frombuffer(b"".join(leased), dtype=np.uint8).reshape(-1, _KEY_BYTES)),
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
    view.priorities[places] = priorities
    for start in range(0, len(places), RERANK_SLICE // 10):
        part = slice(start, start + RERANK_SLICE // 10)
        yield [
            (
                view.names[host],
                (_AGES - age).to_bytes(_AGE_BYTES, "big") + key.to_bytes(_KEY_BYTES, "big"),
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


def _keys(parts: NDArray[np.uint8]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(parts).view(">u8").ravel().astype(np.uint64)
