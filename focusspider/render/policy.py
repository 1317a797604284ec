"""Which pages are rendered, and what a page may cost."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from focusspider.errors import TopicError
from focusspider.markup import prepared
from focusspider.registry import build, check_choice, check_number, check_whole

if TYPE_CHECKING:
    from typing import Self

    from focusspider.config import FocusConfig
    from focusspider.topic import Topic

__all__ = ["MODES", "RenderPolicy"]

MODES = ("never", "auto", "always")
#: The type of a script that is run; others hold data or templates.
_PROGRAM = re.compile(r"\s*(?:|module|.*(?:java|ecma|live)script.*)\s*", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class RenderPolicy:
    """Which pages are rendered, and what a page may cost.

    Parameters
    ----------
    mode : {"never", "auto", "always"}
        ``auto`` renders a page that has a script and fewer than ``links`` links.
    links : int
        Distinct links to other URLs from which on ``auto`` takes a page as it is.
    seconds : float
        Most that a page may stay in the browser. At most half of it is for its loading,
        then its links are read; what is left is for probing.
    actions : int
        Most that is hovered, clicked and chosen on a page, what has to be done again to
        come back to a state among it. 0: no probing.
    """

    mode: str = "never"
    links: int = 10
    seconds: float = 20.0
    actions: int = 50

    def __post_init__(self) -> None:
        """Check the values."""
        check_choice("mode", self.mode, MODES)
        check_whole("links", self.links)
        check_number("seconds", self.seconds, 1.0)
        check_whole("actions", self.actions, 0)

    @classmethod
    def of(cls, config: FocusConfig, topic: Topic | None) -> Self:
        """Return the policy of a crawl: its topic's ``[render]``, and else the settings."""
        set_up = cls(
            mode=config.render,
            links=config.render_links,
            seconds=config.render_seconds,
            actions=config.render_actions,
        )
        if topic is None:
            return set_up

        def error(message: str) -> TopicError:
            return TopicError(f"{topic.place('render')}: {message}")

        given = {"mode": topic.render.mode} if topic.render.mode is not None else {}
        params = {**asdict(set_up), **topic.render.params, **given}
        return build(cls, params, label="rendering", error=error)

    def wants(self, html: str) -> bool:
        """Return whether a page is to be rendered, by its source.

        >>> page = "<script>show(menu)</script><a href=/a>a</a>"
        >>> RenderPolicy(mode="auto").wants(page), RenderPolicy(mode="auto", links=1).wants(page)
        (True, False)
        >>> RenderPolicy(mode="auto").wants("<a href=/a>a</a>")
        False
        """
        if self.mode != "auto":
            return self.mode == "always"
        tree = LexborHTMLParser(prepared(html).page)  # which no depth of it can hold up
        scripts = (node.attributes.get("type") or "" for node in tree.css("script"))
        if not any(map(_PROGRAM.fullmatch, scripts)):
            return False
        targets = set()
        for node in tree.css("a[href], area[href]"):
            target = (node.attributes.get("href") or "").strip().partition("#")[0]
            if target and not target.lower().startswith(("javascript:", "mailto:", "tel:")):
                targets.add(target)
        return len(targets) < self.links
