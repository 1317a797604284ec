from __future__ import annotations

import numpy as np
import pytest

from focusspider.growing import GrowingArray, roomy


def test_it_is_a_list() -> None:
    array: GrowingArray[np.int32] = GrowingArray(np.int32)
    expected: list[int] = []
    for number in range(500):
        array.append(number)
        array.extend(np.arange(number % 7, dtype=np.int32))
        expected += [number, *range(number % 7)]
        assert len(array) == len(expected)
    assert array.view().tolist() == expected
    assert array.view().dtype == np.int32


def test_more_than_there_is_room_for_at_once() -> None:
    array = GrowingArray.of(np.arange(10, dtype=np.int64))
    array.extend(np.arange(10_000))
    assert array.view().tolist() == [*range(10), *range(10_000)]


def test_a_view_stays_what_it_was() -> None:
    array = GrowingArray.of(np.arange(3, dtype=np.int32))
    view = array.view()
    for number in range(1000):
        array.append(number)
    assert view.tolist() == [0, 1, 2]


def test_a_view_cannot_be_written_and_what_it_is_of_is_copied() -> None:
    values = np.arange(3, dtype=np.float32)
    array = GrowingArray.of(values)
    with pytest.raises(ValueError, match="read-only"):
        array.view()[0] = 1
    array.values[0] = 7
    assert values.tolist() == [0, 1, 2]


def test_there_is_room_for_a_quarter_more() -> None:
    assert roomy(1000) == 1000 + 250 + 64
