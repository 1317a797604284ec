"""Topic: what the user wants, and where to begin; from a TOML file or inline arguments.

A topic is checked as a whole before the first request. What is wrong with it is one
:class:`TopicError` that names the file and key (or the argument), the value and the remedy.
The names of strategies and judges, and their parameters, are checked by their registries.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from focusspider.config import is_folder_name
from focusspider.errors import TopicError, nearest
from focusspider.resources import is_packaged, located, shown
from focusspider.sites import Sites
from focusspider.topicvalues import ARGUMENTS, TopicValues, place
from focusspider.urls import RefusedURLError, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ARGUMENTS", "Limits", "RelevanceSpec", "RenderSpec", "Sites", "Topic"]

_EMPTY: Mapping[str, Any] = MappingProxyType({})


#: What two starts of one crawl may differ in: where it begins and where it ends.
_MAY_DIFFER = ("name", "source", "seeds", "limits", "sites", "strategy")


@dataclass(frozen=True, kw_only=True)
class RelevanceSpec:
    """Which judge decides, from which relevance on (γ), and the judge's own parameters."""

    kind: str | None = None
    threshold: float | None = None
    params: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)


@dataclass(frozen=True, kw_only=True)
class RenderSpec:
    """Which pages are rendered, None as the settings say, and what a page may cost."""

    mode: str | None = None
    params: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where a crawl ends; None is no limit.

    ``pages`` is the budget, ``depth`` the links from a seed, ``hosts`` how many hosts are
    crawled, ``pages_per_host`` the budget of each.
    """

    pages: int | None = None
    depth: int | None = None
    hosts: int | None = None
    pages_per_host: int | None = None


@dataclass(frozen=True, kw_only=True)
class Topic:
    """What the user wants.

    Parameters
    ----------
    targets
        URLs, or absolute paths of HTML files, of pages that are what the user wants.
    base_dir
        What relative paths in parameters are relative to: the folder of the topic file.
    source
        Where the topic came from, for messages: the file, or ``"arguments"``.
    given
        The keys that inline arguments set.
    """

    name: str = "topic"
    keywords: tuple[str, ...] = ()
    description: str = ""
    language: str = "english"
    seeds: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    strategy: str | None = None
    strategy_params: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
    relevance: RelevanceSpec = field(default_factory=RelevanceSpec)
    render: RenderSpec = field(default_factory=RenderSpec)
    limits: Limits = field(default_factory=Limits)
    sites: Sites = field(default_factory=Sites)
    base_dir: str = "."
    source: str = "arguments"
    given: frozenset[str] = frozenset()

    @classmethod
    def from_toml(
        cls,
        path: str | Path,
        arguments: Mapping[str, Any] | None = None,
        *,
        needs_seeds: bool = True,
    ) -> Topic:
        """Read a topic file; arguments take the place of its values."""
        path = Path(path)
        table = {"name": _slug(path.stem), **_read(path)}
        return cls.from_table(
            table, arguments, source=shown(path), base_dir=path.parent, needs_seeds=needs_seeds
        )

    @classmethod
    def from_table(
        cls,
        table: Mapping[str, Any],
        arguments: Mapping[str, Any] | None = None,
        *,
        source: str = "table",
        base_dir: str | Path = ".",
        needs_seeds: bool = True,
    ) -> Topic:
        """Make a topic of the content of a topic file, from wherever that was read.

        A spider that knows where to start ``needs_seeds`` no more.
        """
        values = TopicValues.from_table(table, source, Path(base_dir))
        values.override(arguments or {})
        return _topic(values, needs_seeds=needs_seeds)

    @classmethod
    def from_arguments(cls, **arguments: Any) -> Topic:
        """Make a topic of inline arguments alone, as Scrapyd gives them.

        A list is comma-separated or JSON; ``strategy`` and ``relevance`` are a name, or a
        JSON object as the table in a file. See :data:`ARGUMENTS`.
        """
        values = TopicValues({}, "arguments", Path())
        values.override(arguments)
        return _topic(values)

    @classmethod
    def load(
        cls,
        name: str | Path,
        topics_dir: str | Path = "topics",
        arguments: Mapping[str, Any] | None = None,
        *,
        needs_seeds: bool = True,
    ) -> Topic:
        """Read the topic file of a path, or of a name in the folder of topics.

        Either may be in a package: see :mod:`focusspider.resources`.
        """
        path = _find(str(name), located(topics_dir))
        return cls.from_toml(path, arguments, needs_seeds=needs_seeds)

    def replace(self, **arguments: Any) -> Topic:
        """Return the topic with inline arguments in the place of its values."""
        values = TopicValues(
            {
                "name": self.name,
                "keywords": self.keywords,
                "description": self.description or None,
                "language": self.language,
                "seeds": self.seeds,
                "targets": self.targets,
                "strategy.name": self.strategy,
                "strategy.params": dict(self.strategy_params),
                "relevance.kind": self.relevance.kind,
                "relevance.threshold": self.relevance.threshold,
                "relevance.params": dict(self.relevance.params),
                "render.mode": self.render.mode,
                "render.params": dict(self.render.params),
                **{f"limits.{key}": value for key, value in asdict(self.limits).items()},
                "sites.allow": self.sites.allow,
                "sites.deny": self.sites.deny,
            },
            self.source,
            Path(self.base_dir),
            self.given,
        )
        values.override(arguments)
        return _topic(values)

    def place(self, key: str) -> str:
        """Say where the value of a key (``strategy``, ``limits.pages``) came from."""
        return place(key, self.source, self.given)

    @property
    def target_urls(self) -> tuple[str, ...]:
        """The targets that are fetched."""
        return tuple(target for target in self.targets if "://" in target)

    @property
    def target_files(self) -> tuple[Path, ...]:
        """The targets that are read from files."""
        return tuple(Path(target) for target in self.targets if "://" not in target)

    def identity(self) -> str:
        """Return the name, and a digest of what makes two starts those of one crawl.

        They may differ in where it begins and ends, and in the strategy's parameters.
        """
        table = {name: part for name, part in self.to_dict().items() if name not in _MAY_DIFFER}
        text = json.dumps(table, sort_keys=True, default=str).encode()
        return f"{self.name} ({hashlib.blake2b(text, digest_size=6).hexdigest()})"

    def to_dict(self) -> dict[str, Any]:
        """Return the topic in the form of its file, JSON-safe, for ``run.json``."""
        strategy = {"name": self.strategy, **self.strategy_params} if self.strategy else None
        relevance = {
            "kind": self.relevance.kind,
            "threshold": self.relevance.threshold,
            **self.relevance.params,
        }
        return {
            "name": self.name,
            "source": self.source,
            "keywords": list(self.keywords),
            "description": self.description,
            "language": self.language,
            "seeds": list(self.seeds),
            "targets": [shown(target) for target in self.targets],
            "strategy": strategy,
            "relevance": relevance,
            "render": {"mode": self.render.mode, **self.render.params},
            "limits": asdict(self.limits),
            "sites": {"allow": list(self.sites.allow), "deny": list(self.sites.deny)},
        }


def _topic(values: TopicValues, *, needs_seeds: bool = True) -> Topic:
    """Check the values and make a topic of them."""
    topic = Topic(
        keywords=values.texts("keywords"),
        description=values.text("description") or "",
        language=values.language(),
        seeds=values.urls("seeds"),
        targets=values.targets(),
        strategy=values.text("strategy.name"),
        strategy_params=MappingProxyType(values.values.get("strategy.params", {})),
        relevance=RelevanceSpec(
            kind=values.text("relevance.kind"),
            threshold=values.share("relevance.threshold"),
            params=MappingProxyType(values.values.get("relevance.params", {})),
        ),
        render=RenderSpec(
            mode=values.text("render.mode"),
            params=MappingProxyType(values.values.get("render.params", {})),
        ),
        limits=Limits(
            pages=values.limit("limits.pages"),
            depth=values.limit("limits.depth"),
            hosts=values.limit("limits.hosts"),
            pages_per_host=values.limit("limits.pages_per_host"),
        ),
        sites=Sites(allow=values.entries("sites.allow"), deny=values.entries("sites.deny")),
        name=_name(values),
        base_dir=str(values.folder),
        source=values.source,
        given=values.given,
    )
    _check_whole(topic, values, needs_seeds=needs_seeds)
    return topic


def _spelt(url: str) -> str:
    """Return a seed as its request will spell it."""
    try:
        return resolve("", url)
    except RefusedURLError:  # Scrapy may take it all the same
        return url


def _check_whole(topic: Topic, values: TopicValues, *, needs_seeds: bool) -> None:
    """Check what no single value shows."""
    if not (topic.keywords or topic.description or topic.targets):
        raise TopicError(
            f"{topic.source}: the topic is empty; give keywords, a description or targets"
        )
    if needs_seeds and not topic.seeds:
        raise TopicError(
            f"{topic.source}: there are no seeds; give the URLs that the crawl starts from"
        )
    seeds = [_spelt(url) for url in topic.seeds]
    if seeds and not any(map(topic.sites.allows, seeds)):
        allow = Sites(allow=topic.sites.allow)
        key = "deny" if any(map(allow.allows, seeds)) else "allow"
        raise values.error(
            f"sites.{key}",
            getattr(topic.sites, key),
            f"no seed is left to crawl, not even {topic.seeds[0]}; mend it, or the seeds",
        )
    if topic.strategy_params and topic.strategy is None:
        raise TopicError(
            f"{values.place('strategy')}: there are parameters but no name; "
            f'give the strategy\'s name, such as name = "dom"'
        )
    hosts = len({urlsplit(url).hostname for url in topic.seeds})
    if topic.limits.hosts is not None and topic.limits.hosts < hosts:
        raise values.error(
            "limits.hosts",
            topic.limits.hosts,
            f"the seeds are on {hosts} hosts; raise the limit, or take seeds out",
        )


def _name(values: TopicValues) -> str:
    name = values.text("name")
    if name is None:  # inline: the first thing that says what it is about
        keywords, seeds = values.texts("keywords"), values.texts("seeds")
        first = keywords[0] if keywords else urlsplit(seeds[0]).hostname if seeds else None
        return _slug(first or "topic")
    if not is_folder_name(name):
        raise values.error(
            "name",
            name,
            "it names a folder of exports; give letters, digits, and - _ . + between them",
        )
    return name


def _slug(text: str) -> str:
    return re.sub(r"[^\w.+-]+", "-", text)[:60].strip("-._+") or "topic"


def _read(path: Path) -> dict[str, Any]:
    name = shown(path)
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        raise TopicError(f"{name}: this is a folder; name the topic file in it") from None
    except FileNotFoundError:
        raise TopicError(f"{name}: there is no such file; mend the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TopicError(f"{name}: cannot be read: {reason}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TopicError(
            f"{name}: line {line} holds the byte 0x{data[error.start]:02x}, which is not UTF-8; "
            f"save the file as UTF-8"
        ) from None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: an endless number, too
        raise TopicError(f"{name}: not TOML: {error}; mend it there") from None


def _find(name: str, topics_dir: Path) -> Path:
    """Return the file of a path, or of a name in the folder of topics."""
    if is_packaged(name):  # with all that is beside it, which it may name
        folder, _, file_name = name.rpartition("/")
        return located(folder) / file_name
    path, inside = Path(name), topics_dir / name
    if not name.endswith(".toml"):
        inside = topics_dir / f"{name}.toml"
    for file in (path, inside):
        if _is_file(file):
            return file
    if name.endswith(".toml"):
        return path
    if not topics_dir.is_dir():
        raise TopicError(
            f"topic {name!r}: there is no folder {shown(topics_dir)} to look in; "
            f"give the path of a topic file, or set FOCUS_TOPICS_DIR"
        )
    known = sorted(
        file.relative_to(topics_dir).with_suffix("").as_posix()
        for file in topics_dir.rglob("*.toml")
    )
    raise TopicError(
        f"topic {name!r}: there is no {shown(inside)}{nearest(name, known)}; "
        f"topics there: {', '.join(known) or 'none'}"
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for a file
        return False
