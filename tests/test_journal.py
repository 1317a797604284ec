from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focusspider.journal import Journal, Mark

if TYPE_CHECKING:
    from pathlib import Path


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_a_line_of_an_unsettled_page_is_cut_and_what_comes_after_the_commit(
    tmp_path: Path,
) -> None:
    path = tmp_path / "items.jsonl"
    journal = Journal(path)
    journal.append("one", owner="a")
    journal.append("zwei – ü", owner="b")
    journal.append("three", owner="a")
    journal.append("four", owner="c")
    journal.settled("a")
    mark = journal.mark()
    assert mark == Mark(len("one\nzwei – ü\nthree\nfour\n".encode()), ((4, 16), (22, 27)))
    journal.append("five", owner="d")
    journal.settled("d")  # after the commit, so the frontier will fetch it again
    journal.close()  # the process dies; what was handed over is in the file
    Journal(path, mark).close()
    assert lines(path) == ["one", "three"]


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_crash_while_it_recovers_does_no_harm(tmp_path: Path, times: int) -> None:
    """The same mark is applied again: no later checkpoint was made."""
    path = tmp_path / "items.jsonl"
    journal = Journal(path)
    for number in range(6):
        journal.append(f"line {number}", owner=number)
    for owner in (0, 2, 3, 5):
        journal.settled(owner)
    mark = journal.mark()
    journal.append("after the commit", owner=9)
    journal.close()
    (tmp_path / "items.jsonl.part").write_text("half a dra")  # of a process that died in here
    for _ in range(times):
        Journal(path, mark).close()
    assert lines(path) == ["line 0", "line 2", "line 3", "line 5"]


def test_a_file_that_is_shorter_than_its_mark_is_kept_as_it_is(tmp_path: Path) -> None:
    """A full disk: what was not written cannot be cut."""
    path = tmp_path / "items.jsonl"
    path.write_text("one\n")
    Journal(path, Mark(100, ((50, 60),))).close()
    assert lines(path) == ["one"]


def test_a_file_that_is_gone_is_made(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    journal = Journal(path, Mark(10))
    journal.append("one")
    journal.close()
    journal.close()
    assert lines(path) == ["one"]


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("append"), st.integers(0, 5)),
            st.tuples(st.just("settle"), st.integers(0, 5)),
            st.tuples(st.just("commit"), st.just(0)),
        ),
        max_size=40,
    )
)
def test_after_a_crash_the_file_holds_what_was_settled_at_the_last_commit(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    path = tmp_path_factory.mktemp("journal") / "lines"
    journal = Journal(path)
    mark = journal.mark()
    written: list[tuple[str, int]] = []
    unsettled: set[int] = set()
    committed: list[str] = []
    for number, (step, owner) in enumerate(steps):
        if step == "append":
            written.append((f"{number} of {owner}", owner))
            unsettled.add(number)
            journal.append(written[-1][0], owner=owner)
        elif step == "settle":
            unsettled -= {int(text.split()[0]) for text, of in written if of == owner}
            journal.settled(owner)
        else:
            mark = journal.mark()
            committed = [text for text, _ in written if int(text.split()[0]) not in unsettled]
    journal.close()  # the process dies; what was handed over is in the file
    for _ in range(2):
        Journal(path, mark).close()
    assert lines(path) == committed
