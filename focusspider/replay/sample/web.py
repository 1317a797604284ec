"""The parts of the sample web while it is built: sites, pages, links."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from focusspider.replay.sample.prose import Dice, Theme

__all__ = ["Link", "Page", "Site", "Web", "slug"]


@dataclass(frozen=True)
class Link:
    """A link as a page shows it: ``blurb`` follows the anchor in a list."""

    url: str
    anchor: str
    blurb: str = ""
    rel: str = ""


@dataclass
class Page:
    """A page before it becomes HTML.

    ``inline`` links stand in the text, ``lists`` are headings with links below them.
    ``lengths`` are the sentences of each paragraph; paragraphs of another theme, ``also``,
    follow.
    """

    url: str
    title: str
    theme: str
    relevant: bool = False
    lengths: tuple[int, ...] = (4, 4, 3, 3)
    also: str = ""
    also_lengths: tuple[int, ...] = (4,)
    inline: list[Link] = field(default_factory=list)
    lists: list[tuple[str, list[Link]]] = field(default_factory=list)
    charset: str = "utf-8"
    language: str = "en"

    def link(self, blurb: str = "") -> Link:
        """Return a link to the page, its title for an anchor."""
        return Link(self.url, self.title, blurb)


@dataclass
class Site:
    """The pages of a host, what they look like, and what is at the top of each."""

    host: str
    name: str
    layout: str = "modern"
    hrefs: str = "root"  # or "relative", or "absolute"
    nav: list[Link] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    titles: set[str] = field(default_factory=set)

    def url(self, path: str) -> str:
        """Return the URL of a path on the host."""
        return f"http://{self.host}/{path}"

    def add(self, path: str, title: str, theme: str, **options: object) -> Page:
        """Add a page."""
        page = Page(self.url(path), title, theme, **options)  # type: ignore[arg-type]
        if any(other.url == page.url for other in self.pages):
            raise ValueError(f"{page.url} is there already: give it another title")
        self.pages.append(page)
        self.titles.add(title)
        return page

    def articles(
        self,
        folder: str,
        theme: str,
        count: int,
        suffix: str = ".html",
        titles: tuple[str, ...] = (),
        **options: object,
    ) -> list[Page]:
        """Add pages of a theme, with links among them; titles are made up after those given."""
        dice = Dice(f"{self.host}/{folder}")
        made: list[Page] = []
        for number in range(count):
            given = titles[number : number + 1]
            title = given[0] if given else Theme.named(theme).title(dice, self.titles)
            made.append(self.add(f"{folder}{slug(title)}{suffix}", title, theme, **options))
        neighbours(made, dice, 6)
        return made

    def section(
        self,
        folder: str,
        title: str,
        theme: str,
        pages: list[Page],
        intro: str = "directory",
        relevant: bool = False,
    ) -> Page:
        """Add the page that lists a section, and put it at the top of every page."""
        index = self.add(folder, title, intro, lengths=(3,), relevant=relevant)
        index.lists.append((title, [page.link(_blurb(page, theme)) for page in pages]))
        self.nav.append(Link(index.url, title))
        return index


class Web:
    """All sites, in the order in which they were added."""

    def __init__(self) -> None:
        self.sites: list[Site] = []

    def site(self, host: str, name: str, layout: str = "modern", hrefs: str = "root") -> Site:
        """Add a site, its home page at the top of each of its pages."""
        site = Site(host, name, layout, hrefs)
        site.nav.append(Link(site.url(""), "Home"))
        self.sites.append(site)
        return site


def neighbours(pages: list[Page], dice: Dice, count: int = 3) -> None:
    """Let each page of a group link to some others of it: one in the text, the rest below it."""
    for page in pages:
        others = dice.sample([other for other in pages if other is not page], count)
        page.inline.extend(other.link() for other in others[:1])
        if others[1:]:
            page.lists.append(("See also", [other.link() for other in others[1:]]))


def slug(title: str) -> str:
    """Return a title as it stands in a URL.

    >>> slug("St Anne's lane: fees")
    'st-annes-lane-fees'
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower().replace("'", "")).strip("-") or "page"


def href(source: str, target: str, style: str) -> str:
    """Return how a page writes a link to another.

    >>> href("http://a.example/b/c.html", "http://a.example/d/", "relative")
    '../d/'
    """
    here, there = urlsplit(source), urlsplit(target)
    if here.netloc != there.netloc or style == "absolute":
        return target
    path = there.path
    if style == "relative":
        folder = posixpath.dirname(here.path)
        path = posixpath.relpath(there.path, folder)
        if there.path.endswith("/"):
            path += "/"
    return f"{path}?{there.query}" if there.query else path


def _blurb(page: Page, theme: str) -> str:
    """Return the first words of what a page says, as lists show them."""
    dice = Dice(f"{page.url} in a list")
    if dice.below(3):
        return ""
    return Theme.named(theme).paragraphs(dice, (1,))[0]
