from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusspider.keytable import ABSENT, KeyTable, fingerprint_key

#: Few keys, so that they meet; and the ends of the range.
KEYS = st.sampled_from([*range(40), 2**64 - 1, 2**63, 2**32])
VALUES = st.integers(-(2**31), 2**31 - 1).filter(lambda value: value != ABSENT)


@settings(deadline=None)
@given(st.lists(st.tuples(KEYS, st.none() | VALUES), max_size=120))
def test_it_holds_what_a_dict_holds(steps: list[tuple[int, int | None]]) -> None:
    table, truth = KeyTable(), dict[int, int]()
    for key, value in steps:
        if value is None:
            assert table.discard(key) == (truth.pop(key, None) is not None)
        else:
            table.put(key, value)
            truth[key] = value
        assert len(table) == len(truth)
    for key in [*range(45), 2**64 - 1, 2**63, 2**32]:
        assert table.get(key) == truth.get(key, ABSENT)
        assert (key in table) == (key in truth)
    asked = np.array([*truth, 77, 78], dtype=np.uint64)
    assert table.lookup(asked).tolist() == [*truth.values(), ABSENT, ABSENT]


@pytest.mark.parametrize("seed", range(6))
def test_growing_and_forgetting_many(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 2:
        monkeypatch.setattr("focusspider.keytable._STRETCH", 16)
    rng = random.Random(seed)
    table, truth = KeyTable(), dict[int, int]()
    for number in range(20_000):
        key = rng.getrandbits(64)
        table.put(key, number)
        truth[key] = number
        if number % 3 == 0:
            gone = rng.choice(list(truth)[-50:])
            del truth[gone]
            assert table.discard(gone)
    assert len(table) == len(truth)
    assert table.lookup(np.array(list(truth), dtype=np.uint64)).tolist() == list(truth.values())
    for key in truth:
        assert table.discard(key)
    assert len(table) == 0


def test_extend_adds_to_what_is_there() -> None:
    table = KeyTable()
    table.put(5, 50)
    keys = np.arange(100, 5100, dtype=np.uint64)
    table.extend(keys, np.arange(5000, dtype=np.int32))
    assert table.get(5) == 50
    assert table.lookup(keys).tolist() == list(range(5000))
    assert len(table) == 5001


@pytest.mark.parametrize("seed", range(40))
def test_extend_fills_an_empty_table(seed: int) -> None:
    rng = random.Random(seed)
    keys = [rng.getrandbits(64) for _ in range(rng.choice([0, 1, 9, 10, 11, 300, 5000]))]
    table = KeyTable()
    table.put(7, 7)
    table.discard(7)
    table.extend(np.array(keys, dtype=np.uint64), np.arange(len(keys), dtype=np.int32))
    assert len(table) == len(keys)
    assert [table.get(key) for key in keys] == list(range(len(keys)))
    table.put(8, 8)
    for key in keys:
        assert table.discard(key)
    assert table.get(8) == 8
    assert len(table) == 1


def test_extend_goes_on_at_the_start_where_the_end_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.randbits", lambda _: 1)  # keys are not spread
    table = KeyTable()
    keys = [2**64 - 1 - i for i in range(8)]  # all at home in the last place
    table.extend(np.array(keys, dtype=np.uint64), np.arange(8, dtype=np.int32))
    assert [table.get(key) for key in keys] == list(range(8))
    assert table.get(1) == ABSENT


def test_looking_up_nothing() -> None:
    assert KeyTable().lookup(np.array([], dtype=np.uint64)).tolist() == []


def test_chosen_keys_do_not_pile_up() -> None:
    """Keys that agree in 44 bits, as whoever writes the URLs could make them, still spread."""
    for start in (0, 0xABCDEF << 40):
        table = KeyTable()
        for number in range(20_000):
            table.put(start + number, number)
        filled = np.frombuffer(table._values, dtype=np.int32) != ABSENT
        edges = np.flatnonzero(np.diff(filled, prepend=False, append=False))
        longest = int((edges[1::2] - edges[::2]).max())
        assert longest < 2_000  # without the multiplier it is 20,000


def test_the_key_is_the_head_of_the_fingerprint() -> None:
    assert fingerprint_key(b"\x01" + bytes(19)) == 1 << 56
