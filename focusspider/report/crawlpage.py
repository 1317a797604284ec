"""The page about one crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from focusspider.report.charts import chart_data, styled
from focusspider.report.document import cut, document, element, link
from focusspider.report.losses import counts, failed, refused, waits
from focusspider.report.paths import below, best_hubs, relevant_tree
from focusspider.report.progress import progress
from focusspider.report.runlog import read_titles
from focusspider.report.summary import summary
from focusspider.report.table import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from focusspider.report.charts import Chart
    from focusspider.report.document import Html
    from focusspider.report.paths import Hub, Node
    from focusspider.report.runlog import LoggedPage, RunLog

__all__ = ["Bounds", "crawl_page"]

_OPEN_LEVELS = 2  # of the tree


class Bounds(NamedTuple):
    """How much of a crawl its page shows; what is left out is counted on it."""

    points: int = 1000  # of a curve
    hosts: int = 200
    hubs: int = 50
    tree: int = 1500  # pages
    levels: int = 40  # of the tree
    waits: int = 10


def crawl_page(
    log: RunLog,
    library: str | None,
    bounds: Bounds | None = None,
    *,
    learnt: Iterable[Html] = (),
) -> str:
    """Return the page about a crawl.

    Parameters
    ----------
    library
        the script that draws (:func:`~focusspider.report.charts.library`), None for a page
        without curves
    learnt
        what the strategy has learnt
    """
    bounds = bounds or Bounds()
    pages = log.pages
    under = below(log.parents, log.relevant)
    tree = relevant_tree(log.parents, under, most=bounds.tree, deepest=bounds.levels)
    hubs = best_hubs(log.parents, log.relevant, under, most=bounds.hubs)
    shown = {pages[hub.page].url for hub in hubs} | {pages[n].url for n in _pages_of(tree)}
    titles = read_titles(log, shown)  # may add to the problems that the summary tells
    charts = progress(pages, bounds.points) if library is not None else []
    body = [*summary(log)]
    if pages:
        body += _curves(charts, len(pages), bounds.points)
        body += _hosts(pages, bounds.hosts)
        body += _paths(_Tree(pages, under, titles), tree, bounds)
        body += _hubs(pages, hubs, titles, bounds.hubs)
    body += [*learnt, *refused(log), *failed(log), *waits(log, bounds.waits), *counts(log)]
    series = styled(dict.fromkeys(name for chart in charts for name in chart.views[""]))
    name = log.table("topic").get("name")
    return document(
        f"Crawl: {name if isinstance(name, str) else 'unknown topic'}, {log.folder.name}",
        body,
        data=chart_data(charts, series),
        libraries=[library] if library is not None else [],
    )


def _curves(charts: Sequence[Chart], length: int, most: int) -> Iterator[Html]:
    yield element("h2", "How it went")
    if not charts:
        yield element(
            "p", "Drawing curves needs: pip install 'focusspider[report]'.", class_="none"
        )
        return
    yield element("div", *(chart.div() for chart in charts), class_="charts")
    if length > most:
        yield element("p", f"The curves are drawn at {most:,} of {length:,} pages.", class_="note")


def _hosts(pages: Sequence[LoggedPage], most: int) -> Iterator[Html]:
    fetched: dict[str, int] = {}
    good: dict[str, int] = {}
    first: dict[str, int] = {}
    for n, page in enumerate(pages, 1):
        fetched[page.host] = fetched.get(page.host, 0) + 1
        good[page.host] = good.get(page.host, 0) + page.relevant
        first.setdefault(page.host, n)
    order = sorted(fetched, key=lambda host: (-good[host], -fetched[host], host))
    yield element("h2", "Hosts")
    yield table(
        [
            {
                "host": element("bdi", cut(host) or "(none)"),
                "fetched": fetched[host],
                "relevant": good[host],
                "share relevant": good[host] / fetched[host],
                "first at page": first[host],
            }
            for host in order[:most]
        ]
    )
    rest = order[most:]
    if rest:
        yield element(
            "p",
            f"{len(rest):,} more hosts are left out: {sum(fetched[one] for one in rest):,} pages, "
            f"{sum(good[one] for one in rest):,} of them relevant.",
            class_="note",
        )


def _hubs(
    pages: Sequence[LoggedPage], hubs: Sequence[Hub], titles: Mapping[str, str], most: int
) -> Iterator[Html]:
    yield element("h2", "Best hubs")
    yield element(
        "p",
        "Pages whose links were followed to the most relevant pages; “further on” counts the "
        f"relevant pages on all paths through them. At most {most:,} are shown.",
        class_="note",
    )
    rows: list[dict[str, Any]] = [
        {
            "page": link(pages[hub.page].url, titles.get(pages[hub.page].url)),
            "host": element("bdi", cut(pages[hub.page].host)),
            "links followed": hub.brought,
            "relevant": hub.relevant,
            "share relevant": hub.relevant / hub.brought,
            "further on": hub.below,
        }
        for hub in hubs
    ]
    yield table(rows)


class _Tree(NamedTuple):
    """What the tree shows of its pages."""

    pages: Sequence[LoggedPage]
    under: Sequence[int]
    titles: Mapping[str, str]

    def list(self, node: Node, level: int = 0) -> Html:
        """Return the children of a node as a list, with what is left out of it."""
        entries = [self._entry(child, level) for child in node.children]
        if node.pages_out:
            entries.append(
                element(
                    "li",
                    f"… {node.pages_out:,} more, on whose paths are {node.relevant_out:,} "
                    "relevant pages, are left out",
                    class_="leaf small",
                )
            )
        return element("ul", *entries)

    def _entry(self, node: Node, level: int) -> Html:
        label = self._label(node.page)
        if not node.children and not node.pages_out:
            return element("li", label, class_="leaf")
        return element(
            "li",
            element(
                "details",
                element("summary", label),
                self.list(node, level + 1),
                open=level < _OPEN_LEVELS,
            ),
        )

    def _label(self, place: int) -> Html:
        page = self.pages[place]
        further = self.under[place] - page.relevant
        parts = [link(page.url, self.titles.get(page.url))]
        if page.anchor and page.anchor.strip():
            parts.append(element("bdi", f" “{cut(page.anchor, 80)}”", class_="anchor"))
        facts = [f"page {place + 1:,}"]
        if page.relevance is not None:
            facts.append(f"relevance {page.relevance:.2f}")
        if further:
            facts.append(f"{further:,} relevant further on")
        parts.append(element("span", f" {' · '.join(facts)}", class_="small"))
        return element("span", *parts, class_="relevant" if page.relevant else None)


def _paths(shown: _Tree, tree: Node, bounds: Bounds) -> Iterator[Html]:
    yield element("h2", "Paths that led to relevant pages")
    if not tree.children:
        yield element("p", "No page was relevant.", class_="none")
        return
    yield element(
        "p",
        "From the seeds down; relevant pages are green, and in quotes is the text of the link "
        f"that was followed. At most {bounds.tree:,} pages and {bounds.levels} levels are shown, "
        "those first that led to the most relevant pages.",
        class_="note",
    )
    buttons = [
        element("button", text, type="button", data_tree=state, data_of="tree")
        for text, state in (("open all", "open"), ("close all", "closed"))
    ]
    yield element("p", *buttons, class_="tree-buttons")
    yield element("div", shown.list(tree), class_="tree", id="tree")


def _pages_of(tree: Node) -> Iterator[int]:
    waiting = list(tree.children)
    while waiting:
        node = waiting.pop()
        yield node.page
        waiting += node.children
