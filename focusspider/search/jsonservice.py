"""Asking a service over HTTP for JSON: slowly enough, again where that helps, never with a leak."""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from focusspider.errors import BacklinkError, SettingError
from focusspider.retryafter import seconds_to_wait

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["JsonService", "RefusedError"]

logger = logging.getLogger(__name__)

_MAX_ANSWER = 20_000_000  # bytes
_SHOWN = 200  # characters of a service's own words in a message
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
#: Statuses after which the same request may succeed a little later.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})


class RefusedError(BacklinkError):
    """The service won't answer this one request, and would answer others."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to wherever it leads."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow none: the status is an error."""


class JsonService:
    """Posts JSON to one address, and returns the JSON of the answer.

    Parameters
    ----------
    name
        The service's, for messages.
    url
        Its address: https, or http on this machine, since the key goes with each request.
    headers
        Sent with each request; the key is among them.
    secret
        The key; it is cut out of whatever a message quotes.
    delay
        Least seconds between two requests.
    tries
        Most requests for one answer; the waits between them are 1 s, 2 s, 4 s …, or what
        ``Retry-After`` says, up to ``max_wait`` seconds.
    timeout
        Seconds without an answer after which a request has failed.
    """

    def __init__(
        self,
        name: str,
        url: str,
        *,
        headers: Mapping[str, str],
        secret: str,
        delay: float = 1.0,
        tries: int = 5,
        max_wait: float = 300.0,
        timeout: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._url = _checked(url)
        self._headers = {**headers, "Content-Type": "application/json"}
        self._secret = secret
        self._delay = delay
        self._tries = tries
        self._max_wait = max_wait
        self._timeout = timeout
        self._sleep = sleep
        self._clock = clock
        self._next = 0.0  # when the next request may go
        self._opener = urllib.request.build_opener(_NoRedirect)
        self.requests = 0

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer.

        Raises
        ------
        RefusedError
            The service does not take this question: 400, 404 or 422.
        BacklinkError
            Anything else, such as a key that is not accepted, a quota that is used up, or no
            answer after the last try.
        """
        wait = 1.0
        for left in range(self._tries - 1, -1, -1):
            problem, asked = "", wait
            try:
                return self._once(question)
            except urllib.error.HTTPError as error:
                said = self._said(error)
                if error.code not in _TRANSIENT or not left:
                    raise self._error(error.code, said) from None
                said_when = error.headers.get("Retry-After") or ""
                asked = seconds_to_wait(said_when, datetime.now(UTC)) or wait
                problem = f"status {error.code}"
                if asked > self._max_wait:
                    raise BacklinkError(
                        f"{self.name} asks to come back in {asked:.0f} s; call this again then: "
                        "what came so far is kept"
                    ) from None
            except (OSError, http.client.HTTPException) as error:
                problem = self._clean(str(getattr(error, "reason", error)) or repr(error))
                if not left:
                    raise BacklinkError(
                        f"{self.name} did not answer {self._tries} times, at last: {problem}; "
                        "call this again later: what came so far is kept"
                    ) from None
            logger.info("%s: %s; again in %.0f s", self.name, problem, asked)
            self._sleep(asked)
            wait = min(2 * wait, self._max_wait)
        raise AssertionError("the last try returns or raises")

    def _once(self, question: Mapping[str, Any]) -> dict[str, Any]:
        now = self._clock()
        if now < self._next:
            self._sleep(self._next - now)
        self._next = max(now, self._next) + self._delay
        self.requests += 1
        request = urllib.request.Request(  # noqa: S310 - its scheme was checked
            self._url, json.dumps(question).encode(), dict(self._headers), method="POST"
        )
        with self._opener.open(request, timeout=self._timeout) as answer:
            body = answer.read(_MAX_ANSWER + 1)
        try:
            found = json.loads(body) if len(body) <= _MAX_ANSWER else None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise BacklinkError(
                f"{self.name} answered what is no JSON object: {self._clean(repr(body[:10_000]))}; "
                "check its address"
            )
        return found

    def _error(self, status: int, said: str) -> BacklinkError:
        """Return the error for a status that is no answer."""
        words = f" (it says: {said})" if said else ""
        quota = any(word in said.lower() for word in ("quota", "rows", "limit reached", "exceeded"))
        if status == 401 or (status == 403 and not quota):
            return BacklinkError(
                f"{self.name} does not accept the key, status {status}{words}: "
                "mend FOCUS_BACKLINKS_KEY"
            )
        if status in {402, 403, 429}:
            return BacklinkError(
                f"{self.name} gives no more for now, status {status}{words}: the quota of the key "
                "is used up, or it was asked too often. Wait, or raise the plan or "
                "FOCUS_BACKLINKS_DELAY, and call this again: what came so far is kept"
            )
        if status in {400, 404, 422}:
            return RefusedError(f"{self.name} refused, status {status}{words}")
        return BacklinkError(
            f"{self.name} failed, status {status}{words}: check FOCUS_BACKLINKS_URL, or call this "
            "again later: what came so far is kept"
        )

    def _said(self, error: urllib.error.HTTPError) -> str:
        """Return what a service says of an error, in its own words, and in short."""
        try:
            text = error.read(10_000).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            return ""
        finally:
            error.close()
        try:
            found = json.loads(text)
        except ValueError:
            return ""
        for key in ("error", "message", "error_message", "detail"):
            if not isinstance(found, dict):
                break
            if isinstance(found.get(key), (dict, str)):
                found = found[key]
        return self._clean(found) if isinstance(found, str) else ""

    def _clean(self, text: str) -> str:
        """Return words of others, short, printable, and without the key."""
        text = " ".join(text.split())
        return "".join(c for c in text if c.isprintable()).replace(self._secret, "***")[:_SHOWN]


def _checked(url: str) -> str:
    with contextlib.suppress(ValueError):  # "https://[" and such
        parts = urlsplit(url)
        if parts.hostname and parts.scheme == "https":
            return url
        if parts.scheme == "http" and parts.hostname in _LOOPBACK:
            return url
    raise SettingError(
        f"FOCUS_BACKLINKS_URL = {url!r} cannot be used: give an https URL, since the key goes "
        "with each request"
    )
