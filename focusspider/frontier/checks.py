"""What every frontier refuses, before it changes anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.errors import FrontierError
from focusspider.frontier import Outcome
from focusspider.priority import HELD, PRIORITY_MAX

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from focusspider.frontier import Entry

__all__ = [
    "MAX_SIZE_LIMIT",
    "check_bounds",
    "check_entry",
    "check_replacement",
    "check_rerank",
    "not_leased",
]

MAX_SIZE_LIMIT = 100_000_000
FINGERPRINT_SIZE = 20


def check_bounds(max_size: int, host_share: float) -> None:
    """Refuse bounds that bound nothing."""
    if not 1 <= max_size <= MAX_SIZE_LIMIT:
        raise FrontierError(
            f"max_size={max_size!r}: the bound of the frontier (FOCUS_FRONTIER_MAX) "
            f"must be between 1 and {MAX_SIZE_LIMIT}"
        )
    if not 0 < host_share <= 1:
        raise FrontierError(
            f"host_share={host_share!r}: the share of the frontier that one host may "
            "hold must be more than 0 and at most 1"
        )


def check_entry(entry: Entry) -> None:
    """Refuse a request that cannot be kept."""
    if len(entry.fingerprint) != FINGERPRINT_SIZE:
        raise FrontierError(
            f"fingerprint {entry.fingerprint.hex()} has {len(entry.fingerprint)} bytes, but "
            f"the frontier takes {FINGERPRINT_SIZE}: use the SHA-1 digest of it"
        )
    if not HELD <= entry.priority <= PRIORITY_MAX:
        raise _wrong_priority(entry.priority)


def check_replacement(fingerprint: bytes, outcome: Outcome, replacement: Entry) -> None:
    """Refuse a replacement of what is finished, or by another request."""
    if outcome is not Outcome.AGAIN:
        raise FrontierError(
            f"request {fingerprint.hex()} is {outcome.value}: only a request that is tried "
            "again can be replaced"
        )
    if replacement.fingerprint != fingerprint:
        raise FrontierError(
            f"request {fingerprint.hex()} cannot be replaced by "
            f"{replacement.fingerprint.hex()}: push that one as a request of its own"
        )
    check_entry(replacement)


def check_rerank(ids: NDArray[np.int64], priorities: NDArray[np.int64]) -> None:
    """Refuse arrays of different shapes, and priorities that are none."""
    if ids.shape != priorities.shape or ids.ndim != 1:
        raise FrontierError(
            f"reprioritise takes two arrays of one length, got the shapes {ids.shape} "
            f"and {priorities.shape}"
        )
    wrong = (priorities < HELD) | (priorities > PRIORITY_MAX)
    if wrong.any():
        raise _wrong_priority(int(priorities[wrong][0]))


def not_leased(fingerprint: bytes, state: str) -> FrontierError:
    """Return the error of a settlement that is none."""
    return FrontierError(
        f"request {fingerprint.hex()} is {state}: only a leased request can be settled, "
        "and only once for each lease"
    )


def _wrong_priority(priority: int) -> FrontierError:
    return FrontierError(
        f"priority {priority} is not between 0 and {PRIORITY_MAX}: make it with "
        "focusspider.priority"
    )
