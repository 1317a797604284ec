"""What was found by a search engine, for people and for crawls."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from focusspider.errors import SettingError
from focusspider.search.queries import outwards
from focusspider.urls import host_of

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.commands.searching import Searching
    from focusspider.search.authorities import Findings, SearchPlan
    from focusspider.search.queries import WeighedToken

__all__ = ["is_list", "summary", "write_list"]

_HEAD = "# Pages of the topic "

_HOSTS = 10  # hosts that are shown


def is_list(path: Path) -> bool:
    """Return whether a file is one that :func:`write_list` wrote."""
    try:
        with path.open("rb") as file:
            return file.read(len(_HEAD)) == _HEAD.encode()
    except OSError:
        return False


def write_list(path: Path, found: Findings, topic: str) -> None:
    """Write the authorities, a URL a line, as seeds and lists of targets are read."""
    lines = [f"{_HEAD}{topic} that scrapy focus-search found", *found.authorities]
    part = path.with_name(f"{path.name}.new")
    try:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise SettingError(f"--out: {path} cannot be written: {error.strerror}") from None


def summary(done: Searching, plan: SearchPlan, *, topic: str, engine: str, out: Path) -> str:
    """Return the summary: tokens, queries, what was found, where, and what to do next.

    ``topic`` is the topic as the user named it.
    """
    found = done.found
    of = f"{done.samples:,} sample documents" if done.samples else "the topic's keywords"
    lines = [f"Topic: {topic}", f"Engine: {engine}", f"Tokens of: {of}", ""]
    if found.tokens:
        lines += [*_tokens(found.tokens), ""]
    accepted = sum(one.accepted for one in found.asked)
    results = sum(one.results for one in found.asked)
    precision = f"Precision of the first {plan.first}: {found.precision:.2f}"
    precision += f" ({accepted:,} of {results:,} results)"
    authorities = f"{found.validated:,} pages validated, {len(found.authorities):,} authorities"
    hosts = Counter(host_of(url) for url in found.authorities)
    lines += [
        f"{found.n_queries:,} queries asked, the results of {len(found.asked):,} validated",
        f"{authorities} on {len(hosts):,} hosts",
        precision,
    ]
    if done.failed:
        why = ", ".join(f"{count:,} × {reason}" for reason, count in done.failed.most_common())
        lines.append(f"Pages that did not come: {why}")
    lines.append(f"Ended: {found.stopped}")
    if not found.authorities:
        return "\n".join(lines)
    shown = sorted(hosts.items(), key=lambda pair: (-pair[1], pair[0]))[:_HOSTS]
    width = max(len(f"{count:,}") for _, count in shown)
    lines += ["", *(f"{count:>{width},}  {host}" for host, count in shown)]
    if len(hosts) > _HOSTS:
        lines.append(f"and {len(hosts) - _HOSTS:,} hosts more")
    lines += ["", f"List: {out}", f"Next: scrapy crawl focus -a topic={topic} -a seeds={out}"]
    return "\n".join(lines)


def _tokens(tokens: list[WeighedToken]) -> list[str]:
    """Return the paper's table 1, and the place of each token in the queries."""
    places = {token.word: place for place, token in enumerate(outwards(tokens), 1)}
    rows = [("token", "hits", "search weight", "TF-IDF", "mean", "place")]
    rows += [
        (
            token.word,
            "–" if token.hits is None else f"{token.hits:,}",
            f"{token.search:.3f}",
            f"{token.tfidf:.3f}",
            f"{token.mean:.3f}",
            str(places[token.word]),
        )
        for token in tokens
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
