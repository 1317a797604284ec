from __future__ import annotations

from datetime import UTC, datetime

import pytest

from focusspider.retryafter import seconds_to_wait

NOW = datetime(2026, 11, 8, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("9" * 400, float("inf")),
        # the three forms of a date that HTTP knows (RFC 9110, 5.6.7)
        ("Sun, 08 Nov 2026 12:01:30 GMT", 90.0),
        ("Sunday, 08-Nov-26 12:01:30 GMT", 90.0),
        ("Sun Nov  8 12:01:30 2026", 90.0),
        ("Sun, 08 Nov 2026 14:01:30 +0200", 90.0),
        ("Sun, 08 Nov 2026 11:00:00 GMT", 0.0),
        # nothing that says when
        ("", 0.0),
        ("soon", 0.0),
        ("-5", 0.0),
        ("1.5", 0.0),
        ("1e3", 0.0),
        ("nan", 0.0),
        ("²", 0.0),
        ("\xff\0", 0.0),
        ("Sun, 99 Nov 2026 12:01:30 GMT", 0.0),
        ("Sun, 08 Nov 99999999999 12:01:30 GMT", 0.0),
    ],
)
def test_what_a_host_asks_for(value: str, seconds: float) -> None:
    assert seconds_to_wait(value, NOW) == seconds
