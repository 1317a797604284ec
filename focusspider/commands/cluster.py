"""``scrapy focus-cluster``: which pages of a crawl describe the same thing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focusspider.commands.focuscommand import FocusCommand
from focusspider.errors import RunFolderError, SettingError
from focusspider.wholerun import run_parts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from focusspider.models.instances import Cluster, Description

__all__ = ["CLUSTERS", "GROUPED", "Command"]

CLUSTERS = "clusters.jsonl"
#: The facts once more, each with its cluster: the journal itself belongs to the crawl, which may be
#: resumed and counts its bytes.
GROUPED = "clustered-facts.jsonl"


class Command(FocusCommand):
    """Group the pages of a run that describe the same thing."""

    argument = "run folder, such as exports/sample/RUN"
    stopped = "nothing is written"
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's own way

    def syntax(self) -> str:
        """Return how the command is called."""
        return "[options] RUN"

    def short_desc(self) -> str:
        """Return what the command does, in a line."""
        return "Group the pages of a focused crawl that describe the same thing"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Group the relevant pages of a crawl, from its run folder, exports/TOPIC/RUN, that "
            "describe the same thing on different sites, by their names and by the attributes and "
            "values of their tables. Writes clusters.jsonl, and, where the crawl has facts, "
            "clustered-facts.jsonl, beside the files it reads. See docs/facts.md."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take how like two pages must be, and where the files go."""
        super().add_options(parser)
        add = parser.add_argument
        add("--threshold", metavar="X", type=float, default=0.65,
            help="how like the pages of a cluster are on average, from 0 to 1 (0.65)")  # fmt: skip
        add("--name-weight", metavar="X", type=float, default=0.6,
            help="how much names count beside facts, from 0 to 1 (0.6)")  # fmt: skip
        add("--same-site", action="store_true",
            help="pages of one site may describe the same thing too")  # fmt: skip
        add("--out", metavar="DIR", help="where the files go (RUN)")

    def work(self, given: str, opts: argparse.Namespace) -> None:
        """Read the run, group its pages, and write the groups."""
        # here, since every call of scrapy loads every command
        from focusspider.models.instances import InstanceClusters

        try:
            model = InstanceClusters(
                threshold=opts.threshold, name_weight=opts.name_weight, same_site=opts.same_site
            )
        except ValueError as error:
            raise SettingError(f"focus-cluster: {error}") from None
        folder = Path(given)
        parts = _parts(folder)
        found = _descriptions(parts)
        clusters = model.find(found)
        out = Path(opts.out) if opts.out else folder
        written = [_write(out / CLUSTERS, _lines(clusters, found))]
        number_of = {
            found[member].url: number
            for number, cluster in enumerate(clusters, 1)
            for member in cluster.members
        }
        if any(one.facts for one in found):
            facts = (line | {"cluster": number_of.get(line["url"])} for line in _facts(parts))
            written.append(_write(out / GROUPED, facts))
        print(
            f"pages: {len(found):,}, sites: {len({one.site for one in found}):,}, clusters: "
            f"{len(clusters):,}, pages in them: {len(number_of):,}"
        )
        for cluster in clusters[:5]:
            print(f"  {len(cluster.members)} pages: {cluster.name[:80]}")
        print("\n".join(map(str, written)))


def _parts(folder: Path) -> list[Path]:
    """Return the folders that hold the files of a run: its own, or those of its workers."""
    parts = [part for part in run_parts(folder) if (part / "items.jsonl").exists()]
    if not parts:
        raise RunFolderError(f"{folder}: there is no items.jsonl; name the folder of a run")
    return parts


def _descriptions(parts: Sequence[Path]) -> list[Description]:
    """Return what each relevant page describes, each page once."""
    from focusspider.facts import read_lines
    from focusspider.models.instances import Description
    from focusspider.urls import host_of

    tables: dict[str, dict[int, str]] = {}
    facts: dict[str, dict[str, str]] = {}
    for line in _facts(parts):
        url = line["url"]
        tables.setdefault(url, {})[line["table"]] = line["heading"]
        facts.setdefault(url, {}).setdefault(line["attribute"], line["value"])
    found: dict[str, Description] = {}
    for item in (item for part in parts for item in read_lines(part / "items.jsonl")):
        url, title = item.get("url"), item.get("title")
        if not isinstance(url, str) or item.get("relevant") is False or url in found:
            continue
        headings = tables.get(url, {})
        # of several tables each has a heading of its own, which is not that of the page
        heading = next(iter(headings.values())) if len(headings) == 1 else ""
        name = f"{title if isinstance(title, str) else ''} {heading}"
        site = host_of(url).removeprefix("www.")
        found[url] = Description(url, site, name, facts.get(url, {}))
    return list(found.values())


def _facts(parts: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Yield the lines of facts that are whole; a page that two workers had counts once."""
    from focusspider.facts import FACTS, read_lines

    of_part: dict[str, Path] = {}
    for part in parts:
        if not (part / FACTS).exists():
            continue
        for line in read_lines(part / FACTS):
            texts = [line.get(name) for name in ("url", "heading", "attribute", "value")]
            if not all(isinstance(text, str) for text in texts) or not isinstance(
                line.get("table"), int
            ):
                raise RunFolderError(f"{part / FACTS}: a line is no fact: {str(line)[:100]}")
            if of_part.setdefault(line["url"], part) == part:
                yield line


def _lines(clusters: Sequence[Cluster], found: Sequence[Description]) -> Iterator[dict[str, Any]]:
    for number, cluster in enumerate(clusters, 1):
        yield {
            "cluster": number,
            "name": cluster.name,
            "pages": [found[member].url for member in cluster.members],
            "facts": [fact._asdict() for fact in cluster.facts],
        }


def _write(path: Path, lines: Iterable[Mapping[str, Any]]) -> Path:
    """Write lines of JSON, whole or not at all."""
    draft = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8") as file:
            for line in lines:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        draft.replace(path)
    except OSError as error:
        raise SettingError(f"{path}: cannot be written: {error.strerror or error}") from None
    return path
