"""Measure what ``hmm`` costs: learning from a large training set, and scoring a page.

Pages are of four topics, and each has the words of one of three long pages, 1,500 of a
vocabulary of 676. The neighbours of a page are looked for among as many points as there are
training pages. Scoring is timed a page of 25 links, its parsing and terms aside; times are
CPU times.

Run it as ``python benchmarks/hmm.py``; it takes up to half a minute.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from focusspider.corpus import Corpus
from focusspider.models.modelfile import write_model
from focusspider.models.user_model import UserModel
from focusspider.page import PageParser
from focusspider.strategies.hmm import Hmm
from focusspider.text import Analyzer

if TYPE_CHECKING:
    from focusspider.page import Page

PARSER = PageParser(analyzer=Analyzer())


def big_page(random: np.random.Generator) -> Page:
    """Return a page of 1,500 words and 25 links."""
    letters = [chr(97 + n) for n in range(26)]
    words = [f"word{a}{b}" for a in letters for b in letters]
    text = " ".join(words[n] for n in random.integers(len(words), size=1_500))
    links = " ".join(f"<a href='/{n}'>link {n}</a>" for n in range(25))
    return PARSER.parse_html(f"<p>{text}{links}</p>", "http://a.example/")


def about(topic: int, random: np.random.Generator) -> dict[str, int]:
    """Return the terms of a page on one of the topics."""
    found: dict[str, int] = {}
    for number in random.zipf(1.5, 20) % 20:
        term = f"topic{topic}x{number}"
        found[term] = found.get(term, 0) + 1
    return found


def main() -> None:
    """Train, score, and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=9_000)
    parser.add_argument("--score", type=int, default=200)
    arguments = parser.parse_args()
    random = np.random.default_rng(3)

    long = [big_page(random) for _ in range(3)]
    corpus = Corpus()
    for n in range(arguments.pages):
        corpus.add(dict(long[n % 3].terms) | about(n % 4, random))
    states = np.arange(arguments.pages) % 5
    edges = np.column_stack([np.arange(arguments.pages - 1), np.arange(1, arguments.pages)])
    begun = time.process_time()
    model = UserModel(n_topics=50).fit(corpus.counts(), states, edges=edges, random_state=random)
    spent = time.process_time() - begun
    print(f"{arguments.pages:,} pages learnt from in {spent:.1f} s")

    pages = [big_page(random) for _ in range(arguments.score)]
    for page in pages:
        assert page.terms  # relevance has made them
    with tempfile.TemporaryDirectory() as folder:
        write_model(Path(folder) / "hmm.npz", model.to_file())
        strategy = Hmm(models_dir=folder)
        strategy.score(pages[0], None)
        times = []
        for page in pages:
            begun = time.process_time()
            strategy.score(page, (0.2,) * 5)
            times.append(time.process_time() - begun)
    median, most = np.median(times) * 1e3, max(times) * 1e3
    print(f"{median:.2f} ms for a page of 25 links (median), {most:.2f} ms at the most")


if __name__ == "__main__":
    main()
