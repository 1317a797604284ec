"""Files of packages, in folders and in zipped eggs."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from focusspider.errors import ResourceError, TopicError
from focusspider.resources import located, readable, shown
from focusspider.topic import Topic

TOPIC = 'keywords = ["clock"]\nseeds = ["https://example.org/"]\ntargets = ["pages/one.html"]\n'


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a folder that has the package ``loose``, and an egg with the package ``zipped``."""
    folder = tmp_path_factory.mktemp("packages")
    for name in ("loose", "zipped", "plain"):
        (folder / name / "topics/pages").mkdir(parents=True)
        (folder / name / "__init__.py").touch()
        (folder / name / "code.py").touch()
        (folder / name / "broken.py").write_text("import not_installed_anywhere\n")
        (folder / name / "topics/clocks.toml").write_text(TOPIC)
        (folder / name / "topics/pages/one.html").write_text("<p>a clock")
        seeds = "https://example.org/1\nhttps://example.org/2\n"
        (folder / name / "topics/seeds.txt").write_text(seeds)
    egg = folder / "project.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        for path in sorted((folder / "zipped").rglob("*")):
            if path.is_file():  # as setuptools writes them: folders have no entries
                archive.write(path, path.relative_to(folder))
    (folder / "zipped").rename(folder / "elsewhere")
    (folder / "plain/__init__.py").unlink()
    return folder, egg


@pytest.fixture(autouse=True)
def on_path(packages: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    for path in packages:
        monkeypatch.syspath_prepend(str(path))


def test_other_paths_are_themselves() -> None:
    assert located("topics/a.toml") == Path("topics/a.toml")
    assert shown("/home/me/a.toml") == "/home/me/a.toml"


def test_a_package_that_is_a_folder_is_read_where_it_is(packages: tuple[Path, Path]) -> None:
    found = located("package:loose/topics")
    assert found == packages[0] / "loose/topics"
    assert located(Path("package:loose")) == packages[0] / "loose"
    assert not located("package:loose/models").exists()


def test_a_folder_without_init_is_a_package_too(packages: tuple[Path, Path]) -> None:
    assert located("package:elsewhere/topics/pages") == packages[0] / "elsewhere/topics/pages"
    assert Topic.load("package:plain/topics/clocks.toml").keywords == ("clock",)
    assert (located("package:plain") / "topics/clocks.toml").read_text() == TOPIC


def test_a_folder_of_an_egg_is_copied_whole() -> None:
    assert located("package:zipped/topics/pages/one.html").is_file(), "and not without the rest"
    found = located("package:zipped/topics")
    assert (found / "pages/one.html").read_text() == "<p>a clock"
    assert located("package:zipped/topics/clocks.toml").read_text() == TOPIC
    assert located(Path("package:zipped/topics")) == found
    assert shown(found / "pages") == "package:zipped/topics/pages"
    assert readable(f"{found}/x: mend it") == "package:zipped/topics/x: mend it"
    missing = located("package:zipped/models/clocks")
    assert not missing.exists()
    assert shown(missing) == "package:zipped/models/clocks"


@pytest.mark.parametrize("name", ["loose", "zipped"])
def test_topics(name: str, packages: tuple[Path, Path]) -> None:
    """By a path, and by a name in the folder of topics, with the files beside it."""
    by_path = Topic.load(f"package:{name}/topics/clocks.toml")
    assert by_path == Topic.load("clocks", f"package:{name}/topics")
    assert by_path.target_files[0].read_text() == "<p>a clock"
    told = by_path.to_dict()
    if name == "zipped":
        assert told["source"] == "package:zipped/topics/clocks.toml"
        assert told["targets"] == ["package:zipped/topics/pages/one.html"]
    else:
        assert told["targets"] == [str(packages[0] / "loose/topics/pages/one.html")]


def test_what_a_topic_names_may_be_in_a_package_too(packages: tuple[Path, Path]) -> None:
    """For topics that have no file: inline ones, and those of a spider's class."""
    page = "package:zipped/topics/pages/one.html"
    topic = Topic.from_table({"seeds": ["https://example.org/"], "targets": [page]})
    assert topic.target_files[0].read_text() == "<p>a clock"
    assert topic.to_dict()["targets"] == [page]
    assert located(page, "anywhere") == topic.target_files[0]
    assert located("pages/one.html", packages[0]) == packages[0] / "pages/one.html"
    with pytest.raises(TopicError, match="is no file"):
        Topic.from_table({"seeds": ["https://example.org/"], "targets": [f"{page}x"]})
    listed = Topic.from_arguments(keywords="clock", seeds="package:zipped/topics/seeds.txt")
    assert listed.seeds == ("https://example.org/1", "https://example.org/2")
    with pytest.raises(TopicError, match="is no list of URLs"):
        Topic.from_arguments(keywords="clock", seeds="package:zipped/topics/none.txt")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("package:nowhere/topics", "there is no package 'nowhere'; mend the name, or put"),
        ("package:loose.nowhere/topics", "there is no package 'loose.nowhere'"),
        ("package:loose.code/topics", "'loose.code' is a module, and no package with files"),
        ("package:", "write package:NAME/PATH"),
        ("package:/etc/passwd", "write package:NAME/PATH"),
        ("package:loose//etc/passwd", "write package:NAME/PATH"),
        ("package:loose/../secret", "write package:NAME/PATH"),
        ("package:loose/topics/../../secret", "write package:NAME/PATH"),
        ("package:lo-ose/topics", "write package:NAME/PATH"),
        ("package:..loose/topics", "write package:NAME/PATH"),
    ],
)
def test_wrong_paths(path: str, message: str) -> None:
    with pytest.raises(ResourceError) as caught:
        located(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(path)


def test_a_package_that_lacks_another_says_so() -> None:
    with pytest.raises(ModuleNotFoundError, match="not_installed_anywhere"):
        located("package:loose.broken/topics")


def test_the_copies_go_with_the_process(packages: tuple[Path, Path]) -> None:
    code = (
        "from focusspider.resources import located; print(located('package:zipped/topics'), end='')"
    )
    paths = os.pathsep.join([str(packages[1]), str(Path(__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.endswith("/zipped/topics")
    assert done.stderr == ""
    assert not Path(done.stdout).parents[1].exists()
