"""A joint probabilistic model of what documents say and who links to them (PLSI + PHITS)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["PlsiPhits"]

#: Counts that are looked at together: so many times k numbers are in memory at once.
_CHUNK = 100_000


class PlsiPhits:
    """Documents as mixtures of k factors, each of which prefers certain terms and links.

    Cohn and Hofmann (2001), as Almpanidis, Kotropoulos and Pitas (2007, 2.3) give it: of
    all models P(t|d) = Σ_z P(t|z) P(z|d), P(c|d) = Σ_z P(c|z) P(z|d), fit one that makes

        L = α Σ TF(t, d) log P(t|d) + (1 - α) Σ LF(d, c) log P(c|d)                (eq. 16)

    large, P(d) aside, which is the same in all of them. It is found by expectation and
    maximisation, tempered: in the expectation P(z|t, d) is proportional to
    [P(t|z) P(z|d)]^β, and β falls from ``beta`` by the factor ``eta`` for as long as it is
    not below ``beta_min``. At β = 1 no iteration lowers L.

    Parameters
    ----------
    k : int
        Number of factors.
    alpha : float
        Weight α of the text, in [0, 1].
    beta, beta_min, eta : float
        How β begins and ends, and what it is multiplied with.
    max_iter : int
        Most iterations at each β.
    tol : float
        The iterations at one β end when P(z|d) changes by no more, summed over z, in the
        mean of the documents.

    Attributes
    ----------
    p_term_ : ndarray, (k, n_terms)
        P(t|z); each row sums to 1, or is 0 where no term was seen.
    p_link_ : ndarray, (k, n_links)
        P(c|z), likewise.
    p_topic_ : ndarray, (n_documents, k)
        P(z|d) of the documents that it was fitted to.
    p_prior_ : ndarray, (k,)
        Mean of these: what is thought of a document that shows nothing.
    """

    def __init__(
        self,
        k: int,
        *,
        alpha: float = 0.5,
        beta: float = 1.0,
        beta_min: float = 0.8,
        eta: float = 0.9,
        max_iter: int = 20,
        tol: float = 1e-3,
    ) -> None:
        self.k = k
        self.alpha = alpha
        self.beta = beta
        self.beta_min = beta_min
        self.eta = eta
        self.max_iter = max_iter
        self.tol = tol

    def fit(
        self,
        text: csr_array,
        links: csr_array,
        *,
        random_state: np.random.Generator,
        p_term: NDArray[np.float64] | None = None,
        p_topic: NDArray[np.float64] | None = None,
    ) -> PlsiPhits:
        """Fit the model to documents.

        Parameters
        ----------
        text
            TF(t, d), (n_documents, n_terms).
        links
            LF(d, c), (n_documents, n_links).
        random_state
            Gives the factors that it starts from.
        p_term
            P(t|z) to start from instead, (k, n_terms): those of an earlier fit, which has
            gone down with β; so all iterations are at the last β.
        p_topic
            P(z|d) that an earlier fit found for the first documents, (n, k); the others
            start with all factors alike.
        """
        self.p_term_ = _rows_sum_to_1(
            random_state.random((self.k, text.shape[1])) if p_term is None else p_term
        )
        self.p_link_ = _rows_sum_to_1(random_state.random((self.k, links.shape[1])))
        self.p_topic_ = np.full((text.shape[0], self.k), 1 / self.k)
        if p_topic is not None:
            self.p_topic_[: len(p_topic)] = p_topic
        if p_term is not None:  # the links know nothing of these factors yet
            self.p_link_[:] = 1 / max(links.shape[1], 1)
        betas = [self.beta]
        while betas[-1] * self.eta >= self.beta_min:
            betas.append(betas[-1] * self.eta)
        for beta in betas if p_term is None else betas[-1:]:
            self._iterate(text, links, beta)
        self.beta_ = betas[-1]
        self.p_prior_ = (
            self.p_topic_.mean(axis=0) if len(self.p_topic_) else np.full(self.k, 1 / self.k)
        )
        return self

    def _iterate(self, text: csr_array, links: csr_array, beta: float) -> None:
        for _ in range(self.max_iter):
            topic = self.p_topic_**beta
            of_text, of_term = _expected(text, topic, self.p_term_**beta)
            of_links, of_link = _expected(links, topic, self.p_link_**beta)
            before = self.p_topic_
            self.p_topic_ = _rows_sum_to_1(
                self.alpha * of_text + (1 - self.alpha) * of_links, np.full(self.k, 1 / self.k)
            )
            self.p_term_ = _rows_sum_to_1(of_term)
            self.p_link_ = _rows_sum_to_1(of_link)
            if _change(before, self.p_topic_) <= self.tol:
                return

    def fold_in(
        self, text: csr_array | None, links: csr_array | None, *, max_iter: int = 20
    ) -> NDArray[np.float64]:
        """Return P(z|d) of other documents, (n_documents, k); P(t|z) and P(c|z) stay.

        None is for documents of which the text, or the links, are not known; α weighs the
        two against each other where both are. Terms and links that the model has never seen
        say nothing. A document that shows nothing else is given the mean of those that the
        model was fitted to.
        """
        beta = self.beta_
        parts = []
        if text is not None:
            parts.append((self.alpha if links is not None else 1, text, self.p_term_**beta))
        if links is not None:
            parts.append((1 - self.alpha if text is not None else 1, links, self.p_link_**beta))
        n = parts[0][1].shape[0] if parts else 0
        p_topic = np.tile(self.p_prior_, (n, 1))
        for _ in range(max_iter):
            topic = p_topic**beta
            of = np.zeros((n, self.k))
            for weight, counts, factors in parts:
                of += weight * _expected(counts, topic, factors)[0]
            before, p_topic = p_topic, _rows_sum_to_1(of, self.p_prior_)
            if _change(before, p_topic) <= self.tol:
                break
        return p_topic

    def log_likelihood(self, text: csr_array, links: csr_array) -> float:
        """Return L of the documents that it was fitted to (eq. 16, without P(d))."""
        return self.alpha * _log_likelihood(text, self.p_topic_, self.p_term_) + (
            1 - self.alpha
        ) * _log_likelihood(links, self.p_topic_, self.p_link_)


def _change(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """Return the sum of absolute differences of a row, in the mean."""
    return float(np.abs(after - before).sum()) / max(len(after), 1)


def _mixtures(
    counts: csr_array, topic: NDArray[np.float64], factors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return Σ_z topic[d, z] · factors[z, c] where there are counts, (nnz,)."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    columns = np.ascontiguousarray(factors.T)  # (n_columns, k)
    found = np.empty(counts.nnz)
    for start in range(0, counts.nnz, _CHUNK):
        part = slice(start, start + _CHUNK)
        found[part] = np.einsum("ik,ik->i", topic[rows[part]], columns[counts.indices[part]])
    return found


def _expected(
    counts: csr_array, topic: NDArray[np.float64], factors: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how many counts each factor is expected to have made.

    Of each document, (n_documents, k), and of each column, (k, n_columns). P(z|c, d) is
    never held for all: what a document has of a factor is topic[d, z] times the sum over c
    of factors[z, c] · n(d, c) / Σ_z topic[d, z] factors[z, c].
    """
    from scipy.sparse import csr_array

    mixtures = _mixtures(counts, topic, factors)
    ratios = np.divide(counts.data, mixtures, out=np.zeros(counts.nnz), where=mixtures > 0)
    ratio = csr_array((ratios, counts.indices, counts.indptr), shape=counts.shape)
    return topic * (ratio @ factors.T), factors * (ratio.T @ topic).T


def _log_likelihood(
    counts: csr_array, topic: NDArray[np.float64], factors: NDArray[np.float64]
) -> float:
    return float(counts.data @ np.log(_mixtures(counts, topic, factors)))


def _rows_sum_to_1(
    matrix: NDArray[np.float64], otherwise: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Scale each row; one of zeros becomes ``otherwise``, or stays."""
    sums = matrix.sum(axis=1, keepdims=True)
    scaled: NDArray[np.float64] = matrix / np.where(sums > 0, sums, 1)
    if otherwise is not None:
        scaled[sums[:, 0] <= 0] = otherwise
    return scaled
