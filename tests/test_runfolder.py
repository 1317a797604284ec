from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from focusspider.errors import SettingError
from focusspider.runfolder import RunFolder, utc_stamp

if TYPE_CHECKING:
    from pathlib import Path


def test_two_runs_of_one_second_have_two_folders(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("focusspider.runfolder.utc_stamp", lambda: "20261127T101500Z")
    names = []
    for _ in range(3):
        folder = RunFolder.make(tmp_path, "clocks")
        folder.close()
        names.append(folder.path.name)
    assert names == ["20261127T101500Z", "20261127T101500Z-2", "20261127T101500Z-3"]


def test_a_job_names_its_run_and_one_that_is_scheduled_again_the_next(tmp_path: Path) -> None:
    names = []
    for run in (None, None, "named"):
        folder = RunFolder.make(tmp_path, "clocks", run, job="6487ec79")
        folder.close()
        names.append(folder.path.name)
    assert names == ["6487ec79", "6487ec79-2", "named"]
    with pytest.raises(SettingError, match=r"_job='\.\./up': not a name for a folder"):
        RunFolder.make(tmp_path, "clocks", job="../up")


def test_a_named_run_never_overwrites(tmp_path: Path) -> None:
    RunFolder.make(tmp_path, "clocks", "first").close()
    with pytest.raises(SettingError, match=r"FOCUS_RUN='first': .*/clocks/first is there already"):
        RunFolder.make(tmp_path, "clocks", "first")


def test_exports_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingError, match="FOCUS_EXPORTS_DIR="):
        RunFolder.make(tmp_path / "file", "clocks")


def test_the_log_is_lines_of_json_and_the_run_is_replaced_whole(tmp_path: Path) -> None:
    folder = RunFolder.make(tmp_path, "clocks", "first")
    folder.log({"n": 1, "url": "http://a.example/é"}, owner="a")
    folder.log({"n": 2, "url": "http://a.example/\u2028"}, owner="b")
    folder.write_run({"fetched": 0})
    folder.write_run({"fetched": 2})
    folder.close()
    folder.close()
    lines = (folder.path / "crawl.jsonl").read_bytes().split(b"\n")
    assert [json.loads(line)["n"] for line in lines if line] == [1, 2]
    assert json.loads((folder.path / "run.json").read_bytes()) == {"fetched": 2}
    assert sorted(path.name for path in folder.path.iterdir()) == [
        "crawl.jsonl",
        "items.jsonl",
        "run.json",
    ]


def test_what_cannot_be_appended_to_is_numbered(tmp_path: Path) -> None:
    folder = RunFolder.make(tmp_path, "clocks", "first")
    names = []
    for _ in range(3):
        path = folder.free("pages", ".warc.gz")
        path.touch()
        names.append(path.name)
    folder.close()
    assert names == ["pages.warc.gz", "pages-2.warc.gz", "pages-3.warc.gz"]


def test_a_run_goes_on_where_its_marks_say(tmp_path: Path) -> None:
    folder = RunFolder.make(tmp_path, "clocks", "first")
    folder.log({"n": 1}, owner="a")
    folder.add_item('{"n": 1}', owner="a")
    folder.settled("a")
    folder.log({"n": 2}, owner="b")
    folder.add_item('{"n": 2}', owner="b")
    folder.add_item('{"n": 0}', owner=None)
    marks = json.loads(json.dumps(folder.marks()))
    folder.log({"n": 3}, owner="c")
    folder.close()
    again = RunFolder(folder.path, marks)
    again.close()
    assert again.crawl.read_text() == '{"n": 1}\n'
    assert again.items.read_text() == '{"n": 1}\n{"n": 0}\n'


def test_a_folder_that_was_reserved_is_taken_unless_another_run_has_it(tmp_path: Path) -> None:
    reserved: list[Path] = []
    folder = RunFolder.make(tmp_path, "clocks", "first", reserve=reserved.append)
    folder.close()
    assert reserved == [folder.path]
    again = RunFolder.take(folder.path)
    assert again is not None
    again.log({"n": 1}, owner="a")
    again.close()
    assert RunFolder.take(folder.path) is None
    taken = RunFolder.take(tmp_path / "clocks" / "never-made")
    assert taken is not None
    taken.close()


def test_a_stamp_sorts() -> None:
    assert re.fullmatch(r"\d{8}T\d{6}Z", utc_stamp())
