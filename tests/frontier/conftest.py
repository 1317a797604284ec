from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from focusspider.frontier.memory import MemoryFrontier
from focusspider.frontier.redis import RedisFrontier
from focusspider.frontier.sqlite import FILE_NAME, SqliteFrontier

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from focusspider.frontier import Frontier
    from tests.redisserver import RedisServer

#: A new frontier joins the contract with a line here and its import: from a folder and
#: the bounds it makes a frontier. In a folder that has one already it goes on with it.
FRONTIERS: dict[str, Callable[..., Frontier]] = {
    "memory": lambda folder, **bounds: MemoryFrontier(**bounds),
    "redis": lambda folder, **bounds: RedisFrontier(redis_url(), folder.name, **bounds),
    "sqlite": lambda folder, **bounds: SqliteFrontier(folder / FILE_NAME, **bounds),
}
#: Those that survive their process.
DURABLE = ("redis", "sqlite")
_servers: list[RedisServer] = []


def redis_url() -> str:
    return _servers[0].url


@pytest.fixture(params=list(FRONTIERS))
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "redis":
        _servers[:] = [request.getfixturevalue("redis_server")]
    return request.param


@pytest.fixture
def make(kind: str, tmp_path: Path) -> Callable[..., Frontier]:
    """Make a frontier with these bounds, or open the one that was made before."""

    def frontier(**bounds: Any) -> Frontier:
        return FRONTIERS[kind](tmp_path, **bounds)

    return frontier


@pytest.fixture
def small_fronts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the index treat hosts of a few requests as it treats those of many thousands."""
    monkeypatch.setattr("focusspider.frontier.hosts.FRONT_MAX", 6)
    monkeypatch.setattr("focusspider.frontier.hosts.FRONT_KEEP", 2)
    monkeypatch.setattr("focusspider.frontier.hosts._STALE_RUN", 2)
    monkeypatch.setattr("focusspider.frontier.index._REBUILD_SHARE", 0)
