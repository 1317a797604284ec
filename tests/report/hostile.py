"""What a hostile web puts into a crawl, and a run folder with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

BREAKOUT = "\"'><img src=x onerror=\"document.title='owned'\"></script><script>alert(1)</script>"
TEXTS = (
    BREAKOUT,
    "</title><script>document.title='owned'</script>",
    "-->]]><svg onload=alert(1)>",
    "nul \x00 bell \x07 lone \ud800 backwards \u202e txet",
    "word " * 5000,
)
#: Addresses that must not become links.
NO_LINKS = (
    "javascript:document.title='owned'",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    'http://a.example/"onmouseover=alert(1)',
    "http://a.example/a b",
    "http://a.example/\x00",
    "http://a.example/" + "a" * 5000,
    "//a.example/",
    "http://",
)


def page(n: int, **fields: Any) -> dict[str, Any]:
    """A line of ``crawl.jsonl``."""
    return {
        "n": n,
        "url": f"http://h{n % 3}.example/{n}",
        "parent": None,
        "anchor": None,
        "depth": 0,
        "priority": None,
        "relevance": 0.25,
        "relevant": False,
        "status": 200,
        "digest": f"{n:016x}",
        "time": f"2026-11-28T03:{n // 60 % 60:02}:{n % 60:02}.000+00:00",
        **fields,
    }


def run_folder(path: Path, lines: list[dict[str, Any]], **run: Any) -> Path:
    """A folder as a crawl leaves it."""
    path.mkdir(parents=True)
    report = {
        "topic": {"name": "clocks", "keywords": ["clock"], "seeds": ["http://h1.example/1"],
                  "relevance": {"kind": "cosine", "threshold": 0.2}},
        "strategy": "dom",
        "strategy_params": {"alpha": 0.25},
        "fetched": len(lines),
        "relevant": sum(line["relevant"] for line in lines),
        "stop_reason": "page_limit",
        "started": "2026-11-28T03:00:00+00:00",
        "ended": "2026-11-28T04:00:00+00:00",
        "stats": {
            "focus/link/found": 30, "focus/link/pushed": 10, "focus/link/known": 8,
            "focus/link/refused": 12, "focus/link/refused/offsite": 9,
            "focus/link/refused/scheme": 3, "focus/page/failed": 2, "focus/page/failed/dns": 2,
            "retry/count": 4,
        },
        **run,
    }  # fmt: skip
    (path / "run.json").write_text(json.dumps(report), encoding="utf-8")
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (path / "crawl.jsonl").write_text(text, encoding="utf-8")
    (path / "items.jsonl").write_text("", encoding="utf-8")
    return path
