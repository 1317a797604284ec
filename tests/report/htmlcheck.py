"""Reads a page as a parser does: what elements, links, scripts and texts are really in it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Parsed(HTMLParser):
    """The elements of a page in order, the texts outside scripts, and the scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.unclosed: list[str] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "input", "br"}:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unclosed.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif not self.open or self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def hrefs(self) -> list[str]:
        return [attrs["href"] or "" for tag, attrs in self.elements if "href" in attrs]

    def check(self) -> None:
        """Fail where an attribute runs a script, or anything is fetched."""
        assert self.unclosed == []
        assert self.open == []
        for tag, attrs in self.elements:
            assert tag not in {"img", "svg", "iframe", "object", "embed", "link", "base"}
            assert not [name for name in attrs if name.startswith("on") or name == "src"]
        assert all(href.startswith(("http://", "https://")) for href in self.hrefs)


def parse_file(path: Path) -> Parsed:
    return Parsed(path.read_text(encoding="utf-8"))
