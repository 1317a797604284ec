"""The search through the states of a page for links (xCrawl 6.1).

A state is what the page shows: its visible links, its address, and what can be done in it. The
search is depth-first: of all that a person could hover, click or choose and that has not been
tried, it takes what has appeared last. Where that is gone, the page is loaded again, and what led
to it is done once more.

What was done is not done again, unless the page has become one that has something new: so a
button "more" is pressed until nothing more comes, one that leads elsewhere is pressed once, and
menus that open and close come to an end. The number of steps grows with what there is on the
page, and not with the number of ways to combine it; a link that shows only in a certain
combination of independent choices can be missed. Budgets end what has no end.
"""

from __future__ import annotations

import asyncio
import contextlib
import html as markup
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.async_api import Page

    from focusspider.render.guard import Guard

__all__ = ["Probed", "Prober", "State", "ask", "loaded", "settle"]

_CALM = 60  # milliseconds without a change after which a step is over
_MOST = 1_000  # milliseconds that a step may take
_LOAD_CALM = 200  # milliseconds without a change after which a page is there
_LOAD_AGAIN = 5.0  # seconds
#: What probe.js keeps the page from: reasons of focus/render/refused.
_BY_PAGE = ("form", "window", "download", "channel")
_BY_PAGE_ITSELF = ("choose", "scroll")  # and not by the mouse
_MOVES = 3  # of the mouse, to what moves away from it
_PAUSE = 0.02  # seconds between two looks at what is on its way


@dataclass
class Probed:
    """What the search has found: links as HTML, and what it took."""

    html: list[str] = field(default_factory=list)
    links: int = 0
    states: int = 0
    actions: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    stopped: str | None = None


@dataclass(frozen=True)
class State:
    """What a page shows: its digest, and what can be done in it."""

    digest: str
    fresh: int  # links that have come
    actions: dict[str, tuple[str, str]]  # key -> (kind, label)


class Prober:
    """Searches one page that is loaded and has been read.

    Parameters
    ----------
    page, guard
        the page in the browser
    url
        its address
    actions
        most steps
    deadline
        when it has to end, by the clock of the event loop
    max_size
        most characters of what it finds
    """

    def __init__(
        self,
        page: Page,
        guard: Guard,
        url: str,
        *,
        actions: int,
        deadline: float,
        max_size: int,
    ) -> None:
        self._page = page
        self._guard = guard
        self._url = url
        self._most = actions
        self._deadline = deadline
        self._room = max_size
        self._point: dict[str, Any] | None = None
        self.found = Probed()
        self._known: list[str] = []
        self._digests: set[str] = set()

    async def run(self) -> None:
        """Search until nothing is left to try, or a budget is spent."""
        try:
            async with self._guard.within(self._deadline):
                await self._search()
        except TimeoutError:
            self.found.stopped = "crash" if self._guard.gone else "seconds"

    async def _search(self) -> None:
        state = await self._look()
        if not self._most:
            return
        # what is to be tried, and what leads to where it is; what is last is next
        pending: dict[str, tuple[str, ...]] = dict.fromkeys(reversed(state.actions), ())
        met = set(pending)
        here: tuple[str, ...] | None = ()  # what has led here, if nothing else was done
        while pending:
            key = await self._aim([key for key in reversed(pending) if key in state.actions])
            if key is None:  # what is left is gone, or covered
                key, way = next(reversed(pending.items()))
                if here == way:
                    del pending[key]  # it comes no more
                else:
                    here, state = way, await self._back(way)
                continue
            way = pending.pop(key)
            if self._is_spent():
                return
            label = await self._act(key, state)
            here, before, state = None, state, await self._look(label)
            fresh = [action for action in state.actions if action not in met]
            if (fresh or state.fresh) and state.digest != before.digest:
                pending[key] = way  # there may be more of it
            met.update(fresh)
            pending |= dict.fromkeys(reversed(fresh), (*way, key))

    def _is_spent(self) -> bool:
        if self.found.actions < self._most:
            return False
        self.found.stopped = "actions"
        return True

    async def _look(self, label: str = "") -> State:
        """Return what the page shows now, and keep the links that have come."""
        seen = await self._ask("look", self._guard.take_led())
        found = self.found
        found.states += seen["digest"] not in self._digests
        self._digests.add(seen["digest"])
        found.refused.update({reason: int(seen["refused"].get(reason, 0)) for reason in _BY_PAGE})
        links = [
            f'<p><a href="{markup.escape(url)}">{markup.escape(label)}</a></p>'
            for url in seen["astray"]
        ]
        if seen["urls"]:
            brought = seen["html"] + "".join(links)
            self._room -= len(brought)
            if self._room < 0:
                raise ValueError("what was found is longer than DOWNLOAD_MAXSIZE")
            found.links += len(seen["urls"])
            found.html.append(brought)
            self._known += seen["urls"]
        actions = {action["key"]: (action["kind"], action["label"]) for action in seen["actions"]}
        return State(seen["digest"], len(seen["urls"]), actions)

    async def _aim(self, keys: list[str]) -> str | None:
        """Bring the first thing that a person could do now into view, and return its key."""
        self._point = await self._ask("aim", keys) if keys else None
        return None if self._point is None else str(self._point["key"])

    async def _act(self, key: str, state: State) -> str:
        """Do what was aimed at, wait for what comes of it, and return its label."""
        kind, label = state.actions[key]
        self.found.actions += 1
        if kind in _BY_PAGE_ITSELF:
            await self._ask("act", key)
        else:
            await self._point_at(key)
            if kind == "click" and self._point is not None:
                await self._page.mouse.down()
                await self._page.mouse.up()
        await settle(self._page, self._guard, calm=_CALM, most=_MOST)
        return label

    async def _point_at(self, key: str) -> None:
        """Move the mouse to what was aimed at, and after it where the move made it move."""
        for _ in range(_MOVES):
            point = self._point
            if point is None:
                return
            await self._page.mouse.move(point["x"], point["y"])
            if await self._aim([key]) is None or self._point == point:
                return

    async def _back(self, way: tuple[str, ...]) -> State:
        """Load the page again and do what led to a state, as far as that goes."""
        self._guard.expect()
        await self._page.mouse.move(0, 0)
        await self._page.goto(self._url, wait_until="commit")
        await loaded(self._page, self._guard, seconds=_LOAD_AGAIN)
        await self._ask("know", self._known)
        state = await self._look()
        for key in way:
            if key not in state.actions or self._is_spent() or not await self._aim([key]):
                break
            state = await self._look(await self._act(key, state))
        return state

    async def _ask(self, what: str, argument: Any) -> Any:
        return await ask(self._page, self._guard, what, argument)


async def ask(page: Page, guard: Guard, what: str, *arguments: Any) -> Any:
    """Return what the page's side answers."""
    return await page.evaluate(
        "([name, what, given]) => window[name][what](...given)", [guard.name, what, arguments]
    )


async def loaded(page: Page, guard: Guard, *, seconds: float) -> None:
    """Wait until a page is there with what it loads, or so many seconds."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await page.wait_for_load_state("load", timeout=0)
            await settle(page, guard, calm=_LOAD_CALM, most=1000 * seconds)


async def settle(page: Page, guard: Guard, *, calm: float, most: float) -> None:
    """Wait until a page has nothing more to do for now: milliseconds of calm, or at most."""
    loop = asyncio.get_running_loop()
    until = loop.time() + most / 1000
    while (left := until - loop.time()) > 0:
        await ask(page, guard, "quiet", calm, 1000 * left)
        if not guard.busy:
            return
        await asyncio.sleep(_PAUSE)
