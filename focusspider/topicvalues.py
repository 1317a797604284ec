"""The values of a topic as a person wrote them, and the checks that each must pass.

Every failure is one :class:`TopicError` that names where the value is (a file's key or an
argument), the value, and the remedy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from focusspider.errors import TopicError, UnknownNameError, UrlListError, nearest
from focusspider.resources import is_packaged, located
from focusspider.sites import check_entry
from focusspider.text import Analyzer
from focusspider.urllist import listed_urls

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from pathlib import Path

__all__ = ["ARGUMENTS", "TABLES", "TOP_KEYS", "TopicValues", "place", "shown", "url_problem"]

#: The keys of a topic file, and of its tables. A table with None holds other keys too:
#: they are the parameters of a strategy, a judge or the browser.
TOP_KEYS = (
    "name",
    "keywords",
    "description",
    "language",
    "seeds",
    "targets",
    "strategy",
    "relevance",
    "render",
    "limits",
    "sites",
)
TABLES = {
    "strategy": ("name",),
    "relevance": ("kind", "threshold"),
    "render": ("mode",),
    "limits": ("pages", "depth", "hosts", "pages_per_host"),
    "sites": ("allow", "deny"),
}
#: Tables with parameters, and the key that a string sets.
_OPEN = {"strategy": "name", "relevance": "kind", "render": "mode"}
#: Inline arguments, and the key that each one sets.
ARGUMENTS = {key: key for key in TOP_KEYS[:9]} | {
    "threshold": "relevance.threshold",
    **{key: f"limits.{key}" for key in TABLES["limits"]},
    **{key: f"sites.{key}" for key in TABLES["sites"]},
}
_ARGUMENT_OF = {key: name for name, key in ARGUMENTS.items()}
_LISTS = {"keywords", "seeds", "targets", "allow", "deny"}
_WHOLE = {*TABLES["limits"]}

_SHOWN = 80  # characters of a wrong value in a message
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):(//)?", re.IGNORECASE)
_OTHER_SCHEMES = {"about", "data", "file", "ftp", "http", "https", "javascript", "mailto", "tel"}
_LIST = ".txt"  # is a list of URLs, where it has no scheme
_LABEL = re.compile(r"[\w-]{1,63}")
_TAG = re.compile(rb"<[!/]?[a-zA-Z][^<>]*>")
_HEAD = 65_536  # bytes of a target file in which a tag must occur


def place(key: str, source: str, given: AbstractSet[str]) -> str:
    """Say where the value of a dotted key stands: an argument, or a key of the source."""
    table = key.partition(".")[0]
    if key in given or table in given:
        return f"argument {_ARGUMENT_OF.get(key, table)}"
    return f"{source}: {key}"


def shown(value: object) -> str:
    """Return a value as TOML and JSON write it, shortened, without a URL's credentials."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = re.sub(r"//[^/@\s\"]*@", "//…@", text)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


class TopicValues:
    """Values by their dotted key (``limits.pages``), each with where it came from."""

    def __init__(
        self, values: Mapping[str, Any], source: str, folder: Path, given: AbstractSet[str] = set()
    ) -> None:
        self.values = dict(values)
        self.source = source
        self.folder = folder
        self.given = frozenset(given)  # dotted keys that an argument set

    @classmethod
    def from_table(cls, table: Mapping[str, Any], source: str, folder: Path) -> TopicValues:
        """Take the values of a topic file, and refuse the keys that it should not have."""
        reader = cls({}, source, folder)
        for key, value in table.items():
            if key not in TOP_KEYS:
                raise TopicError(
                    f"{source}: {key} is not a key of a topic{nearest(key, TOP_KEYS)}; "
                    f"known: {', '.join(TOP_KEYS)}"
                )
            if key in TABLES:
                reader.set_table(key, value)
            else:
                reader.values[key] = value
        return reader

    def set_table(self, key: str, value: Any) -> None:
        """Take a table; the name of a strategy, a judge or a mode may stand for one."""
        known = TABLES[key]
        if key in _OPEN and isinstance(value, str):
            value = {_OPEN[key]: value}
        if not isinstance(value, Mapping):
            form = "a name, or a table" if key in _OPEN else "a table"
            raise self.error(key, value, f"give {form}: [{key}] with {', '.join(known)}")
        rest = {name: entry for name, entry in value.items() if name not in known}
        if rest and key not in _OPEN:
            name = next(iter(rest))
            raise TopicError(
                f"{self.source}: {key}.{name} is not a key of [{key}]{nearest(name, known)}; "
                f"known: {', '.join(known)}"
            )
        self.values.update(
            {f"{key}.{name}": value[name] for name in known if name in value},
        )
        if key in _OPEN:
            self.values[f"{key}.params"] = rest

    def override(self, arguments: Mapping[str, Any]) -> None:
        """Put inline arguments in the place of values; an empty one leaves a value out."""
        # A table first: an argument for a key in it, such as threshold, is then put into it.
        for name, value in sorted(arguments.items(), key=lambda pair: pair[0] not in _OPEN):
            if name not in ARGUMENTS:
                raise TopicError(
                    f"argument {name} is not known{nearest(name, ARGUMENTS)}; "
                    f"known: {', '.join(ARGUMENTS)}"
                )
            if value is None:
                continue
            key = ARGUMENTS[name]
            self.given |= {key}
            if key in _OPEN:
                self._override_open(key, value)
            elif value == "":
                self.values.pop(key, None)
            else:
                self.values[key] = _from_argument(name, value)

    def _override_open(self, key: str, value: Any) -> None:
        """Set a strategy, judge or mode; another one than before takes nothing over."""
        before = {k: self.values.pop(k) for k in tuple(self.values) if k.startswith(f"{key}.")}
        if isinstance(value, str) and value.lstrip().startswith("{"):
            try:
                value = json.loads(value)
            except ValueError as error:
                raise self.error(key, value, f"not JSON: {error}; mend it there") from None
        if value == "":
            return
        self.set_table(key, value)
        name = f"{key}.{_OPEN[key]}"
        if isinstance(value, str) and before.get(name) == self.values[name]:
            self.values.update(before)

    def place(self, key: str) -> str:
        """Say where a value stands, for a message."""
        return place(key, self.source, self.given)

    def error(self, key: str, value: object, remedy: str) -> TopicError:
        """Return the error of a value that cannot be used."""
        return TopicError(f"{self.place(key)} = {shown(value)}: {remedy}")

    def entry_error(self, key: str, entry: object, problem: str) -> TopicError:
        """Return the error of one entry of a list."""
        return TopicError(f"{self.place(key)}: {shown(entry)} {problem}")

    def text(self, key: str) -> str | None:
        """Return a text without the white space around it."""
        value = self.values.get(key)
        if value is None:
            return None
        if not _is_text(value):
            raise self.error(key, value, "give a text that is not empty, or leave it out")
        return str(value).strip()

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts, each once."""
        value = self.values.get(key, ())
        if isinstance(value, str) or not isinstance(value, (list, tuple)):
            raise self.error(key, value, 'give a list of texts, such as ["a", "b"]')
        for entry in value:
            if not _is_text(entry):
                raise self.entry_error(key, entry, "is no text; give texts that are not empty")
        return tuple(dict.fromkeys(entry.strip() for entry in value))

    def language(self) -> str:
        """Return the language of the topic by its name."""
        language = self.text("language") or "english"
        try:
            return Analyzer(language).language or "english"
        except UnknownNameError as error:
            close = nearest(language.lower(), error.known)
            raise self.error(
                "language",
                language,
                f"not a known language{close}; give its English name or its ISO 639-1 code",
            ) from None

    def limit(self, key: str) -> int | None:
        """Return a limit, a whole number of 1 or more; None is no limit."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self.error(
                key, value, "give a whole number of 1 or more, or leave it out for no limit"
            )
        return value

    def share(self, key: str) -> float | None:
        """Return a number in [0, 1]."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise self.error(key, value, "give a number from 0 to 1")
        return float(value)

    def urls(self, key: str) -> tuple[str, ...]:
        """Return a list of URLs that a crawl can fetch."""
        urls: list[str] = []
        for entry in self.texts(key):
            if (listed := self._listed(key, entry)) is not None:
                urls += listed
            elif problem := url_problem(entry):
                raise self.entry_error(key, entry, problem)
            else:
                urls.append(entry)
        return tuple(dict.fromkeys(urls))

    def targets(self) -> tuple[str, ...]:
        """Return the targets: URLs, and absolute paths of HTML files."""
        targets: list[str] = []
        for target in self.texts("targets"):
            if (listed := self._listed("targets", target)) is not None:
                targets += listed
                continue
            if _SCHEME.match(target) and not is_packaged(target):
                problem, found = url_problem(target), target
            else:
                path = located(target, self.folder).absolute()
                problem, found = _file_problem(path), str(path)
            if problem:
                raise self.entry_error("targets", target, problem)
            targets.append(found)
        return tuple(dict.fromkeys(targets))

    def _listed(self, key: str, entry: str) -> tuple[str, ...] | None:
        """Return the URLs of a list, where an entry is the path of one (``seeds.txt``).

        The path of an argument is relative to the working directory.
        """
        if not entry.endswith(_LIST) or (_SCHEME.match(entry) and not is_packaged(entry)):
            return None
        path = located(entry, None if key in self.given else self.folder)
        if not path.exists():
            problem = f"is no list of URLs ({path} does not exist), and a URL starts with http"
            raise self.entry_error(key, entry, f"{problem}:// or https://")
        try:
            urls = listed_urls(path)
        except UrlListError as error:
            raise TopicError(f"{self.place(key)}: {error}") from None
        if not urls:
            raise self.entry_error(key, entry, "is a list without a URL; give one a line")
        return urls

    def entries(self, key: str) -> tuple[str, ...]:
        """Return a list of sites."""
        entries = self.texts(key)
        for entry in entries:
            try:
                check_entry(entry)
            except ValueError as error:
                raise self.entry_error(key, entry, str(error)) from None
        return entries


def _is_text(value: object) -> bool:
    """Return whether a value is a text that says something, and that UTF-8 can hold."""
    try:
        return isinstance(value, str) and bool(value.strip().encode())
    except UnicodeEncodeError:  # a command line that was not UTF-8
        return False


def url_problem(url: str) -> str | None:
    """Return what is wrong with a URL, with the remedy; None where nothing is."""
    if any(character.isspace() or not character.isprintable() for character in url):
        return "holds white space or control characters; write a space as %20"
    match = _SCHEME.match(url)
    scheme = match[1].lower() if match else ""
    if match is None or (not match[2] and scheme not in _OTHER_SCHEMES):
        return f"has no scheme; write {shown('https://' + url.lstrip('/'))}"
    if scheme not in ("http", "https"):
        return f"has the scheme {scheme}; only http and https can be crawled"
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        return f"is no URL: {error}"
    if "@" in parts.netloc:
        return "holds credentials, which would reach logs and exports; take them out"
    if not host:
        return "has no host; write https://HOST/PATH"
    if ":" in host:  # an IPv6 address
        return None
    try:
        labels = host.encode("idna").decode("ascii").removesuffix(".").split(".")
    except UnicodeError:
        labels = []
    if not labels or not all(_LABEL.fullmatch(label) for label in labels):
        return f"has a host that cannot exist: {shown(host)}"
    return None


def _file_problem(path: Path) -> str | None:
    try:
        if path.is_dir():
            return "is a folder; name its HTML files one by one"
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except FileNotFoundError:
        return f"is no file ({path} does not exist), and a URL starts with http:// or https://"
    except (OSError, ValueError) as error:
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"
    if not head.strip():
        return "is an empty file; give an HTML page"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head.replace(b"\0", b"")  # UTF-16
    if b"\0" in head or not _TAG.search(head):
        return "holds no HTML; save the page as HTML"
    return None


def _from_argument(name: str, value: Any) -> Any:
    """Turn the text of an inline argument into the value that a file would hold."""
    if not isinstance(value, str):
        return value
    if name in _LISTS:
        if value.lstrip().startswith("["):
            return _from_json(value)
        return [entry for entry in value.split(",") if entry.strip()]
    number = int if name in _WHOLE else float if name == "threshold" else None
    if number is None:
        return value
    try:
        return number(value)
    except ValueError:
        return value


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
