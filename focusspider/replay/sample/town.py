"""The sites around the topic: a town, its newspaper, university, shops, weather, recipes.

Some of their pages share words with the topic: wristwatch shops, a pendulum in a physics
course, the circadian clock, overclocked processors, "at seven o'clock in the town hall". A few
are on topic themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.replay.sample.craft import CABINET, FORUM, FREEPAGES, GREEN_DOOR, MUSEUM, WIKI
from focusspider.replay.sample.web import Link, Page, Site

if TYPE_CHECKING:
    from focusspider.replay.sample.web import Web

__all__ = ["CALENDAR", "build_town"]

THORNBY = "http://www.thornby.example/"
#: Titles that a word of the topic stands in, over pages that are about something else.
_DECOYS = {
    "services/": ("Clock tower car park",),
    "past/": ("The restoration of the monarchy", "A movement for the vote"),
    "news/": ("Clock stopped on school closures", "A pivot in the water board's plans"),
    "sport/": ("Against the clock: the ten mile trial",),
    "physics/": ("The simple pendulum", "The pendulum, with damping", "The double pendulum"),
    "biology/": ("The clock in every cell", "Shift work and the body clock"),
    "computing/": ("Pivot tables", "Clock domains and reset"),
    "gifts/": ("Clock radios and alarms", "The Little Clock Shop"),
    "leftovers/": ("Round the clock soup",),
}
#: The trap: months without end, before and behind. Each links to others like it.
CALENDAR = f"{THORNBY}calendar/"

_LEDGER = "http://www.dailyledger.example/"
_ALDERTON = "http://www.alderton.example/"
_SHOPS = "http://shops.highstreet.example/"
_KITCHEN = "http://www.kitchentable.example/"
_SKYWATCH = "http://weather.skywatch.example/"


def build_town(web: Web) -> None:
    """Add the seven sites."""
    _portal(web)
    _newspaper(web)
    _university(web)
    _shops(web)
    _recipes(web)
    _weather(web)
    _cabinet(web)


def _sections(site: Site, *sections: tuple[str, str, str, int]) -> dict[str, list[Page]]:
    """Add sections of articles: folder, title, theme, how many."""
    made = {}
    for folder, title, theme, count in sections:
        titles = _DECOYS.get(folder, ())
        made[folder] = site.articles(folder, theme, count, titles=titles)
        site.section(folder, title, theme, made[folder])
    return made


def _home(site: Site, title: str, theme: str, sections: dict[str, list[Page]], show: int) -> Page:
    home = site.add("", title, theme, lengths=(3, 3))
    for pages, link in zip(sections.values(), site.nav[1:], strict=False):
        home.lists.append((link.anchor, [page.link() for page in pages[:show]]))
    return home


def _portal(web: Web) -> None:
    site = web.site("www.thornby.example", "Thornby")
    sections = _sections(
        site,
        ("services/", "Services", "town", 18),
        ("visitors/", "Visitors", "town", 8),
        ("past/", "Thornby's past", "history", 7),
    )
    home = _home(site, "Thornby, the town on the river", "town", sections, 1)
    links = site.add("links.html", "Links", "directory", lengths=(2,))
    links.lists.append(
        (
            "In and around the town",
            [
                Link(CABINET, "Link Cabinet", "a directory of the web"),
                Link(FREEPAGES, "Free Pages", "home pages of people here"),
                Link(_KITCHEN, "Kitchen Table"),
                Link(_SKYWATCH, "Skywatch"),
                Link(MUSEUM, "Dale Museum"),
                Link(f"{THORNBY}gone/band.html", "Town band"),
            ],
        )
    )
    site.nav.append(Link(links.url, "Links"))
    home.lists.append(
        (
            "In the town",
            [
                Link(f"{CALENDAR}2026-11", "What's on this month"),
                Link(_LEDGER, "The Daily Ledger"),
                Link(_ALDERTON, "University of Alderton"),
                Link(_SHOPS, "Shops of the high street"),
                Link(_SKYWATCH, "Weather"),
                Link(links.url, "All links"),
            ],
        )
    )


def _newspaper(web: Web) -> None:
    site = web.site("www.dailyledger.example", "The Daily Ledger", "tables", "absolute")
    sections = _sections(
        site,
        ("news/", "News", "news", 18),
        ("sport/", "Sport", "news", 12),
        ("business/", "Business", "news", 10),
        ("letters/", "Letters", "news", 7),
    )
    features = [
        site.add(f"weekend/{name}.html", title, "clocks", relevant=True, also="news")
        for name, title in (
            ("up-the-tower", "Two hundred steps, once a week"),
            ("green-door", "Behind a green door"),
        )
    ]
    features[1].inline.append(Link(GREEN_DOOR, "their own pages"))
    features[0].inline.append(
        Link(f"{MUSEUM}conservation/from-the-roof-of-the-corn-exchange.html", "the museum")
    )
    weekend = site.articles("weekend/", "walking", 6) + site.articles("weekend/", "museum", 4)
    sections["weekend/"] = [*weekend[:3], features[0], *weekend[3:7], features[1], *weekend[7:]]
    site.section("weekend/", "Weekend", "news", sections["weekend/"])
    _home(site, "The Daily Ledger", "news", sections, 4)


def _university(web: Web) -> None:
    site = web.site("www.alderton.example", "University of Alderton", hrefs="relative")
    sections = _sections(
        site,
        ("physics/", "School of physics", "physics", 11),
        ("biology/", "School of biology", "biology", 11),
        ("computing/", "School of computing", "computing", 11),
        ("office/", "Administration", "university", 13),
    )
    lectures = [
        site.add(f"history/{name}.html", title, "clocks", relevant=True, also="university")
        for name, title in (
            ("ht-214", "HT 214: Keeping time"),
            ("ht-214-week-3", "HT 214, week 3"),
            ("ht-214-week-5", "HT 214, week 5"),
        )
    ]
    lectures[0].lists.append(("Weeks", [page.link() for page in lectures[1:]]))
    lectures[0].inline.append(Link(f"{WIKI}Mechanical_clock", "an overview"))
    lectures[1].inline.append(Link(f"{WIKI}Anchor_escapement", "the anchor"))
    lectures[2].inline.append(Link(f"{GREEN_DOOR}movements/the-fusee-and-its-chain.html", "this"))
    courses = site.articles("history/", "history", 8)
    sections["history/"] = [*courses[:5], lectures[0], *courses[5:]]
    site.section("history/", "School of history", "history", sections["history/"])
    _home(site, "University of Alderton", "university", sections, 2)


def _shops(web: Web) -> None:
    site = web.site("shops.highstreet.example", "Shops of the high street", "tables")
    sections = _sections(
        site,
        ("food/", "Food and drink", "shops", 12),
        ("gifts/", "Watches and gifts", "watches", 11),
        ("house/", "House and garden", "shops", 10),
    )
    repairs = site.articles("repairs/", "shops", 4)
    clocks = site.add(
        "repairs/lantern-clock-repairs.html",
        "Lantern Clock Repairs",
        "clocks",
        relevant=True,
        also="shops",
    )
    clocks.inline.append(Link(GREEN_DOOR, "where we learnt it"))
    sections["repairs/"] = [*repairs[:2], clocks, *repairs[2:]]
    site.section("repairs/", "Repairs", "shops", sections["repairs/"])
    _home(site, "Shops of the high street", "shops", sections, 3)


def _recipes(web: Web) -> None:
    site = web.site("www.kitchentable.example", "Kitchen Table")
    sections = _sections(
        site,
        ("soups/", "Soups", "recipes", 14),
        ("bakes/", "Bakes", "recipes", 14),
        ("suppers/", "Suppers", "recipes", 14),
        ("leftovers/", "Leftovers", "recipes", 8),
    )
    french = site.articles("fr/", "fr", 3, language="fr", charset="iso-8859-1")
    russian = site.articles("ru/", "ru", 1, language="ru", charset="koi8-r")
    sections["abroad/"] = french + russian
    site.section("abroad/", "From abroad", "recipes", sections["abroad/"])
    _home(site, "Kitchen Table", "recipes", sections, 3)


def _weather(web: Web) -> None:
    site = web.site("weather.skywatch.example", "Skywatch", "tables", "relative")
    sections = _sections(
        site,
        ("stations/", "Stations", "weather", 12),
        ("months/", "Months", "weather", 10),
    )
    sections["de/"] = site.articles("de/", "de", 2, language="de")
    site.section("de/", "Auf Deutsch", "weather", sections["de/"])
    _home(site, "Skywatch", "weather", sections, 3)


def _cabinet(web: Web) -> None:
    """Add the web directory: shelves of links that are not about any one thing."""
    site = web.site("www.linkcabinet.example", "Link Cabinet", "tables")
    shelves: dict[str, list[Link]] = {
        "Crafts/Metal": [
            Link(f"{FORUM}cars/", "Cars and vans"),
            Link(GREEN_DOOR, "Green Door", "a workshop and its diary"),
            Link(f"{FREEPAGES}~camper/", "The van"),
            Link(f"{FREEPAGES}~tickover/", "Tickover", "clocks, mostly German and French"),
            Link(f"{_SHOPS}repairs/", "Repairs in the high street"),
            Link(f"{FORUM}clocks/", "Clocks and barometers", "a lively board"),
            Link(f"{MUSEUM}conservation/", "Conservation at Dale"),
            Link(f"{FORUM}bicycles/", "Bicycles"),
        ],
        "Crafts/Wood": [
            Link(f"{FORUM}furniture/", "Furniture", "stripping, waxing, regret"),
            Link(f"{FREEPAGES}~oldoak/", "Old Oak", "a walker with a lathe"),
            Link(f"{MUSEUM}galleries/land.html", "Working the land"),
        ],
        "Crafts/Wool": [Link(f"{MUSEUM}galleries/textiles.html", "Textiles")],
        "Learning/Schools": [
            Link(f"{_ALDERTON}physics/", "Physics"),
            Link(f"{_ALDERTON}computing/", "Computing"),
            Link(f"{_ALDERTON}history/ht-214.html", "HT 214", "open to all"),
        ],
        "Learning/Reference": [
            Link(f"{WIKI}Main_Page", "Open Wiki"),
            Link(f"{WIKI}Portal:Technology", "Technology"),
        ],
        "House/Food": [Link(_KITCHEN, "Kitchen Table"), Link(f"{_SHOPS}food/", "Food shops")],
        "House/Garden": [
            Link(f"{FREEPAGES}~allotment9/", "Plot nine"),
            Link(f"{FREEPAGES}~bramble/", "Hedge and ditch"),
        ],
        "Outdoors/Walks": [
            Link(f"{FREEPAGES}~ramble/", "Rambles"),
            Link(f"{FREEPAGES}~fell/", "Up and down"),
            Link(_SKYWATCH, "Skywatch"),
        ],
        "Outdoors/Wheels": [
            Link(f"{FORUM}bicycles/", "Bicycles"),
            Link(f"{FREEPAGES}~tandem/", "Two on one"),
        ],
        "Places/Thornby": [
            Link(THORNBY, "Thornby"),
            Link(_LEDGER, "The Daily Ledger"),
            Link(f"{CALENDAR}2026-12", "What's on"),
            Link("http://www.closed.example/", "The old site of the town"),
        ],
    }
    rooms: dict[str, list[Page]] = {}
    for name, links in shelves.items():
        room, shelf = name.split("/")
        page = site.add(f"{room.lower()}/{shelf.lower()}.html", shelf, "directory", lengths=(3,))
        page.lists.append((shelf, links))
        rooms.setdefault(room, []).append(page)
    for room, pages in rooms.items():
        site.section(f"{room.lower()}/", room, "directory", pages)
    home = site.add("", "Link Cabinet", "directory", lengths=(3,))
    home.lists.append(("Rooms", site.nav[1:]))
