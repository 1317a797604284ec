"""Where the browser is that shows pages, how it is started, and that it is on this machine."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from focusspider.errors import SettingError
from focusspider.urls import is_loopback

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "LAUNCH_ARGS",
    "check_endpoint",
    "find_chromium",
    "has_display",
    "launch_options",
]

_NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "microsoft-edge", "brave-browser",
)  # fmt: skip
#: It is the person who browses, not the browser.
LAUNCH_ARGS = (
    "--component-updater=url-source=http://127.0.0.1:9/",  # it asks all the same when disabled
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--no-first-run",
)


def find_chromium(given: Path | None, bundled: str) -> str:
    """Return the path of a Chromium.

    ``given`` is that of ``FOCUS_CHROMIUM``; else it is the first that is on the ``PATH``, else
    ``bundled``, Playwright's own. Raises SettingError where there is none.
    """
    if given is not None:
        found = shutil.which(given)
        if found is None:
            raise SettingError(
                f"FOCUS_CHROMIUM = {str(given)!r}: there is no program of that name; mend the "
                "path, or leave it out"
            )
        return found
    for name in _NAMES:
        found = shutil.which(name)
        if found is not None:
            return found
    if Path(bundled).is_file():
        return bundled
    raise SettingError(
        "there is no Chromium: install one (Debian: apt-get install chromium; anywhere: "
        "python -m playwright install chromium), or set FOCUS_CHROMIUM to its path"
    )


def launch_options(path: str, arguments: Sequence[str] = LAUNCH_ARGS) -> dict[str, Any]:
    """Return what Playwright is to start a Chromium with, but for its window."""
    return {
        "executable_path": path,
        "args": list(arguments),
        # Its superuser is the one person whom Chromium's sandbox does not work for.
        "chromium_sandbox": not _is_superuser(),
        "handle_sigint": False,
    }


def _is_superuser() -> bool:
    """Return whether the process may do everything."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def has_display() -> bool:
    """Return whether a window can be opened."""
    if sys.platform in {"win32", "darwin"}:
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def check_endpoint(endpoint: str, *, remote: bool) -> None:
    """Refuse what is no DevTools endpoint, or, unless ``remote``, is on another machine.

    Whoever reads the connection sees all that the browser does, cookies and passwords too.
    """
    try:
        parts = urlsplit(endpoint)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.scheme not in {"http", "https", "ws", "wss"} or not host:
        raise SettingError(
            f"--cdp {endpoint!r}: give the address of a Chromium that was started with "
            "--remote-debugging-port, such as http://127.0.0.1:9222"
        )
    if not remote and not is_loopback(host):
        raise SettingError(
            f"--cdp {endpoint}: {host} is not this machine, and the connection would show all "
            "that is typed there; forward its port to 127.0.0.1, or add --remote"
        )
