from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest
from scrapy.settings import Settings

from focusspider.config import SETTINGS, FocusConfig, is_folder_name
from focusspider.errors import SettingError


def read(**settings):
    return FocusConfig.from_settings(Settings(settings))


def test_defaults():
    config = read()
    assert config == FocusConfig()
    assert config.topic is None
    assert config.frontier_max == 1_000_000
    assert config.replay == ()
    assert config.exports_dir == Path("exports")


def test_the_table_has_each_field_once():
    names = [setting.name for setting in SETTINGS]
    assert names == [f"FOCUS_{field.name.upper()}" for field in fields(FocusConfig)]
    for setting in SETTINGS:
        assert setting.meaning.endswith(".")


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("FOCUS_FRONTIER_MAX", 5, 5),
        ("FOCUS_FRONTIER_MAX", "5", 5),
        ("FOCUS_FRONTIER_MAX", "1_000", 1000),
        ("FOCUS_SEED", "0", 0),
        ("FOCUS_FRONTIER_HOST_SHARE", "0.25", 0.25),
        ("FOCUS_FRONTIER_HOST_SHARE", 1, 1.0),
        ("FOCUS_EXPORT_BODY", True, True),
        ("FOCUS_EXPORT_BODY", "True", True),
        ("FOCUS_EXPORT_BODY", "true", True),
        ("FOCUS_EXPORT_BODY", "1", True),
        ("FOCUS_EXPORT_BODY", "0", False),
        ("FOCUS_CRAWL_LOG_TIMES", "False", False),
        ("FOCUS_CRAWL_LOG_TIMES", None, True),
        ("FOCUS_STRATEGY_PARAMS", {"alpha": 0.5}, {"alpha": 0.5}),
        ("FOCUS_STRATEGY_PARAMS", '{"alpha": 0.5}', {"alpha": 0.5}),
        ("FOCUS_REPLAY", "a.warc.gz", ("a.warc.gz",)),
        ("FOCUS_REPLAY", "a, b.warc", ("a, b.warc",)),
        ("FOCUS_REPLAY", '["a.warc", "b.warc"]', ("a.warc", "b.warc")),
        ("FOCUS_REPLAY", [Path("a.warc"), "b.warc"], ("a.warc", "b.warc")),
        ("FOCUS_REPLAY", "", ()),
        ("FOCUS_REPLAY_MISSING", "dns", "dns"),
        ("FOCUS_REPLAY_MISSING", 404, "404"),
        ("FOCUS_EXPORTS_DIR", "out/x", Path("out/x")),
        ("FOCUS_TOPIC", "", None),
        ("FOCUS_TOPIC", " robots ", "robots"),
        ("FOCUS_RUN", "run-1", "run-1"),
        ("FOCUS_EXPORT", "all", "all"),
    ],
)
def test_values(name, given, expected):
    value = getattr(read(**{name: given}), name.removeprefix("FOCUS_").lower())
    assert value == expected
    assert type(value) is type(expected)


WHOLE = "a whole number of 1 or more"
SHARE = "a number above 0 and up to 1"
PATHS = "a path or a list of paths (JSON on the command line)"


@pytest.mark.parametrize(
    ("name", "given", "shown", "remedy"),
    [
        ("FRONTIER_MAX", "many", "'many'", f"{WHOLE}, or leave it out; the default is 1000000"),
        ("FRONTIER_MAX", 0, "0", f"{WHOLE}, or leave it out; the default is 1000000"),
        ("MAX_LINKS", 2.5, "2.5", f"{WHOLE}, or leave it out; the default is 10000"),
        ("MAX_LINKS", True, "True", f"{WHOLE}, or leave it out; the default is 10000"),
        ("SEED", "-1", "'-1'", "a whole number of 0 or more, or leave it out; the default is 0"),
        ("FRONTIER_HOST_SHARE", "nan", "'nan'", f"{SHARE}, or leave it out; the default is 1.0"),
        ("FRONTIER_HOST_SHARE", 1.5, "1.5", f"{SHARE}, or leave it out; the default is 1.0"),
        ("FRONTIER_HOST_SHARE", 0, "0", f"{SHARE}, or leave it out; the default is 1.0"),
        ("EXPORT_BODY", "yes", "'yes'", "True or False, or leave it out; the default is False"),
        ("EXPORT_BODY", 2, "2", "True or False, or leave it out; the default is False"),
        (
            "EXPORT",
            "none",
            "'none'",
            "one of 'relevant', 'all', or leave it out; the default is 'relevant'",
        ),
        (
            "REPLAY_MISSING",
            ["404"],
            "['404']",
            "one of '404', 'dns', 'refuse', or leave it out; the default is '404'",
        ),
        (
            "STRATEGY_PARAMS",
            "alpha=0.5",
            "'alpha=0.5'",
            "a dictionary (a JSON object on the command line), or leave it out",
        ),
        ("REPLAY", '["a.warc",', "'[\"a.warc\",'", f"{PATHS}, or leave it out"),
        ("REPLAY", ["a.warc", 3], "['a.warc', 3]", f"{PATHS}, or leave it out"),
        (
            "RUN",
            "../run",
            "'../run'",
            "a name that a folder can have: letters, digits, - _ . +, or leave it out",
        ),
        ("TOPICS_DIR", "", "''", "a path, or leave it out; the default is 'topics'"),
        ("TOPIC", 17, "17", "a text that is not empty, or leave it out"),
        ("TOPIC", "a\0", "'a\\x00'", "a text that is not empty, or leave it out"),
    ],
)
def test_wrong_values(name, given, shown, remedy):
    with pytest.raises(SettingError) as caught:
        read(**{f"FOCUS_{name}": given})
    assert str(caught.value) == f"FOCUS_{name} = {shown} cannot be used: give {remedy}"


def test_a_long_wrong_value_is_shortened():
    with pytest.raises(SettingError) as caught:
        read(FOCUS_EXPORT="x" * 10_000)
    assert len(str(caught.value)) < 250


def test_an_unknown_name_is_an_error_with_the_nearest_known_one():
    with pytest.raises(SettingError) as caught:
        read(FOCUS_FRONTER_MAX=3)
    assert str(caught.value) == (
        "FOCUS_FRONTER_MAX is not a setting (did you mean 'FOCUS_FRONTIER_MAX'?); "
        f"mend the name or take it out. Known: {', '.join(s.name for s in SETTINGS)}"
    )


def test_other_settings_are_left_alone():
    assert read(FOCUSED=1, DOWNLOAD_DELAY=3) == FocusConfig()


def test_frozen():
    with pytest.raises(FrozenInstanceError):
        read().seed = 3


def test_to_dict_is_json_safe_and_reads_back():
    config = read(FOCUS_REPLAY=["a", "b"], FOCUS_EXPORTS_DIR="out", FOCUS_SEED=3)
    written = json.loads(json.dumps(config.to_dict()))
    assert set(written) == {setting.name for setting in SETTINGS}
    assert FocusConfig.from_settings(Settings(written)) == config


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a", True),
        ("2026-11-27T10.00", True),
        ("日本", True),
        ("x" * 200, True),
        ("x" * 201, False),
        ("", False),
        (".", False),
        (".hidden", False),
        ("-rf", False),
        ("a.", False),
        ("a/b", False),
        ("a\\b", False),
        ("a b", False),
        ("a\0", False),
        ("a\n", False),
    ],
)
def test_folder_names(name, safe):
    assert is_folder_name(name) is safe


def test_a_key_is_told_to_nobody() -> None:
    config = FocusConfig.from_settings(Settings({"FOCUS_BACKLINKS_KEY": "secret-word"}))
    assert config.backlinks_key == "secret-word"
    assert "secret-word" not in repr(config)
    assert config.to_dict()["FOCUS_BACKLINKS_KEY"] == "***"
    assert FocusConfig().to_dict()["FOCUS_BACKLINKS_KEY"] is None
    with pytest.raises(
        SettingError, match=r"FOCUS_BACKLINKS_KEY = \*\*\* cannot be used"
    ) as caught:
        FocusConfig.from_settings(Settings({"FOCUS_BACKLINKS_KEY": ["secret-word"]}))
    assert "secret" not in str(caught.value)
