"""Measure MEMM and CRF: training on 12,000 sequences, and what a page of 25 links costs.

``synthetic`` is sequences of 2 to 10 items with 200 of 20,000 features each, made from
hidden distances. ``webkb``, where the corpora are beside the checkout, is real: sampled from
three universities, course pages being the targets. There the models are asked about the
fourth: the area under the ROC curve of p(T0) of pages that were not fetched, at the end of
random paths, against the cosine of the parent's text with the keywords. Training is in a
process of its own, so that its peak memory is its own; times are CPU times.

Run it as ``python benchmarks/sequence_models.py``; it takes about three minutes of CPU.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, load_npz, save_npz

from focusspider.models.crf import CRF
from focusspider.models.memm import MEMM
from focusspider.page import Page, PageParser
from focusspider.priority import belief_priorities
from focusspider.profile import TopicProfile
from focusspider.relevance.target_vectors import TargetVectors
from focusspider.text import Analyzer, cosine
from focusspider.topic import Topic
from focusspider.webgraph.distances import hop_distances
from focusspider.webgraph.features import FAMILIES, TABLE_1, PageFeatures, important_words
from focusspider.webgraph.sequences import Sequences, sample_sequences
from focusspider.webgraph.trainingset import TrainingSet, links_by_key, training_set
from focusspider.webgraph.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
MODELS = {"memm": MEMM, "crf": CRF}
K = 5
KEYWORDS = [
    "course", "university", "homework", "lesson", "exams", "assignment", "lecture", "tutorial",
    "book", "schedule", "notes", "grading", "handout", "teaching", "solutions",
]  # fmt: skip
UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")


def synthetic(n: int, *, per_item: int = 200, n_features: int = 20_000) -> TrainingSet:
    """Return sequences whose states go down at random, and features that hang on them."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(2, 11, size=n)
    labels = np.concatenate([_walk(rng, int(length)) for length in lengths])
    ranks = np.arange(1, n_features + 1)
    popularity = 1 / ranks**0.8
    # Of each state, half of the features are up to three times as frequent, others rarer.
    of_state = np.array([popularity * np.exp(rng.normal(0, 0.4, n_features)) for _ in range(K)])
    of_state /= of_state.sum(axis=1, keepdims=True)
    columns = [
        np.unique(rng.choice(n_features, size=per_item, p=of_state[state])) for state in labels
    ]
    ends = np.cumsum([0, *(len(found) for found in columns)])
    features = csr_array(
        (np.ones(ends[-1]), np.concatenate(columns).astype(np.int32), ends.astype(np.int32)),
        shape=(len(labels), n_features),
    )
    names = [f"words:{column}" for column in range(n_features)]
    return TrainingSet(features, lengths, labels, Vocabulary(names))


def _walk(rng: np.random.Generator, length: int) -> NDArray[np.intp]:
    steps = rng.choice([0, 1], size=length, p=[0.6, 0.4])
    return np.maximum(int(rng.integers(K)) - np.cumsum(steps), 0)


def trained(data: TrainingSet, name: str) -> dict[str, Any]:
    """Fit a model in a process of its own, and return what that cost."""
    with tempfile.TemporaryDirectory() as folder:
        save_npz(Path(folder) / "features.npz", data.features)
        np.savez(Path(folder) / "rest.npz", lengths=data.lengths, labels=data.labels)
        done = subprocess.run(
            [sys.executable, __file__, "--fit", name, folder],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        result: dict[str, Any] = json.loads(done.stdout)
        result["model"] = MODELS[name](K)
        with np.load(Path(folder) / "model.npz") as arrays:
            for key in arrays.files:
                setattr(result["model"], key, arrays[key])
    return result


def fit(name: str, folder: Path) -> None:
    """Fit a model to the data in a folder, and print what that cost."""
    features = csr_array(load_npz(folder / "features.npz"))
    with np.load(folder / "rest.npz") as rest:
        lengths, labels = rest["lengths"], rest["labels"]
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[name](K).fit(features, lengths, labels)
    spent = time.process_time() - begun
    arrays = {key: value for key, value in vars(model).items() if isinstance(value, np.ndarray)}
    np.savez(folder / "model.npz", **arrays)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    told = {"seconds": spent, "mb": peak, "n": model.n_iter_, "converged": model.converged_}
    print(json.dumps(told))


def told(name: str, result: dict[str, Any]) -> str:
    """Return what training cost, for people."""
    end = "converged" if result["converged"] else "did not converge"
    return (
        f"  {name:5}{result['seconds']:6.1f} s, {result['mb']:5.0f} MB at the most, "
        f"{result['n']} iterations, {end}"
    )


class WebKB:
    """The pages of the four universities, and the links among those of some of them."""

    def __init__(self, parser: PageParser) -> None:
        with (CORPORA / "webkb" / "labels.csv").open(encoding="utf-8", newline="") as file:
            rows = {row["url"]: row for row in csv.DictReader(file)}
        self.pages: list[Page] = []
        self.groups: list[str] = []
        self.courses: list[bool] = []
        for page in _parsed(parser, rows):
            self.pages.append(page)
            self.groups.append(rows[page.url]["group"])
            self.courses.append(rows[page.url]["label"] == "course")

    def sampled(
        self, universities: Sequence[str], n: int, *, only_down: bool
    ) -> tuple[list[Page], NDArray[np.bool_], NDArray[np.int64], Sequences]:
        """Return pages, which are targets, hop distances, and sequences."""
        chosen = [i for i, group in enumerate(self.groups) if group in universities]
        pages = [self.pages[i] for i in chosen]
        number = {page.key: i for i, page in enumerate(pages)}
        links = [
            (i, j)
            for i, page in enumerate(pages)
            for key in page.link_keys.tolist()
            if (j := number.get(key)) is not None
        ]
        src, dst = np.array(links).T
        targets = np.array([self.courses[i] for i in chosen])
        distances = hop_distances(src, dst, targets, n_states=K)
        sequences = sample_sequences(
            n,
            n_pages=len(pages),
            src=src,
            dst=dst,
            layers=distances,
            random_state=np.random.default_rng(0),
            only_down=only_down,
        )
        return pages, targets, distances, sequences


def _parsed(parser: PageParser, rows: dict[str, Any]) -> Iterator[Page]:
    from warcio.archiveiterator import ArchiveIterator

    with (CORPORA / "webkb" / "webkb.warc.gz").open("rb") as file:
        for record in ArchiveIterator(file):
            url = record.rec_headers.get_header("WARC-Target-URI")
            if rows.get(url, {}).get("group") in UNIVERSITIES:
                yield parser.parse_html(record.content_stream().read(), url)


def learnt(
    corpus: WebKB, analyzer: Analyzer, families: Sequence[str], n: int, *, only_down: bool
) -> tuple[PageFeatures, TrainingSet, TrainingSet, float]:
    """Return features, training data, data held out, and the AUC of best-first there."""
    pages, targets, distances, sequences = corpus.sampled(UNIVERSITIES[1:], n, only_down=only_down)
    topic = Topic(name="course", keywords=tuple(KEYWORDS), targets=("http://x.example/",))
    profile = TopicProfile(topic, analyzer)
    wanted = [page for page, target in zip(pages, targets, strict=True) if target]
    for page in wanted:
        profile.add_target(page)
    features = PageFeatures(
        profile,
        families=families,
        important=important_words(wanted, analyzer),
        targets=TargetVectors(profile, purpose="features"),
    )
    begun = time.process_time()
    data = training_set(
        sequences,
        sequences.states(distances, K),
        pages.__getitem__,
        features,
        link_of=links_by_key([page.key for page in pages]),
        random_state=np.random.default_rng(0),
    )
    spent = time.process_time() - begun
    print(
        f"  {len(sequences):,} sequences, {len(data.labels):,} items of {data.features.shape[1]:,}"
        f" features, {data.features.nnz / len(data.labels):.0f} each; made in {spent:.1f} s"
    )
    others, _, held_distances, held = corpus.sampled(UNIVERSITIES[:1], 3_000, only_down=False)
    unseen = training_set(
        held,
        held.states(held_distances, K),
        others.__getitem__,
        features,
        link_of=links_by_key([page.key for page in others]),
        random_state=np.random.default_rng(1),
        share=1.0,
        vocabulary=data.vocabulary,
    )
    last = np.cumsum(held.lengths) - 1
    similar = [
        cosine(profile.keywords, others[parent].terms) for parent in held.pages[last - 1].tolist()
    ]
    return features, data, unseen, area(unseen.labels[last] == 0, np.array(similar))


def area(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the area under the ROC curve."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(positive, scores))


def page_of_25_links() -> str:
    """Return HTML of 10 KB, with words as frequent as those of real pages."""
    rng = np.random.default_rng(0)
    words = [*KEYWORDS, *("".join(rng.choice(list("aeionrstl"), size=6)) for _ in range(3_000))]
    popularity = 1 / np.arange(1, len(words) + 1)

    def text(n: int) -> str:
        return " ".join(rng.choice(words, size=n, p=popularity / popularity.sum()))

    links = "".join(
        f'<p>{text(25)} <a href="/{text(1)}/{text(1)}{i}.html">{text(3)}</a> {text(25)}</p>'
        for i in range(25)
    )
    head = f"<title>{text(5)}</title><meta name=description content='{text(15)}'>"
    return f"{head}<h1>{text(4)}</h1>{links}"


def scoring(features: PageFeatures, vocabulary: Vocabulary, model: Any, parser: PageParser) -> None:
    """Print what the links of a page cost: its parsing and terms aside, then in all."""
    html = page_of_25_links()
    spent = []
    for number in range(200):
        page = parser.parse_html(html, f"http://a.example/{number}")
        assert page.terms  # relevance has made them
        begun = time.process_time()
        row = features.of_page(page) | features.of_anchor(page.url, "course notes")
        belief = model.forward([0.2] * K, vocabulary.matrix([row]))[0]
        rows = vocabulary.matrix([features.of_link(page, link) for link in page.links])
        priorities = belief_priorities(model.predict_child(belief, rows))
        spent.append(time.process_time() - begun)
        assert len(priorities) == 25
    print(f"  {model.kind:5}{np.median(spent) * 1e3:6.2f} ms for a page of 25 links")


def main() -> None:
    """Train, score, and print what it cost."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sequences", type=int, default=12_000)
    arguments.add_argument("--fit", nargs=2, metavar=("MODEL", "FOLDER"), help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.fit:
        fit(given.fit[0], Path(given.fit[1]))
        return
    print(f"synthetic: {given.sequences:,} sequences")
    data = synthetic(given.sequences)
    for name in MODELS:
        print(told(name, trained(data, name)))
    if not (CORPORA / "webkb").is_dir():
        print(f"webkb: {CORPORA / 'webkb'} is not there; left out")
        return
    analyzer = Analyzer()
    parser = PageParser(analyzer=analyzer)
    corpus = WebKB(parser)
    for label, families, only_down in (
        ("table 1, the paper's sequences", TABLE_1, True),
        ("table 1, links in all directions", TABLE_1, False),
        ("all families, links in all directions", FAMILIES, False),
    ):
        print(f"webkb, {label}")
        features, data, unseen, of_parent = learnt(
            corpus, analyzer, families, given.sequences, only_down=only_down
        )
        last = np.cumsum(unseen.lengths) - 1
        print(f"  AUC of p(T0) on cornell: best-first {of_parent:.3f}")
        for name in MODELS:
            result = trained(data, name)
            beliefs = result["model"].beliefs(unseen.features, unseen.lengths)[last]
            auc = area(unseen.labels[last] == 0, beliefs[:, 0])
            print(f"{told(name, result)}, AUC {auc:.3f}")
            scoring(features, data.vocabulary, result["model"], parser)


if __name__ == "__main__":
    main()
