"""The strategies that reorder what waits, against matrices that are built here entry by entry.

The crawl has fetched four pages, and three wait. In brackets what each page says:

    h0 [robot arms]   → p1, p2, w1, w2
    p1 [robot robot]  → h0, w1
    p2 [tea]          → p3, w2
    p3 [tea pot]      → w3, far
"""

from __future__ import annotations

from math import sqrt
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scrapy import Request
from scrapy.http import HtmlResponse

from focusspider.keytable import url_key
from focusspider.page import PageParser
from focusspider.priority import to_score
from focusspider.relevance.base import Judgement
from focusspider.strategies import build_strategy, hcla
from tests.pages import ANALYZER, page, profile

if TYPE_CHECKING:
    from focusspider.page import Page

HOST = "http://a.example/"
PAGES = {
    "h0": ("robot arms", ["p1", "p2", "w1", "w2"]),
    "p1": ("robot robot", ["h0", "w1"]),
    "p2": ("tea", ["p3", "w2"]),
    "p3": ("tea pot", ["w3", "far"]),
}
WAITING = ["w1", "w2", "w3"]
TERMS = ["robot", "arm", "tea", "pot"]
TEXT = np.array([[1, 1, 0, 0], [2, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]])
#: Row i marks what page i links to; columns are h0, p1, p2, p3, w1, w2, w3.
LINKS = np.array(
    [[0, 1, 1, 0, 1, 1, 0], [1, 0, 0, 0, 1, 0, 0], [0, 0, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 0, 1]]
)
QUERY = np.array([1, 1, 0, 0])  # robot arms
STEP = 2**-50  # of a priority


def crawled(
    name: str,
    pages: dict[str, tuple[str, list[str]]] = PAGES,
    anchors_: dict[str, str] | None = None,
    **params: Any,
) -> Any:
    strategy: Any = build_strategy(name, params)
    strategy.start(profile("robot arms"), np.random.default_rng(0))
    for path, (text, links) in pages.items():
        # an anchor that is no word, since anchors are text of their page as well
        hrefs = " ".join(f"<a href='/{to}'>1</a>" for to in links)
        at = page(f"<p>{text} {hrefs}</p>", HOST + path)
        if anchors_:
            at.links = tuple(
                link._replace(anchor=anchors_.get(link.url.removeprefix(HOST), "1"))
                for link in at.links
            )
        strategy.observe(at, Judgement(0.5, True, "test"))
    return strategy


def scores(strategy: Any, waiting: list[str] = WAITING) -> dict[str, float]:
    view = SimpleNamespace(
        ids=np.arange(len(waiting)),
        keys=np.array([url_key(HOST + path) for path in waiting], dtype=np.uint64),
        priorities=np.zeros(len(waiting), dtype=np.int64),
    )
    ids, priorities = strategy.rerank(view)()
    return {
        waiting[number]: to_score(int(priority))
        for number, priority in zip(ids, priorities, strict=True)
    }


def values(strategy: Any, waiting: list[str] = WAITING) -> list[float]:
    found = scores(strategy, waiting)
    return [found[path] for path in waiting]


class TestBacklink:
    def test_the_score_is_n_of_n_plus_1(self) -> None:
        assert values(crawled("backlink")) == pytest.approx([2 / 3, 2 / 3, 1 / 2], abs=STEP)

    def test_a_new_link_has_one(self) -> None:
        found = crawled("backlink").score(page("<a href='/w1'>1</a><a href='/new'>1</a>"), None)
        assert [to_score(int(p)) for p in found.priorities] == [1 / 2, 1 / 2]

    def test_links_of_one_page_count_once(self) -> None:
        twice = {"h0": ("", ["w1", "w1", "w2"]), "p1": ("", ["w2"])}
        found = values(crawled("backlink", twice), ["w1", "w2"])
        assert found == pytest.approx([1 / 2, 2 / 3], abs=STEP)

    def test_what_no_page_links_to_is_left_alone(self) -> None:
        found = scores(crawled("backlink"), ["w1", "unknown"])
        assert found == pytest.approx({"w1": 2 / 3}, abs=STEP)

    def test_a_page_that_comes_again_counts_once(self) -> None:
        strategy = crawled("backlink")
        again = page("<a href='/w3'>1</a>", f"{HOST}p1")
        strategy.observe(again, Judgement(0.5, True, "test"))
        assert values(strategy) == pytest.approx([2 / 3, 2 / 3, 1 / 2], abs=STEP)


def solved_ranks(links: np.ndarray, d: float) -> np.ndarray:
    """Solve PageRank's equations; nodes of which no links are known lead everywhere."""
    n_pages, n = links.shape
    steps = np.full((n, n), 1 / n)
    for row in range(n_pages):
        if links[row].any():
            steps[row] = links[row] / links[row].sum()
    return np.linalg.solve(np.eye(n) - d * steps.T, np.full(n, (1 - d) / n))


class TestPageRank:
    @pytest.mark.parametrize("d", [0.8, 0.5])
    def test_it_is_a_dense_solve(self, d: float) -> None:
        ranks = 7 * solved_ranks(LINKS, d)[4:]  # in units of the mean
        found = values(crawled("pagerank", d=d, max_iter=200))
        assert_allclose(found, ranks / (ranks + 1), rtol=0, atol=1e-6)

    def test_what_neither_is_fetched_nor_waits_has_no_share(self) -> None:
        # p3 links to /far too; where that waits, it takes half of what p3 passes on.
        without = scores(crawled("pagerank", max_iter=200))
        with_far = scores(crawled("pagerank", max_iter=200), [*WAITING, "far"])
        links = np.hstack([LINKS, [[0], [0], [0], [1]]])
        ranks = 8 * solved_ranks(links, 0.8)[4:]
        assert_allclose(list(with_far.values()), ranks / (ranks + 1), rtol=0, atol=1e-6)
        assert with_far["w3"] < without["w3"]

    def test_ten_iterations_are_near(self) -> None:
        ranks = 7 * solved_ranks(LINKS, 0.8)[4:]
        assert_allclose(values(crawled("pagerank")), ranks / (ranks + 1), rtol=0, atol=5e-3)

    def test_it_goes_on_from_the_rerank_before(self) -> None:
        strategy = crawled("pagerank", max_iter=1)
        exact = 7 * solved_ranks(LINKS, 0.8)[4:]
        errors = [np.abs(np.array(values(strategy)) - exact / (exact + 1)).max() for _ in range(20)]
        assert errors[-1] < 1e-6 < errors[0]

    def test_a_new_link_waits_at_the_end(self) -> None:
        strategy = crawled("pagerank")
        assert strategy.score(page("<a href='/w1'>1</a>"), None).priorities.tolist() == [0]
        assert min(values(strategy)) > 0


def normalised(links: np.ndarray) -> np.ndarray:
    """Return (L 0; G R) with columns of length 1."""
    o = np.zeros((4, links.shape[1] - 4))
    columns = np.vstack([np.hstack([TEXT.T, o]), links]).astype(float)
    return columns / np.linalg.norm(columns, axis=0)


def dense_hcla(k: int, anchors: np.ndarray | None = None, a: np.ndarray | None = None) -> Any:
    """Return (1 + eq. 19) / 2 for what waits, from numpy's decomposition of the whole C."""
    o = np.zeros((4, 3)) if anchors is None else anchors.T
    new = np.vstack([np.hstack([TEXT.T, o]), LINKS]).astype(float)
    new /= np.linalg.norm(new, axis=0)
    c = new if a is None else np.hstack([np.vstack([a, np.zeros((4, a.shape[1]))]), new])
    u, s, vt = np.linalg.svd(c)
    coordinates = (s[:k, None] * vt[:k])[:, -3:]  # S Vᵀ of what waits
    query = u[:, :k].T @ np.concatenate([QUERY, np.zeros(4)])
    lengths = np.linalg.norm(coordinates, axis=0)
    lengths[lengths < 1e-9] = np.inf  # nothing is known of it: cosine 0
    return (1 + coordinates.T @ query / (lengths * np.linalg.norm(QUERY))) / 2


class TestHcla:
    @pytest.mark.parametrize("k", [1, 2, 3, 5])
    def test_it_is_the_decomposition_of_the_whole(self, k: int) -> None:
        assert_allclose(values(crawled("hcla", k=k)), dense_hcla(k), rtol=0, atol=1e-8)

    def test_it_orders_by_the_text_of_pages_that_are_linked_together(self) -> None:
        # w1 is linked to by h0, and by p1, which links to h0 (on topic); w3 by p3 alone,
        # which links to no fetched page.
        found = scores(crawled("hcla", k=3))
        assert found["w1"] > found["w2"] > 0.5
        assert found["w3"] == 0.5

    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_the_update_at_once_is_the_decomposition(self, k: int) -> None:
        assert_allclose(
            values(crawled("hcla", k=k, svd="update")), dense_hcla(k), rtol=0, atol=1e-8
        )

    @pytest.mark.parametrize("svd", ["truncated", "update"])
    def test_anchors_are_text_of_what_waits(self, svd: str) -> None:
        given = {"w1": "arm", "w2": "tea"}  # h0 and p1 link to w1, h0 and p2 to w2
        anchors = np.array([[0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]])
        found = values(crawled("hcla", anchors=True, anchors_=given, svd=svd, k=4))
        assert_allclose(found, dense_hcla(4, anchors), rtol=0, atol=1e-8)

    @pytest.mark.parametrize("svd", ["truncated", "update"])
    def test_a_corpus_is_in_the_space_from_the_start(self, tmp_path: Any, svd: str) -> None:
        for name, text in {"1": "robot arms", "2": "robot pot", "3": "arms arms tea"}.items():
            (tmp_path / f"{name}.txt").write_text(text)
        a = np.array([[1.0, 1, 0], [1, 0, 2], [0, 0, 1], [0, 1, 0]])
        a /= np.linalg.norm(a, axis=0)
        found = values(crawled("hcla", k=3, svd=svd, corpus=str(tmp_path)))
        assert_allclose(found, dense_hcla(3, a=a), rtol=0, atol=1e-8)  # A_3 is A

    def test_only_the_most_frequent_terms_and_the_topic_s_count(self) -> None:
        strategy = crawled("hcla", n_terms=1, k=3)
        pages = {path: (text.replace("pot", ""), links) for path, (text, links) in PAGES.items()}
        # robot and tea are three times each: robot by name; arm is the topic's. Without tea:
        without = {path: (text.replace("tea", ""), links) for path, (text, links) in pages.items()}
        assert values(strategy) == pytest.approx(values(crawled("hcla", without, k=3)), abs=1e-8)

    def test_old_pages_are_forgotten(self) -> None:
        # With at most two pages a block, h0 and p1 are gone when the fifth page comes.
        more = {**PAGES, "p4": ("robot", ["w1", "p3"])}
        late = {path: more[path] for path in ("p2", "p3", "p4")}
        waiting = [*WAITING, "p1"]  # only h0 links to p1, if it waited
        found = scores(crawled("hcla", more, max_pages=2, k=3), waiting)
        assert found == pytest.approx(scores(crawled("hcla", late, k=3), waiting), abs=1e-8)
        assert "p1" not in found  # and keeps the priority that it has

    def test_of_too_many_only_the_most_linked_to_shape_the_space(self, monkeypatch: Any) -> None:
        monkeypatch.setattr(hcla, "MAX_WAITING", 1)
        # w1 is the first of the two with two links. w2 is compared with its space.
        u, _, _ = np.linalg.svd(normalised(LINKS[:, :5]))
        w2 = u[:, :3].T @ normalised(LINKS)[:, 5]
        query = u[:, :3].T @ np.concatenate([QUERY, np.zeros(4)])
        expected = (1 + w2 @ query / np.linalg.norm(w2) / sqrt(2)) / 2
        found = scores(crawled("hcla", k=3))
        assert found["w2"] == pytest.approx(expected, abs=1e-8)
        assert found["w2"] != pytest.approx(dense_hcla(3)[1], abs=1e-3)
        assert found.keys() == {"w1", "w2", "w3"}


class TestPlsiPhits:
    def test_what_is_linked_with_pages_on_topic_is_better(self) -> None:
        # h0 and p1 link to w1, and to each other; h0 and p2 link to w2, and to tea as well;
        # p3 links to no fetched page, so w3 is thought to be the mean.
        found = scores(crawled("plsi-phits", k=2))
        assert found["w1"] > 0.99
        assert found["w1"] > found["w3"] > found["w2"]

    def test_a_page_is_like_those_that_are_linked_with_it(self) -> None:
        # Whatever the factors, w1 and w1b have the same links, and so the same score.
        pages = {**PAGES, "p1": ("robot robot", ["h0", "w1", "w1b"])}
        pages["h0"] = ("robot arms", ["p1", "p2", "w1", "w1b", "w2"])
        found = scores(crawled("plsi-phits", pages, k=3), ["w1", "w1b", "w2"])
        assert found["w1"] == found["w1b"] != found["w2"]

    def test_anchors_are_text_of_what_waits(self) -> None:
        given = {"w3": "robot arms robot arms", "w1": "tea pot tea pot"}
        found = scores(crawled("plsi-phits", anchors=True, anchors_=given, k=2))
        assert found["w3"] > found["w1"]

    def test_a_corpus_takes_part(self, tmp_path: Any) -> None:
        (tmp_path / "a.txt").write_text("tea pot tea pot")
        with_corpus = values(crawled("plsi-phits", k=2, corpus=str(tmp_path)))
        assert with_corpus != values(crawled("plsi-phits", k=2))

    def test_a_second_fit_keeps_the_factors(self) -> None:
        strategy = crawled("plsi-phits", k=2)
        first, second = scores(strategy), scores(strategy)
        assert sorted(first, key=first.get) == sorted(second, key=second.get)


@pytest.mark.parametrize("name", ["backlink", "pagerank", "hcla", "plsi-phits"])
def test_links_to_a_url_that_redirected_count_for_the_page(name: str) -> None:
    # p1 was asked for as /old, and everybody links to /old.
    old = {
        path: (text, ["old" if to == "p1" else to for to in links])
        for path, (text, links) in PAGES.items()
    }
    params = {} if name in {"backlink", "pagerank"} else {"k": 2}
    expected = values(crawled(name, **params))
    strategy = crawled(name, {}, **params)
    for path, (text, links) in old.items():
        hrefs = " ".join(f"<a href='/{to}'>1</a>" for to in links)
        strategy.observe(
            redirected(f"<p>{text} {hrefs}</p>", path, ["old"] if path == "p1" else []),
            Judgement(0.5, True, "test"),
        )
    assert values(strategy) == pytest.approx(expected, abs=1e-9)


def redirected(html: str, path: str, moved_from: list[str]) -> Page:
    meta = {"redirect_urls": [HOST + url for url in moved_from]} if moved_from else {}
    request = Request(HOST + path, meta=meta)
    response = HtmlResponse(HOST + path, body=html.encode(), encoding="utf-8", request=request)
    return PageParser(analyzer=ANALYZER).parse(response)
