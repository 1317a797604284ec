"""Auto: redirects, files, pages that change, forgetting, and a resume with other parameters."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from focusspider.checkpoint import pack_memory, unpack_memory
from focusspider.keytable import url_key
from focusspider.relevance.base import Judgement
from focusspider.strategies.auto import Auto
from focusspider.strategies.linkcandidates import folds_of
from focusspider.strategies.linkevidence import LinkEvidence
from focusspider.strategies.linkgroups import FIRST_OF
from focusspider.strategies.linktables import USUAL
from focusspider.text import Terms
from tests.pages import page, profile
from tests.strategies.test_auto import SITE, crawl, order, reranked, started
from tests.strategies.tinymodels import FOLDER

DULL = Judgement(0.0, False, "test")


def resumed(strategy: Auto, **params: Any) -> Auto:
    other = Auto(models_dir=FOLDER, **params)
    other.start(profile("robot"), np.random.default_rng(0))
    other.recall(unpack_memory(pack_memory(strategy.memory())))
    return other


def learning(**params: Any) -> Auto:
    strategy = Auto(models_dir=FOLDER, **params)
    strategy.start(profile("robot"), np.random.default_rng(0))
    crawl(strategy)
    order(strategy)
    return strategy


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"models": []}, {"models": [], "without": ["words"]}),
        ({"models": []}, {"models": ["hmm"]}),
        ({"models": ["hmm"]}, {"models": []}),
        ({"models": ["hmm"]}, {"models": ["crf"]}),
        ({"models": ["hmm", "crf"]}, {"models": ["crf"]}),
    ],
)
def test_a_resume_with_other_features_learns_anew(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    strategy = resumed(learning(**before), **after)
    at = page("<a href='/y/900'>item</a> <a href='/x/901'>item</a>", f"{SITE}/z")
    strategy.observe(at, DULL)
    assert "trust" not in strategy.score(at, None).parts  # a model of other features is no use
    priorities = order(strategy)  # what was seen is still known
    assert priorities[::2].min() > priorities[1::2].max()
    assert strategy.score(at, None).parts["trust"][0] > 0.5


def test_a_resume_with_the_same_features_goes_on_with_what_was_learnt() -> None:
    strategy = resumed(learning(models=["hmm"]), models=["hmm"], budget=0.1)
    at = page("<a href='/y/900'>item</a> <a href='/x/901'>item</a>", f"{SITE}/z")
    strategy.observe(at, DULL)
    assert strategy.score(at, None).parts["trust"][0] > 0.5


def test_figures_of_models_are_kept_by_name_and_of_new_ones_nothing_is_known() -> None:
    first = LinkEvidence(Terms(), max_links=1000, trained=["hmm value", "hmm distance"])
    first.add_page(page("<a href='/a'>a</a>", f"{SITE}/"), relevance=0, relevant=False, hub=0)
    first.tell(0, np.array([[0.25, 3.0]]))
    names = ["crf value", "crf distance", "hmm value", "hmm distance"]
    second = LinkEvidence(Terms(), max_links=1000, trained=names)
    second.recall(first.memory())
    expected = [[*USUAL, 0.25, 3.0]]
    np.testing.assert_allclose(second.snapshot().link_trained, expected, rtol=1e-3)


def test_a_budget_without_a_bound_is_not_inherited() -> None:
    strategy = learning(models=[], budget=1.0)
    assert np.isinf(strategy.memory()["work"][0])
    assert np.isfinite(resumed(strategy, models=[], budget=0.1).memory()["work"]).all()


def test_a_file_that_a_link_leads_to_counts_against_its_like() -> None:
    strategy = started()
    links = [f"/{'xy'[i % 2]}/{i}" for i in range(80)]
    strategy.observe(page("".join(f"<a href='{u}'>a</a>" for u in links), f"{SITE}/"), DULL)
    for i, url in enumerate(links[:40]):
        if i % 2:
            strategy.observe_nothing(page("", f"{SITE}{url}"))
        else:
            good = i % 4 == 0
            strategy.observe(page("", f"{SITE}{url}"), Judgement(float(good), good, "test"))
    priorities = reranked(strategy, links[40:])
    assert priorities[::2].min() > priorities[1::2].max()


def test_urls_that_lead_to_one_page_are_in_one_fold() -> None:
    evidence = LinkEvidence(Terms(), max_links=1000)
    links = "".join(f"<a href='/old/{i}'>a</a>" for i in range(40))
    evidence.add_page(page(links, f"{SITE}/"), relevance=0, relevant=False, hub=0)
    for i in range(30):
        at = page("", f"{SITE}/new/{i}")
        at.moved_from = (f"{SITE}/old/{i}",)
        evidence.add_page(at, relevance=0, relevant=False, hub=0)
    seen = evidence.snapshot()
    old, new = np.arange(1, 31), seen.row_node[1:]
    assert not np.array_equal(old, new)
    assert np.array_equal(folds_of(seen, old), folds_of(seen, new))
    assert len(set(folds_of(seen, np.arange(1, 41)).tolist())) == 5


def test_a_page_that_comes_back_with_other_links_is_scored_by_those_it_has() -> None:
    strategy = started()
    crawl(strategy)
    order(strategy)
    at = page("<a href='/y/900'>item</a> <a href='/x/901'>item</a>", f"{SITE}/z")
    strategy.observe(at, DULL)
    assert "trust" in strategy.score(at, None).parts
    again = page("<a href='/x/901'>item</a> <a href='/y/900'>item</a>", f"{SITE}/z")
    strategy.observe(again, DULL)
    assert "trust" not in strategy.score(again, None).parts


def test_after_forgetting_it_reranks_at_once_and_goes_on_learning() -> None:
    strategy = started(max_links=1000)
    crawl(strategy)
    order(strategy)
    assert not strategy.rerank_at_once
    turn = 0
    while not strategy.rerank_at_once:
        links = "".join(f"<a href='/x/{turn}{i}'>item</a>" for i in range(90))
        at = page(f"{links}<a href='/more/{turn + 1}'>more</a>", f"{SITE}/more/{turn}")
        strategy.observe(at, Judgement(1.0, True, "test"))
        turn += 1
    assert "trust" not in strategy.score(at, None).parts  # its numbers are of other pages
    reranked(strategy, ["/x/00"])
    assert not strategy.rerank_at_once
    assert "trust" in strategy.score(at, None).parts


def test_an_order_that_is_kept_has_its_probes_all_the_same() -> None:
    strategy = Auto(budget=1.0, steady=0.5)
    strategy.start(profile("robot"), np.random.default_rng(0))
    urls = [f"{SITE}/{'xy'[i % 2]}/{i}" for i in range(1500)]
    links = "".join(f"<a href='{url}'>item</a>" for url in urls)
    strategy.observe(page(links, f"{SITE}/"), DULL)
    keys = np.array([url_key(url) for url in urls], dtype=np.uint64)
    priorities = np.zeros(len(urls), dtype=np.int64)
    left = np.arange(len(urls))
    raised = []
    for _ in range(60):
        best = int(np.argmax(priorities[left]))
        good = left[best] % 20 == 0
        at = page("<p>item</p>", urls[left[best]])
        strategy.observe(at, Judgement(float(good), bool(good), "test"))
        left = np.delete(left, best)
        waits = SimpleNamespace(ids=left, keys=keys[left], priorities=priorities[left])
        work = strategy.rerank(waits)
        if work is not None:
            reranking = work()
            priorities[reranking.ids] = reranking.priorities
            raised.append(len(reranking.ids))
    some = [n for n in raised if n < 100]
    assert len(some) > 20  # the order was kept
    assert sum(some) > 3
    probes = strategy.memory()["probes/links"]
    assert len(probes) == int(strategy.memory()["probes/earned"] + 1e-9) > 5
    assert not np.isin(probes[:-1], keys[left]).any()  # they were fetched, each at once


def test_a_page_whose_link_is_forgotten_is_none_that_the_crawl_began_with() -> None:
    evidence = LinkEvidence(Terms(), max_links=1000)
    pages = [("/", None), ("/a", "a"), ("/b", "b"), ("/far", "far")]
    for path, pointing in pages:
        at = page("<a href='/a'>a</a>", f"{SITE}{path}")
        at.pointing = pointing
        evidence.add_page(at, relevance=0.0, relevant=False, hub=0.0)
    assert evidence.snapshot().row_depth.tolist() == [0, 1, 1, 1]


def test_links_that_remain_are_the_first_of_their_groups_when_others_are_forgotten() -> None:
    def seen(pages: range, max_links: int) -> Any:
        evidence = LinkEvidence(Terms(), max_links=max_links)
        menu = "".join(f"<a href='/menu/{i}'>menu {i}</a>" for i in range(20))
        for number in pages:
            at = page(menu, f"{SITE}/{number}")
            evidence.add_page(at, relevance=0, relevant=False, hub=0)
        return evidence.snapshot()

    forgetful = seen(range(60), 1000)
    assert 0 < forgetful.n_rows < 60
    alone = seen(range(60 - forgetful.n_rows, 60), 10_000)
    assert np.array_equal(forgetful.link_flags, alone.link_flags)
    for bit in range(len(FIRST_OF)):
        assert (forgetful.link_flags >> bit & 1).sum() >= 20


def test_what_waits_is_explained_by_what_is_known_now() -> None:
    strategy = started()
    crawl(strategy)
    assert strategy.explain(url_key(f"{SITE}/x/40")) is None  # nothing was learnt yet
    order(strategy)
    good, bad = (strategy.explain(url_key(f"{SITE}/{path}")) for path in ("x/40", "y/41"))
    assert good is not None
    assert bad is not None
    assert good["urls"] > bad["urls"]
    assert good.keys() >= {"intercept", "groups", "words", "prior", "trust"}
    assert strategy.explain(url_key(f"{SITE}/gone")) is None


def test_models_that_are_done_without_are_not_asked() -> None:
    strategy = Auto(models_dir=FOLDER, without=["models"])
    strategy.start(profile("robot"), np.random.default_rng(0))
    at = page("<a href='/a'>a</a>", f"{SITE}/z")
    strategy.observe(at, DULL)
    assert strategy.memory()["seen/link_trained"].size == 0
