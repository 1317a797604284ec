"""How a crawl goes at one moment, in figures and in words."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Progress", "counted", "duration"]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How a crawl goes at one moment.

    Parameters
    ----------
    fetched, relevant
        pages so far; ``relevant`` is None in a crawl without a topic
    recent
        share of relevant pages among the last 100, or None
    waiting, hosts
        requests in the frontier, and their hosts; None: not known
    rate
        pages a second, lately
    budget
        limit of pages, or None
    left
        seconds until the budget is spent, or None
    best
        (score, URL) of the best that wait
    """

    fetched: int = 0
    relevant: int | None = None
    recent: float | None = None
    waiting: int | None = None
    hosts: int | None = None
    rate: float = 0.0
    budget: int | None = None
    left: float | None = None
    best: tuple[tuple[float, str], ...] = ()

    def in_words(self) -> tuple[str, str, str]:
        """Return the pages, what was found, and what waits.

        >>> Progress(fetched=1200, relevant=300, recent=0.31, rate=4, budget=2000, left=200,
        ...          waiting=51234, hosts=17).in_words()[0]
        '1,200 of 2,000 pages, 4.0 a second, about 3 min left'
        """
        of = "" if self.budget is None else f"{self.fetched:,} of "
        left = "" if self.left is None else f", about {duration(self.left)} left"
        pages = of + counted(self.fetched if self.budget is None else self.budget, "page")
        pages += f", {self.rate:.1f} a second{left}"
        found = ""
        if self.relevant is not None:
            found = f"{self.relevant:,} relevant"
            if self.fetched:
                found += f", harvest rate {self.relevant / self.fetched:.3f}"
            if self.recent is not None and self.fetched > 100:
                found += f" (of the last 100 pages {self.recent:.2f})"
        waiting = "" if self.waiting is None else f"{self.waiting:,} waiting"
        if self.hosts is not None:
            waiting += f" on {counted(self.hosts, 'host')}"
        return pages, found, waiting


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not one."""
    return f"{number:,} {noun}" + "s" * (number != 1)


def duration(seconds: float) -> str:
    """Return a time as a person says it.

    >>> [duration(s) for s in (0.4, 95, 600, 8000, 200_000)]
    ['0 s', '95 s', '10 min', '2 h 13 min', '2 d 7 h']
    """
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h"
