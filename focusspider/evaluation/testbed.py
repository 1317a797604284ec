"""The test bed of hub-seeking: topics whose pages are split into seeds and targets.

Pant and Menczer, "Topical crawling for business intelligence", ECDL 2003, section 3. Some
pages of a topic, drawn at random, are the seeds; the rest are the targets, and a crawler is
as good as the share of them that it has after N pages (target recall@N), and as what it
fetched is similar to the topic's description (precision@N). Section 6: hubs, pages that
point to at least two of the seeds' hosts, augment the seeds.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.errors import BenchmarkError
from focusspider.evaluation.bound import StoredTruth
from focusspider.evaluation.metrics import (
    pages_for_share,
    recall_curve,
    relevant_flags,
    value_at,
)
from focusspider.evaluation.similarity import precision_curve, topic_similarities
from focusspider.replay import open_archive, page_key
from focusspider.text import cosine
from focusspider.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from focusspider.text import Terms

__all__ = ["TestbedSpec", "checkpoints", "find_hubs", "split", "write_similarities", "write_splits"]

_MIRROR = 0.9  # cosine with the description above which a hub is a copy of the topic's list
_CHECKPOINTS = 20


@dataclass(frozen=True, kw_only=True)
class TestbedSpec:
    """How the topics are split.

    Parameters
    ----------
    splits
        how often each topic is split anew
    seeds
        how many of its pages are seeds
    hubs
        most pages that augment the seeds; 0: there are no augmented crawls
    random_state
        of the splits
    """

    __test__ = False  # for pytest, which takes it for a test by its name

    splits: int = 5
    seeds: int = 10
    hubs: int = 10
    random_state: int = 0

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> TestbedSpec:
        """Read the table ``[testbed]``; raises ValueError with the remedy."""
        least = {"splits": 1, "seeds": 1, "hubs": 0, "random_state": 0}
        known = ", ".join(field.name for field in fields(cls))
        for key, value in table.items():
            if key not in least:
                raise ValueError(f"{key} is not a key of it; known: {known}")
            if isinstance(value, bool) or not isinstance(value, int) or value < least[key]:
                raise ValueError(f"{key} = {value!r}: give a whole number of {least[key]} or more")
        return cls(**table)


def split(
    pages: Sequence[str], seeds: int, random_state: np.random.Generator
) -> tuple[list[str], list[str]]:
    """Return so many pages drawn at random, and the others, both in their order."""
    drawn = set(random_state.permutation(len(pages))[:seeds].tolist())
    chosen = [page for number, page in enumerate(pages) if number in drawn]
    return chosen, [page for number, page in enumerate(pages) if number not in drawn]


def find_hubs(hosts: Mapping[str, frozenset[str]], seeds: Iterable[str], most: int) -> list[str]:
    """Return the pages that point to at least two hosts of the seeds, the most hosts first.

    ``hosts`` has the hosts that each page links to. A page's own host does not count: what
    a site says of itself makes no hub. Ties are in the order of ``hosts``.
    """
    wanted = {host_of(url) for url in seeds}
    counts = {page: len(wanted & linked - {host_of(page)}) for page, linked in hosts.items()}
    hubs = [page for page, count in counts.items() if count >= 2]
    return sorted(hubs, key=lambda page: -counts[page])[:most]


def checkpoints(pages: int) -> list[int]:
    """Return the N at which the curves are given: 20 of them, up to the budget."""
    shares = (number / _CHECKPOINTS for number in range(1, _CHECKPOINTS + 1))
    return sorted({pages_for_share(share, pages) for share in shares})


def write_splits(job: Mapping[str, Any]) -> None:
    """Draw the splits of each topic of a job, and write them as crawls into a file."""
    from scrapy.settings import Settings

    settings = Settings(job["settings"])
    archive = open_archive(job["archive"])
    spec = TestbedSpec(**job["testbed"])
    random_state = np.random.default_rng(spec.random_state)
    hosts: dict[str, frozenset[str]] = {}
    drawn = []
    for one in job["crawls"]:
        truth = StoredTruth(one["arguments"], archive, settings)
        allowed = [url for url in archive.urls() if truth.topic.sites.allows(url)]
        pages = truth.relevant(allowed)
        if len(pages) <= spec.seeds:
            raise BenchmarkError(
                f"crawl {one['id']}: {len(pages)} pages of the corpus are relevant, and "
                f"{spec.seeds} of them are to be seeds; lower testbed.seeds"
            )
        if spec.hubs and not hosts:
            hosts = _linked_hosts(archive.urls(), truth)
        for number in range(1, spec.splits + 1):
            seeds, targets = split(pages, spec.seeds, random_state)
            name = f"{one['id']}-{number}"
            drawn.append(_drawn(name, name, one, seeds, targets))
            hubs = _hubs(hosts, seeds, targets, spec, truth)
            if hubs:
                augmented = [*seeds, *hubs]
                drawn.append(_drawn(f"{name}-augmented", name, one, augmented, targets))
    _write(job, drawn)


def _drawn(
    name: str, group: str, one: Mapping[str, Any], seeds: list[str], targets: list[str]
) -> dict[str, Any]:
    arguments = {**one["arguments"], "name": name, "seeds": seeds}
    return {"id": name, "group": group, "arguments": arguments, "targets": targets}


def _linked_hosts(urls: Iterable[str], truth: StoredTruth) -> dict[str, frozenset[str]]:
    hosts = {}
    for url in urls:
        page = truth.page(url)
        if page is not None:
            hosts[page.url] = frozenset(host_of(link.url) for link in page.links)
    return hosts


def _hubs(
    hosts: Mapping[str, frozenset[str]],
    seeds: list[str],
    targets: list[str],
    spec: TestbedSpec,
    truth: StoredTruth,
) -> list[str]:
    """Return the hubs that are no pages of the topic, and no copies of its description."""
    if not spec.hubs:
        return []
    topic = {*seeds, *targets}
    found = [page for page in find_hubs(hosts, seeds, len(hosts)) if page not in topic]
    description = _description(truth, [*seeds, *targets])
    hubs: list[str] = []
    for url in found:
        page = truth.page(url)
        assert page is not None
        words = type(description)({t: n for t, n in page.terms.items() if t in description})
        if cosine(description, words) <= _MIRROR:
            hubs.append(url)
        if len(hubs) == spec.hubs:
            break
    return hubs


def _description(truth: StoredTruth, urls: Iterable[str]) -> Terms:
    """Return the terms of the titles and meta descriptions of the topic's pages.

    They take the place of what the editors of the directory wrote of each.
    """
    texts = []
    for url in urls:
        page = truth.page(url)
        if page is not None:
            texts += [page.title or "", page.description or ""]
    return truth.analyzer.terms("\n".join(texts))


def write_similarities(job: Mapping[str, Any]) -> None:
    """Compare what all crawls of one split fetched with its topic, and write their curves.

    The weights are those of the union of what they fetched (hub-seeking eq. 2).
    """
    from scrapy.settings import Settings

    truth = StoredTruth(
        job["crawls"][0]["arguments"], open_archive(job["archive"]), Settings(job["settings"])
    )
    targets = frozenset(map(page_key, job["crawls"][0]["targets"]))
    fetched = {
        (crawl["id"], strategy, seed): list(map(page_key, fetched_urls(Path(folder))))
        for crawl in job["crawls"]
        for strategy, seed, folder in crawl["folders"]
    }
    terms: dict[str, Mapping[str, int]] = {}
    for urls in fetched.values():
        for url in urls:
            if url not in terms:
                page = truth.page(url)
                terms[url] = page.terms if page is not None else Counter()
    seeds = job["crawls"][0]["arguments"]["seeds"]
    similarities = topic_similarities(_description(truth, [*seeds, *sorted(targets)]), terms)
    points = checkpoints(job["pages"])
    rows = []
    for (crawl, strategy, seed), urls in fetched.items():
        recall = recall_curve(relevant_flags(urls, targets), len(targets))
        precision = precision_curve([similarities[url] for url in urls])
        rows.append(
            {
                "crawl": crawl,
                "group": job["group"],
                "augmented": crawl != job["group"],
                "strategy": strategy,
                "seed": seed,
                "targets": len(targets),
                "fetched": len(urls),
                "pages": points,
                "target_recall": [value_at(recall, n) for n in points],
                "precision": [value_at(precision, n) for n in points],
            }
        )
    _write(job, rows)


def _write(job: Mapping[str, Any], rows: list[dict[str, Any]]) -> None:
    path = Path(job["file"])
    draft = path.with_name(f"{path.name}.part")
    draft.write_text(json.dumps({"key": job["key"], "rows": rows}) + "\n", encoding="utf-8")
    draft.replace(path)


def fetched_urls(folder: Path) -> list[str]:
    """Return the URLs of a crawl's pages in the order of fetching."""
    with (folder / "crawl.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line)["url"] for line in lines]
