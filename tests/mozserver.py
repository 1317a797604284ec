"""A server that speaks Moz's Links API, as far as its documentation tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.jsonserver import Answer, JsonServer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["KEY", "MozServer"]

KEY = "secret-of-the-account"


class MozServer(JsonServer):
    """Answers from a table of target → linking pages, both without scheme."""

    def __init__(self, links: Mapping[str, Sequence[str]], *, page_size: int = 50) -> None:
        super().__init__()
        self.links = dict(links)
        self.page_size = page_size
        self.rows = 0

    @property
    def url(self) -> str:
        return f"{super().url}/v2/links"

    def reply(self, path: str, body: dict[str, Any], headers: Mapping[str, str]) -> Answer:
        if headers.get("x-moz-token") != KEY:
            return Answer(401, {"error": {"message": f"no such token: {headers['x-moz-token']}"}})
        if not body.get("target"):
            return Answer(400, {"error": {"message": "Please include a target"}})
        pages = self.links.get(body["target"], ())
        start = int(body.get("next_token") or 0)
        end = start + min(self.page_size, body["limit"])
        results = [
            {"source": {"page": page, "domain_authority": 1}, "target": {"page": body["target"]},
             "anchor_text": "link"}
            for page in pages[start:end]
        ]  # fmt: skip
        self.rows += len(results)
        return Answer(body={"results": results, "next_token": str(end) if end < len(pages) else ""})
