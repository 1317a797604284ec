"""Fixtures that tests of several parts share."""

from __future__ import annotations

from pathlib import Path

import pytest

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of real pages beside the checkout; skip where it is missing."""
    if not CORPORA.is_dir():
        pytest.skip("the corpora are not beside the checkout (../shared/corpora)")
    return CORPORA
