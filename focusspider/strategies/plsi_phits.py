"""PLSI + PHITS: a link is as good as its factors are those of the topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focusspider.models.plsi_phits import PlsiPhits as Model
from focusspider.registry import check_share, check_whole
from focusspider.strategies.latent import LatentStrategy

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from focusspider.profile import TopicProfile
    from focusspider.strategies.latent import ExpandedMatrix

__all__ = ["PlsiPhits"]

#: The share of each factor that is spread over all terms when a fit begins from the last one.
_NEW = 0.01
#: Most iterations at each β of the first fit, and of a later one.
_FIRST_ITERATIONS, _MORE_ITERATIONS = 20, 5


class PlsiPhits(LatentStrategy):
    """Takes what is most likely to be about the factors that the topic is about.

    The joint probabilistic model of terms and links of Cohn and Hofmann (2001), which
    Almpanidis, Kotropoulos and Pitas (2007, 2.3 and 5.2) compare with; see
    :class:`~focusspider.models.plsi_phits.PlsiPhits`. It is fitted to the fetched pages,
    and to the corpus where there is one. A page's links are those that lead to it, from
    pages that were fetched, since of what waits no others are known: the matrix is that of
    ``hcla``.

    What waits has links only, unless ``anchors``. It is folded in: P(c|z) stays, and P(z|d)
    is what makes the links to it most likely. So it is like the pages that the same pages
    link to. The topic is folded in by its terms. A score is the cosine of P(z|d) and
    P(z|topic), in [0, 1].

    Each later fit begins with the P(t|z) of the one before, and goes a few iterations on
    from there, at the last β. New links wait at the end until the next rerank; see
    :class:`~.latent.LatentStrategy`.

    Parameters
    ----------
    k : int
        Number of factors; the paper does not say.
    alpha : float
        Weight α of the text against the links, in [0, 1].
    beta, beta_min, eta : float
        The exponent β of the tempered expectation falls from ``beta`` by the factor
        ``eta`` for as long as it is not below ``beta_min``; each above 0 and up to 1.
    n_terms, corpus, anchors, max_pages, rerank_every, rerank_growth
        See :class:`~.latent.LatentStrategy`.
    """

    def __init__(
        self,
        *,
        k: int = 10,
        alpha: float = 0.5,
        beta: float = 1.0,
        beta_min: float = 0.8,
        eta: float = 0.9,
        n_terms: int = 1000,
        corpus: str | os.PathLike[str] | None = None,
        anchors: bool = False,
        max_pages: int = 20_000,
        rerank_every: int = 50,
        rerank_growth: float = 0.05,
        base_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(
            n_terms=n_terms,
            corpus=corpus,
            anchors=anchors,
            max_pages=max_pages,
            rerank_every=rerank_every,
            rerank_growth=rerank_growth,
            base_dir=base_dir,
        )
        check_whole("k", k)
        check_share("alpha", alpha)
        for name, value in (("beta", beta), ("beta_min", beta_min), ("eta", eta)):
            check_share(name, value)
            if not value:
                raise ValueError(f"{name} must be above 0, got {value!r}")
        if eta == 1 and beta_min <= beta:
            raise ValueError(f"eta must be below 1, or β never gets below {beta_min!r}")
        self.k = k
        self.alpha = alpha
        self.beta = beta
        self.beta_min = beta_min
        self.eta = eta

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:
        """Begin with the topic, and with the corpus where there is one."""
        self._corpus: csr_array | None = None
        self._fitted: _Fitted | None = None
        super().start(profile, random_state)

    def learn(self, corpus: csr_array) -> None:
        """Keep the corpus: every fit is to it as well."""
        self._corpus = corpus

    def scores(self, known: ExpandedMatrix) -> NDArray[np.float64]:
        """Return the cosine of the factors of what waits with those of the topic, (n_waiting,)."""
        from scipy.sparse import csr_array, vstack

        n_pages = known.text.shape[0]
        links = known.links.T.tocsr()  # (n_pages + n_waiting, n_pages)
        text, linked = known.text, links[:n_pages]
        if self._corpus is not None:
            text = vstack([self._corpus, text], format="csr")
            without = csr_array((self._corpus.shape[0], n_pages))
            linked = vstack([without, linked], format="csr")
        before = self._fitted
        model = Model(
            self.k,
            alpha=self.alpha,
            beta=self.beta,
            beta_min=self.beta_min,
            eta=self.eta,
            max_iter=_FIRST_ITERATIONS if before is None else _MORE_ITERATIONS,
        ).fit(
            text,
            linked,
            random_state=self._random_state,
            p_term=None if before is None else _spread(before, known.vocabulary),
            p_topic=None if before is None else before.p_topic,
        )
        n_corpus = len(model.p_topic_) - n_pages
        self._fitted = _Fitted(known.vocabulary, model.p_term_, model.p_topic_[:n_corpus])
        waiting = model.fold_in(known.anchors, links[n_pages:])  # (n_waiting, k)
        topic = model.fold_in(csr_array(known.query[np.newaxis]), None)[0]  # (k,)
        lengths = np.linalg.norm(waiting, axis=1) * np.linalg.norm(topic)
        # what is alike must not be told apart by how sums were rounded
        cosines: NDArray[np.float64] = np.round(waiting @ topic / lengths, 9)
        return cosines


class _Fitted(NamedTuple):
    """What the next fit begins with: P(t|z) of a vocabulary, and P(z|d) of the corpus."""

    vocabulary: Sequence[str]
    p_term: NDArray[np.float64]
    p_topic: NDArray[np.float64]


def _spread(fitted: _Fitted, vocabulary: Sequence[str]) -> NDArray[np.float64]:
    """Return P(t|z) of another vocabulary, (k, n_terms), with a little of each term."""
    column = {term: number for number, term in enumerate(fitted.vocabulary)}
    spread = np.full((len(fitted.p_term), len(vocabulary)), _NEW / len(vocabulary))
    for number, term in enumerate(vocabulary):
        if term in column:
            spread[:, number] += fitted.p_term[:, column[term]]
    return spread
