"""Every ``FOCUS_*`` setting: read once, checked once, frozen.

:class:`FocusConfig` is the table. A field's name is the setting's without ``FOCUS_``, in
lower case; :data:`SETTINGS` is the same table for the documentation and its test. Values
come as Python objects from a settings module, or as strings from ``-s NAME=VALUE``.
"""

# ruff: noqa: RUF009 - _setting returns a dataclass field

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from focusspider.errors import SettingError, nearest
from focusspider.settingkinds import (
    FLAG,
    FOLDER_NAME,
    NAMES,
    PATH,
    PORTS,
    REDIS_URL,
    SECRET,
    SHARE,
    TABLE,
    TEXT,
    TEXTS,
    Kind,
    choice,
    is_folder_name,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

__all__ = ["DEFAULT_STRATEGY", "PREFIX", "SETTINGS", "FocusConfig", "Setting", "is_folder_name"]

PREFIX = "FOCUS_"
#: Where neither the topic nor ``FOCUS_STRATEGY`` names one.
DEFAULT_STRATEGY = "auto"
_SHOWN = 80  # characters of a wrong value in a message


class Setting(NamedTuple):
    """A setting as the documentation shows it."""

    name: str
    kind: Kind
    default: Any
    unit: str
    meaning: str


def _setting(default: Any, kind: Kind, unit: str, meaning: str) -> Any:
    return field(
        default_factory=lambda: default,
        repr=not kind.secret,
        metadata={"setting": (kind, default, unit, meaning)},
    )


@dataclass(frozen=True, kw_only=True)
class FocusConfig:
    """The settings of a crawl, typed; a unit test gives the few that it needs."""

    topic: str | None = _setting(
        None,
        TEXT,
        "",
        "The topic, a file or a name in FOCUS_TOPICS_DIR; the argument comes first.",
    )
    scoring: bool = _setting(
        True,
        FLAG,
        "",
        "Whether pages are judged and links scored; False: there is the frontier alone.",
    )
    topics_dir: Path = _setting(
        Path("topics"), PATH, "", "Where a topic's name is looked up; may be package:NAME/PATH."
    )
    models_dir: Path = _setting(
        Path("models"),
        PATH,
        "",
        "Where the folders TOPIC of web graphs and learnt models are; may be package:NAME/PATH.",
    )
    cache_dir: Path | None = _setting(
        None,
        PATH,
        "",
        "Where models that are fetched by URL are kept; None: focusspider in the user's caches.",
    )
    strategy: str | None = _setting(
        None,
        TEXT,
        "",
        "The strategy, where neither argument nor topic names one; None: auto.",
    )
    strategy_params: Mapping[str, Any] = _setting(
        {}, TABLE, "", "Its parameters; those of a topic's strategy are in the topic."
    )
    frontier: str | None = _setting(
        None,
        REDIS_URL,
        "",
        "Redis that several workers share, redis://, rediss:// or unix://; None: a frontier "
        "of its own.",
    )
    frontier_patience: int = _setting(
        300, whole(0), "seconds", "How long Redis may be away before the worker ends."
    )
    crawl: str | None = _setting(
        None,
        FOLDER_NAME,
        "",
        "Name of the crawl in Redis; None: the topic's, without one the spider's.",
    )
    worker_timeout: int = _setting(
        20, whole(2), "seconds", "After how long without a word a worker is taken for gone."
    )
    share_seconds: int = _setting(
        10,
        whole(0),
        "seconds",
        "How often workers tell each other what their strategies have learnt; 0: never.",
    )
    auto_budget: float = _setting(
        0.25,
        SHARE,
        "",
        "Share of a crawl's work that auto's learning anew and reordering may be; 1: no bound.",
    )
    frontier_max: int = _setting(
        1_000_000, whole(1), "requests", "Most requests that wait; beyond it the worst go first."
    )
    frontier_host_share: float = _setting(
        1.0, SHARE, "", "Most of FOCUS_FRONTIER_MAX that one host may hold."
    )
    replay: tuple[str, ...] = _setting(
        (),
        TEXTS,
        "",
        "WARC or WACZ files, or folders of HTML, to crawl in the place of the web.",
    )
    replay_missing: str = _setting(
        "404",
        choice("404", "dns", "refuse"),
        "",
        "How a URL that the replay does not hold fails: as a 404, as an unknown host, or at once.",
    )
    backlinks_key: str | None = _setting(
        None,
        SECRET,
        "",
        "Key of the back-link service; None: the environment variable of the same name.",
    )
    backlinks_url: str | None = _setting(
        None, TEXT, "", "Address of the back-link service; None: the service's own."
    )
    backlinks_delay: int = _setting(
        1, whole(0), "seconds", "Least time between two requests to the back-link service."
    )
    search_engine: str = _setting(
        "local", TEXT, "", "The engine of focus-search: local, searxng, ddgs, or a class's path."
    )
    search_params: Mapping[str, Any] = _setting(
        {}, TABLE, "", 'Its parameters, such as {"backend": "mojeek"} for ddgs.'
    )
    search_url: str | None = _setting(
        None, TEXT, "", "Address of the SearXNG instance that searxng asks."
    )
    search_key: str | None = _setting(
        None,
        SECRET,
        "",
        "Token for it, if it wants one; None: the environment variable of the same name.",
    )
    search_delay: int = _setting(
        2, whole(0), "seconds", "Least time between two queries to searxng or ddgs."
    )
    corpora_dir: Path | None = _setting(
        None, PATH, "", "Where benchmarks find their archives; None: corpora/ beside the file."
    )
    exports_dir: Path = _setting(
        Path("exports"), PATH, "", "Where the folders TOPIC/RUN of the crawls are made."
    )
    run: str | None = _setting(
        None, FOLDER_NAME, "", "Name of the run's folder; None: the start time in UTC."
    )
    run_folder: bool = _setting(
        True, FLAG, "", "Whether a crawl with a topic has a folder; False: nothing is written."
    )
    export: str = _setting(
        "relevant", choice("relevant", "all"), "", "Which pages are exported as items."
    )
    item_fields: tuple[str, ...] = _setting(
        (),
        NAMES,
        "",
        "Fields of a page's item that are also filled into the spider's own, where empty.",
    )
    export_body: bool = _setting(False, FLAG, "", "Whether an item holds the page's HTML.")
    export_parquet: bool = _setting(
        False, FLAG, "", "Whether the items are also written as Parquet."
    )
    export_warc: bool = _setting(
        False, FLAG, "", "Whether what was fetched is also written as WARC."
    )
    crawl_log_times: bool = _setting(
        True, FLAG, "", "Whether crawl.jsonl holds times; False: equal crawls give equal bytes."
    )
    seed: int = _setting(0, whole(0), "", "Seed of everything that is random in a strategy.")
    explain: bool = _setting(
        False, FLAG, "", "Whether the parts of scores go into items, crawl.jsonl and the log."
    )
    live: bool = _setting(
        True, FLAG, "", "Whether the foot of a terminal shows how the crawl goes."
    )
    metrics_port: tuple[int, int] | None = _setting(
        None, PORTS, "", "Where Prometheus is answered: the first that is free; None: it is not."
    )
    metrics_host: str = _setting(
        "127.0.0.1", TEXT, "", "Address that FOCUS_METRICS_PORT is opened on."
    )
    max_links: int = _setting(10_000, whole(1), "links", "Most links that are taken from one page.")
    max_anchor: int = _setting(1_000, whole(1), "characters", "Most that is kept of an anchor.")
    max_context: int = _setting(
        4_000, whole(1), "characters", "Most that is kept of a link's context."
    )
    max_text: int = _setting(
        1_000_000, whole(1), "characters", "Most that is kept of a page's text."
    )
    max_crawl_delay: int = _setting(
        60,
        whole(0),
        "seconds",
        "Longest Crawl-delay of a robots.txt that is obeyed in full; 0: none is.",
    )
    backoff: int = _setting(
        1,
        whole(0),
        "seconds",
        "First pause of a host that bans without saying for how long; doubled each time; 0: none.",
    )
    max_retry_after: int = _setting(
        300,
        whole(0),
        "seconds",
        "Longest Retry-After of a 429 or 503 that is obeyed in full; 0: none is.",
    )
    max_segment_repeats: int = _setting(
        3,
        whole(1),
        "times",
        "How often one segment may occur in a URL's path; more is taken for a trap.",
    )
    chromium: Path | None = _setting(
        None,
        PATH,
        "",
        "The Chromium that shows pages; None: one on the PATH, else Playwright's own.",
    )
    render: str = _setting(
        "never",
        choice("never", "auto", "always"),
        "",
        "Which pages are rendered; auto: those with a script and few links.",
    )
    render_links: int = _setting(
        10, whole(1), "links", "Distinct links of a page from which on auto takes it as it is."
    )
    render_seconds: int = _setting(
        20, whole(1), "seconds", "Most that a page stays in the browser."
    )
    render_actions: int = _setting(
        50,
        whole(0),
        "actions",
        "Most that is hovered, clicked and chosen on a page to find links; 0: nothing is.",
    )
    render_pages: int = _setting(2, whole(1), "pages", "Most that are in the browser at a time.")
    render_requests: int = _setting(
        100, whole(0), "requests", "Most that a page in the browser may ask for beside itself."
    )
    render_block: tuple[str, ...] = _setting(
        ("image", "media", "font"),
        NAMES,
        "",
        "Types of resources that the browser does not load, by Playwright's names.",
    )
    render_handlers: Mapping[str, Any] = _setting(
        {}, TABLE, "", "What fetches what is rendered, by scheme; set by the add-on."
    )

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> FocusConfig:
        """Read and check every ``FOCUS_*`` setting.

        A setting that is None has its default. Raises :class:`SettingError` for a value
        that cannot be used and for a ``FOCUS_*`` name that does not exist.
        """
        known = {setting.name: setting for setting in SETTINGS}
        for name in settings.attributes:
            if isinstance(name, str) and name.startswith(PREFIX) and name not in known:
                raise SettingError(
                    f"{name} is not a setting{nearest(name, known)}; "
                    f"mend the name or take it out. Known: {', '.join(known)}"
                )
        values: dict[str, Any] = {}
        for setting in SETTINGS:
            value = settings.get(setting.name)
            empty = value is None or (value == "" and setting.default in (None, ()))
            if not empty:
                values[setting.name.removeprefix(PREFIX).lower()] = _parsed(setting, value)
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings by their full names, JSON-safe and without keys, for ``run.json``."""
        shown = {}
        for setting in SETTINGS:
            value = getattr(self, setting.name.removeprefix(PREFIX).lower())
            hidden = value is not None and setting.kind.secret
            shown[setting.name] = "***" if hidden else _plain(value)
        return shown


#: Every setting, in the order in which a user meets them.
SETTINGS: tuple[Setting, ...] = tuple(
    Setting(PREFIX + entry.name.upper(), *entry.metadata["setting"])
    for entry in fields(FocusConfig)
)


def _parsed(setting: Setting, value: Any) -> Any:
    try:
        return setting.kind.parse(value)
    except (ValueError, TypeError):  # TypeError: an unhashable value where a name belongs
        shown = repr(value) if not setting.kind.secret else "***"
        if len(shown) > _SHOWN:
            shown = shown[: _SHOWN - 1] + "…"
        default = _plain(setting.default)
        otherwise = f"; the default is {default!r}" if default or default == 0 else ""
        raise SettingError(
            f"{setting.name} = {shown} cannot be used: "
            f"give {setting.kind.expects}, or leave it out{otherwise}"
        ) from None


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
