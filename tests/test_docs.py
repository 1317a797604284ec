"""The reference pages say what the code says, and nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from focusspider import stats
from focusspider.config import SETTINGS
from focusspider.errors import TopicError
from focusspider.stats import STATS
from focusspider.topic import ARGUMENTS, Topic
from focusspider.topicvalues import TABLES, TOP_KEYS

ROOT = Path(__file__).resolve().parents[1]
TOPIC_FILE = ROOT / "docs/topic-file.md"
ROW = re.compile(r"^\| `.*$", re.MULTILINE)


def rows(path):
    return ROW.findall((ROOT / path).read_text(encoding="utf-8"))


def blocks(path, language):
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def setting_row(setting):
    default = setting.default
    if isinstance(default, tuple | Path):
        default = list(default) if isinstance(default, tuple) else str(default)
    value = setting.kind.expects + (f" ({setting.unit})" if setting.unit else "")
    return f"| `{setting.name}` | {value} | `{default!r}` | {setting.meaning} |"


def stat_rows(stat):
    lines = [f"| `{stat.key}` | {stat.meaning} | {stat.advice} |"]
    for reason, meaning in stat.reasons.items():
        lines.append(f"| `{stat.key}/{reason}` | {meaning} | |")
    return [line.replace("|  |", "| |") for line in lines]


def test_every_setting_is_documented_as_it_is():
    assert rows("docs/reference/settings.md") == [setting_row(setting) for setting in SETTINGS]


def test_every_stat_is_documented_as_it_is():
    assert rows("docs/reference/stats.md") == [row for stat in STATS for row in stat_rows(stat)]


@pytest.mark.parametrize(
    "path", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]), ids=lambda path: path.name
)
def test_no_page_names_a_setting_or_stat_that_does_not_exist(path):
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"\bFOCUS_[A-Z_]+[A-Z]", text)) <= {setting.name for setting in SETTINGS}
    stats = {stat.key for stat in STATS} | {
        f"{stat.key}/{reason}" for stat in STATS for reason in stat.reasons
    }
    assert set(re.findall(r"`(focus/[a-z_/]+)`", text)) <= stats


def code():
    paths = (ROOT / "focusspider").rglob("*.py")
    return "\n".join(
        path.read_text(encoding="utf-8")
        for path in paths
        if path.name not in {"config.py", "stats.py"}
    )


def test_every_setting_is_read():
    names = {setting.name: setting.name.removeprefix("FOCUS_").lower() for setting in SETTINGS}
    read = set(re.findall(r"\bconfig\.(\w+)", code()))
    assert [setting for setting, name in names.items() if name not in read] == []


def test_every_stat_and_reason_is_counted():
    used = code()
    constants = {value: name for name, value in vars(stats).items() if isinstance(value, str)}
    counted = set(re.findall(r"\bstats\.([A-Z_]+)", used))
    keys = [stat.key for stat in STATS if constants[stat.key] not in counted]
    reasons = [
        f"{stat.key}/{reason}"
        for stat in STATS
        for reason in stat.reasons
        if f'"{reason}"' not in used
    ]
    assert keys + reasons == []


def test_every_key_and_argument_of_a_topic_is_documented():
    text = TOPIC_FILE.read_text(encoding="utf-8")
    found = re.findall(r"^\| `([a-z_.]+)` \| `([a-z_]+)` \|", text, re.MULTILINE)
    assert dict(found) == {key: argument for argument, key in ARGUMENTS.items()}


@pytest.mark.parametrize("block", blocks(TOPIC_FILE, "toml"))
def test_the_topics_in_the_docs_load(block, tmp_path):
    path = tmp_path / "t.toml"
    path.write_text(block, encoding="utf-8")
    assert Topic.from_toml(path).seeds


def test_the_messages_in_the_docs_are_the_real_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("topics").mkdir()
    good = blocks(TOPIC_FILE, "toml")[0]
    wrong = [
        ("tides", 'keyword = ["tide"]', {}),
        ("tides", good.replace("https://www.example.org/harbours/", "www.example.org"), {}),
        ("tides", 'targets = ["tide.html"]\n' + good, {}),
        ("tides", good.replace("1000", "0"), {}),
        ("tides", good, {"threshold": "1.5"}),
        ("tide", good, {}),
    ]
    messages = []
    for name, text, arguments in wrong:
        Path("topics/tides.toml").write_text(text, encoding="utf-8")
        with pytest.raises(TopicError) as caught:
            Topic.load(name, arguments=arguments)
        messages.append(str(caught.value).replace(str(tmp_path), "/home/me"))
    assert blocks(TOPIC_FILE, "text")[0].splitlines() == messages


EXAMPLES = sorted((ROOT / "topics").rglob("*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_topic_loads(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    name = path.relative_to(ROOT / "topics").with_suffix("")
    topic = Topic.load(name.as_posix())
    assert topic.source == f"topics/{name}.toml"
    assert topic.limits.pages


def test_one_example_has_every_key():
    path = ROOT / "topics/examples/every-key.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    assert tuple(table) == TOP_KEYS
    for key, known in TABLES.items():
        assert set(known) <= set(table[key])
