"""From a name and parameters that a user wrote to a part: every mistake is one clear error.

A registry is a dict from name to class. A part's constructor takes its parameters by
keyword, checks them, and raises ``ValueError`` with the value; what it takes is read from
its signature, so that there is no second list to keep.
"""

from __future__ import annotations

import inspect
import numbers
import pkgutil
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from focusspider.errors import FocusError, UnknownNameError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "build",
    "check_choice",
    "check_flag",
    "check_number",
    "check_share",
    "check_texts",
    "check_whole",
    "find",
    "import_object",
    "parameters",
]

T = TypeVar("T")
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def parameters(part: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a class or function by name, in their order."""
    return {
        name: parameter
        for name, parameter in inspect.signature(part).parameters.items()
        if parameter.kind not in _VARIADIC
    }


def find(
    kind: str,
    registry: Mapping[str, type[T]],
    name: str,
    *,
    methods: Sequence[str],
    error: Callable[[str], FocusError],
    where: str = "",
) -> type[T]:
    """Return the class of a name, or of an import path, which has a dot or a colon.

    Parameters
    ----------
    kind
        What the registry holds, for messages, such as ``"strategy"``.
    methods
        What an imported class must have.
    """
    if name in registry:
        return registry[name]
    if not isinstance(name, str) or not {".", ":"} & {*name}:
        raise UnknownNameError(kind, name, registry, where=where)
    try:
        found = import_object(name)
    except ValueError as wrong:
        raise error(f"{kind} {wrong}; known: {', '.join(registry)}") from wrong.__cause__
    lacking = [method for method in methods if not hasattr(found, method)]
    if not isinstance(found, type) or lacking:
        lacks = f"lacks {', '.join(lacking)}" if isinstance(found, type) else "is no class"
        raise error(f"{kind} {name!r} {lacks}; give a class with {', '.join(methods)}")
    return found


def build(
    part: Callable[..., T],
    params: Mapping[str, Any],
    *,
    label: str,
    error: Callable[[str], FocusError],
    given: Mapping[str, Any] | None = None,
) -> T:
    """Call a class with a user's parameters.

    Parameters
    ----------
    label
        What is built, for messages, such as ``"strategy 'dom'"``.
    error
        Makes the error of a message; it adds where the parameters are written.
    given
        Arguments that are not the user's to set: passed where the class has them, and
        not listed among its parameters.
    """
    given = given or {}
    takes = parameters(part)
    known = [name for name in takes if name not in given]
    listed = ", ".join(known) or "none"
    for name in params:
        if name not in known:
            raise error(
                f"{label} has no parameter {name!r}{nearest(str(name), known)}; "
                f"its parameters: {listed}"
            )
    arguments = dict(params) | {name: value for name, value in given.items() if name in takes}
    for name, parameter in takes.items():
        if parameter.default is parameter.empty and name not in arguments:
            raise error(f"{label} needs the parameter {name!r}; its parameters: {listed}")
    try:
        return part(**arguments)
    except FocusError as wrong:
        raise error(str(wrong)) from wrong.__cause__
    except ValueError as wrong:
        raise error(f"{label}: {wrong}") from None


def import_object(path: str) -> Any:
    """Import ``package.module:name`` or ``package.module.name``.

    Raises ``ValueError`` where there is no such thing. An error inside the module itself
    is the module's own, and passes through.
    """
    try:
        return pkgutil.resolve_name(path)
    except ModuleNotFoundError as missing:
        reason = f"there is no module {missing.name!r}"
    except AttributeError as missing:
        reason = f"{missing}"
    except ValueError:
        reason = "it is not of the form package.module:name"
    raise ValueError(
        f"{path!r} cannot be imported: {reason}; mend the path, or put the module where "
        f"Python finds it"
    )


def check_share(name: str, value: object) -> None:
    """Raise ``ValueError`` unless a parameter is a number in [0, 1]."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:  # type: ignore[operator]
        raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}")


def check_number(name: str, value: object, least: float = 0.0, most: float = inf) -> None:
    """Raise ``ValueError`` unless a parameter is a finite number within its bounds."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not least <= value <= most or value == inf:  # type: ignore[operator]
        bounds = f"of at least {least:g}" if most == inf else f"from {least:g} to {most:g}"
        raise ValueError(f"{name} must be a number {bounds}, got {value!r}")


def check_whole(name: str, value: object, least: int = 1) -> None:
    """Raise ``ValueError`` unless a parameter is a whole number, and not below the least."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < least:  # type: ignore[operator]
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


def check_texts(name: str, values: object) -> None:
    """Raise ``ValueError`` unless a parameter is a list of texts that are not blank."""
    if isinstance(values, list | tuple) and all(isinstance(v, str) and v.strip() for v in values):
        return
    remedy = f"; write {name} = [{values!r}]" if isinstance(values, str) and values else ""
    raise ValueError(f"{name} must be a list of texts, got {values!r}{remedy}")


def check_flag(name: str, value: object) -> None:
    """Raise ``ValueError`` unless a parameter is True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {value!r}")


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise ``ValueError`` unless a parameter is one of its choices."""
    if value not in choices:
        raise ValueError(
            f"{name} must be one of {', '.join(choices)}, got {value!r}"
            f"{nearest(str(value), choices)}"
        )
