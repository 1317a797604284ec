"""Asking a service over HTTP for JSON, never with a leak."""

from __future__ import annotations

import contextlib
import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from focusspider.errors import ServiceError, SettingError
from focusspider.retryafter import seconds_to_wait
from focusspider.search.patience import AgainError, Patience
from focusspider.urls import is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["JsonService", "RefusedError"]

_MAX_ANSWER = 20_000_000  # bytes
_SHOWN = 200  # characters of a service's own words in a message
#: Statuses after which the same request may succeed a little later.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})


class RefusedError(ServiceError):
    """The service won't answer this one request, and would answer others."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to wherever it leads."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow none: the status is an error."""


class JsonService:
    """Sends a question to one address, and returns the JSON of the answer.

    Parameters
    ----------
    name
        The service's, for messages.
    url
        Its address: https, or http on this machine, since the key goes with each request; any
        http where there is no key.
    settings
        How the names of its settings begin, for messages, such as ``"FOCUS_BACKLINKS"``.
    headers
        Sent with each request; the key is among them.
    secret
        The key, ``""`` for none; it is cut out of whatever a message quotes.
    method
        ``"POST"`` sends a question as JSON, ``"GET"`` as the URL's query.
    remedies
        What to do about a status that means something special here.
    timeout
        Seconds without an answer after which a request has failed.
    patience
        Those of :class:`~focusspider.search.patience.Patience`: ``delay``, ``tries`` …
    """

    def __init__(
        self,
        name: str,
        url: str,
        *,
        settings: str,
        headers: Mapping[str, str],
        secret: str = "",
        method: str = "POST",
        remedies: Mapping[int, str] | None = None,
        timeout: float = 60.0,
        **patience: Any,
    ) -> None:
        self.name = name
        self._settings = settings
        self._url = _checked(url, f"{settings}_URL", secret=bool(secret))
        self._headers = {**headers}
        self._secret = secret
        self._method = method
        self._remedies = remedies or {}
        self._timeout = timeout
        self._patience = Patience(name, **patience)
        self._opener = urllib.request.build_opener(_NoRedirect)
        self.requests = 0

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer.

        Raises
        ------
        RefusedError
            The service does not take this question: 400, 404 or 422.
        ServiceError
            Anything else, such as a key that is not accepted, a quota that is used up, or no
            answer after the last try.
        """
        return self._patience.ask(lambda: self._once(question))

    def _once(self, question: Mapping[str, Any]) -> dict[str, Any]:
        self.requests += 1
        try:
            with self._opener.open(self._request(question), timeout=self._timeout) as answer:
                body = answer.read(_MAX_ANSWER + 1)
        except urllib.error.HTTPError as error:
            failure = self._error(error.code, self._said(error))
            if error.code not in _TRANSIENT:
                raise failure from None
            wait = seconds_to_wait(error.headers.get("Retry-After") or "", datetime.now(UTC))
            raise AgainError(f"status {error.code}", wait=wait, last=failure) from None
        except (OSError, http.client.HTTPException) as error:
            reason = str(getattr(error, "reason", error)) or repr(error)
            raise AgainError(self._clean(reason)) from None
        try:
            found = json.loads(body) if len(body) <= _MAX_ANSWER else None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise ServiceError(
                f"{self.name} answered what is no JSON object: {self._clean(repr(body[:10_000]))}; "
                "check its address"
            )
        return found

    def _request(self, question: Mapping[str, Any]) -> urllib.request.Request:
        url, body, headers = self._url, None, dict(self._headers)
        if self._method == "GET":
            url += ("&" if "?" in url else "?") + urllib.parse.urlencode(question)
        else:
            body = json.dumps(question).encode()
            headers["Content-Type"] = "application/json"
        # its scheme was checked
        return urllib.request.Request(url, body, headers, method=self._method)  # noqa: S310

    def _error(self, status: int, said: str) -> ServiceError:
        """Return the error for a status that is no answer."""
        words = f" (it says: {said})" if said else ""
        if status in self._remedies:
            return ServiceError(f"{self.name}, status {status}{words}: {self._remedies[status]}")
        quota = any(word in said.lower() for word in ("quota", "rows", "limit reached", "exceeded"))
        if status == 401 or (status == 403 and not quota):
            return ServiceError(
                f"{self.name} does not accept the key, status {status}{words}: "
                f"mend {self._settings}_KEY"
            )
        if status in {402, 403, 429}:
            return ServiceError(
                f"{self.name} gives no more for now, status {status}{words}: the quota of the key "
                "is used up, or it was asked too often. Wait, or raise the plan or "
                f"{self._settings}_DELAY, and call this again: what came so far is kept"
            )
        if status in {400, 404, 422}:
            return RefusedError(f"{self.name} refused, status {status}{words}")
        return ServiceError(
            f"{self.name} failed, status {status}{words}: check {self._settings}_URL, or call this "
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
        text = "".join(c for c in " ".join(text.split()) if c.isprintable())
        return (text.replace(self._secret, "***") if self._secret else text)[:_SHOWN]


def _checked(url: str, setting: str, *, secret: bool) -> str:
    if "@" in url.partition("://")[2].partition("/")[0]:
        raise SettingError(
            f"{setting} holds a user name or password, which would reach logs; take it out"
        )
    with contextlib.suppress(ValueError):  # "https://[" and such
        parts = urlsplit(url)
        clear = parts.scheme == "http" and not (secret and not is_loopback(parts.hostname or ""))
        if parts.hostname and (clear or parts.scheme == "https"):
            return url
    why = "give an https URL, since the key goes with each request"
    if not secret:
        why = "give an http or https URL"
    raise SettingError(f"{setting} = {url!r} cannot be used: {why}")
