"""The engine ddgs: the package itself, asking a local server in the place of a public one."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.config import FocusConfig
from focusspider.errors import MissingExtraError, ServiceError, SettingError, UnknownNameError
from focusspider.search import search_engine
from focusspider.search.base import Answer, Hit
from focusspider.search.ddgs import DdgsEngine
from tests.search.test_moz import Time
from tests.site import Reply, Site

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULTS = """<ul class="results">
<li><h2><a href="http://a.example/mill">A  mill</a></h2><p class="s">Mills</p></li>
<li><h2><a href="http://b.example/mill">Another mill</a></h2><p class="s">Mills</p></li>
</ul>"""


class Public:
    """A server in the place of the engine that ddgs calls mojeek."""

    def __init__(self) -> None:
        self.replies: list[Reply | str] = []
        self.paths: list[str] = []

    def answer(self, host: str, path: str) -> Reply | str:
        self.paths.append(path)
        return self.replies.pop(0) if self.replies else RESULTS


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> Iterator[Public]:
    engines = pytest.importorskip("ddgs.engines", reason="ddgs is not installed")
    public = Public()
    with Site(public.answer, hosts=["127.0.0.1"]) as site:
        mojeek = engines.ENGINES["text"]["mojeek"]
        monkeypatch.setattr(mojeek, "search_url", site.url("/search"))
        yield public


def test_results(public: Public) -> None:
    engine = DdgsEngine(backend="mojeek", delay=0)
    assert engine.search("mill wheel", 5) == Answer(
        (Hit("http://a.example/mill", "A mill"), Hit("http://b.example/mill", "Another mill")), None
    )
    assert engine.search("mill", 1).hits == (Hit("http://a.example/mill", "A mill"),)
    assert public.paths == ["/search?q=mill+wheel", "/search?q=mill"]


def test_no_results(public: Public) -> None:
    public.replies = ["<p>nothing"]
    assert DdgsEngine(backend="mojeek", delay=0).search("mill", 5) == Answer((), None)


def test_it_is_asked_again(public: Public) -> None:
    time = Time()
    public.replies = [Reply(raw=b"no HTTP")]
    engine = DdgsEngine(backend="mojeek", delay=0, sleep=time.sleep, clock=lambda: time.now)
    assert len(engine.search("mill", 5).hits) == 2
    assert time.slept == [1]


def test_it_fails(public: Public) -> None:
    time = Time()
    public.replies = [Reply(raw=b"no HTTP")] * 9
    engine = DdgsEngine(backend="mojeek", delay=0, tries=3, sleep=time.sleep, clock=lambda: 0.0)
    with pytest.raises(ServiceError, match="the search engine ddgs did not answer 3 times"):
        engine.search("mill", 5)
    assert time.slept == [1, 2]


def test_it_is_not_asked_too_fast(public: Public) -> None:
    time = Time()
    engine = DdgsEngine(backend="mojeek", delay=4, sleep=time.sleep, clock=lambda: time.now)
    engine.search("mill", 1)
    engine.search("mill", 1)
    assert time.slept == [4]


def test_by_the_settings(public: Public) -> None:
    config = FocusConfig(search_engine="ddgs", search_params={"backend": "mojeek"}, search_delay=0)
    assert search_engine(config).search("mill", 1).total is None


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"backend": "mojek"}, UnknownNameError, "did you mean 'mojeek'"),
        ({"timeout": 0}, ValueError, "timeout must be a whole number"),
    ],
)
def test_wrong_parameters(params: dict[str, Any], error: type[Exception], message: str) -> None:
    pytest.importorskip("ddgs", reason="ddgs is not installed")
    with pytest.raises(error, match=message):
        DdgsEngine(**params)
    with pytest.raises(SettingError, match=message):
        search_engine(FocusConfig(search_engine="ddgs", search_params=params))


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def missing(name: str, *arguments: Any, **options: Any) -> Any:
        if name.partition(".")[0] == "ddgs":
            raise ImportError(name)
        return found(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=r"pip install 'focusspider\[search\]'"):
        DdgsEngine()
    with pytest.raises(SettingError, match=r"pip install 'focusspider\[search\]'"):
        search_engine(FocusConfig(search_engine="ddgs"))
