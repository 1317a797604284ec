"""Measure the judges that learn from samples, ``table`` and ``classifier``, on ``manuals``.

A page of the six manuals is a target if its label is ``reference``. Each figure is the mean of so
many draws of 20 samples, each with its own seed; the pages that were drawn are never tested.

``table``, on httpd, the one manual whose targets have a table of one kind (a specification for each
directive): samples are drawn from its English pages, or from all its languages, and tested are the
other pages of httpd, those of httpd in other languages, and all pages of the other five manuals,
none of which has such a table.

The lists of flags of grass are of one kind too: ``table`` on the other pages of grass. The targets
of the other four have no kind of table in common.

``classifier``: within each manual, from targets alone, and from 20 targets and 20 other pages; and
on each manual trained on 20 targets and 20 other pages of each of the other five.

Judging is timed in CPU time, parsing and terms aside.

Run it as ``python benchmarks/validators.py --corpora FOLDER``; it takes some minutes.
"""

from __future__ import annotations

import argparse
import csv
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from focusspider.models.page_classifier import PageClassifier
from focusspider.page import PageParser
from focusspider.profile import TopicProfile
from focusspider.relevance.classifier import page_words
from focusspider.relevance.table import TableRelevance
from focusspider.replay import open_archive
from focusspider.replay.reading import PageReader
from focusspider.text import Analyzer
from focusspider.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from focusspider.page import Page

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
ANALYZER = Analyzer("english")
TOPIC = Topic(name="reference", keywords=("reference",), source="benchmark")
SAMPLES = 20
TABLED, LISTED = "httpd", "grass"


class Labelled(NamedTuple):
    """A page, whether it is a target, and whose manual it is of."""

    page: Page
    target: bool
    site: str


class Found(NamedTuple):
    """Precision, recall and F1 of a judge."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, said: Sequence[bool], true: Sequence[bool]) -> Found:
        """Compare what a judge said with the truth."""
        right = sum(a and b for a, b in zip(said, true, strict=True))
        precision, recall = right / max(sum(said), 1), right / max(sum(true), 1)
        return cls(precision, recall, 2 * right / max(sum(said) + sum(true), 1))


def read(corpora: Path) -> list[Labelled]:
    """Return the pages of the manuals."""
    archive = open_archive(corpora / "manuals" / "manuals.warc.gz")
    reader = PageReader(PageParser(analyzer=ANALYZER))
    found = []
    with (corpora / "manuals" / "labels.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            stored = archive.get(row["url"])
            page = reader.read(stored) if stored is not None else None
            if page is not None:
                found.append(Labelled(page, row["label"] == "reference", row["group"]))
    return found


def drawn(
    pages: Iterable[Labelled], n: int, rng: random.Random, *, target: bool = True
) -> list[Page]:
    """Return pages drawn from targets, or from others."""
    those = [one.page for one in pages if one.target is target]
    return rng.sample(those, n)


def tested(
    pages: Iterable[Labelled], without: Iterable[Page], judge: Callable[[Page], bool]
) -> Found:
    """Return how good a judge is on the pages that it has not learnt from."""
    learnt = {page.url for page in without}
    rest = [one for one in pages if one.page.url not in learnt]
    return Found.of([judge(one.page) for one in rest], [one.target for one in rest])


def shown(name: str, draws: Sequence[Found]) -> None:
    """Print the means of several draws, and the worst."""
    mean = [sum(values) / len(draws) for values in zip(*draws, strict=True)]
    least = [min(values) for values in zip(*draws, strict=True)]
    print(
        f"{name:44}  P {mean[0]:.3f}  R {mean[1]:.3f}  F1 {mean[2]:.3f}"
        f"   (least P {least[0]:.3f}  R {least[1]:.3f})",
        flush=True,
    )


def table_judge(samples: Iterable[Page]) -> TableRelevance:
    """Return the judge ``table`` as a crawl with these targets has it."""
    profile = TopicProfile(TOPIC, ANALYZER)
    for page in samples:
        profile.add_target(page)
    judge = TableRelevance()
    judge.start(profile)
    return judge


def measure_table(pages: Sequence[Labelled], draws: int) -> None:
    """Print how good ``table`` is on httpd and beside it."""
    # elsewhere nothing is a target: the other manuals have no such tables
    pages = [one._replace(target=one.target and one.site == TABLED) for one in pages]
    of_site = [one for one in pages if one.site == TABLED]
    english = [one for one in of_site if "/en/" in one.page.url]
    foreign = [one for one in of_site if "/en/" not in one.page.url]
    for name, source in (("English", english), ("all languages", of_site)):
        judges = []
        for seed in range(draws):
            samples = drawn(source, SAMPLES, random.Random(seed))
            judges.append((samples, table_judge(samples)))
        sets = [("other pages of httpd", of_site), ("all six manuals", pages)]
        if source is english:
            sets.insert(1, ("httpd in other languages", foreign))
        for of, among in sets:
            shown(
                f"table, {name}: {of}",
                [tested(among, samples, lambda p, j=j: j.judge(p).relevant)
                 for samples, j in judges],
            )  # fmt: skip


def measure_lists(pages: Sequence[Labelled], draws: int) -> None:
    """Print how good ``table`` is where what targets have in common are lists of definitions."""
    of_site = [one for one in pages if one.site == LISTED]
    found = []
    for seed in range(draws):
        samples = drawn(of_site, SAMPLES, random.Random(seed))
        judge = table_judge(samples)
        found.append(tested(of_site, samples, lambda p, judge=judge: judge.judge(p).relevant))
    shown(f"table, {LISTED}: other pages of {LISTED}", found)


def classifier(
    wanted: Sequence[Page], others: Sequence[Page], algorithm: str
) -> Callable[[Page], bool]:
    """Return what the judge ``classifier`` says with its default threshold."""
    model = PageClassifier(algorithm=algorithm)
    model.fit([*map(page_words, wanted)], [*map(page_words, others)])
    return lambda page: model.classify(page_words(page)).probability >= 0.5


SETUPS = (("naive-bayes", 0), ("naive-bayes", SAMPLES), ("logistic-regression", SAMPLES))


def measure_within(pages: Sequence[Labelled], draws: int) -> None:
    """Print how good ``classifier`` is on the manual that its samples are from."""
    for algorithm, n_others in SETUPS:
        every = []
        for site in sorted({one.site for one in pages}):
            among = [one for one in pages if one.site == site]
            found = []
            for seed in range(draws):
                rng = random.Random(seed)
                wanted = drawn(among, SAMPLES, rng)
                others = drawn(among, n_others, rng, target=False)
                judge = classifier(wanted, others, algorithm)
                found.append(tested(among, [*wanted, *others], judge))
            shown(f"{algorithm}, {n_others} others: {site}", found)
            every += found
        shown(f"{algorithm}, {n_others} others: all", every)


def measure_across(pages: Sequence[Labelled], draws: int) -> None:
    """Print how good ``classifier`` is on a manual that it knows nothing of."""
    sites = sorted({one.site for one in pages})
    for algorithm, n_others in SETUPS:
        every = []
        for site in sites:
            among = [one for one in pages if one.site == site]
            found = []
            for seed in range(draws):
                rng = random.Random(seed)
                wanted: list[Page] = []
                others: list[Page] = []
                for other in (other for other in sites if other != site):
                    from_it = [one for one in pages if one.site == other]
                    wanted += drawn(from_it, SAMPLES, rng)
                    others += drawn(from_it, n_others, rng, target=False)
                found.append(tested(among, (), classifier(wanted, others, algorithm)))
            shown(f"across, {algorithm}, {n_others} others each: {site}", found)
            every += found
        shown(f"across, {algorithm}, {n_others} others each: all", every)


def measure_cost(pages: Sequence[Labelled], corpora: Path) -> None:
    """Print what a judgement costs, and the reading of tables."""
    of_site = [one for one in pages if one.site == TABLED]
    parser = PageParser(analyzer=ANALYZER)
    archive = open_archive(corpora / "manuals" / "manuals.warc.gz")
    reader = PageReader(parser)
    fresh = [reader.read(stored) for one in pages[::20] if (stored := archive.get(one.page.url))]
    begun = time.process_time()
    for page in fresh:
        assert page is not None
        page.tables  # noqa: B018 - read when first asked for
    print(f"reading tables: {(time.process_time() - begun) / len(fresh) * 1e3:.3f} ms a page")
    samples = drawn(of_site, SAMPLES, random.Random(0))
    table = table_judge(samples)
    learnt = classifier(samples, drawn(of_site, SAMPLES, random.Random(0), target=False),
                        "logistic-regression")  # fmt: skip
    judges: tuple[tuple[str, Callable[[Page], object]], ...] = (
        ("table", table.judge), ("classifier", learnt),
    )  # fmt: skip
    for name, judge in judges:
        begun = time.process_time()
        for one in pages:
            judge(one.page)
        print(f"{name}: {(time.process_time() - begun) / len(pages) * 1e3:.3f} ms a page")


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=CORPORA, help="the folder of the archives")
    parser.add_argument("--draws", type=int, default=10)
    arguments = parser.parse_args()
    pages = read(arguments.corpora)
    for one in pages:
        page_words(one.page)
    measure_table(pages, arguments.draws)
    measure_lists(pages, arguments.draws)
    measure_cost(pages, arguments.corpora)
    measure_within(pages, arguments.draws)
    measure_across(pages, arguments.draws)


if __name__ == "__main__":
    main()
