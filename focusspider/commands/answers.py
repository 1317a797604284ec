"""Answers of a service, kept in a file so that none is paid for twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from focusspider.errors import SettingError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Answers"]


class Answers:
    """What a source said to each question, a line of JSON each, as it came.

    Parameters
    ----------
    source
        Who is asked: what another one said does not count.
    """

    def __init__(self, path: Path, source: str) -> None:
        self._path = path
        self._source = source
        self._answers: dict[str, tuple[int, Any]] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingError(f"--out: {path.parent} cannot be made: {error.strerror}") from None
        if not path.exists():
            return
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                said = json.loads(line)
                if said["source"] == source:
                    self._answers[said["question"]] = (int(said["n"]), said["answer"])
            except (ValueError, KeyError, TypeError):
                continue  # half written

    def __len__(self) -> int:
        """Return how many questions are answered."""
        return len(self._answers)

    def get(self, question: str, n: int) -> Any:
        """Return the answer to a question, where so much or more was asked for; else None."""
        asked, answer = self._answers.get(question, (0, None))
        return answer if asked >= n else None

    def keep(self, question: str, n: int, answer: Any) -> None:
        """Keep an answer, as JSON has it."""
        self._answers[question] = (n, answer)
        line = {"source": self._source, "question": question, "n": n, "answer": answer}
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise SettingError(
                f"{self._path} cannot be written: {error.strerror}; make room, and call this again"
            ) from None
