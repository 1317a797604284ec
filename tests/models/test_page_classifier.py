"""The classifier of pages against scikit-learn, numbers worked by hand, and damaged files."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from focusspider.errors import ModelFileError
from focusspider.models.modelfile import ModelFile, read_model, write_model
from focusspider.models.page_classifier import PageClassifier, PageWords

WANTED = [
    PageWords(("robot", "arm", "grip"), ("reach",)),
    PageWords(("robot", "arm", "weld"), ("reach", "load")),
    PageWords(("robot", "leg"), ()),
    PageWords(("robot", "arm", "tea"), ("reach",)),
]
OTHERS = [
    PageWords(("tea", "cake"), ("milk",)),
    PageWords(("tea", "cup", "arm"), ("milk",)),
    PageWords(("cake", "cup"), ()),
]


def fitted(algorithm: str = "naive-bayes", others: Any = OTHERS, **params: Any) -> PageClassifier:
    return PageClassifier(algorithm=algorithm, **params).fit(WANTED, others)


def probability(model: PageClassifier, text: str, headings: str = "") -> float:
    return model.classify(PageWords(text.split(), headings.split())).probability


def matrix(pages: list[PageWords], names: list[str]) -> np.ndarray[Any, Any]:
    """Return the vectors that the docstring describes, written down the slow way."""
    rows = np.zeros((len(pages), len(names)))
    for row, page in zip(rows, pages, strict=True):
        for kind, terms in (("text", page.text), ("heading", page.headings)):
            for term in terms:
                if f"{kind}:{term}" in names:
                    row[names.index(f"{kind}:{term}")] = 1 / math.sqrt(len(terms))
    return rows


def test_logistic_regression_is_scikit_learns() -> None:
    from sklearn.linear_model import LogisticRegression

    model = fitted("logistic-regression", c=3.0)
    rows = matrix([*WANTED, *OTHERS], model.names_)
    expected = LogisticRegression(C=3.0, class_weight="balanced", max_iter=1000)
    expected.fit(rows, [1] * len(WANTED) + [0] * len(OTHERS))
    said = expected.predict_proba(rows)[:, 1]
    found = [model.classify(page).probability for page in [*WANTED, *OTHERS]]
    np.testing.assert_allclose(found, said, rtol=1e-6, atol=0)


def test_naive_bayes_is_scikit_learns() -> None:
    from sklearn.naive_bayes import MultinomialNB

    model = fitted(smoothing=0.5)
    rows = matrix([*WANTED, *OTHERS], model.names_)
    expected = MultinomialNB(alpha=0.5).fit(rows, [1] * len(WANTED) + [0] * len(OTHERS))
    other, wanted = expected.feature_log_prob_
    np.testing.assert_allclose(model.weights_, wanted - other, rtol=1e-12, atol=1e-12)


def test_naive_bayes_is_sure_where_the_pages_it_left_out_were_told_apart() -> None:
    model = fitted()
    assert all(model.classify(page).probability > 0.5 for page in WANTED)
    assert all(model.classify(page).probability < 0.5 for page in OTHERS)
    assert probability(model, "robot arm") > probability(model, "arm") > probability(model, "tea")


def test_targets_alone_by_hand() -> None:
    # Of 3 pages, 3 have a, 1 each b, c, d; no headings. Weights ln 4, ln 2, ln 2, ln 2 and of
    # length 1/2. Left out, a page is like (a, and the other two letters) in a alone.
    pages = [PageWords(("a", letter), ()) for letter in "bcd"]
    model = PageClassifier(algorithm="naive-bayes").fit(pages, [])
    a, b = math.log(4), math.log(2)
    length = 2 * math.sqrt(a**2 + 3 * b**2)
    assert dict(zip(model.names_, model.weights_, strict=True)) == pytest.approx(
        {"text:a": a / length, "text:b": b / length, "text:c": b / length, "text:d": b / length},
        rel=1e-12,
    )
    left = math.log(3) / (2 * math.sqrt(math.log(3) ** 2 + 2 * b**2)) / math.sqrt(2)
    # All three are as unlike the others: a page may be a tenth less like.
    assert model.boundary_ == pytest.approx(0.9 * left, rel=1e-12)
    assert model.slope_ == pytest.approx(math.log(9) / (0.1 * left), rel=1e-12)
    assert model.n_pages_ == (3, 0)


def test_the_middle_sample_has_nine_tenths() -> None:
    pages = [PageWords((*"abcdefgh"[:n], f"own{n}"), ()) for n in range(2, 9)]
    model = PageClassifier(algorithm="naive-bayes").fit(pages, [])
    scores = []
    for n, page in enumerate(pages):
        others = [other for other in pages if other is not page]
        counts = {name: sum(name[5:] in other.text for other in others) for name in model.names_}
        weights = np.log1p([counts[name] for name in model.names_])
        row = matrix([page], model.names_)[0]
        scores.append(float(row @ weights) / (2 * float(np.linalg.norm(weights))))
        assert n < len(pages)
    low, middle = min(scores), sorted(scores)[3]
    for score, expected in ((low, 0.5), (middle, 0.9)):
        found = 1 / (1 + math.exp(-model.slope_ * (score - model.boundary_)))
        assert found == pytest.approx(expected, rel=1e-9)


def test_outliers_move_the_boundary() -> None:
    pages = [PageWords((*"abcdefgh"[:n], f"own{n}"), ()) for n in range(1, 9)]
    strict, lenient = (
        PageClassifier(algorithm="naive-bayes", outliers=share).fit(pages, [])
        for share in (0.3, 0.0)
    )
    assert strict.boundary_ > lenient.boundary_


def test_reasons_are_the_words_that_weigh_most() -> None:
    model = fitted()
    assert model.classify(PageWords(("robot", "tea"), ("reach",))).reasons[0] == "reach (heading)"
    assert model.classify(PageWords(("tea", "cup"), ("milk",))).reasons[0] == "milk (heading)"
    assert model.classify(PageWords(("zyx",), ())) == (0.0, ())


def test_words_that_were_never_seen_make_a_page_less_like() -> None:
    model = fitted()
    assert probability(model, "robot arm") > probability(model, "robot arm " + "x y z " * 1)


@pytest.mark.parametrize("others", [OTHERS, []])
def test_the_order_of_pages_does_not_count(others: list[PageWords]) -> None:
    one = PageClassifier(algorithm="naive-bayes").fit(WANTED, others).to_file()
    other = PageClassifier(algorithm="naive-bayes").fit(WANTED[::-1], others[::-1])
    for name, array in other.to_file().arrays.items():
        assert (array == one.arrays[name]).all()


def test_the_most_common_words_count() -> None:
    model = fitted(n_terms=2)
    assert model.names_ == ["text:arm", "text:robot"]


def test_a_file_gives_the_same_judgements(tmp_path: Any) -> None:
    for model in (fitted(), fitted("logistic-regression"), fitted(others=[])):
        write_model(tmp_path / "m.npz", model.to_file(topic="robots"))
        again = PageClassifier.from_file(read_model(tmp_path / "m.npz", kind="relevance"))
        for page in [*WANTED, *OTHERS]:
            assert again.classify(page) == model.classify(page)
        assert again.n_pages_ == model.n_pages_


def damaged(**changed: Any) -> ModelFile:
    file = fitted().to_file()
    return ModelFile(
        kind=file.kind,
        arrays={**file.arrays, **changed},
        parameters=changed.pop("parameters", file.parameters),
    )


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("calibration", np.array([0.0, -1.0]), "its slope is -1.0"),
        ("calibration", np.array([0.0]), "calibration has the shape"),
        ("calibration", np.array([np.nan, 1.0]), "not finite"),
        ("calibration", np.array([1e300, 1.0]), "beyond 1e.12"),
        ("n_pages", np.array([0, 1]), "learnt from 0 pages"),
        ("weights", np.zeros(3), "n_features is"),
        ("names_utf8", np.zeros(3, dtype=np.uint8), "are not texts"),
    ],
)
def test_a_damaged_file_is_refused(name: str, value: Any, says: str) -> None:
    with pytest.raises(ModelFileError, match=says):
        PageClassifier.from_file(damaged(**{name: value}))


@pytest.mark.parametrize(
    ("wanted", "others", "algorithm", "says"),
    [
        (2, 0, "naive-bayes", "from 3 wanted pages with words or more, and there are 2"),
        (1, 2, "naive-bayes", "from 2 wanted pages with words or more, and there are 1"),
        (3, 1, "naive-bayes", "from 2 pages with words that are not wanted or more, or from none"),
        (4, 0, "logistic-regression", "'logistic-regression' needs pages that are not wanted"),
    ],
)
def test_too_few_pages_are_refused(wanted: int, others: int, algorithm: str, says: str) -> None:
    nothing = [PageWords((), ())] * 5  # does not count
    with pytest.raises(ValueError, match=says):
        PageClassifier(algorithm=algorithm).fit([*WANTED[:wanted], *nothing], OTHERS[:others])


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"algorithm": "bayes"}, "algorithm must be one of naive-bayes, logistic-regression"),
        ({"smoothing": 0}, "smoothing must be a number"),
        ({"c": -1.0}, "c must be a number"),
        ({"outliers": 1}, "outliers must be below 1"),
        ({"n_terms": 0}, "n_terms must be a whole number"),
    ],
)
def test_wrong_values_are_refused(params: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        PageClassifier(**params)


@pytest.mark.parametrize("n", [3, 60, 150])
def test_each_page_is_left_out_once_and_both_classes_stay(n: int) -> None:
    from focusspider.models.page_classifier import _folds

    classes = np.arange(n + 2) < n
    folds = _folds(classes)
    assert np.sum(folds, axis=0).tolist() == [1] * (n + 2)
    for fold in folds:
        assert set(classes[~fold].tolist()) == {True, False}
