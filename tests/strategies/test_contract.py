"""What holds for every strategy. A new one joins by being in ``STRATEGIES``.

One that cannot be built without parameters, or that behaves differently with others, adds
a line to ``VARIANTS``.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.checkpoint import pack_memory, unpack_memory
from focusspider.errors import SettingError, TopicError, UnknownNameError
from focusspider.keytable import url_key
from focusspider.page import Page
from focusspider.priority import HELD, PRIORITY_MAX
from focusspider.registry import parameters
from focusspider.relevance.base import Judgement
from focusspider.strategies import STRATEGIES, build_strategy
from focusspider.strategies.base import LinkScores, Reranking, Strategy
from tests.pages import page, profile
from tests.strategies.tinymodels import FOLDER

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A folder of texts, which is there for all tests of this project.
CORPUS = str(Path(__file__).resolve().parents[2] / "topics" / "examples")


def learnt(name: str) -> str:
    """Return the path of a tiny model, for a strategy that cannot be built without one."""
    return str(FOLDER / f"{name}.npz")


VARIANTS: dict[str, list[dict[str, Any]]] = {
    "best-first": [{"against": "keywords"}, {"against": "targets"}],
    "dom": [{}, {"alpha": 0.0}, {"alpha": 1.0}],
    "hub-seeking": [{}, {"own_host": True}],
    "shark-search": [{}, {"gamma": 1.0}, {"d": 1.0, "beta": 0.0, "gamma": 0.0}],
    "shark-search-okapi": [{}, {"k1": 0.0, "b": 0.0}, {"corpus": CORPUS}],
    "hcla": [{}, {"anchors": True}, {"svd": "update"}, {"k": 1, "n_terms": 1}, {"corpus": CORPUS}],
    "plsi-phits": [{}, {"anchors": True}, {"k": 1}, {"alpha": 0.0}, {"corpus": CORPUS}],
    "xcrawl": [{}, {"variant": "pagerank"}, {"variant": "hits"}, {"stop": False, "restart": 1.0}],
    "context-graph": [{"model": learnt("context-graph")}],
    "hmm": [{"model": learnt("hmm")}, {"model": learnt("hmm"), "mode": "viterbi"}],
    "memm": [{"model": learnt("memm")}, {"model": learnt("memm"), "mode": "viterbi"}],
    "crf": [{"model": learnt("crf")}, {"model": learnt("crf"), "mode": "viterbi"}],
}
CASES = [(name, params) for name in STRATEGIES for params in VARIANTS.get(name, [{}])]


def label(name: str, params: dict[str, Any]) -> str:
    """Return what a case is called: the same in each process, wherever its models are."""
    shown = {key: Path(v).name if isinstance(v, str) else v for key, v in params.items()}
    return f"{name} {shown or ''}".strip()


EVERY_CASE = pytest.mark.parametrize(
    ("name", "params"), CASES, ids=[label(name, params) for name, params in CASES]
)
EVERY_NAME = pytest.mark.parametrize("name", STRATEGIES)

SEEDS = ("http://a.example/", "http://b.example/", "http://c.example/")
TARGET = page("<p>Robot arms grip, lift and weld.</p>", "http://t.example/")
PAGES = {
    "links": page(
        "<title>Robots</title><p>Robots and their arms <a href='/arms'>arms of robots</a></p>"
        "<p>Tea <a href='/cake'>cake</a> and <a href='http://b.example/'>biscuits</a></p>"
        "<ul><li><a href='http://c.example/x'><img src=x></a><li><a href='/cake'>robot</a></ul>"
    ),
    "no links": page("<p>Robots have arms.</p>"),
    "nothing": page("<html></html>"),
    "unseen words": page("<p>Zyx wvut <a href='/x'>qpon</a></p>"),
    "no words": page("<p>1 + 1 = <a href='/2'>2</a></p>"),
    "other scripts": page("<p>ロボット <a href='/x'>робот 机器人</a></p>"),
}
#: Where links of these pages lead, and one that no page links to.
WAITING = SimpleNamespace(
    ids=np.array([3, 5, 8, 13]),
    keys=np.array(
        [*(url_key(f"http://a.example{path}") for path in ("/arms", "/cake", "/x")), 7],
        dtype=np.uint64,
    ),
    priorities=np.array([0, 10, PRIORITY_MAX, 0]),
    leased=np.array([], dtype=np.uint64),
)
EVERY_PAGE = pytest.mark.parametrize("where", PAGES)


def started(name: str, params: dict[str, Any], seed: int = 0) -> Strategy:
    strategy = build_strategy(name, params)
    strategy.start(
        profile("robot arms", seeds=SEEDS, targets=[TARGET]), np.random.default_rng(seed)
    )
    return strategy


def reranked(strategy: Strategy, waiting: Any) -> Reranking | None:
    reranking = strategy.rerank(waiting)
    if callable(reranking):
        reranking = reranking()
        assert isinstance(reranking, Reranking)
    return reranking


def in_range(strategy: Strategy, priorities: NDArray[np.int64]) -> bool:
    least = HELD if getattr(strategy, "holds", False) else 0
    return bool(((priorities >= least) & (priorities <= PRIORITY_MAX)).all())


def same(a: LinkScores, b: LinkScores) -> bool:
    return (
        np.array_equal(a.priorities, b.priorities)
        and a.state == b.state
        and a.parts.keys() == b.parts.keys()
        and all(np.array_equal(a.parts[key], b.parts[key]) for key in a.parts)
    )


@EVERY_CASE
@EVERY_PAGE
def test_scores_have_the_shape_type_and_range_of_the_contract(
    name: str, params: dict[str, Any], where: str
) -> None:
    at = PAGES[where]
    strategy = started(name, params)
    scores = strategy.score(at, None)
    assert scores.priorities.shape == (len(at.links),)
    assert scores.priorities.dtype == np.int64
    assert in_range(strategy, scores.priorities)
    for part, values in scores.parts.items():
        assert isinstance(part, str)
        assert values.shape == (len(at.links),), part
        assert values.dtype == np.float64, part
        assert np.isfinite(values).all(), part


@EVERY_CASE
def test_a_state_goes_through_json_and_back(name: str, params: dict[str, Any]) -> None:
    strategy = started(name, params)
    state = None
    for at in PAGES.values():  # each the child of the one before
        state = strategy.score(at, state).state
        if state is None:
            continue
        assert all(type(value) is float for value in state)
        again = tuple(json.loads(json.dumps(state, allow_nan=False)))
        assert again == state
        child = PAGES["links"]
        assert same(strategy.score(child, again), started(name, params).score(child, state))


@EVERY_CASE
def test_the_same_pages_and_seed_give_the_same_scores(name: str, params: dict[str, Any]) -> None:
    strategies = [started(name, params, seed=7) for _ in range(2)]
    judgement = Judgement(0.5, True, "test")
    for at in PAGES.values():
        runs = []
        for strategy in strategies:
            strategy.observe(at, judgement)
            runs.append(strategy.score(at, None))
        assert same(*runs)


@EVERY_CASE
@EVERY_PAGE
def test_inputs_are_left_as_they_were(name: str, params: dict[str, Any], where: str) -> None:
    at = PAGES[where]
    topic = profile("robot arms", seeds=SEEDS, targets=[TARGET])
    before = (at.links, dict(at.terms), dict(topic.keywords), dict(TARGET.terms), topic.seed_hosts)
    strategy = build_strategy(name, params)
    strategy.start(topic, np.random.default_rng(0))
    strategy.observe(at, Judgement(0.5, True, "test"))
    state = (0.25,)
    strategy.score(at, state)
    assert state == (0.25,)
    assert before == (at.links, at.terms, topic.keywords, TARGET.terms, topic.seed_hosts)


@EVERY_CASE
def test_a_reranking_is_of_what_waits(name: str, params: dict[str, Any]) -> None:
    strategy = started(name, params)
    for at in PAGES.values():
        strategy.observe(at, Judgement(0.5, True, "test"))
    reranking = reranked(strategy, WAITING)
    if reranking is not None:
        assert reranking.ids.shape == reranking.priorities.shape
        assert reranking.ids.dtype == reranking.priorities.dtype == np.int64
        assert set(reranking.ids.tolist()) <= set(WAITING.ids.tolist())
        assert in_range(strategy, reranking.priorities)


@EVERY_CASE
@pytest.mark.parametrize("seen", [0, 1, len(PAGES)])
def test_a_reranking_of_nothing_is_nothing(name: str, params: dict[str, Any], seen: int) -> None:
    strategy = started(name, params)
    for at in list(PAGES.values())[:seen]:
        strategy.observe(at, Judgement(0.5, True, "test"))
    none = SimpleNamespace(**{field: values[:0] for field, values in vars(WAITING).items()})
    reranking = reranked(strategy, none)
    assert reranking is None or reranking.ids.tolist() == reranking.priorities.tolist() == []


@EVERY_CASE
def test_a_rerank_before_the_first_page_changes_nothing(name: str, params: dict[str, Any]) -> None:
    reranking = reranked(started(name, params), WAITING)
    assert reranking is None or not len(reranking.ids)


@EVERY_CASE
def test_the_work_of_a_rerank_is_not_disturbed_by_pages_that_come_meanwhile(
    name: str, params: dict[str, Any]
) -> None:
    first, *others = PAGES.values()
    rerankings = []
    for meanwhile in ([], others):
        strategy = started(name, params)
        strategy.observe(first, Judgement(0.5, True, "test"))
        work = strategy.rerank(WAITING)
        for at in meanwhile:
            strategy.observe(at, Judgement(0.5, True, "test"))
            strategy.score(at, None)
        rerankings.append(work() if callable(work) else work)
    before, after = rerankings
    assert (before is None) == (after is None)
    if before is not None:
        np.testing.assert_array_equal(before.ids, after.ids)
        np.testing.assert_array_equal(before.priorities, after.priorities)


@EVERY_CASE
def test_what_was_learnt_survives_the_process(name: str, params: dict[str, Any]) -> None:
    strategy = started(name, params)
    assert hasattr(strategy, "memory") == hasattr(strategy, "recall")
    if not hasattr(strategy, "memory"):
        return
    for at in PAGES.values():
        strategy.observe(at, Judgement(0.5, True, "test"))
    again = started(name, params)
    again.recall(unpack_memory(pack_memory(strategy.memory())))
    at = page("<p>Arms of robots: <a href='/arms'>arms</a> <a href='/y'>y</a></p>", SEEDS[1])
    for one in (strategy, again):
        one.observe(at, Judgement(0.5, True, "test"))
    assert same(strategy.score(at, None), again.score(at, None))
    before, after = reranked(strategy, WAITING), reranked(again, WAITING)
    if before is not None and after is not None:
        np.testing.assert_array_equal(before.ids, after.ids)
        np.testing.assert_array_equal(before.priorities, after.priorities)


NEEDS = {"terms", "context", "anchor", "targets", "graph", "outline", "leaves", "model"}
#: What a page gives only to a strategy that said so.
NEED_OF = {
    "terms": "terms",
    "context_terms": "context",
    "anchor_terms": "anchor",
    "key": "graph",
    "link_keys": "graph",
    "moved_from_keys": "graph",
    "outline": "outline",
    "leaves": "leaves",
    "leaf_terms": "leaves",
}


class Closed(Page):
    """A page of which only that can be had which a strategy said it needs."""

    def __init__(self, of: Page, needs: frozenset[str]) -> None:
        self.__dict__.update(of.__dict__)
        self._needs = needs
        if "context" not in needs:
            self.links = tuple(link._replace(context="") for link in of.links)

    def __getattribute__(self, name: str) -> Any:
        need = NEED_OF.get(name)
        if need is not None and need not in object.__getattribute__(self, "_needs"):
            raise AssertionError(f"uses {name} without the need {need!r}")
        return object.__getattribute__(self, name)


@EVERY_CASE
@EVERY_PAGE
def test_it_looks_at_nothing_that_it_does_not_need(
    name: str, params: dict[str, Any], where: str
) -> None:
    strategy = started(name, params)
    assert isinstance(strategy.needs, frozenset)
    assert strategy.needs <= NEEDS
    at = PAGES[where]
    closed = Closed(at, strategy.needs)
    started(name, params).observe(closed, Judgement(0.5, True, "test"))
    assert same(strategy.score(closed, None), started(name, params).score(at, None))


@EVERY_CASE
def test_only_one_that_needs_targets_asks_for_them(name: str, params: dict[str, Any]) -> None:
    strategy = build_strategy(name, params)
    without = profile("robot arms", seeds=SEEDS)
    if "targets" in strategy.needs:
        with pytest.raises(TopicError, match=r"test\.toml: .*give targets"):
            strategy.start(without, np.random.default_rng(0))
        return
    strategy.start(without, np.random.default_rng(0))
    at = PAGES["links"]
    assert same(strategy.score(at, None), started(name, params).score(at, None))


#: Parameters that are not the user's to set.
GIVEN = {"base_dir", "models_dir", "budget"}


@EVERY_CASE
def test_parameters_are_stored_unchanged(name: str, params: dict[str, Any]) -> None:
    strategy = build_strategy(name, params)
    for parameter in parameters(STRATEGIES[name]).values():
        value = params.get(parameter.name, parameter.default)
        if parameter.name not in GIVEN:
            assert getattr(strategy, parameter.name) is value
        assert parameter.kind is parameter.KEYWORD_ONLY


@EVERY_NAME
def test_an_unknown_parameter_is_refused_and_the_known_ones_are_listed(name: str) -> None:
    with pytest.raises(SettingError) as caught:
        build_strategy(name, {"no_such": 1}, where="test.toml: strategy")
    message = str(caught.value)
    assert message.startswith(f"test.toml: strategy: strategy {name!r} has no parameter 'no_such'")
    for known in set(parameters(STRATEGIES[name])) - GIVEN:
        assert known in message


def test_an_unknown_name_is_refused_and_the_known_ones_are_listed() -> None:
    with pytest.raises(UnknownNameError) as caught:
        build_strategy("hub-seek", {}, where="FOCUS_STRATEGY")
    message = str(caught.value)
    assert message.startswith("FOCUS_STRATEGY: 'hub-seek' is not a known strategy")
    assert "did you mean 'hub-seeking'?" in message
    for known in STRATEGIES:
        assert known in message


@pytest.mark.parametrize(
    ("name", "params", "says"),
    [
        ("dom", {"alpha": 1.5}, "alpha must be a number from 0 to 1, got 1.5"),
        ("dom", {"alpha": "0.25"}, "alpha must be a number from 0 to 1, got '0.25'"),
        ("dom", {"alpha": True}, "alpha must be a number from 0 to 1, got True"),
        ("dom", {"alpha": float("nan")}, "alpha must be a number from 0 to 1, got nan"),
        ("dom", {"aggregation": "parents"}, "aggregation must be one of parent, "),
        ("hub-seeking", {"alpha": -1}, "alpha must be a number from 0 to 1, got -1"),
        ("hub-seeking", {"own_host": "yes"}, "own_host must be true or false, got 'yes'"),
        (
            "best-first",
            {"against": "target"},
            "keywords, targets, got 'target' (did you mean 'targ",
        ),
        ("best-first", {"against": ["targets"]}, "against must be one of keywords, targets, got ["),
        ("shark-search", {"d": 2}, "d must be a number from 0 to 1, got 2"),
        ("shark-search", {"beta": None}, "beta must be a number from 0 to 1, got None"),
        ("shark-search", {"aggregation": ""}, "aggregation must be one of parent, "),
        ("shark-search-okapi", {"k1": -1}, "k1 must be a number of at least 0, got -1"),
        ("shark-search-okapi", {"k1": float("inf")}, "k1 must be a number of at least 0, got inf"),
        ("shark-search-okapi", {"b": 2}, "b must be a number from 0 to 1, got 2"),
        ("shark-search-okapi", {"examples": 0}, "examples must be a whole number of at least 1"),
        ("backlink", {"rerank_every": 0}, "rerank_every must be a whole number of at least 1"),
        ("backlink", {"rerank_every": 2.5}, "a whole number of at least 1, got 2.5"),
        ("pagerank", {"d": 1.2}, "d must be a number from 0 to 1, got 1.2"),
        ("pagerank", {"max_iter": True}, "max_iter must be a whole number of at least 1, got True"),
        ("pagerank", {"rerank_growth": "1"}, "rerank_growth must be a number of at least 0, got"),
        ("hcla", {"k": 0}, "k must be a whole number of at least 1, got 0"),
        ("hcla", {"svd": "updated"}, "svd must be one of truncated, update, got 'updated'"),
        ("hcla", {"anchors": 1}, "anchors must be true or false, got 1"),
        ("hcla", {"corpus": 3}, "corpus must be a path, got 3"),
        ("hcla", {"max_pages": None}, "max_pages must be a whole number of at least 1, got None"),
        ("plsi-phits", {"alpha": 7}, "alpha must be a number from 0 to 1, got 7"),
        ("plsi-phits", {"eta": 0}, "eta must be above 0, got 0"),
        ("plsi-phits", {"eta": 1}, "eta must be below 1, or β never gets below 0.8"),
        ("breadth-first", {"alpha": 0.5}, "has no parameter 'alpha'; its parameters: none"),
    ],
)
def test_a_wrong_value_is_refused_with_the_value(
    name: str, params: dict[str, Any], says: str
) -> None:
    with pytest.raises(SettingError) as caught:
        build_strategy(name, params, where="topic.toml: strategy")
    assert str(caught.value).startswith(f"topic.toml: strategy: strategy {name!r}")
    assert says in str(caught.value)
