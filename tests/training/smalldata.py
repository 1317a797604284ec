"""A small university to learn from: departments → laboratories → robots, and sports beside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.page import PageParser
from focusspider.topic import Topic
from focusspider.training.base import TrainingData
from tests.models.collections import page_about
from tests.pages import ANALYZER, page

if TYPE_CHECKING:
    from focusspider.page import Page

#: How many pages of each kind, in the order of their numbers. Each page of a kind links to
#: three of the next; robots, the targets, to nothing, and sports to each other.
KINDS = {"robot": 12, "laboratory": 18, "department": 18, "sport": 24}
#: Words that the analyzer leaves as they are.
WORDS = {kind: [f"{kind[:3]}{a}{b}" for a in "bdfgk" for b in "mnpr"] for kind in KINDS}
TOPIC = Topic(name="robots", keywords=("robot",), seeds=("http://a.example/",), source="r.toml")


def text_about(kind: str, random: np.random.Generator) -> str:
    counted = page_about(kind, random)
    words = []
    for word, count in counted.items():
        number = int(word.removeprefix(kind)) if word.startswith(kind) else None
        words += [WORDS[kind][number] if number is not None else "shared"] * count
    return " ".join(words)


def edges() -> list[tuple[int, int]]:
    starts = dict(zip(KINDS, np.cumsum([0, *KINDS.values()]).tolist(), strict=False))
    return [
        (starts[kind] + n, starts[onto] + (n + step) % KINDS[onto])
        for kind, onto in (
            ("laboratory", "robot"),
            ("department", "laboratory"),
            ("sport", "sport"),
        )
        for n in range(KINDS[kind])
        for step in (1, 2, 3)
    ]


def pages(seed: int = 0) -> list[Page]:
    random = np.random.default_rng(seed)
    return [
        page(f"<title>{kind}</title><p>{text_about(kind, random)}", f"http://a.example/{kind}/{n}")
        for kind, count in KINDS.items()
        for n in range(count)
    ]


def data(**changed: Any) -> TrainingData:
    """Return what a trainer is given; ``changed`` takes the place of parts of it."""
    made = changed.pop("pages", None) or pages()
    links = np.array(changed.pop("edges", edges()), dtype=np.int64).reshape(-1, 2)
    targets = np.zeros(len(made), dtype=bool)
    targets[: changed.pop("n_targets", KINDS["robot"])] = True
    return TrainingData(
        pages=made,
        sources=links[:, 0],
        destinations=links[:, 1],
        targets=targets,
        topic=TOPIC,
        parser=PageParser(analyzer=ANALYZER),
        source="graph.sqlite",
        **changed,
    )
