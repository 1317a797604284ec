"""How well model and prior have told what pages would bring: by hand, and in ``auto``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from focusspider.checkpoint import pack_memory, unpack_memory
from focusspider.relevance.base import Judgement
from focusspider.strategies.linkforecasts import Forecasts, Skills, concordance
from tests.pages import page
from tests.strategies.test_auto import SITE, crawl, reranked, started

if TYPE_CHECKING:
    from focusspider.strategies.auto import Auto


@pytest.mark.parametrize(
    ("scores", "outcomes", "share", "m"),
    [
        ([2, 1, 0], [1, 0, 0], 1.0, 2 / 3),
        ([0, 1, 2], [1, 0, 0], 0.0, 2 / 3),
        ([1, 1, 1], [1, 0, 0], 0.5, 2 / 3),
        ([3, 2, 1, 0], [1, 0, 1, 0], 3 / 4, 1.0),
        # pairs of graded outcomes count for the difference: 1, 1/2 and 1/2 of 2, the last wrong
        ([3, 1, 2], [1, 0.5, 0], 3 / 4, 2 / 3),
        # one page that is a little better than a hundred others says little
        ([1] + [0] * 99, [0.3001] + [0.3] * 99, 1.0, 0.0001 * 99 / 100),
    ],
)
def test_concordance_by_hand(
    scores: list[float], outcomes: list[float], share: float, m: float
) -> None:
    found = concordance(np.array(scores, dtype=float), np.array(outcomes, dtype=float))
    assert found == pytest.approx((m * share + 1) / (m + 2), rel=1e-9)


@pytest.mark.parametrize("outcomes", [[], [0.0, 0.0], [1.0, 1.0], [0.3, 0.3]])
def test_of_pages_that_brought_the_same_nothing_is_known(outcomes: list[float]) -> None:
    assert concordance(np.arange(len(outcomes), dtype=float), np.array(outcomes)) == 0.5


def test_what_skills_say() -> None:
    assert Skills() == (0.5, 0.5)
    assert (Skills().advantage, Skills().silence) == (1.0, 1.0)
    assert Skills(0.6, 0.5).advantage == pytest.approx(1.5)
    assert Skills(0.5, 0.6).advantage == pytest.approx(2 / 3)
    assert (Skills(0.9, 0.5).advantage, Skills(0.2, 0.7).advantage) == (2.0, 0.5)
    assert Skills(0.5, 0.625).silence == Skills(0.625, 0.1).silence == 0.5
    assert Skills(0.75, 0.5).silence == Skills(0.5, 0.99).silence == 0.0
    assert Skills(0.1, 0.4).silence == 1.0


def test_the_latest_pages_count_and_what_they_have_opened_since() -> None:
    forecasts = Forecasts()
    for row in range(130):
        good = float(row >= 115)
        forecasts = forecasts.followed_by([row], np.array([good]), np.array([-good]))
    assert forecasts.rows.tolist() == list(range(30, 130))
    outcomes = np.zeros(130)
    assert forecasts.skills(outcomes) == Skills()
    outcomes[115:] = 1.0  # found later
    model, prior = forecasts.skills(outcomes)
    m = 15 * 85 / 100
    assert model == pytest.approx((m + 1) / (m + 2))
    assert prior == pytest.approx(1 / (m + 2))
    again = Forecasts.recall(unpack_memory(pack_memory(forecasts.memory())))
    assert again.skills(outcomes) == (model, prior)
    left = again.without_first(40)  # are forgotten
    assert left.rows.tolist() == list(range(90))
    assert left.model.sum() == 15
    assert left.skills(outcomes[40:]).model < model  # fewer bad ones


def visit(strategy: Auto, path: str, good: bool) -> None:
    strategy.observe(page("", f"{SITE}{path}"), Judgement(float(good), good, "test"))


def test_a_forecast_is_what_was_thought_before_the_page_was_fetched() -> None:
    strategy = started(chance=0.0)
    crawl(strategy)
    waiting = [f"/{'xy'[i % 2]}/{i}" for i in range(40, 80)]
    reranked(strategy, waiting)
    thoughts = [strategy.explain(page("", f"{SITE}{path}").key) or {} for path in waiting]
    families = ("intercept", "groups", "words", "urls", "text", "pages", "in-links", "position")
    model = [sum(each[name] for name in families) for each in thoughts]
    prior = [each["prior"] * 12 + each["record"] for each in thoughts]
    visit(strategy, "/x/40", good=False)  # nobody would have thought so
    reranked(strategy, waiting[1:])
    learnt = strategy._learnt
    assert learnt is not None
    # above what waited then, in the mean
    assert learnt.forecasts.rows.tolist() == [41]
    assert learnt.forecasts.model[0] == pytest.approx(model[0] - np.mean(model), abs=1e-9)
    assert learnt.forecasts.prior[0] == pytest.approx(prior[0] - np.mean(prior), abs=1e-9)


def trust_after(*, told_by_text: bool) -> tuple[float, Skills, int]:
    """Crawl links that are good by turns: their text tells which, or nothing but the place."""
    # the keywords are in the prior alone
    params = {"explore": 0.0, "without": ["text", "words", "groups"] if told_by_text else []}
    strategy = started(**params)
    n = 120
    kinds = (np.random.default_rng(3).random(n) < 0.5).tolist()
    texts = ["robots" if kind == told_by_text else "item" for kind in kinds]
    paths = [f"/{i % 7 if told_by_text else 'ba'[kinds[i]]}/{i}" for i in range(n)]
    links = [f"<p><a href='{path}'>{text}</a></p>" for path, text in zip(paths, texts, strict=True)]
    strategy.observe(page("".join(links), f"{SITE}/"), Judgement(0.0, False, "test"))
    for i in range(60):
        visit(strategy, paths[i], kinds[i])
        if i > 5:
            reranked(strategy, paths[i + 1 :])
    learnt = strategy._learnt
    assert learnt is not None
    again = started(**params)
    again.recall(unpack_memory(pack_memory(strategy.memory())))
    assert again._learnt is not None
    assert again._learnt.skills == learnt.skills
    assert again._learnt.trust == learnt.trust
    return learnt.trust, learnt.skills, sum(kinds[:60])


def test_what_predicted_better_so_far_weighs_more() -> None:
    trust, skills, n = trust_after(told_by_text=False)  # the keyword is where nothing is
    assert skills.model > 0.8 > 0.2 > skills.prior
    assert trust == pytest.approx(2 * n / (2 * n + 2), rel=1e-12)
    trust, skills, n = trust_after(told_by_text=True)
    assert skills.prior > skills.model
    assert trust == pytest.approx(skills.advantage * n / (skills.advantage * n + 2), rel=1e-12)
    assert trust < n / (n + 2)


def test_skills_are_told() -> None:
    strategy = started()
    crawl(strategy)
    reranked(strategy, ["/x/40", "/y/41"])
    for i in range(40, 48):
        visit(strategy, f"/{'xy'[i % 2]}/{i}", good=i % 2 == 0)
    reranked(strategy, ["/x/48", "/y/49"])
    told = strategy.lessons()
    assert told is not None
    pages, relevant, _, model, prior, trust, _ = told.course[-1].tolist()
    assert (pages, relevant) == (49, 24)
    assert model == pytest.approx((2 + 1) / (2 + 2))  # all pairs of four and four
    advantage = Skills(model, prior).advantage
    assert trust == pytest.approx(24 * advantage / (24 * advantage + 2), rel=1e-12)


@pytest.mark.parametrize("good_first", [False, True])
def test_how_the_harvest_goes_is_no_skill(good_first: bool) -> None:
    """Of links that are all the same none is better, whatever they brought and when."""
    strategy = started(explore=0.0)
    paths = [f"/a/{'abcdefghijklmnopqrstuvwxyz'[i % 26] * (1 + i // 26)}" for i in range(160)]
    links = "".join(f"<a href='{path}'>item</a>" for path in paths)
    strategy.observe(page(links, f"{SITE}/"), Judgement(0.0, False, "test"))
    order = np.random.default_rng(0).permutation(len(paths)).tolist()
    for i, number in enumerate(order[:120]):
        good = (i < 60) == good_first and i % 2 == 0
        visit(strategy, paths[number], good)
        if i > 5 and i % 3 == 0:
            reranked(strategy, [paths[one] for one in order[i + 1 :]])
    learnt = strategy._learnt
    assert learnt is not None
    assert len(learnt.forecasts.rows) > 50
    assert learnt.skills.model == pytest.approx(0.5, abs=0.15)
    assert learnt.skills.prior == pytest.approx(0.5, abs=0.15)


def test_forecasts_outlive_what_is_forgotten() -> None:
    def index(i: int) -> None:
        links = "".join(f"<a href='/z/{i}/{j}'>item</a>" for j in range(90))
        strategy.observe(page(links, f"{SITE}/w/{i}"), Judgement(0.0, False, "test"))

    strategy = started(max_links=1000)
    crawl(strategy)
    for i in range(10):
        index(i)
    visit(strategy, "/z/9/0", good=False)  # there is a link to learn from afterwards, too
    reranked(strategy, ["/x/40", "/y/41"])
    for i in range(40, 60):
        visit(strategy, f"/{'xy'[i % 2]}/{i}", good=i % 2 == 0)
    reranked(strategy, ["/x/60", "/y/61"])
    before = strategy._learnt
    assert before is not None
    assert strategy._evidence.forgotten == 0
    index(10)  # the first pages are forgotten
    assert strategy._evidence.forgotten > 40
    reranked(strategy, ["/z/10/1", "/z/10/2"])
    after, seen = strategy._learnt, strategy._evidence.glance()
    assert after is not None
    keys = seen.node_key[seen.row_node[after.forecasts.rows]].tolist()
    assert keys == [page("", f"{SITE}/{'xy'[i % 2]}/{i}").key for i in range(40, 60)]
    assert after.forecasts.model.tolist() == before.forecasts.model.tolist()
    assert after.skills == pytest.approx(before.skills, abs=0.05)
    assert after.skills.model > 0.6
