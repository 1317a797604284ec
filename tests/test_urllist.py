from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from focusspider.errors import UrlListError
from focusspider.urllist import listed_urls

if TYPE_CHECKING:
    from pathlib import Path

SITE = "http://web.example/"


def test_a_list_as_people_write_it(tmp_path: Path) -> None:
    path = tmp_path / "urls.txt"
    path.write_text(
        f"\ufeff# what I liked\n{SITE}1\n\n  {SITE}q?a=1#frag  \r\n#{SITE}no\n{SITE}1\n",
        encoding="utf-8",
    )
    assert listed_urls(path) == (f"{SITE}1", f"{SITE}q?a=1")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"www.example.org\n", "line 1 is no URL of a page, 'www.example.org'; give one a line"),
        (f"{SITE}1\nfile:///x\n".encode(), "line 2 is no URL of a page, 'file:///x'"),
        (b"x" * 500, "line 1 is no URL of a page, 'xxxxxx"),
        (b"\xff\xfe\n", "not UTF-8"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_wrong_list_says_where(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "urls.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UrlListError) as caught:
        listed_urls(path)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(path))
