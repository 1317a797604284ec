"""What auto learns of other workers' pages, and that nothing of it counts twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from focusspider.keytable import url_key
from focusspider.relevance.base import Judgement
from focusspider.strategies.linksharing import _KINDS, Elsewhere
from focusspider.strategies.verdicts import Verdicts
from tests.pages import page
from tests.strategies.test_auto import reranked, started
from tests.strategies.test_sharing import ONE, OTHER, contribution, exchange

if TYPE_CHECKING:
    import pytest

    from focusspider.strategies.auto import Auto

N = 30


def see(strategy: Auto, html: str, url: str, *, good: bool = False) -> None:
    strategy.observe(page(html, url), Judgement(float(good), good, "test"))


def crawl(strategy: Auto, host: str, *, n: int = N, good: bool = True) -> None:
    """Fetch indexes, whose links after "harbour" lead to relevant pages, and what they link to."""
    for i in range(n):
        see(
            strategy,
            f"<p><a href=/g/{i}>harbour pier{i % 3}</a></p><p><a href=/b/{i}>forum</a></p>",
            f"{host}/index/{i}",
        )
    for i in range(n):
        see(strategy, "", f"{host}/g/{i}", good=good)
        see(strategy, "", f"{host}/b/{i}")


def test_counts_of_two_workers_are_those_of_one() -> None:
    """Without credit, which each has of its own pages: how often a group led to something."""
    whole, one, other = (started(credit=0.0, hope=0.0) for _ in range(3))
    for strategy, host in ((whole, ONE), (whole, OTHER), (one, ONE), (other, OTHER)):
        crawl(strategy, host)
    exchange(one, other)
    learnt = []
    for strategy in (whole, one, other):
        reranked(strategy, ["/none"])
        assert strategy._learnt is not None
        learnt.append(strategy._learnt)
    words = np.array([crc32(word) for word in (b"harbour", b"forum", b"pier1")], dtype=np.uint32)
    for half in learnt[1:]:
        assert half.trust == learnt[0].trust
        assert half.successes.mean == learnt[0].successes.mean
        for mine, all_of_it in zip(half.successes.words, learnt[0].successes.words, strict=True):
            np.testing.assert_array_equal(mine.counts(words), all_of_it.counts(words))
        trials, successes = half.successes.words[1].counts(words)  # of anchors
        assert trials.tolist() == [2 * N, 2 * N, 2 * N / 3]
        assert successes.tolist() == [2 * N, 0, 2 * N / 3]


def test_the_anchor_of_a_link_is_found_by_its_text() -> None:
    one, other = started(), started()
    crawl(other, OTHER)
    see(one, "<p><a href=/x>harbour pier1</a><a href=/y>unknown</a></p>", f"{ONE}/")
    seen = one._evidence.snapshot()
    counted = Elsewhere((contribution(other),)).counts("anchor", seen)
    assert counted is not None
    groups, trials, successes = counted
    assert groups.tolist() == [int(seen.link_anchor[0])]
    assert trials.tolist() == successes.tolist() == [N / 3]


def test_a_worker_without_a_relevant_page_learns_from_one_that_has_them() -> None:
    one, other = started(explore=0.0), started()
    for i in range(N):
        see(one, f"<p><a href=/b/{i}>forum</a></p>", f"{ONE}/{i}")
        see(one, "", f"{ONE}/b/{i}")
    crawl(other, OTHER)
    see(one, "<p><a href=/x/1>forum</a></p><p><a href=/x/2>harbour pier2</a></p>", f"{ONE}/more")
    for _ in range(2):  # what was fitted, too, is told
        exchange(one, other)
        reranked(other, ["/none"])
        priorities = reranked(one, [f"{ONE}/x/1", f"{ONE}/x/2"])
    assert priorities[1] > priorities[0]


def test_a_worker_that_begins_knows_what_pays() -> None:
    """With an index of its own, and no page yet that a link of its own has led to."""
    fresh, other = started(chance=0.0, explore=0.0), started()
    crawl(other, OTHER)
    contribution(other)
    reranked(other, ["/none"])
    links = "<p><a href=/x/1>forum</a></p><p><a href=/x/2>harbour pier2</a></p>"
    for i in range(6):
        see(fresh, links if not i else "", f"{ONE}/index/{i}")
    one, two = reranked(fresh, [f"{ONE}/x/1", f"{ONE}/x/2"])
    assert one == two  # nothing was learnt
    fresh.join("1", contribution(other))
    one, two = reranked(fresh, [f"{ONE}/x/1", f"{ONE}/x/2"])
    assert two > one


def test_a_page_earns_by_what_it_opens_at_another_worker() -> None:
    one, other = started(), started()
    for i in range(8):
        see(one, f"<p><a href={OTHER}/g/{i}>beacon</a></p>", f"{ONE}/hub/{i}")
    for i in range(7):
        see(other, "", f"{OTHER}/g/{i}", good=True)
    see(one, f"<a href={ONE}/good>here</a>", f"{ONE}/index")
    see(one, "", f"{ONE}/good", good=True)
    contribution(one)
    one.join("2", contribution(other))
    reranked(one, [f"{OTHER}/g/7"])
    assert one._learnt is not None
    brought = one._learnt.successes.values.outcomes
    assert len(brought) == 10  # own pages alone
    assert (brought[:7] > 0).all()
    assert brought[7] < brought[0]
    trials, successes = one._learnt.successes.words[1].counts(
        np.array([crc32(b"beacon")], dtype=np.uint32)
    )
    assert (trials.tolist(), successes.tolist()) == ([7], [7])


def parts(given: Any) -> dict[str, Any]:
    """Return the groups and trials of each kind in a contribution."""
    starts = [0, *given["ends"].tolist()]
    return {
        kind: {
            group: (trials, successes)
            for group, trials, successes in zip(
                *(given[name][a:b].tolist() for name in ("groups", "trials", "successes")),
                strict=True,
            )
        }
        for kind, a, b in zip(_KINDS, starts[:-1], starts[1:], strict=True)
    }


def test_what_is_told_is_of_own_pages_alone() -> None:
    one, other = started(credit=0.0), started(credit=0.0)
    crawl(one, ONE)
    crawl(other, OTHER)
    see(one, f"<p><a href={OTHER}/g/1>abroad</a></p>", f"{ONE}/more")
    alone = parts(contribution(one))
    for _ in range(3):
        exchange(one, other, times=2)
        reranked(one, ["/none"])
    given = contribution(one)
    assert parts(given) == alone
    assert alone["anchor"][int(np.array([url_key("forum")]).view(np.int64)[0])] == (N, 0)
    assert alone["anchor words"][crc32(b"harbour")] == (N, N)
    assert crc32(b"abroad") not in alone["anchor words"]
    assert given["totals"].tolist() == [3 * N + 1, N, N, 2 * N]
    assert len(given["page_keys"]) == 3 * N + 1
    assert len(given["examples"]) == 2 * N


def test_stand_ins_for_relevant_pages_are_not_told() -> None:
    """As long as none is relevant, how near pages are is a guide, but no success."""
    strategy = started()
    for i in range(N):
        see(strategy, f"<p><a href=/b/{i}>harbour</a></p>", f"{ONE}/{i}")
    for i in range(N):
        strategy.observe(page("", f"{ONE}/b/{i}"), Judgement(i / N / 2, False, "test"))
    contribution(strategy)
    assert len(reranked(strategy, ["/none"])) == 0
    assert strategy._learnt is not None
    given = contribution(strategy)
    assert given["successes"].sum() == given["totals"][1] == given["totals"][2] == 0
    assert len(given["examples"]) == 0
    assert given["trials"].sum() > 0


def test_other_features_are_passed_over() -> None:
    one, other = started(without=["words"]), started()
    crawl(one, ONE)
    crawl(other, OTHER)
    exchange(one, other)
    for strategy in (one, other):
        reranked(strategy, ["/none"])
    exchange(one, other)
    models = []
    for strategy in (one, other):
        crawl(strategy, "http://third.example")  # it has grown enough to be fitted again
        reranked(strategy, ["/none"])
        assert strategy._learnt is not None
        models.append(strategy._learnt.model)
    assert len(models[0].weights_) == len(models[1].weights_) - 6


def test_of_many_groups_and_pages_the_most_telling_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("focusspider.strategies.linksharing._MOST_GROUPS", 2)
    monkeypatch.setattr("focusspider.strategies.linksharing._MOST_EXAMPLES", 5)
    monkeypatch.setattr("focusspider.strategies.verdicts._MOST", 7)
    strategy = started()
    crawl(strategy, ONE)
    contribution(strategy)
    reranked(strategy, ["/none"])
    given = contribution(strategy)
    assert set(parts(given)["anchor words"]) == {crc32(b"harbour"), crc32(b"forum")}
    assert len(given["examples"]) == 5
    assert given["totals"][3] == 2 * N
    assert len(given["page_keys"]) == 7
    assert given["page_keys"].view(np.uint64)[-1] == url_key(f"{ONE}/b/{N - 1}")


def test_a_redirect_is_told_by_the_url_that_was_linked_to() -> None:
    verdicts = Verdicts()
    at = page("", f"{ONE}/new")
    at.moved_from = (f"{ONE}/old",)
    verdicts.add(at, Judgement(1.0, True, "test"))
    told = verdicts.arrays()["page_keys"].view(np.uint64).tolist()
    assert told == [url_key(f"{ONE}/new"), url_key(f"{ONE}/old")]


def test_what_waits_at_another_worker_is_ordered_by_who_has_its_links() -> None:
    one, other = started(), started()
    for strategy, host in ((one, ONE), (other, OTHER)):
        crawl(strategy, host)
        contribution(strategy)
        reranked(strategy, [f"{host}/none"])  # which waits there
    see(one, f"<p><a href={OTHER}/x/1>forum</a></p><a href={OTHER}/x/2>harbour</a>", f"{ONE}/more")
    see(one, f"<p><a href={ONE}/none>harbour</a></p>", f"{ONE}/more/2")
    given = contribution(one)
    told = dict(
        zip(given["offer_keys"].view(np.uint64).tolist(), given["offer_scores"], strict=True)
    )
    forum, harbour = (url_key(f"{OTHER}/x/{n}") for n in (1, 2))
    assert told.keys() == {forum, harbour}, "neither what is fetched nor what waits here"
    assert told[harbour] > told[forum]
    waiting = [f"{OTHER}/x/1", f"{OTHER}/x/2"]
    assert len(reranked(other, waiting)) == 0
    other.join("1", given)
    priorities = reranked(other, waiting)
    assert priorities[1] > priorities[0]
    see(other, "<p><a href=/x/1>harbour</a></p><p><a href=/x/2>forum</a></p>", f"{OTHER}/more")
    assert min(reranked(other, waiting)) > priorities[0], "the better of both"
