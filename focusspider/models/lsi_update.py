"""The truncated singular value decomposition of a sparse matrix, and its update.

Only the left side is kept. Latent semantic indexing compares columns by their coordinates
Uᵀc, which for a column of the matrix are those of S Vᵀ.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_array, csr_array

__all__ = ["LatentSpace", "column_cosines", "truncated_svd", "unit_columns", "update_svd"]

#: A matrix with so few rows or columns, for each singular vector asked for, is made dense.
_DENSE = 4
#: A unit column whose coordinates are no longer than this is outside of the space.
_NOTHING = 1e-9
#: Columns whose coordinates are in memory at once.
_CHUNK = 20_000
#: Columns that one step of an update takes, since it makes them dense.
BATCH = 100


class LatentSpace(NamedTuple):
    """The largest singular values of a matrix, and their left singular vectors.

    ``u`` is (n_rows, k) with orthonormal columns, ``s`` is (k,) and falls; k is smaller than
    asked for where the matrix has a smaller rank.
    """

    u: NDArray[np.float64]
    s: NDArray[np.float64]

    @classmethod
    def empty(cls, n_rows: int) -> LatentSpace:
        """Return the space of a matrix of zeros."""
        return cls(np.zeros((n_rows, 0)), np.zeros(0))

    def with_rows(self, n_rows: int) -> LatentSpace:
        """Return the space of the matrix with rows of zeros under it (eq. 17).

        Almpanidis, Kotropoulos and Pitas 2007.
        """
        below = np.zeros((n_rows - len(self.u), self.u.shape[1]))
        return LatentSpace(np.vstack([self.u, below]), self.s)

    def largest(self, k: int) -> LatentSpace:
        """Return the k largest, without those that are 0 but for rounding."""
        least = self.s.max(initial=0.0) * len(self.u) * np.finfo(np.float64).eps
        k = min(k, int(np.count_nonzero(self.s > least)))
        return LatentSpace(np.ascontiguousarray(self.u[:, :k]), self.s[:k])


def truncated_svd(
    matrix: csr_array | csc_array, k: int, *, random_state: np.random.Generator
) -> LatentSpace:
    """Return the k largest singular values of a sparse matrix and their left vectors.

    By the implicitly restarted Lanczos method (ARPACK), to machine precision. ``random_state``
    gives the vector that it starts from.
    """
    smaller = min(matrix.shape)
    if not matrix.nnz:
        return LatentSpace.empty(matrix.shape[0])
    if smaller <= _DENSE * k:
        u, s, _ = np.linalg.svd(matrix.toarray(), full_matrices=False)
        return LatentSpace(u, s).largest(k)
    u, s = _lanczos(matrix, k, random_state.standard_normal(smaller))
    order = np.argsort(-s)
    return LatentSpace(u[:, order], s[order]).largest(k)


def _lanczos(
    matrix: csr_array | csc_array, k: int, v0: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.sparse.linalg import ArpackError, svds

    # A matrix whose rank is a little below the number of Lanczos vectors, 2k + 1 if not
    # given, can stop the iteration with an error; with more of them it ends.
    for n_vectors in (None, 3 * k):
        with contextlib.suppress(ArpackError):
            u, s, _ = svds(matrix, k=k, v0=v0, ncv=n_vectors, return_singular_vectors="u")
            return u, s
    u, s, _ = svds(matrix, k=k, v0=v0, ncv=4 * k, return_singular_vectors="u")
    return u, s


def update_svd(
    space: LatentSpace, columns: csc_array, k: int, *, batch: int = BATCH
) -> LatentSpace:
    """Return the space of the matrix with columns D appended, (n_rows, n_columns).

    Zha and Simon (SIAM Journal on Scientific Computing 21, 1999): with the QR factors of
    the part of D that is orthogonal to U,

        (I - U Uᵀ) D = Q R,    (A_k | D) = (U | Q) (S  UᵀD; 0  R) (V  0; 0  I)ᵀ,

    and the small matrix in the middle is decomposed. So it is exact for A_k, what was kept
    of A. In steps of ``batch`` columns, each of which cuts down to k.

    The update that Almpanidis, Kotropoulos and Pitas print (2007, eq. 18) lacks Q R. What D
    has in rows where U is zero is lost then, and these are all that its links have.
    """
    for first in range(0, columns.shape[1], batch):
        d = columns[:, first : first + batch].toarray()  # (n_rows, n)
        within = space.u.T @ d  # (k, n)
        beyond = d - space.u @ within
        again = space.u.T @ beyond  # once more, or rounding would add up
        q, r = np.linalg.qr(beyond - space.u @ again)
        middle = np.block(
            [[np.diag(space.s), within + again], [np.zeros((len(r), len(space.s))), r]]
        )
        u, s, _ = np.linalg.svd(middle, full_matrices=False)
        space = LatentSpace(np.hstack([space.u, q]) @ u, s).largest(k)
    return space


def unit_columns(matrix: csr_array | csc_array) -> csc_array:
    """Return a matrix with its columns scaled to length 1; those of zeros stay."""
    from scipy.sparse import csc_array

    scaled = csc_array(matrix, dtype=np.float64, copy=True)
    lengths = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=0)).ravel())
    scaled.data /= np.repeat(lengths, np.diff(scaled.indptr))
    return scaled


def column_cosines(
    space: LatentSpace, columns: csr_array | csc_array, query: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the cosine of unit columns with a query, (n_columns,), in [-1, 1].

    (Uᵀc)·(Uᵀq) / (‖Uᵀc‖ ‖q‖), which is eq. 19 of Almpanidis, Kotropoulos and Pitas (2007)
    for a column of the matrix. 0 for a column, or a query, of which the space knows nothing.
    To 9 decimals: columns that are alike must not be told apart by how sums were rounded.
    """
    length = float(np.linalg.norm(query))
    cosines = np.zeros(columns.shape[1])
    if not length:
        return cosines
    towards = space.u.T @ query / length
    by_column = columns.T.tocsr()
    for start in range(0, len(cosines), _CHUNK):
        coordinates = by_column[start : start + _CHUNK] @ space.u  # (n, k)
        lengths = np.linalg.norm(coordinates, axis=1)
        lengths[lengths <= _NOTHING] = np.inf
        cosines[start : start + _CHUNK] = coordinates @ towards / lengths
    rounded: NDArray[np.float64] = np.clip(np.round(cosines, 9), -1, 1)
    return rounded + 0.0  # no negative zeros
