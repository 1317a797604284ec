"""From names and parameters to parts: what is refused, and what the message says."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from focusspider.errors import FocusError, SettingError, TopicError
from focusspider.registry import (
    build,
    check_choice,
    check_flag,
    check_share,
    check_texts,
    find,
    import_object,
    parameters,
)


class Part:
    def __init__(self, *, size: int, name: str = "x", base_dir: str | None = None) -> None:
        if size < 0:
            raise ValueError(f"size must be 0 or more, got {size}")
        if size > 100:
            raise TopicError(f"{name}: is too small for {size}")
        self.values = (size, name, base_dir)


def made(params: dict[str, Any], **given: Any) -> Part:
    return build(
        Part, params, label="part 'p'", error=lambda text: FocusError(f"x: {text}"), given=given
    )


def test_parameters_are_those_of_the_signature() -> None:
    assert list(parameters(Part)) == ["size", "name", "base_dir"]
    assert list(parameters(lambda *args, a, **more: None)) == ["a"]


def test_what_is_given_is_passed_where_it_is_taken() -> None:
    assert made({"size": 1}).values == (1, "x", None)
    assert made({"size": 1, "name": "y"}, base_dir="z", other=3).values == (1, "y", "z")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "x: part 'p' needs the parameter 'size'; its parameters: size, name"),
        (
            {"size": 1, "nam": "y"},
            "x: part 'p' has no parameter 'nam' (did you mean 'name'?); its parameters: size, name",
        ),
        (
            {"size": 1, "base_dir": "y"},
            "x: part 'p' has no parameter 'base_dir'; its parameters: size, name",
        ),
        ({"size": -1}, "x: part 'p': size must be 0 or more, got -1"),
        ({"size": 101, "name": "f.csv"}, "x: f.csv: is too small for 101"),
    ],
)
def test_wrong_parameters(params: dict[str, Any], message: str) -> None:
    with pytest.raises(FocusError) as caught:
        made(params, base_dir="z")
    assert str(caught.value) == message


def test_a_class_by_its_path_with_a_colon_and_no_dot() -> None:
    found = find(
        "shape", {}, "fractions:Fraction", methods=["limit_denominator"], error=SettingError
    )
    assert found is Fraction


def test_an_object_by_its_path() -> None:
    assert import_object("collections.abc.Mapping") is import_object("collections.abc:Mapping")


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("no_such_module.x", "there is no module 'no_such_module'"),
        ("collections.no_such", "module 'collections' has no attribute 'no_such'"),
        ("collections:no_such", "module 'collections' has no attribute 'no_such'"),
        ("a b.c", "it is not of the form package.module:name"),
        ("", "it is not of the form package.module:name"),
        (".x", "it is not of the form package.module:name"),
    ],
)
def test_a_path_that_leads_nowhere(path: str, says: str) -> None:
    with pytest.raises(ValueError, match=r"cannot be imported: .*; mend the path") as caught:
        import_object(path)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (check_share, [0, 1, 0.5], [-0.1, 1.1, float("nan"), "1", True, None, [0.5]]),
        (check_flag, [True, False], [0, 1, "true", None]),
        (check_texts, [[], ["a"], ("a", "b")], ["a", [""], [" "], [1], None, {"a"}]),
        (
            lambda name, value: check_choice(name, value, ("a", "b")),
            ["a", "b"],
            ["c", "", None, 1, ["a"]],
        ),
    ],
)
def test_checks(check: Any, right: list[Any], wrong: list[Any]) -> None:
    for value in right:
        check("param", value)
    for value in wrong:
        with pytest.raises(ValueError, match=r"^param must be ") as caught:
            check("param", value)
        assert f"got {value!r}" in str(caught.value)
