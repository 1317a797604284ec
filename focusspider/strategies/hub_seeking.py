"""Hub-seeking: DOM, and every link of a page that points to several seed hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.registry import check_flag
from focusspider.strategies.base import LinkScores, scored
from focusspider.strategies.dom import Dom
from focusspider.urls import host_of

if TYPE_CHECKING:
    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.strategies.base import State

__all__ = ["HubSeeking", "hub_score"]


def hub_score(n: int) -> float:
    """Return how good a hub is that points to n seed hosts: n(n - 1) / (1 + n²).

    None or one says nothing; two are rarely there by chance (Pant and Menczer 2003,
    figure 3).

    >>> [hub_score(n) for n in range(4)]
    [0.0, 0.0, 0.4, 0.6]
    """
    return n * (n - 1) / (1 + n * n)


class HubSeeking(Dom):
    """Scores a link by the larger of its ``dom`` score and the hub score of its page.

    Pant and Menczer 2003, 4.5. n is the number of distinct seed hosts, fully qualified,
    that the page links to. The host that the page is on does not count unless
    ``own_host``: the paper takes a link to a seed host for a recommendation, and a site's
    links to itself recommend nothing. Were they counted, one link from one seed's site to
    another's would give every link of that page 0.4. So with seeds on one host the score
    is that of ``dom`` within the site, and with seeds on fewer than two hosts everywhere.

    Parameters
    ----------
    alpha, aggregation
        As for ``dom``.
    own_host : bool
        Count the page's own host too, where it is a seed host and the page links to it:
        the paper to the letter.
    """

    def __init__(
        self, *, alpha: float = 0.25, aggregation: str = "parent", own_host: bool = False
    ) -> None:
        super().__init__(alpha=alpha, aggregation=aggregation)
        check_flag("own_host", own_host)
        self.own_host = own_host

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:
        """Keep the terms of the topic and the hosts of its seeds."""
        super().start(profile, random_state)
        self._seed_hosts = profile.seed_hosts

    def score(self, page: Page, state: State | None) -> LinkScores:  # noqa: ARG002
        """Score each link by its page, its context and the page's worth as a hub."""
        dom, parts = self.link_scores(page)
        hub = np.full(len(dom), self.hub_of(page))
        return scored(np.maximum(hub, dom), {**parts, "hub": hub})

    def hub_of(self, page: Page) -> float:
        """Return what a page is worth as a hub."""
        return hub_score(self._seed_hosts_linked(page))

    def _seed_hosts_linked(self, page: Page) -> int:
        """Return how many distinct seed hosts a page points to."""
        if len(self._seed_hosts) < 2:
            return 0  # hub_score(1) is 0 as well
        sites = {"/".join(link.url.split("/", 3)[:3]) for link in page.links}  # few, mostly
        linked = {host_of(site) for site in sites} & self._seed_hosts
        return len(linked if self.own_host else linked - {host_of(page.url)})
