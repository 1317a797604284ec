"""HCLA: a link is as good as it is near to the topic in a space of terms and links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.models.lsi_update import (
    LatentSpace,
    column_cosines,
    truncated_svd,
    unit_columns,
    update_svd,
)
from focusspider.registry import check_choice, check_whole
from focusspider.strategies.latent import LatentStrategy

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray
    from scipy.sparse import csc_array, csr_array

    from focusspider.profile import TopicProfile
    from focusspider.strategies.latent import ExpandedMatrix

__all__ = ["Hcla"]

#: So many waiting requests shape the space, those that most pages link to; of more, the
#: others are only compared with it.
MAX_WAITING = 100_000


class Hcla(LatentStrategy):
    """Takes what is nearest to the topic in one latent space of terms and links.

    Hypertext combined latent analysis, Almpanidis, Kotropoulos and Pitas 2007, section 4.
    Documents are columns: A, those of the corpus, then the fetched pages, then what waits.
    Rows are terms, and the fetched pages once more: row i of (G R) marks the documents that
    page i links to::

        C = ( A  L  O )
            ( 0  G  R )

    Each column is scaled to length 1, C is decomposed, and what waits is ordered by the
    cosine of its column with the keywords in the space of the k largest singular values
    (eq. 19). So a waiting page is good if the pages that link to it also link to pages whose
    text is good. A score is (1 + cosine) / 2; 0.5 is of a page that nothing is known of.

    Eq. 17 and 18 of the paper cannot order what waits: the update lacks the part of the new
    columns that is orthogonal to the old space, and that is all that links have. Here the
    decomposition of (A_k L O; 0 G R) is the exact one (``svd="truncated"``, all columns at
    once), or that update of Zha and Simon which has this part (``svd="update"``, a batch of
    columns after the other, each cut down to k; slower in long crawls). A_k is A with its k
    largest singular values, decomposed once. Without a corpus there is no A, and the model
    is of the crawl alone.

    New links wait at the end until the next rerank; see :class:`~.latent.LatentStrategy`.

    Parameters
    ----------
    k : int
        Number of singular values.
    n_terms, corpus, anchors, max_pages, rerank_every, rerank_growth
        See :class:`~.latent.LatentStrategy`. With ``anchors`` O is not zero.
    svd : {"truncated", "update"}
        How C is decomposed.
    """

    def __init__(
        self,
        *,
        k: int = 50,
        n_terms: int = 1000,
        corpus: str | os.PathLike[str] | None = None,
        anchors: bool = False,
        svd: str = "truncated",
        max_pages: int = 20_000,
        rerank_every: int = 50,
        rerank_growth: float = 0.1,
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
        check_choice("svd", svd, ("truncated", "update"))
        self.k = k
        self.svd = svd

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:
        """Begin with the topic, and with the space of the corpus where there is one."""
        self._space = LatentSpace.empty(0)
        super().start(profile, random_state)

    def learn(self, corpus: csr_array) -> None:
        """Decompose A."""
        self._space = truncated_svd(unit_columns(corpus.T), self.k, random_state=self._random_state)

    def scores(self, known: ExpandedMatrix) -> NDArray[np.float64]:
        """Return (1 + cosine) / 2 of what waits, (n_waiting,)."""
        n_pages, n_terms = known.text.shape
        columns = unit_columns(_new_columns(known))
        space = self._decomposed(_shaping(columns, n_pages), n_rows=n_terms + n_pages)
        query = np.concatenate([known.query, np.zeros(n_pages)])
        return (1 + column_cosines(space, columns[:, n_pages:], query)) / 2

    def _decomposed(self, columns: csc_array, *, n_rows: int) -> LatentSpace:
        from scipy.sparse import csc_array, hstack

        before = self._space.with_rows(n_rows)  # (A_k; 0) is U S Vᵀ of these
        if self.svd == "update":
            return update_svd(before, columns, self.k)
        if len(before.s):
            columns = hstack([csc_array(before.u * before.s), columns], format="csc")
        return truncated_svd(columns, self.k, random_state=self._random_state)


def _new_columns(known: ExpandedMatrix) -> csc_array:
    """Return D = (L O; G R), (n_terms + n_pages, n_pages + n_waiting)."""
    from scipy.sparse import csc_array, hstack, vstack

    n_pages, n_terms = known.text.shape
    waiting = known.anchors
    o = csc_array((n_terms, known.links.shape[1] - n_pages)) if waiting is None else waiting.T
    return vstack([hstack([known.text.T, o]), known.links], format="csc")


def _shaping(columns: csc_array, n_pages: int) -> csc_array:
    """Return the columns of the pages, and those of what waits that are not too many."""
    filled = np.diff(columns.indptr)[n_pages:]  # (n_waiting,)
    if len(filled) <= MAX_WAITING:
        return columns
    most = np.sort(np.argsort(-filled, kind="stable")[:MAX_WAITING])
    return columns[:, np.concatenate([np.arange(n_pages), n_pages + most])]
