"""A connection to Redis, and in one line why it cannot be used; never with a password."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import re
import time
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from focusspider.errors import FrontierError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redis import Redis

__all__ = ["AwayError", "RedisClient", "public_url"]

logger = logging.getLogger(__name__)

#: Seconds for a connection, and for an answer. A call is a matter of milliseconds.
_CONNECT_S, _ANSWER_S = 5.0, 15.0
#: Between two tries while it starts.
_RETRY_S = 0.25
#: Host, port and number, of which each may be missing.
_PLAIN = re.compile(r"(\[[\w:.%]+\]|[\w.-]*)(:\d{1,5})?(/\d*)?")
_SCRIPTS = ("beat", "join", "lease", "leave", "push", "reprioritise", "settle", "view")
#: Least version of Redis: scripts that write what they have drawn from the server's clock.
_LEAST_VERSION = (5, 0)


class AwayError(FrontierError):
    """Redis cannot be reached now: try again in a moment."""


class RedisClient:
    """Runs the scripts of the folder ``lua`` for one crawl.

    Parameters
    ----------
    url
        ``redis://``, ``rediss://`` (TLS) or ``unix://``, as redis-py reads it
    crawl
        the name that tells its keys from those of other crawls

    Raises
    ------
    MissingExtraError
        redis-py is not installed.
    FrontierError
        The URL is none, or Redis refuses the user, or is not what it must be.
    AwayError
        Nobody answers.
    """

    def __init__(self, url: str, crawl: str) -> None:
        self.url = public_url(url)
        self.crawl = crawl
        #: what every key of the crawl begins with; the braces keep it on one node of a cluster
        self.prefix = f"focus:{{{crawl}}}"
        self._redis = _connected(url)
        with self.explained():
            info: dict[str, Any] = self.redis.info()
            self._load()
        version = str(info.get("redis_version", "0"))
        if tuple(int(part) for part in version.split(".")[:2]) < _LEAST_VERSION:
            raise FrontierError(
                f"{self.url} is Redis {version}, and FOCUS_FRONTIER needs 5.0 or later"
            )
        #: whether Redis throws keys away when its memory is full, and so loses URLs
        self.forgets = bool(info.get("maxmemory")) and info.get("maxmemory_policy") != "noeviction"

    def run(self, *calls: tuple[str, Sequence[Any]]) -> list[Any]:
        """Run scripts one after the other, in one round trip, and return what each returns.

        The first that fails is the error; those after it have run. Each may run again: after
        an error it is not known whether it had run.
        """
        from redis.exceptions import NoScriptError

        with self.explained():
            for _ in range(2):
                pipe = self._redis.pipeline(transaction=False)
                for name, arguments in calls:
                    pipe.evalsha(script(name)[1], 1, self.prefix, *arguments)
                answers = pipe.execute(raise_on_error=False)
                failed = [answer for answer in answers if isinstance(answer, Exception)]
                if not failed:
                    return list(answers)
                for error in failed:
                    if not isinstance(error, NoScriptError):
                        raise error
                self._load()  # Redis has been started anew, or told to forget them
                if len(failed) < len(answers):
                    break
        raise AwayError(f"{self.url} had forgotten the scripts of the frontier")

    def _load(self) -> None:
        for name in _SCRIPTS:
            self._redis.script_load(script(name)[0])

    def key(self, name: str) -> str:
        """Return the whole name of a key of the crawl."""
        return f"{self.prefix}:{name}"

    @property
    def redis(self) -> Any:
        """What reads keys; use :meth:`explained` around it."""
        return self._redis

    def close(self) -> None:
        """Close the connection."""
        self._redis.close()

    @classmethod
    def reached(cls, url: str, crawl: str, *, patience: float) -> RedisClient:
        """Connect to a Redis that may be starting: wait for it up to so many seconds.

        Raises :class:`FrontierError` where it is not there by then, and at once where it is
        and refuses.
        """
        deadline, warned = time.monotonic() + patience, False
        while True:
            try:
                return cls(url, crawl)
            except AwayError as error:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise FrontierError(
                        f"{error}, for {patience:g} seconds; start Redis, or mend FOCUS_FRONTIER"
                    ) from None
                if not warned:
                    warned = True
                    logger.warning(
                        "%s. The worker waits for it, up to %g seconds.", error, patience
                    )
                time.sleep(min(_RETRY_S, left))

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Turn an error of Redis into one of ours, which names no password."""
        from redis import exceptions

        try:
            yield
        except exceptions.AuthenticationError:
            raise FrontierError(
                f"{self.url} refuses this user or password; mend FOCUS_FRONTIER"
            ) from None
        except (exceptions.ConnectionError, exceptions.TimeoutError) as error:
            raise AwayError(f"{self.url} cannot be reached: {_plain(error)}") from None
        except exceptions.ResponseError as error:
            raise _refused(self.url, str(error)) from None
        except exceptions.RedisError as error:
            raise FrontierError(f"{self.url} failed: {_plain(error)}") from None


def public_url(url: str) -> str:
    """Return a Redis URL without user, password and query, for messages.

    Of one that is not well-formed only the scheme: its password may stand anywhere.

    >>> public_url("rediss://me:secret@redis.example:6380/2?password=other")
    'rediss://redis.example:6380/2'
    >>> public_url("redis://me:sec/ret@redis.example:6380/2")
    'redis://***'
    """
    parts = urlsplit(url)
    where = parts.netloc.rpartition("@")[2]
    plain = where + parts.path
    known = not where if parts.scheme == "unix" else _PLAIN.fullmatch(plain) is not None
    if not known or parts.fragment or ("@" in parts.query and "=" not in parts.query):
        return f"{parts.scheme}://***"
    return f"{parts.scheme}://{plain}"


@cache
def script(name: str) -> tuple[str, str]:
    """Return the text of a script and its SHA-1, by which Redis knows it."""
    folder = resources.files(__package__) / "lua"
    text = "".join(
        (folder / f"{part}.lua").read_text(encoding="utf-8") for part in ("shared", name)
    )
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _connected(url: str) -> Redis:
    try:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError:
        raise MissingExtraError("redis", "FOCUS_FRONTIER") from None
    shown = public_url(url)
    wrong = FrontierError(
        f"FOCUS_FRONTIER = {shown!r} (user and password not shown) is no URL of Redis; give "
        "redis://HOST:PORT/NUMBER, rediss://… or unix:///PATH; in a password write / as %2F, "
        "# as %23, ? as %3F, @ as %40 and % as %25"
    )
    if shown.endswith("***"):
        raise wrong
    of_tcp: dict[str, Any] = {} if url.startswith("unix:") else {"socket_keepalive": True}
    try:
        client = redis.Redis.from_url(
            url,
            **of_tcp,
            socket_connect_timeout=_CONNECT_S,
            socket_timeout=_ANSWER_S,
            health_check_interval=30,
            client_name="focusspider",
            protocol=2,
            retry=Retry(NoBackoff(), 0),  # it is tried again by the caller, who knows what to say
        )
        client.connection_pool.make_connection()  # reads the query, and does not connect yet
    except (ValueError, TypeError):  # its message may hold the whole URL
        raise wrong from None
    return client


def _refused(url: str, said: str) -> FrontierError:
    """Return what an answer of Redis that is an error means."""
    if said.startswith(("LOADING", "MASTERDOWN", "TRYAGAIN", "BUSY ")) or "loading" in said:
        return AwayError(f"{url} is not ready: {said}")
    if "FORGOTTEN" in said:
        return FrontierError(
            f"{url} no longer has the crawl: its keys were removed, or Redis was started anew "
            "without appendonly; what was fetched is in the files, and started again the crawl "
            "begins anew"
        )
    if "OOM" in said or "maxmemory" in said:
        return FrontierError(
            f"{url} has no memory left: raise its maxmemory, or lower FOCUS_FRONTIER_MAX, and "
            "start again: the crawl goes on where it was"
        )
    if "NOPERM" in said or "NOAUTH" in said:
        return FrontierError(f"{url} does not allow this user what the frontier needs: {said}")
    return FrontierError(f"{url} failed: {said}")


def _plain(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__
