"""Which frontier a crawl has: in a job directory if there is one, else in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from focusspider.errors import FrontierError
from focusspider.frontier.memory import MemoryFrontier
from focusspider.frontier.sqlite import FILE_NAME, SqliteFrontier

if TYPE_CHECKING:
    from focusspider.config import FocusConfig

__all__ = ["memory_frontier", "open_job"]


def memory_frontier(config: FocusConfig) -> MemoryFrontier:
    """Return a frontier that goes with its process."""
    return MemoryFrontier(max_size=config.frontier_max, host_share=config.frontier_host_share)


def open_job(jobdir: str, config: FocusConfig, *, spider: str) -> SqliteFrontier:
    """Open the frontier of a job directory, which is made if it is not there.

    Raises :class:`FrontierError` where it cannot be used, or another spider began it, whose
    methods its requests call.
    """
    folder = Path(jobdir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FrontierError(
            f"JOBDIR={jobdir!r} cannot be made: {error.strerror}; "
            "give a folder that this user may write to"
        ) from error
    frontier = SqliteFrontier(
        folder / FILE_NAME, max_size=config.frontier_max, host_share=config.frontier_host_share
    )
    kept = frontier.recall("spider")
    if kept is None:
        frontier.remember("spider", spider.encode())
    elif kept != spider.encode():
        frontier.abandon()
        begun = kept.decode(errors="replace")
        raise FrontierError(
            f"JOBDIR={jobdir!r} holds a crawl of the spider {begun!r}, and this one is of "
            f"{spider!r}; take another JOBDIR"
        )
    return frontier
