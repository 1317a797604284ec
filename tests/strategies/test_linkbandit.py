"""The bandit over hosts and tag paths: what it chooses where links say nothing."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import pytest

from focusspider.models.success_table import SuccessTable
from focusspider.relevance.base import Judgement
from focusspider.strategies.linkbandit import PathBandit, wordless
from focusspider.strategies.linkevidence import LinkEvidence
from focusspider.strategies.linkforecasts import Forecasts, Skills
from focusspider.strategies.linkgroups import FIRST_OF
from focusspider.strategies.linkprobes import LinkProbes, allowed_tries
from focusspider.strategies.linksuccesses import groups_of
from focusspider.text import Terms
from tests.pages import page
from tests.strategies.test_auto import SITE, reranked, started

if TYPE_CHECKING:
    from collections.abc import Iterable

NONE = np.zeros(0, dtype=np.uint64)


def test_what_may_well_be_is_one_deviation_above_the_mean() -> None:
    table = SuccessTable(np.zeros(0, np.uint32), np.zeros(0), mean=0.25, prior=2.0)
    # beta of 3.5 and 2.5: mean 7/12, variance 7/12 · 5/12 / 7
    upper = table.upper(np.array([4.0]), np.array([3.0]))
    assert upper[0] == pytest.approx(7 / 12 + sqrt(35 / 144 / 7), rel=1e-12)
    unknown, bad, good = table.upper(np.array([0.0, 5.0, 5.0]), np.array([0.0, 0.0, 4.0]))
    assert good > unknown > bad


class Site:
    """A page whose links have as many tag paths as there are counts of them.

    ``counts`` has trials and successes of each path, in its order.
    """

    def __init__(self, links: dict[str, list[str]], counts: dict[str, tuple[int, int]]) -> None:
        html = "".join(
            f"<{tag}><a href='{path}'>item</a></{tag}>" for tag in links for path in links[tag]
        )
        evidence = LinkEvidence(Terms(), max_links=10_000)
        start = page(f"<i><a href='{SITE}/'>item</a></i>", f"{SITE}/start")
        for at in (start, page(html, f"{SITE}/")):
            evidence.add_page(at, relevance=0.0, relevant=False, hub=0.0)
        self.seen = evidence.snapshot()
        self.nodes = {
            path: evidence.node_of(page("", f"{SITE}{path}").key)
            for paths in links.values()
            for path in paths
        }
        every = np.arange(1, len(self.seen.link_node))
        groups = groups_of(self.seen, every)[FIRST_OF.index("host path")]
        of = {tag: groups[sum(len(p) for p in list(links.values())[:i])]
              for i, tag in enumerate(links)}  # fmt: skip
        trials = [(of[tag], i < good) for tag, (n, good) in counts.items() for i in range(n)]
        table = SuccessTable(
            np.array([group for group, _ in trials], dtype=np.uint32),
            np.array([good for _, good in trials], dtype=np.float64),
            mean=0.2,
        )
        self.table = table

    def choose(self, values: dict[str, float], n: int, tried: list[str] | None = None) -> list[str]:
        """Return which are chosen of those that wait with these values, in their order."""
        log_odds = np.full(self.seen.n_nodes, np.nan)
        for path, value in values.items():
            log_odds[self.nodes[path]] = value
        keys = self.seen.node_key[[self.nodes[path] for path in tried or []]]
        names = {node: path for path, node in self.nodes.items()}
        chosen = self.bandit(values).choose(log_odds, keys, n)
        return [names[node] for node in chosen.tolist()]

    def bandit(self, waiting: Iterable[str], silence: float = 1.0) -> PathBandit:
        nodes = np.sort([self.nodes[path] for path in waiting]).astype(np.int64)
        return PathBandit(self.seen, self.table, silence, nodes)


LINKS = {"p": ["/p1", "/p2"], "b": ["/b1", "/b2", "/b3"], "i": ["/i1"], "u": ["/u1"]}


def test_what_pays_is_first_then_what_is_not_known_then_what_does_not() -> None:
    site = Site(LINKS, {"p": (10, 0), "b": (10, 7), "i": (3, 0)})
    values = {path: 0.0 for paths in LINKS.values() for path in paths} | {"/b2": 1.0, "/p2": -9.0}
    # best of a group first, by what else was learnt; each choice counts as a failure
    assert site.choose(values, 3) == ["/b2", "/b1", "/b3"]
    assert site.choose(values, 9) == ["/b2", "/b1", "/b3", "/u1", "/i1", "/p1", "/p2"]
    assert site.choose({"/p1": 0.0}, 2) == ["/p1"]
    assert site.choose({}, 2) == []
    assert site.choose(values, 0) == []


def test_what_was_chosen_and_waits_counts_as_a_failure() -> None:
    links = {"p": ["/p1", "/p2"], "b": ["/b1", "/b2"]}
    site = Site(links, {})
    values = {path: float(path < "/c") for paths in links.values() for path in paths}
    first = site.choose(values, 1)
    assert first == ["/p1"]  # nothing is known of either
    assert site.choose(values, 4, first) == ["/b1", "/p2", "/b2"]  # and it is not chosen again
    # What came of it is known when it waits no longer: nothing here, as of a file that is missing.
    left = {path: value for path, value in values.items() if path != "/p1"}
    assert site.choose(left, 1, first) == ["/p2"]


def test_what_waits_counts_once_however_many_links_lead_to_it() -> None:
    site = Site({"p": ["/p1"] * 30 + ["/p2"], "b": ["/b1"]}, {"p": (10, 8), "b": (10, 5)})
    values = {"/p1": 0.0, "/p2": 0.0, "/b1": 0.0}
    assert site.choose(values, 2, ["/p1"]) == ["/p2", "/b1"]


def test_a_url_in_two_groups_is_chosen_once() -> None:
    site = Site({"p": ["/1", "/2"], "b": ["/1", "/3"]}, {"p": (4, 3), "b": (4, 3)})
    assert sorted(site.choose(dict.fromkeys(["/1", "/2", "/3"], 0.0), 9)) == ["/1", "/2", "/3"]


@pytest.mark.parametrize(("silence", "chosen"), [(1.0, 4), (0.5, 2), (0.0, 0)])
def test_it_chooses_as_often_as_links_say_nothing(silence: float, chosen: int) -> None:
    below = {"p": [f"/p{i}" for i in range(9)], "b": [f"/b{i}" for i in range(9)]}
    site = Site(below, {})
    bandit = site.bandit(site.nodes, silence)
    log_odds = np.full(site.seen.n_nodes, np.nan)
    log_odds[list(site.nodes.values())] = 0.0
    probes = LinkProbes(0.05)
    might = probes.candidates(site.seen, np.sort(list(site.nodes.values())), 20, bandit)
    first = probes.choose(site.seen, log_odds, 20, bandit)
    assert len(first) == chosen  # one in five of 20
    assert np.isin(first, might).all()
    again = LinkProbes(0.05)
    again.recall(probes.memory())
    assert again.choose(site.seen, log_odds, 20, bandit).tolist() == first.tolist()
    # What was earned and not yet chosen is remembered: by 22 pages there is less than one more.
    more = [len(each.choose(site.seen, log_odds, 23, bandit)) for each in (probes, again)]
    assert more == [int(4.6 * silence)] * 2
    more = [len(each.choose(site.seen, log_odds, 26, bandit)) for each in (probes, again)]
    assert more == [int(5.2 * silence)] * 2
    assert len(LinkProbes(0.0).choose(site.seen, log_odds, 20, bandit)) == 0
    assert all(again.has_chosen(int(site.seen.node_key[node])) for node in first)


def test_each_page_counts_by_how_little_links_said_then() -> None:
    site = Site({"p": [f"/p{i}" for i in range(99)]}, {})
    log_odds = np.full(site.seen.n_nodes, np.nan)
    log_odds[list(site.nodes.values())] = 0.0
    told, silent = (site.bandit(site.nodes, silence) for silence in (0.0, 1.0))
    waiting = np.sort(list(site.nodes.values()))
    for look in ("candidates", "choose"):  # also where the others keep their order
        probes = LinkProbes(0.05)
        if look == "candidates":
            assert len(probes.candidates(site.seen, waiting, 200, told)) == 0
        else:
            assert len(probes.choose(site.seen, log_odds, 200, told)) == 0
        assert len(probes.choose(site.seen, log_odds, 210, silent)) == 2
    assert allowed_tries(0.05, 210) - allowed_tries(0.05, 200) == pytest.approx(2)


def test_of_each_path_that_might_be_chosen_some_are_looked_at() -> None:
    """Where what waits keeps its order, what is found later is chosen from all the same."""
    old, new = [f"/p{i}" for i in range(2000)], [f"/b{i}" for i in range(300)]
    site = Site({"p": old, "b": new}, {"p": (50, 0), "b": (50, 50)})
    bandit = site.bandit(site.nodes)
    nodes = np.sort(list(site.nodes.values()))
    might = LinkProbes(0.05).candidates(site.seen, nodes, 10, bandit)
    assert site.nodes["/b0"] in might
    assert len(might) == 500 + 300
    assert bandit.of_best(nodes, NONE, 1, 7).tolist() == [site.nodes[path] for path in new[:7]]
    assert len(bandit.of_best(nodes, NONE, 2, 1)) == 2


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("<a href='/1'>item</a>", 1.0),
        ("<a href='/1'>robots</a>", 0.5),
        ("<a href='/1'>item</a> of a robot", 0.5),
        ("<a href='/robot'>item</a>", 0.5),
    ],
)
def test_one_link_in_twenty_with_a_keyword_says_something(link: str, expected: float) -> None:
    def of(links: list[str]) -> float:
        evidence = LinkEvidence(Terms({"robot": 1}), max_links=1000)
        html = "".join(f"<p>{each}</p>" for each in links)
        evidence.add_page(page(html, f"{SITE}/"), relevance=0.0, relevant=False, hub=0.0)
        return wordless(evidence.snapshot())

    others = [f"<a href='/o{i}'>item</a>" for i in range(39)]
    assert of([link, *others]) == pytest.approx(expected)
    assert of([link, link.replace("1", "2"), *others[1:]]) == pytest.approx(2 * expected - 1)
    assert of([]) == 0.0


def test_auto_tries_a_place_that_was_never_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of links that say nothing, those of one place have brought nothing so far."""

    def tried(explore: float, anchor: str = "item", *, told: bool = False) -> set[str]:
        strategy = started(explore=explore, chance=0.0)
        strategy.observe(page("<a href='/start'>x</a>", f"{SITE}/"), Judgement(0.0, False, "test"))
        links = "".join(f"<p><a href='/p{i}'>{anchor}</a></p>" for i in range(40))
        links += "".join(f"<b><a href='/b{i}'>item</a></b>" for i in range(40))
        strategy.observe(page(links, f"{SITE}/start"), Judgement(0.0, False, "test"))
        for i in range(20):
            strategy.observe(page("", f"{SITE}/p{i}"), Judgement(0.0, False, "test"))
        if told:  # the model has told every page so far
            monkeypatch.setattr(Forecasts, "skills", lambda *_: Skills(0.9, 0.5))
        paths = [*(f"/p{i}" for i in range(20, 40)), *(f"/b{i}" for i in range(40))]
        reranked(strategy, paths)
        probes = strategy._probes
        return {path for path in paths if probes.has_chosen(page("", f"{SITE}{path}").key)}

    assert tried(0.0) == set()
    chosen = tried(0.05)
    assert len(chosen) == 4  # one page in five of 22
    assert {path[1] for path in chosen} == {"b"}
    assert tried(0.05, "robots") == set()  # half of the links hold the keyword
    assert tried(0.05, told=True) == set()
