"""Every key that focusspider counts under in Scrapy's statistics.

The keys are an interface: ``focus/<stage>/<event>``, counted after the act. To add one,
write one line: ``NAME = _stat(key, meaning, advice)``. A key with reasons has a part for
each, ``<key>/<reason>``, and :func:`count_reason` keeps their sum equal to the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.statscollectors import StatsCollector

__all__ = ["STATS", "SUMS", "Stat", "count_reason", "is_known", "unequal_sums"]


class Stat(NamedTuple):
    """A key, what it counts, and what a surprising value means and asks for.

    ``reasons`` maps the last part of ``<key>/<reason>`` to its meaning.
    """

    key: str
    meaning: str
    advice: str
    reasons: Mapping[str, str]


_stats: dict[str, Stat] = {}


def _stat(key: str, meaning: str, advice: str = "", **reasons: str) -> str:
    _stats[key] = Stat(key, meaning, advice, reasons)
    return key


PAGE_FETCHED = _stat(
    "focus/page/fetched",
    "Responses that were fetched and judged; each counts against the limit of pages.",
    "Fewer than the limit: the frontier ran empty; see focus/link/refused and focus/page/failed.",
)
PAGE_RELEVANT = _stat(
    "focus/page/relevant",
    "Pages of focus/page/fetched that were judged relevant.",
    "None: the threshold is too high, or the keywords are not the words of the pages.",
)
PAGE_IRRELEVANT = _stat(
    "focus/page/irrelevant",
    "Pages of focus/page/fetched that were judged not relevant.",
    "Nearly all: take seeds that are closer to the topic, or another strategy.",
)
PAGE_JUDGE_FAILED = _stat(
    "focus/page/judge_failed",
    "Pages of focus/page/irrelevant at which the function of [relevance] failed.",
    "Mend it: the log has the first error of each kind.",
)
PAGE_DUPLICATE_CONTENT = _stat(
    "focus/page/duplicate_content",
    "Pages of focus/page/fetched whose title and text another URL had brought before.",
    "Many: a site has several addresses for a page; deny some in [sites].",
)
PAGE_NOT_HTML = _stat(
    "focus/page/not_html",
    "Responses of focus/page/fetched that are empty or no HTML; they are not relevant.",
    "Many: links lead to files; deny their endings in [sites] with re:.",
)
PAGE_FAILED = _stat(
    "focus/page/failed",
    "Requests that brought no page, of the spider focus; one of your own has its errbacks.",
    "Look at the reason that leads, then in the log for its first URL.",
    http="The status was an error, such as 404 or 500.",
    dns="The host's name was not found.",
    timeout="No answer within DOWNLOAD_TIMEOUT.",
    connection="The connection was refused, lost or not trusted.",
    robots="robots.txt forbids the URL.",
    too_large="The body was larger than DOWNLOAD_MAXSIZE, or would have been, unpacked.",
    redirects="There were more redirects than REDIRECT_MAX_TIMES.",
    invalid="The answer is not compressed as it says, or its redirect or base is no URL.",
    ignored="A downloader middleware refused the request.",
    other="Anything else; the log has the error.",
)
TARGET_FETCHED = _stat(
    "focus/target/fetched",
    "Targets of the topic that were read, from files or the web.",
)
TARGET_FAILED = _stat(
    "focus/target/failed",
    "Targets that could not be read; the crawl goes on without them.",
    "Mend their URLs in the topic: each is an example of what you want.",
)
RENDER_PAGE = _stat(
    "focus/render/page",
    "Pages that were rendered; the others came as they were fetched.",
)
RENDER_FAILED = _stat(
    "focus/render/failed",
    "Pages that were to be rendered, and came as they were fetched.",
    "Look at the reason that leads.",
    timeout="The browser gave no answer within FOCUS_RENDER_SECONDS and some.",
    crash="The page's process or the browser broke.",
    too_large="The rendered document was larger than DOWNLOAD_MAXSIZE.",
    error="Anything else; with LOG_LEVEL = 'DEBUG' the log says what.",
)
RENDER_ACTION = _stat(
    "focus/render/action",
    "What was hovered, clicked and chosen on rendered pages.",
)
RENDER_STATE = _stat(
    "focus/render/state",
    "States of rendered pages that were seen, the first of each among them.",
)
RENDER_LINK = _stat(
    "focus/render/link",
    "Links that came to a page by what was done on it, or that only its browser shows.",
)
RENDER_STOPPED = _stat(
    "focus/render/stopped",
    "Pages on which there was more to try.",
    "Raise the budget that leads, if the pages are worth it.",
    actions="FOCUS_RENDER_ACTIONS is spent.",
    seconds="FOCUS_RENDER_SECONDS are over.",
    crash="The page's process or the browser broke.",
    error="The page could not be asked any more.",
)
RENDER_REFUSED = _stat(
    "focus/render/refused",
    "What rendered pages wanted to do and could not.",
    "Look at the reason that leads.",
    method="A request that is neither GET nor HEAD.",
    navigation="To lead to another page; where to is among its links.",
    frame="To load a frame; its URL is among the links.",
    type="To load a resource of a type in FOCUS_RENDER_BLOCK.",
    scheme="A request that is neither http nor https.",
    local="A request to this machine or a private network, by a page from elsewhere.",
    requests="More requests than FOCUS_RENDER_REQUESTS.",
    robots="robots.txt forbids the URL.",
    form="To send a form.",
    window="To open a window; its URL is among the links.",
    download="To save a file; its URL is among the links.",
    channel="To open a socket or a peer connection, or to start a worker.",
)
RENDER_DIALOG = _stat(
    "focus/render/dialog",
    "Boxes of rendered pages that were answered: with yes, and what they proposed.",
)
RENDER_OPEN = _stat(
    "focus/render/open",
    "Pages that were open in the browser when the crawl closed.",
    "Not 0: a page did not let itself be closed, and was ended with its browser.",
)
LINK_FOUND = _stat(
    "focus/link/found",
    "Links of the pages that were fetched.",
    "None: the pages need JavaScript (FOCUS_RENDER), or the seeds are no pages with links.",
)
LINK_PUSHED = _stat(
    "focus/link/pushed",
    "Links that were new and went into the frontier.",
)
LINK_KNOWN = _stat(
    "focus/link/known",
    "Links whose URL the frontier knew, which may have been raised, or had no room for.",
)
LINK_REFUSED = _stat(
    "focus/link/refused",
    "Links that were not followed.",
    "Look at the reason that leads.",
    scheme="Neither http nor https: mailto, javascript, data, ftp …",
    invalid="No URL can be made of it.",
    empty="There is no URL in it.",
    credentials="The URL holds a user name or a password.",
    too_long="Longer than URLLENGTH_LIMIT.",
    offsite="Outside [sites] of the topic or the spider's allowed_domains.",
    not_stored="The replay does not hold it, and FOCUS_REPLAY_MISSING is 'refuse'.",
    depth="Deeper than the topic's limit or DEPTH_LIMIT.",
    hosts="Its host would be one more than the topic's limit of hosts.",
    host_full="Its host has had the topic's limit of pages a host.",
    segment_repeats="A segment of its path repeats more than FOCUS_MAX_SEGMENT_REPEATS: a trap.",
    links="It comes after the first FOCUS_MAX_LINKS of its page.",
)
FRONTIER_WAITING = _stat(
    "focus/frontier/waiting",
    "Requests that waited when the crawl closed.",
)
FRONTIER_LEASED = _stat(
    "focus/frontier/leased",
    "Requests that were with the downloader when the crawl closed.",
)
FRONTIER_DONE = _stat("focus/frontier/done", "Requests that brought a response.")
FRONTIER_DROPPED = _stat(
    "focus/frontier/dropped",
    "Requests that were given up; see focus/page/failed for the reasons.",
)
FRONTIER_EVICTED = _stat(
    "focus/frontier/evicted",
    "Waiting requests that gave way to better ones, at FOCUS_FRONTIER_MAX.",
    "Many, and memory is left: raise FOCUS_FRONTIER_MAX.",
)
FLEET_WORKERS = _stat("focus/fleet/workers", "Most workers that have crawled together.")
FLEET_LOST = _stat(
    "focus/fleet/lost",
    "Workers that were gone without a word, and whose requests this worker let wait again.",
    "Look in their logs: they were killed, or had no memory left.",
)
FLEET_LATE = _stat(
    "focus/fleet/late",
    "Pages of this worker that another was given meanwhile: they were fetched twice.",
    "It could not be heard for FOCUS_WORKER_TIMEOUT: raise that, or find what held it up.",
)
FLEET_AWAY = _stat(
    "focus/fleet/away",
    "Times that Redis could not be reached, and was waited for.",
)
FLEET_SHARED = _stat(
    "focus/fleet/shared",
    "Times that this worker told the others what its strategy had learnt.",
)
FLEET_JOINED = _stat(
    "focus/fleet/joined",
    "Times that its strategy took in what another worker had learnt.",
    "None beside focus/fleet/shared: no other worker has told anything.",
)
FLEET_UNREADABLE = _stat(
    "focus/fleet/unreadable",
    "Times that what another worker had learnt was not as it must be, and was passed over.",
    "Run the same version of focusspider everywhere; see that nobody else writes to Redis.",
)
FRONTIER_UNSERIALIZABLE = _stat(
    "focus/frontier/unserializable",
    "Requests that can be kept in memory only, and are lost when the process dies.",
    "Use methods of the spider as callbacks, and JSON-safe meta and cb_kwargs.",
)
FRONTIER_UNREADABLE = _stat(
    "focus/frontier/unreadable",
    "Requests of focus/frontier/dropped that an earlier process wrote and this one can't read.",
    "A callback was renamed or removed: give the spider that method again, and resume.",
)
FRONTIER_RETRIED = _stat(
    "focus/frontier/retried",
    "Requests that went back into the frontier to be tried again.",
)
FRONTIER_RETURNED = _stat(
    "focus/frontier/returned",
    "Requests that waited once more, since their host's robots.txt came first and a delay ran.",
)
FRONTIER_HOST_FULL = _stat(
    "focus/frontier/host_full",
    "Requests of focus/frontier/dropped whose host had brought its limit of pages by then.",
)
FRONTIER_REDIRECT_KNOWN = _stat(
    "focus/frontier/redirect_known",
    "Redirects to a URL that the frontier knew; the page is not fetched twice.",
)
REQUEST_SCHEDULED = _stat(
    "focus/request/scheduled",
    "Requests that came by Scrapy's own door and went into the frontier.",
)
REQUEST_KNOWN = _stat(
    "focus/request/known",
    "Requests that came by Scrapy's own door and were known already.",
)
REQUEST_REFUSED = _stat(
    "focus/request/refused",
    "Requests that came by Scrapy's own door, or waited for a crawl that goes on with other "
    "limits, and were not followed.",
    "Look at the reason that leads.",
    scheme="A redirect to neither http nor https.",
    invalid="A redirect to no URL.",
    empty="A redirect to nowhere.",
    credentials="A redirect to a URL that holds a user name or a password.",
    too_long="A redirect to a URL that is longer than URLLENGTH_LIMIT.",
    offsite="Outside [sites] of the topic or the spider's allowed_domains.",
    not_stored="The replay does not hold it, and FOCUS_REPLAY_MISSING is 'refuse'.",
    depth="Deeper than the topic's limit or DEPTH_LIMIT.",
    hosts="Its host would be one more than the topic's limit of hosts.",
    host_full="Its host has had the topic's limit of pages a host.",
    segment_repeats="A segment of its path repeats more than FOCUS_MAX_SEGMENT_REPEATS: a trap.",
)
REQUEST_NO_LINK = _stat(
    "focus/request/no_link",
    "Requests that a callback made of something else than a link of its page.",
    "Many, where they were meant to be links: the spider rewrites URLs; see docs/fleet.md.",
)
HOST_HELD = _stat(
    "focus/host/held",
    "Answers 429 or 503 that said when to come back; the host was left alone until then.",
    "Many: raise DOWNLOAD_DELAY.",
)
HOST_BACKED_OFF = _stat(
    "focus/host/backed_off",
    "Answers 429 or 503 that did not say when to come back, or 403 in a row; the host was left "
    "alone for a while, twice as long each time.",
    "Many: raise DOWNLOAD_DELAY.",
)
HOST_CRAWL_DELAY = _stat(
    "focus/host/crawl_delay",
    "Files robots.txt that asked for a delay between two requests.",
)
HOST_CAPPED = _stat(
    "focus/host/capped",
    "Waits that a host asked for and that were cut.",
    "Raise the setting, or deny the host in [sites].",
    retry_after="Longer than FOCUS_MAX_RETRY_AFTER.",
    crawl_delay="Longer than FOCUS_MAX_CRAWL_DELAY.",
)
ITEM_EXPORTED = _stat(
    "focus/item/exported",
    "Items that were written to the run's folder.",
    "Fewer than focus/page/relevant: an item pipeline drops them.",
)
STRATEGY_RERANK = _stat(
    "focus/strategy/rerank",
    "Times that the strategy gave waiting requests new priorities.",
)
COLLECT_FETCHED = _stat(
    "focus/collect/fetched",
    "Pages that focus-collect fetched; those that are stored already are not among them.",
)
COLLECT_FAILED = _stat(
    "focus/collect/failed",
    "Pages that focus-collect asked for and that did not come; its summary has the reasons.",
)
SEARCH_FETCHED = _stat(
    "focus/search/fetched",
    "Pages that focus-search fetched: targets, and results of the search engine.",
)
SEARCH_FAILED = _stat(
    "focus/search/failed",
    "Results and targets that focus-search asked for and that did not come.",
    "The summary has the reasons.",
)

#: Every key, in the order in which a page meets them.
STATS: tuple[Stat, ...] = tuple(_stats.values())

#: (whole, parts): at the end of a crawl the parts sum to the whole.
SUMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (PAGE_FETCHED, (PAGE_RELEVANT, PAGE_IRRELEVANT)),
    (LINK_FOUND, (LINK_PUSHED, LINK_KNOWN, LINK_REFUSED)),
)


def count_reason(stats: StatsCollector, key: str, reason: str, count: int = 1) -> None:
    """Count under ``<key>/<reason>`` and under the key itself."""
    stats.inc_value(f"{key}/{reason}", count)
    stats.inc_value(key, count)


def is_known(key: str) -> bool:
    """Return whether a key is in :data:`STATS`, or is one of a key's reasons.

    >>> is_known("focus/link/refused/depth"), is_known("focus/link/refused/mood")
    (True, False)
    """
    if key in _stats:
        return True
    whole, _, reason = key.rpartition("/")
    return whole in _stats and reason in _stats[whole].reasons


def unequal_sums(values: Mapping[str, int]) -> list[str]:
    """Return a line for each whole of the statistics that its parts do not sum to.

    >>> unequal_sums({"focus/page/fetched": 3, "focus/page/relevant": 1})
    ['focus/page/fetched = 3, its parts sum to 1']
    """
    lines = []
    reasons = tuple(
        (stat.key, tuple(f"{stat.key}/{reason}" for reason in stat.reasons))
        for stat in STATS
        if stat.reasons
    )
    for whole, parts in SUMS + reasons:
        total = sum(values.get(part, 0) for part in parts)
        if total != values.get(whole, 0):
            lines.append(f"{whole} = {values.get(whole, 0)}, its parts sum to {total}")
    return lines
