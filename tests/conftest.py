"""Fixtures that tests of several parts share."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import redisserver
from tests.browser import MISSING, find_chromium, launched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell starts what it puts into the background like this, and the commands that tests
    # interrupt would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of real pages beside the checkout; skip where it is missing."""
    if not CORPORA.is_dir():
        pytest.skip("the corpora are not beside the checkout (../shared/corpora)")
    return CORPORA


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[redisserver.RedisServer]:
    """Start a Redis that tests share, each with a crawl of its own; skip where there is none."""
    if redisserver.find_redis() is None:
        pytest.skip(redisserver.MISSING)
    with redisserver.RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return where Chromium is; skip where it is missing."""
    path = find_chromium()
    if path is None:
        pytest.skip(MISSING)
    return path


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """Return a running Chromium.

    For a module and no longer: while Playwright's loop is there, ``asyncio.run`` is not
    possible in this process.
    """
    with launched(chromium) as running:
        yield running
