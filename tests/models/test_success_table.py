"""How often links of a group led to something: against counts made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from focusspider.models.link_value import logit
from focusspider.models.success_table import FOLDS, SuccessTable, SuccessTables


def test_success_by_hand() -> None:
    groups = np.array([7, 7, 7, 9])
    outcomes = np.array([1.0, 0.0, 1.0, 0.0])
    table = SuccessTable(groups, outcomes, np.zeros(4, dtype=np.int64), mean=0.25, prior=2.0)
    # group 7: (2 + 0.5) / (1 + 1.5); group 9: 0.5 / 2.5; one that is not known: 0
    expected = np.log([1.0, 0.2, 1 / 3]) - logit(0.25)
    found = table.evidence(np.array([7, 9, 8]))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("numbered", [None, 12])
def test_leaving_a_fold_out_is_counting_without_it(numbered: int | None) -> None:
    random = np.random.default_rng(2)
    groups, outcomes = random.integers(12, size=80), random.random(80)
    folds = random.integers(FOLDS, size=80)
    table = SuccessTable(groups, outcomes, folds, mean=0.3, numbered=numbered)
    left_out = table.evidence(groups, folds)
    for fold in range(FOLDS):
        kept, asked = folds != fold, folds == fold
        without = SuccessTable(
            groups[kept], outcomes[kept], folds[kept], mean=0.3, numbered=numbered
        )
        expected = without.evidence(groups[asked])
        np.testing.assert_allclose(left_out[asked], expected, rtol=0, atol=1e-5)


def test_a_group_of_all_tells_nothing_of_its_members() -> None:
    # With one member left out of a group of all, what is left would tell its outcome exactly.
    random = np.random.default_rng(4)
    outcomes = (random.random(500) < 0.3).astype(np.float64)
    groups, folds = np.zeros(500, dtype=np.int64), random.integers(FOLDS, size=500)
    of_group = SuccessTable(groups, outcomes, folds, mean=0.3).evidence(groups, folds)
    assert abs(np.corrcoef(of_group, outcomes)[0, 1]) < 0.2


def test_a_number_that_came_later_is_not_known() -> None:
    table = SuccessTable(
        np.array([0, 1]), np.ones(2), np.zeros(2, dtype=np.int64), mean=0.5, numbered=2
    )
    trials, successes = table.counts(np.array([0, 1, 2, 5000]))
    assert trials.tolist() == successes.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("folded", [False, True])
def test_tables_that_are_asked_together_say_what_each_says(folded: bool) -> None:
    random = np.random.default_rng(5)
    groups = np.stack(
        [random.integers(2**32, size=80), random.integers(9, size=80), random.integers(3, size=80)]
    )
    outcomes, folds = random.random(80), random.integers(FOLDS, size=80) if folded else None

    def tables() -> list[SuccessTable]:
        return [
            SuccessTable(of, outcomes, folds, mean=0.3, numbered=numbered)
            for of, numbered in zip(groups, (None, 9, 3), strict=True)
        ]

    together, asked = SuccessTables(tables()), groups.copy()
    if not folded:  # of later: a hash that no trial had, and numbers that came since
        asked[:, -1] = [2**32 - 1, 500, 3]
    records = list(together.records(asked, folds))
    for table, of, (trials, log_odds) in zip(tables(), asked, records, strict=True):
        assert trials.tolist() == table.counts(of, folds)[0].tolist()
        assert log_odds.tolist() == table.evidence(of, folds).tolist()
    together.drop_folds()
    if folded:
        with pytest.raises(ValueError, match="dropped"):
            list(together.records(asked, folds))
