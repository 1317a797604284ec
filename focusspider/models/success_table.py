"""How often the links of a group led to something: of one page, one directory, one word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.models.link_value import logit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["FOLDS", "SuccessTable", "SuccessTables"]

#: Places of a table of hashes at most, as a power of two: trials are many, groups are fewer.
_MOST_BITS = 18
#: Parts of the trials, of which a member leaves its own out.
FOLDS = 5


class SuccessTable:
    """How often the members of each group succeeded, smoothed towards the mean of all.

    The log odds of a group with s successes in t trials are

        log((s + a·m) / (t - s + a·(1 - m))) - log(m / (1 - m)),

    so 0 for a group that is not known: m is the mean of all, and a the number of trials that
    it counts for.

    What a model is fitted to must not hold a member's own outcome. Trials are in folds, and a
    member of one asks for its group without that fold. To leave out the member alone would
    not do: what is left is then the lower the higher its own outcome is, and where the groups
    differ little that would be all a model learns.

    Groups are integers. Those of 32-bit hashes share places, where the table is full, with
    others by chance; those that number things from 0 do not.

    Parameters
    ----------
    groups
        Group of each trial, (n_trials,); hashes, or numbers from 0.
    outcomes
        What came of each, in [0, 1], (n_trials,).
    folds
        Fold of each, from 0 to :data:`FOLDS` - 1, (n_trials,); None: members ask with their own
        outcomes in what they are told.
    mean
        m, in (0, 1).
    prior
        a, above 0.
    numbered
        So many numbers there are; a larger one is not known. None: groups are hashes.
    added
        Groups, trials and successes that were counted elsewhere, (n,) each; they are in no
        fold.
    """

    __slots__ = ("_folded", "_mask", "_numbered", "_of_mean", "_prior", "_successes", "_trials")

    def __init__(
        self,
        groups: NDArray[np.integer],
        outcomes: NDArray[np.float64],
        folds: NDArray[np.int64] | None = None,
        *,
        mean: float,
        prior: float = 1.0,
        numbered: int | None = None,
        added: tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]] | None = None,
    ) -> None:
        self._numbered = numbered
        self._prior = prior * mean, prior * (1 - mean)  # successes, and failures
        self._of_mean = logit(mean)
        # A quarter full where all trials differ, up to the most; the number after the last is
        # that of all unknown ones.
        n = len(groups) + (0 if added is None else len(added[0]))
        self._mask = (1 << min(max(10, (4 * n).bit_length()), _MOST_BITS)) - 1
        size = self._mask + 1 if numbered is None else numbered + 1
        places = self._places(groups)
        self._trials = np.bincount(places, minlength=size).astype(np.float32)
        self._successes = np.bincount(places, outcomes, minlength=size).astype(np.float32)
        if added is not None:
            more = self._places(added[0])
            self._trials += np.bincount(more, added[1], minlength=size).astype(np.float32)
            self._successes += np.bincount(more, added[2], minlength=size).astype(np.float32)
        self._folded: tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.float32]] | None = None
        if folds is not None:
            self._folded = (
                places.astype(np.int32),
                folds.astype(np.int8),
                outcomes.astype(np.float32),
            )

    def counts(
        self, groups: NDArray[np.integer], folds: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return trials and successes of each group, without those of a fold where given, (n,)."""
        places = self._places(groups)
        trials = self._trials[places].astype(np.float64)
        successes = self._successes[places].astype(np.float64)
        if folds is not None:
            of_fold, good_of_fold = self._in_fold(places, folds)
            trials = np.maximum(trials - of_fold, 0)
            successes = np.clip(successes - good_of_fold, 0, trials)
        return trials, successes

    def log_odds(
        self, trials: NDArray[np.float64], successes: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the smoothed log odds of counts, less those of the mean."""
        good, bad = self._prior
        odds: NDArray[np.float64] = (successes + good) / (trials - successes + bad)
        return np.log(odds) - self._of_mean

    def upper(
        self, trials: NDArray[np.float64], successes: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the mean success by counts, and one standard deviation more, (n,).

        They are those of the beta distribution with s + a·m successes and t - s + a·(1 - m)
        failures: what may well be, where little is known (Kaufmann, Cappé and Garivier 2012,
        On Bayesian upper confidence bounds for bandit problems; they take a quantile).
        """
        good, bad = successes + self._prior[0], trials - successes + self._prior[1]
        mean = good / (good + bad)
        bounds: NDArray[np.float64] = mean + np.sqrt(mean * (1 - mean) / (good + bad + 1))
        return bounds

    def evidence(
        self, groups: NDArray[np.integer], folds: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return the :meth:`log_odds` of the :meth:`counts` of groups."""
        return self.log_odds(*self.counts(groups, folds))

    def drop_folds(self) -> None:
        """Forget what is in which fold, when a model has been fitted: that is most of it all."""
        self._folded = None

    def _in_fold(
        self, asked: NDArray[np.int64], folds: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return trials and successes of places in folds, (n,) each."""
        if self._folded is None:
            raise ValueError("the trials are in no folds, or these were dropped")
        places, of_trial, outcomes = self._folded
        trials, successes = np.zeros(len(asked)), np.zeros(len(asked))
        for fold in range(FOLDS):  # one after the other: a table of each would be large
            own, members = of_trial == fold, np.flatnonzero(folds == fold)
            for counts, weights in ((trials, None), (successes, outcomes[own])):
                table = np.bincount(places[own], weights, minlength=len(self._trials))
                counts[members] = table[asked[members]]
        return trials, successes

    def _places(self, groups: NDArray[np.integer]) -> NDArray[np.int64]:
        if self._numbered is None:
            return groups.astype(np.int64) & self._mask
        return np.minimum(groups.astype(np.int64), self._numbered)


class SuccessTables:
    """Tables of one mean and prior that are asked together, each for groups of its own kind.

    For the links of one page numpy takes longer to be called than to count.

    Parameters
    ----------
    tables
        What they hold is in arrays of this from now on.
    """

    __slots__ = ("_last", "_mask", "_start", "_successes", "_tables", "_trials")

    def __init__(self, tables: Sequence[SuccessTable]) -> None:
        self._tables = tables
        self._trials = np.concatenate([table._trials for table in tables])
        self._successes = np.concatenate([table._successes for table in tables])
        ends = np.cumsum([len(table._trials) for table in tables])
        starts = ends - [len(table._trials) for table in tables]
        for table, start, end in zip(tables, starts, ends, strict=True):
            table._trials, table._successes = self._trials[start:end], self._successes[start:end]
        # A hash loses its first bits, and a number that is too large is the last: one of the
        # two changes nothing.
        every = np.iinfo(np.int64).max
        self._mask = np.array([every if t._numbered is not None else t._mask for t in tables])[
            :, None
        ]
        self._last = (ends - starts - 1)[:, None]
        self._start = starts[:, None]

    def records(
        self, groups: Sequence[NDArray[np.integer]], folds: NDArray[np.int64] | None = None
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Give trials and :meth:`SuccessTable.log_odds` of groups, (n,), for each table."""
        if folds is not None:  # of all that a model is fitted to: one table is enough at a time
            for table, of in zip(self._tables, groups, strict=True):
                trials, successes = table.counts(of, folds)
                yield trials, table.log_odds(trials, successes)
            return
        places = np.array(groups, dtype=np.int64)
        places &= self._mask
        places = np.minimum(places, self._last) + self._start
        trials = self._trials[places].astype(np.float64)
        successes = self._successes[places].astype(np.float64)
        yield from zip(trials, self._tables[0].log_odds(trials, successes), strict=True)

    def drop_folds(self) -> None:
        """Forget what is in which fold, in all tables."""
        for table in self._tables:
            table.drop_folds()
