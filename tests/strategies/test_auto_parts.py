"""What auto is put together of: its budget, its probes, its models, and what it tells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.errors import ModelFileError, SettingError
from focusspider.models.lessons import COURSE, GROUPS, Lessons
from focusspider.models.modelfile import read_model, write_model
from focusspider.models.success_table import SuccessTable
from focusspider.relevance.base import Judgement
from focusspider.strategies import build_strategy
from focusspider.strategies.auto import Auto
from focusspider.strategies.linkbandit import PathBandit
from focusspider.strategies.linkbudget import WorkBudget
from focusspider.strategies.linkevidence import LinkEvidence
from focusspider.strategies.linknames import LinkNames
from focusspider.strategies.linkprobes import LinkProbes, allowed_hosts, allowed_links
from focusspider.strategies.orderchange import ndcg, sampled
from focusspider.strategies.trained import TrainedModels
from focusspider.text import Terms
from tests.pages import page, profile
from tests.strategies.test_auto import SITE, crawl, order, reranked, started, waiting
from tests.strategies.tinymodels import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

FIRST, BELOW = f"{SITE}/", f"{SITE}/a"


def test_work_is_a_share_of_what_pages_earn() -> None:
    quarter, all_of_it = WorkBudget(0.25), WorkBudget(1.0)
    free = quarter.earned
    for _ in range(1000):
        quarter.add_page(25)
        all_of_it.add_page(25)
    # a page with 25 links is 4 ms of work, and a third of that may go into learning
    assert quarter.earned - free == pytest.approx(1000 * 4e-3 / 3)
    assert quarter.affords(known=1000, scored=1000, fitted=100)
    before = quarter.spent
    assert before == pytest.approx(1000 * 4e-7 + 1000 * 2e-6 + 100 * 2e-5)
    assert not quarter.affords(known=100_000_000, scored=0, fitted=0)
    assert quarter.spent == before
    assert all_of_it.affords(known=100_000_000, scored=0, fitted=0)


def test_a_small_budget_looks_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focusspider.strategies.linkbudget._FREE", 0.0)

    def reranks(budget: float) -> int:
        strategy = build_strategy("auto", {}, budget=budget)
        strategy.start(profile("robot"), np.random.default_rng(0))
        many = 0
        for i in range(200):
            links = "".join(f"<a href='/{i}/{j}'>a</a>" for j in range(200))
            strategy.observe(page(links, f"{SITE}/{i}"), Judgement(float(i % 2), i % 2 == 0, "t"))
            many += strategy.rerank(waiting()) is not None
        return many

    assert reranks(0.001) < reranks(0.9) == 196


def seen_of(pages: Mapping[str, Iterable[str]]) -> LinkEvidence:
    """Return what was seen of pages with their links; the first of them leads to the others."""
    evidence = LinkEvidence(Terms(), max_links=1000)
    for url, links in pages.items():
        marked = "".join(f"<a href='{link}'>a</a>" for link in links)
        evidence.add_page(page(marked, url), relevance=0.0, relevant=False, hub=0.0)
    return evidence


def chosen_urls(
    probes: LinkProbes,
    evidence: LinkEvidence,
    values: Mapping[str, float],
    pages: int = 100,
    silence: float = 0.0,
) -> list[str]:
    """Return which URLs are probes, of those that wait with their log odds."""
    seen = evidence.snapshot()
    nodes = {url: evidence.node_of(page("", url).key) for url in values}
    log_odds = np.full(seen.n_nodes, np.nan)
    for url, node in nodes.items():
        log_odds[node] = values[url]
    waiting = np.sort(list(nodes.values()))
    paths = SuccessTable(np.zeros(0, np.uint32), np.zeros(0), mean=0.5)
    bandit = PathBandit(seen, paths, silence, waiting)
    might = probes.candidates(seen, waiting, pages, bandit)
    before = probes.memory()
    chosen = probes.choose(seen, log_odds, pages, bandit)
    earlier = [*before["entrances"], *before["links"], *before["tried"]]
    new = ~np.isin(seen.node_key[chosen], earlier)
    assert np.isin(chosen[new], might).all()
    return [url for url, node in nodes.items() if node in chosen]


def test_probes_are_the_best_links_to_hosts_that_are_not_known() -> None:
    values = {f"{SITE}/x": 5.0, "http://b.example/1": -2.0, "http://b.example/2": -1.0,
              "http://c.example/1": 0.0}  # fmt: skip
    seen = seen_of({FIRST: [BELOW], BELOW: [*values, "http://d.example/"], "http://d.example/": []})
    assert chosen_urls(LinkProbes(1.0), seen, values) == [*values][2:]
    one = LinkProbes(0.01)
    assert chosen_urls(one, seen, values) == ["http://c.example/1"]  # the best
    assert chosen_urls(one, seen, values) == ["http://c.example/1"]  # its host is slow, or busy
    assert chosen_urls(LinkProbes(0.0), seen, values) == []
    assert allowed_hosts(0.0, 1000) == 0
    assert allowed_hosts(1.0, 400) == 400


def test_a_host_that_does_not_answer_is_not_asked_again() -> None:
    values = {f"http://b.example/{i}": -5.0 for i in range(9)}
    seen, probes = seen_of({FIRST: [BELOW], BELOW: values}), LinkProbes(1.0)
    first, *others = values
    assert chosen_urls(probes, seen, values) == [first]
    left = dict.fromkeys(others, -5.0)  # it was fetched, and brought no page
    assert chosen_urls(probes, seen, left) == []
    later = LinkProbes(1.0)
    later.recall(probes.memory())
    assert chosen_urls(later, seen, left) == []
    assert [later.has_chosen(page("", url).key) for url in (first, others[0])] == [True, False]


def test_links_of_the_first_page_are_looked_at_whatever_was_learnt() -> None:
    own = {f"{SITE}/{i}": float(-i) for i in range(1, 10)}
    below = {f"{SITE}/a/{i}": 1.0 for i in range(9)}
    evidence, probes = seen_of({FIRST: [BELOW, *own], BELOW: below}), LinkProbes(0.05)
    assert chosen_urls(probes, evidence, own | below, 4) == []
    assert chosen_urls(probes, evidence, own | below, 10) == [f"{SITE}/1", f"{SITE}/2"]
    assert chosen_urls(probes, evidence, own | below, 15) == [f"{SITE}/{i}" for i in (1, 2, 3)]
    left = {url: value for url, value in (own | below).items() if url not in [*own][:3]}
    assert chosen_urls(probes, evidence, left, 15) == []  # they were fetched
    later = LinkProbes(0.05)
    later.recall(probes.memory())
    assert chosen_urls(later, evidence, left, 20) == [f"{SITE}/4"]
    assert chosen_urls(LinkProbes(0.0), evidence, own, 400) == []


def test_a_link_to_a_new_host_on_the_first_page_is_one_probe() -> None:
    values = {f"http://{host}.example/": 5.0 for host in "bc"} | {f"{SITE}/{i}": 0.0 for i in "12"}
    evidence, probes = seen_of({FIRST: values}), LinkProbes(0.05)
    assert chosen_urls(probes, evidence, values, 20) == list(values)[:1] + list(values)[1:]
    assert [len(probes.memory()[kind]) for kind in ("hosts", "entrances", "links")] == [1, 1, 3]


def test_what_finds_enough_looks_at_fewer_links_of_its_first_page() -> None:
    own = {f"{SITE}/{i}": float(-i) for i in range(1, 50)}

    def looks(relevant: int, pages: int) -> int:
        """Return how many there are where so many of the first pages are relevant."""
        evidence, probes = seen_of({FIRST: own}), LinkProbes(0.05)
        for i in range(19):
            good = i < relevant
            at = page("", f"{SITE}/a/{i}")
            evidence.add_page(at, relevance=float(good), relevant=good, hub=0.0)
        chosen_urls(probes, evidence, own, 20)
        for i in range(80):
            evidence.add_page(page("", f"{SITE}/b/{i}"), relevance=0.0, relevant=False, hub=0.0)
        return len(chosen_urls(probes, evidence, own, pages))

    assert looks(0, 20) == 4
    # Half of 20 pages are relevant and of 80 none: what was not looked at then is not made up for.
    assert allowed_links(0.05, 100) == pytest.approx(14.14, abs=0.01)
    assert looks(0, 100) == 14
    assert looks(10, 100) == 10


def test_a_new_host_is_looked_at_before_its_turn() -> None:
    def priorities(explore: float) -> list[int]:
        strategy = started(explore=explore)
        crawl(strategy)
        links = "".join(f"<a href='http://{h}.example/{i}'>item</a>" for h in "bc" for i in (1, 2))
        strategy.observe(page(links, f"{SITE}/y/900"), Judgement(0.0, False, "test"))
        hosts = [f"http://{h}.example/{i}" for h in "bc" for i in (1, 2)]
        return reranked(strategy, [*(f"/x/{i}" for i in range(40, 80, 2)), *hosts]).tolist()

    without, probed = priorities(0.0), priorities(0.05)
    raised = [new > old for new, old in zip(probed, without, strict=True)]
    # two pages of 42 may be probes: one of each host, and above all others
    assert raised[:20] == [False] * 20
    assert sum(raised[20:22]) == sum(raised[22:]) == 1
    assert min(new for new, up in zip(probed, raised, strict=True) if up) > max(without)


def test_an_order_is_compared_by_what_it_gains() -> None:
    assert ndcg(np.array([3.0, 2.0, 1.0])) == 1.0
    # worked by hand: (1 + 2 / log2(3) + 3 / 2) / (3 + 2 / log2(3) + 1 / 2)
    worked = (1 + 2 / math.log2(3) + 1.5) / (3 + 2 / math.log2(3) + 0.5)
    assert ndcg(np.array([1.0, 2.0, 3.0])) == pytest.approx(worked, rel=1e-12)
    assert ndcg(np.zeros(3)) == ndcg(np.zeros(0)) == 1.0
    assert sampled(np.array([5, 9, 7]), 10).tolist() == [1, 2, 0]
    part = sampled(np.arange(1000), 10)
    assert part[:5].tolist() == [999, 998, 997, 996, 995]
    assert len(part) == 10
    assert (np.diff(part) < 0).all()


def test_what_is_steady_keeps_its_order() -> None:
    counts = {}
    for steady in (0.0, 1.0):
        strategy = started(steady=steady)
        crawl(strategy, 1400)
        first, again = order(strategy, 1400), order(strategy, 1400)
        assert len(first) == 1400  # nothing was learnt before
        counts[steady] = len(again)
    assert counts == {0.0: 0, 1.0: 1400}


def test_names_are_bounded_and_survive() -> None:
    names, again = LinkNames(), LinkNames()
    for i in range(10_001):
        names.add("host", i, f"h{i}".encode())
    names.add("path", 7, b"a" * 1000)
    names.add("word", 9, "é".encode())
    names.add("word", 9, b"another")
    again.recall(names.memory())
    assert len(again.of("host")[1]) == 10_000
    assert again.of("path")[1] == ["a" * 200]
    assert again.of("word")[1] == ["é"]
    assert again.of("directory")[1] == []


def test_what_was_learnt_is_told(tmp_path: Path) -> None:
    strategy = started()
    assert strategy.lessons() is None
    crawl(strategy)
    order(strategy)
    told = strategy.lessons()
    assert told is not None
    folders = told.records["directories"]
    found = dict(zip(folders.names, folders.counts.tolist(), strict=True))
    assert found["a.example/x"] == [20, 20]
    assert found["a.example/y"] == [20, 0]
    evidence = dict(zip(folders.names, folders.evidence.tolist(), strict=True))
    assert evidence["a.example/x"] > 0 > evidence["a.example/y"]
    words = told.records["anchor_words"]
    assert dict(zip(words.names, words.counts.tolist(), strict=True))["item"] == [40, 20]
    paths = told.records["paths"]
    assert paths.counts[paths.names.index("html/body/p/a")].tolist() == [40, 20]
    assert dict(zip(COURSE, told.course[-1], strict=True))["relevant"] == 20
    assert len(told.weights.names) == len(told.weights.values)
    write_model(tmp_path / "learnt.npz", told.to_file(topic="robots"))
    read = Lessons.from_file(read_model(tmp_path / "learnt.npz", kind="auto"))
    assert {group: list(read.records[group].names) for group in GROUPS} == {
        group: list(told.records[group].names) for group in GROUPS
    }
    np.testing.assert_array_equal(read.course, told.course)


def test_lessons_of_another_shape_are_refused(tmp_path: Path) -> None:
    strategy = started()
    crawl(strategy)
    order(strategy)
    told = strategy.lessons()
    assert told is not None
    file = told.to_file()
    # so few waited that the change of their order was not measured
    assert file.metrics.keys() == set(COURSE) - {"ndcg"}
    broken: dict[str, Any] = {**file.arrays, "course": np.zeros((3, 2))}
    write_model(tmp_path / "learnt.npz", type(file)(kind="auto", arrays=broken))
    says = "not a sound 'auto' model: course .*; it may be of another version of focusspider"
    with pytest.raises(ModelFileError, match=says):
        Lessons.from_file(read_model(tmp_path / "learnt.npz"))


def test_trained_models_are_asked_and_their_beliefs_travel() -> None:
    models = TrainedModels(models_dir=FOLDER)
    assert models.names == ("context-graph", "hmm", "memm", "crf")
    models.start(profile("robot"), np.random.default_rng(0))
    at = page("<p><a href='/1'>robot</a> <a href='/2'>tea</a></p>", f"{SITE}/")
    figures, state = models.ask(at, None)
    assert figures.shape == (2, len(models.columns)) == (2, 8)
    assert np.isfinite(figures).all()
    inner = page("<a href='/3'>robot</a>", f"{SITE}/1")
    after, _ = models.ask(inner, state)
    without, _ = models.ask(inner, None)
    assert not np.array_equal(after, without)  # beliefs of the page before count
    for number, kind in enumerate(models.names):
        alone = build_strategy(kind, {}, models_dir=FOLDER)
        alone.start(profile("robot"), np.random.default_rng(0))
        first = alone.score(at, None)
        second = alone.score(inner, first.state)
        layers = [values for name, values in second.parts.items() if name[0] == "T"]
        value = sum(0.3**k * of_k for k, of_k in enumerate(layers))
        if not layers:
            value = 0.3 ** second.parts["layer"]
        assert after[:, 2 * number] == pytest.approx(value)


def test_a_model_is_named_once() -> None:
    with pytest.raises(SettingError, match="models names 'crf' twice; once is enough"):
        build_strategy("auto", {"models": ["crf", "crf"]}, models_dir=FOLDER)


def test_it_begins_with_what_models_say() -> None:
    """Of pages that are nothing to the keywords, before it has learnt anything."""
    scores = {}
    for models in ("context-graph", "hmm", None):
        strategy = build_strategy("auto", {"models": [models] if models else []}, models_dir=FOLDER)
        strategy.start(profile("zeppelin"), np.random.default_rng(0))
        for word in ("robot", "tea"):
            at = page(f"<p>{word}</p><a href='/{word}'>on</a>", f"{SITE}/of/{word}")
            strategy.observe(at, Judgement(0.0, False, "test"))
            scores[models, word] = strategy.score(at, None).priorities[0]
    assert scores["context-graph", "robot"] > scores["context-graph", "tea"]
    assert scores["hmm", "robot"] > scores["hmm", "tea"]
    assert scores[None, "robot"] == scores[None, "tea"]


def test_auto_learns_from_what_models_say() -> None:
    strategy = build_strategy("auto", {}, models_dir=FOLDER)
    assert isinstance(strategy, Auto)
    strategy.start(profile("robot"), np.random.default_rng(0))
    links = "".join(f"<p><a href='/{i}'>{'robot' if i % 2 else 'tea'}</a></p>" for i in range(80))
    at = page(links, f"{SITE}/")
    strategy.observe(at, Judgement(0.0, False, "test"))
    assert strategy.score(at, None).state
    for i in range(40):
        one = page("<p>item</p>", f"{SITE}/{i}")
        strategy.observe(one, Judgement(float(i % 2), i % 2 == 1, "test"))
        strategy.score(one, None)
    assert strategy.rerank(waiting()) is not None
    work = strategy.rerank(waiting())
    assert work is not None
    work()
    told = strategy.lessons()
    assert told is not None
    assert "models" in told.weights.families
    assert any(name.endswith("distance") for name in told.weights.names)
    again = build_strategy("auto", {"models": []}, models_dir=FOLDER)
    again.start(profile("robot"), np.random.default_rng(0))
    again.observe(at, Judgement(0.0, False, "test"))
    assert again.score(at, None).state is None
