"""Files inside packages, named ``package:NAME/PATH``, also where the package is a zipped egg.

A Scrapyd node runs a project from an egg, which it does not unpack, in a folder that has
nothing to do with the project. What a topic needs (pages, labels, texts, models) is found there
by the package that holds it: ``package:shop/topics/clocks.toml`` is ``topics/clocks.toml`` in
the package ``shop``. What is in an egg is copied into a folder of this process, which goes with
it, so that everything else reads ordinary files.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from focusspider.errors import ResourceError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["PREFIX", "is_packaged", "located", "readable", "shown"]

PREFIX = "package:"


def is_packaged(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is that of a file or folder in a package.

    >>> is_packaged("package:shop/topics"), is_packaged("topics")
    (True, False)
    """
    return os.fspath(path).startswith(PREFIX)


def located(path: str | os.PathLike[str], base_dir: str | os.PathLike[str] | None = None) -> Path:
    """Return where a file or folder can be read.

    A path that is not in a package is relative to ``base_dir``; None is the working directory.

    What is not in the package is a path that does not exist, as elsewhere. A folder of an egg
    is copied whole. Raises :class:`~focusspider.errors.ResourceError` where there is no such
    package, or the path leads out of it.
    """
    if not is_packaged(path):
        return Path(base_dir or ".", path)
    name, _, inner = os.fspath(path).removeprefix(PREFIX).partition("/")
    parts = PurePosixPath(inner).parts
    if not all(part.isidentifier() for part in name.split(".")) or {"/", ".."} & {*parts}:
        raise ResourceError(
            f"{path}: not the path of a file in a package; write package:NAME/PATH, such as "
            "package:shop/topics/clocks.toml"
        )
    found = _in_package(name, parts, str(path))
    return found if isinstance(found, Path) else _copied(name, parts)


def shown(path: str | os.PathLike[str]) -> str:
    """Return what a path is called: the copy of a file in an egg by its package."""
    return readable(os.fspath(path))


def readable(message: str) -> str:
    """Return a message with copies of files in eggs called by their packages."""
    if not _copies.cache_info().currsize:
        return message
    return message.replace(f"{_copies()}{os.sep}", PREFIX)


def _in_package(name: str, parts: tuple[str, ...], path: str) -> Traversable:
    """Return a file or folder of a package, which need not be there."""
    try:
        found = files(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the package is there, and lacks another
        raise ResourceError(
            f"{path}: there is no package {name!r}; mend the name, or put the package into the "
            "project's egg"
        ) from None
    except TypeError:
        raise ResourceError(f"{path}: {name!r} is a module, and no package with files") from None
    for part in parts:
        found = found.joinpath(part)
    return found


@cache
def _copied(name: str, parts: tuple[str, ...]) -> Path:
    """Return the copy of what is in an egg, made with the first call."""
    copy = _copies().joinpath(name, *parts)
    _copy(_in_package(name, parts, name), copy)
    return copy


@cache
def _copies() -> Path:
    """Return the folder of the copies, which is removed when the process ends."""
    folder = tempfile.mkdtemp(prefix="focusspider-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _copy(source: Traversable, target: Path) -> None:
    if source.is_file():
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    elif source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        for child in source.iterdir():
            _copy(child, target / child.name)
