"""The sites that hold the topic: the restoration of mechanical clocks.

The workshop's own site is nearly all topic, and nothing but link lists and notes at the end
of other topic pages leads to it. The museum, the wiki, the forum and the hobby pages are
mostly about other things.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.replay.sample.prose import Dice
from focusspider.replay.sample.web import Link, Page, Site, neighbours, slug

if TYPE_CHECKING:
    from focusspider.replay.sample.web import Web

__all__ = ["build_craft"]

GREEN_DOOR = "http://www.greendoor.example/"
MUSEUM = "http://www.dalemuseum.example/"
WIKI = "http://en.openwiki.example/wiki/"
FORUM = "http://forum.tinkerers.example/"
CABINET = "http://www.linkcabinet.example/"
FREEPAGES = "http://members.freepages.example/"

_LENGTHS = ((5, 4, 4, 3), (4, 4, 4), (5, 4, 3), (5, 5))
_ALSO = ((2,), (4,), (4, 3))

_MOVEMENTS = (
    "Bushing a worn pivot hole",
    "Straightening a bent pivot",
    "Letting down a mainspring",
    "Recoil and deadbeat",
    "Setting a clock in beat",
    "The fusee and its chain",
    "Rack striking, step by step",
    "When the gut line frays",
    "Three thirds of a turn",
)
_CASES = (
    "A hood for a longcase clock",
    "Feet for a bracket clock",
    "Silvering a dial",
    "Hands of blued steel",
    "Painted dials, and how not to clean them",
)
_JOURNAL = ("Week 3", "Week 9", "Week 12", "Week 20", "Week 31", "Week 47")
_CONSERVATION = (
    "Before and after: 1934.12",
    "Cleaning the musical clock",
    "Why it stands still",
    "A mainspring of 1764",
    "The moon goes round again",
    "From the roof of the corn exchange",
)
_WIKI_CLOCKS = (
    "Mechanical clock",
    "Escapement",
    "Anchor escapement",
    "Pendulum clock",
    "Mainspring",
    "Longcase clock",
    "Clock restoration",
    "Fusee",
    "Count wheel striking",
)
_THREADS = (
    "Mainspring keeps slipping",
    "Which oil?",
    "Gallops after I put it back",
    "Cuckoo stops at twenty past",
    "My first bushing",
    "Thirteen",
    "Found in a skip, worth saving?",
    "Pendulum too long or too short?",
    "Show us your bench",
)


def build_craft(web: Web) -> None:
    """Add the five sites."""
    _museum(web)
    _forum(web)
    _wiki(web)
    _freepages(web)
    _green_door(web)


def _topic_pages(
    site: Site, folder: str, titles: tuple[str, ...], suffix: str = ".html", **options: object
) -> list[Page]:
    """Add pages on topic: some speak of little else, some get to it late."""
    dice = Dice(f"{site.host}/{folder} on topic")
    pages = [
        site.add(
            folder + slug(title) + suffix,
            title,
            "clocks",
            relevant=True,
            lengths=dice.pick(_LENGTHS),
            also_lengths=dice.pick(_ALSO),
            **options,
        )
        for title in titles
    ]
    neighbours(pages, dice)
    return pages


def _green_door(web: Web) -> None:
    site = web.site("www.greendoor.example", "The Green Door", hrefs="relative")
    home = site.add("", "The Green Door Workshop", "clocks", relevant=True, also="tools")
    sections = (
        ("movements/", "Movements on the bench", _MOVEMENTS),
        ("cases/", "Cases and dials", _CASES),
        ("journal/", "Journal", _JOURNAL),
    )
    for folder, title, titles in sections:
        pages = _topic_pages(site, folder, titles, also="tools")
        on_topic = folder != "journal/"
        site.section(folder, title, "tools", pages, intro="tools", relevant=on_topic)
        home.lists.append((title, [page.link() for page in pages[:3]]))
    about = site.articles("about/", "tools", 4)
    site.nav.append(about[0].link())
    outside = [
        Link(f"{WIKI}Clock_restoration", "Clock restoration", "at the open wiki"),
        Link(f"{FORUM}clocks/", "The clock board", "where the readers of this site talk"),
        Link(f"{MUSEUM}galleries/clocks.html", "Dale Museum", "six of the ones repaired here"),
        Link(f"{FREEPAGES}~oldoak/", "Old Oak", "longcase notes by a friend"),
    ]
    site.add("links.html", "Elsewhere", "tools", lengths=(2,)).lists.append(("Links", outside))
    site.nav.append(Link(site.url("links.html"), "Elsewhere"))


def _museum(web: Web) -> None:
    site = web.site("www.dalemuseum.example", "Dale Museum")
    home = site.add("", "Dale Museum", "museum", lengths=(4, 3))
    gallery = site.add(
        "galleries/clocks.html", "The clock gallery", "clocks", relevant=True, also="museum"
    )
    clocks = _topic_pages(site, "conservation/", _CONSERVATION, also="museum")
    gallery.lists.append(("From the conservation workshop", [page.link() for page in clocks[:4]]))
    furniture = site.articles("conservation/", "furniture", 8)
    objects = {
        name: site.articles(f"objects/{name}/", "museum", 7)
        for name in ("pottery", "textiles", "land", "maps")
    }
    galleries = [gallery] + [
        site.section(f"galleries/{name}.html", title, "museum", objects[name], intro="museum")
        for name, title in (
            ("pottery", "Pottery"),
            ("textiles", "Textiles"),
            ("land", "Working the land"),
            ("maps", "Maps and charts"),
        )
    ]
    mixed = [page for pair in zip(furniture, clocks, strict=False) for page in pair]
    site.section("conservation/", "Conservation", "museum", mixed + furniture[6:], intro="museum")
    home.lists.append(("Galleries", [page.link() for page in galleries]))
    home.lists.append(("From the workshop", [page.link() for page in mixed[:8]]))
    home.lists.append(
        (
            "Around the museum",
            [
                Link("http://www.thornby.example/", "The town of Thornby"),
                Link("http://www.alderton.example/history/", "School of history"),
                Link(site.url("visit/"), "Plan your visit"),
            ],
        )
    )
    visit = site.add("visit/", "Plan your visit", "town", lengths=(4, 4))
    visit.inline.append(Link("http://www.thornby.example/calendar/2026-11", "What's on in town"))


def _forum(web: Web) -> None:
    site = web.site("forum.tinkerers.example", "Tinkerers' forum", layout="posts")
    home = site.add("", "All boards", "directory", lengths=(2,))
    boards = (
        ("clocks", "Clocks and barometers", "clocks"),
        ("cars", "Cars and vans", "cars"),
        ("bicycles", "Bicycles", "bicycles"),
        ("radios", "Wireless and valves", "radios"),
        ("computers", "Computers", "computing"),
        ("furniture", "Furniture", "furniture"),
    )
    latest: list[Link] = []
    for name, title, theme in boards:
        if theme == "clocks":
            threads = _topic_pages(site, f"{name}/", _THREADS, also="tools")
        else:
            threads = site.articles(f"{name}/", theme, 8)
        site.section(f"{name}/", title, theme, threads, relevant=theme == "clocks")
        latest.extend(thread.link(f"in {title}") for thread in threads[:4])
        for thread in threads:
            printed = site.url(f"print?{thread.url.rpartition('/')[2].removesuffix('.html')}")
            thread.lists.append(("Tools", [Link(printed, "Print view", rel="nofollow")]))
    home.lists.append(("Boards", [Link(link.url, link.anchor) for link in site.nav[1:]]))
    home.lists.append(("Latest", Dice("latest").sample(latest, len(latest))))
    by_title = {page.title: page for page in site.pages}
    by_title["Which oil?"].inline.append(Link(f"{CABINET}crafts/metal.html", "this list"))
    by_title["Show us your bench"].inline.append(
        Link(f"{GREEN_DOOR}journal/", "this diary", rel="nofollow")
    )
    by_title["My first bushing"].inline.append(Link(FREEPAGES, "somebody there"))
    by_title["Thirteen"].inline.append(Link(f"{WIKI}Count_wheel_striking", "the wiki"))


def _wiki(web: Web) -> None:
    site = web.site("en.openwiki.example", "Open Wiki")
    main = site.add("wiki/Main_Page", "Main page", "directory", lengths=(3, 3))
    site.nav[0] = main.link()
    clocks = [
        site.add(
            f"wiki/{title.replace(' ', '_')}",
            title,
            "clocks",
            relevant=True,
            also="history",
            also_lengths=(4, 4),
        )
        for title in _WIKI_CLOCKS
    ]
    neighbours(clocks, Dice("wiki clocks"), 5)
    groups = {
        "History": site.articles("wiki/", "history", 14, suffix=""),
        "Nature": site.articles("wiki/", "biology", 8, suffix=""),
        "Science": site.articles("wiki/", "physics", 8, suffix=""),
        "Food": site.articles("wiki/", "recipes", 8, suffix=""),
    }
    technology = site.articles("wiki/", "computing", 4, suffix="")
    groups["Technology"] = technology + clocks[:3]
    for name, pages in groups.items():
        portal = site.add(f"wiki/Portal:{name}", f"Portal: {name}", "directory", lengths=(2,))
        portal.lists.append((name, [page.link() for page in pages]))
        site.nav.append(Link(portal.url, name))
    main.lists.append(
        (
            "Articles of the day",
            [page.link() for page in (*groups["History"][:3], clocks[3], clocks[5])],
        )
    )
    articles = [page for page in site.pages if not page.title.startswith(("Portal", "Main"))]
    for page in articles:
        name = page.url.rpartition("/")[2]
        page.lists.append(("This page", [Link(site.url(f"w/edit?{name}"), "Edit", rel="nofollow")]))
    by_title = {page.title: page for page in clocks}
    by_title["Clock restoration"].lists.append(
        (
            "Outside links",
            [
                Link(f"{CABINET}crafts/", "A directory"),
                Link(f"{MUSEUM}conservation/", "A museum's conservation pages"),
                Link("http://www.alderton.example/history/ht-214.html", "A university course"),
                Link("http://www.closed.example/", "A society (closed)"),
            ],
        )
    )
    groups["Science"][0].inline.append(by_title["Pendulum clock"].link())


def _freepages(web: Web) -> None:
    site = web.site("members.freepages.example", "Free Pages", layout="nineties", hrefs="relative")
    home = site.add("", "Our members", "directory", lengths=(2,))
    members: list[Link] = []

    def member(name: str, title: str, theme: str, pages: list[Page], **options: object) -> Page:
        index = site.add(f"~{name}/", title, theme, lengths=(3, 3), **options)
        index.lists.append(("My pages", [page.link() for page in pages]))
        members.append(Link(index.url, f"~{name}"))
        return index

    oak = _topic_pages(
        site,
        "~oldoak/",
        ("Eight days and thirty hours", "A hood with no door"),
        suffix=".htm",
        also="walking",
    )
    lantern = _topic_pages(
        site,
        "~lantern/",
        ("The verge, and why it was thrown out", "Façades and façon: French clocks"),
        suffix=".htm",
        also="garden",
        charset="windows-1252",
    )
    for page in lantern:
        page.inline.append(Link(f"{FREEPAGES}cgi-bin/ring?lantern", "the ring"))
    _topic_pages(
        site, "~tickover/", ("Carriage", "Cuckoo", "My regulator"), suffix=".htm", also="directory"
    )
    plain = (
        ("ramble", "Rambles", "walking"),
        ("allotment9", "Plot nine", "garden"),
        ("shortwave", "Listening at night", "radios"),
        ("bramble", "Hedge and ditch", "garden"),
        ("tandem", "Two on one", "bicycles"),
        ("beck", "Along the beck", "walking"),
        ("camper", "The van", "cars"),
        ("rainbook", "My rain gauge", "weather"),
        ("fell", "Up and down", "walking"),
    )
    for number, (name, title, theme) in enumerate(plain):
        if number == 4:
            member("oldoak", "Old Oak", "walking", oak).inline.append(
                Link(site.url("~oldoak/links.htm"), "my links")
            )
        if number == 6:
            members.append(Link(site.url("~tickover/"), "~tickover"))
            member("lantern", "Lantern's corner", "garden", lantern)
        pages = site.articles(f"~{name}/", theme, 4, suffix=".htm")
        member(name, title, theme, pages)
    home.lists.append(("Members", members))
    links = site.add("~oldoak/links.htm", "Links", "directory", lengths=(1,))
    links.lists.append(
        (
            "Good places",
            [
                Link(f"{FREEPAGES}~ramble/", "Rambles", "from my neighbour"),
                Link(GREEN_DOOR, "Green Door", "no clock is too far gone for them"),
                Link(f"{FREEPAGES}cgi-bin/ring?oldoak", "Next in the ring", "of clock pages"),
                Link(FORUM, "Tinkerers"),
                Link("http://www.kitchentable.example/", "Kitchen Table", "the leek one"),
            ],
        )
    )
    ramble = site.add("~ramble/links.htm", "Other people's pages", "directory", lengths=(1,))
    ramble.lists.append(
        (
            "No order",
            [
                Link("http://weather.skywatch.example/", "Skywatch", "look before you go"),
                Link(f"{FREEPAGES}~beck/", "Along the beck"),
                Link(f"{GREEN_DOOR}cases/", "Cases", "my brother in law sent this"),
                Link(f"{FREEPAGES}~fell/", "Up and down"),
                Link(f"{FREEPAGES}~lantern/", "Lantern's corner", "not about lanterns"),
                Link("http://www.thornby.example/visitors/", "Thornby for visitors"),
            ],
        )
    )
    for page in site.pages:
        if page.url.startswith(f"{FREEPAGES}~ramble/") and page is not ramble:
            page.inline.append(ramble.link())
        if page.relevant and page.url.startswith(f"{FREEPAGES}~oldoak/"):
            page.inline.append(Link(links.url, "other places"))
