"""Models by URL: fetched once, kept in a folder, and never read unless their checksum is right."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from focusspider.errors import ModelFileError
from focusspider.models.archive import MAX_SIZE
from focusspider.topicvalues import url_problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO

__all__ = ["fetched_model", "with_fetched_model"]

_FRAGMENT = re.compile(r"sha256=([0-9a-fA-F]{64})")
_TIMEOUT = 60.0  # seconds without an answer
_CHUNK = 1_000_000  # bytes


def with_fetched_model(
    params: Mapping[str, Any], cache_dir: Path | None, *, where: str
) -> dict[str, Any]:
    """Return a strategy's parameters with the file of a ``model`` that is given by URL.

    ``where`` says where the user wrote them, for messages.
    """
    model = params.get("model")
    if not isinstance(model, str) or not model.lower().startswith(("http://", "https://")):
        return dict(params)
    try:
        return {**params, "model": str(fetched_model(model, cache_dir))}
    except ModelFileError as error:
        raise ModelFileError(f"{where}: model: {error}") from None


def fetched_model(url: str, cache_dir: Path | None = None) -> Path:
    """Return the file of a model at ``https://HOST/PATH#sha256=HEX``.

    What is in the cache is fetched no more, and checked each time: a file that has been
    damaged is fetched again.

    Parameters
    ----------
    cache_dir
        None: ``focusspider`` in the user's folder of caches (``XDG_CACHE_HOME``, ``~/.cache``).

    Raises
    ------
    ModelFileError
        Where the URL has no checksum, the model does not come, is too large, or is another
        one than the checksum's.
    """
    address, _, fragment = url.partition("#")
    name = _without_query(address)
    checksum = _FRAGMENT.fullmatch(fragment)
    if checksum is None:
        raise ModelFileError(
            f"{name}: a model that is fetched needs its checksum; write {name}#sha256=HEX with "
            "the 64 digits that 'sha256sum FILE' prints"
        )
    wanted = checksum[1].lower()
    folder = _default_cache() if cache_dir is None else cache_dir
    path = folder / "models" / f"{wanted}.npz"
    if _is_sound(path, wanted):
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    except OSError as error:
        raise ModelFileError(
            f"{name}: cannot be kept in {path.parent}: {error.strerror}; set FOCUS_CACHE_DIR"
        ) from None
    try:
        with os.fdopen(handle, "wb") as file:
            found = _download(address, name, file)
        if found != wanted:
            raise ModelFileError(
                f"{name}: its sha256 is {found}, and {wanted} is asked for, so it was not read; "
                "mend the checksum if this is the model that you want"
            )
        Path(draft).chmod(0o644)
        Path(draft).replace(path)
    finally:
        Path(draft).unlink(missing_ok=True)
    return path


def _download(address: str, name: str, file: IO[bytes]) -> str:
    """Write what is at an address into a file, and return its sha256."""
    opener = urllib.request.OpenerDirector()  # one without files and FTP, also for redirects
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    digest, size = hashlib.sha256(), 0
    try:
        with opener.open(address, timeout=_TIMEOUT) as answer:
            promised = answer.headers.get("Content-Length")
            while chunk := answer.read(_CHUNK):
                size += len(chunk)
                if size > MAX_SIZE:
                    raise ModelFileError(f"{name}: larger than a model may be, {MAX_SIZE} bytes")
                digest.update(chunk)
                file.write(chunk)
        if promised is not None and promised != str(size):
            raise http.client.IncompleteRead(b"", int(promised) - size)
    except (OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, ModelFileError):
            raise
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        status = getattr(error, "code", None)
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        raise ModelFileError(
            f"{name}: cannot be fetched: {f'{status} ' if status else ''}{reason}; try again, "
            "or fetch it yourself and give the path of the file"
        ) from None
    return digest.hexdigest()


def _is_sound(path: Path, wanted: str) -> bool:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError:
        return False
    return digest.hexdigest() == wanted


def _without_query(address: str) -> str:
    """Return an address as messages show it; ``ModelFileError`` where it is none."""
    if problem := url_problem(address):
        raise ModelFileError(f"the address of the model {problem}")
    return urlsplit(address)._replace(query="").geturl()


def _default_cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "focusspider"
