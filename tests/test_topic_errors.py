# ruff: noqa: E501 - a case a line
"""What a wrong topic prints: one message with file or argument, key, value and remedy."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focusspider.errors import TopicError
from focusspider.sites import Sites, check_entry
from focusspider.topic import Topic
from focusspider.topicvalues import ARGUMENTS, TOP_KEYS, url_problem
from focusspider.urls import resolve

MINIMAL = 'keywords = ["graphs"]\nseeds = ["https://example.org/"]\n'
INLINE = {"keywords": "graphs", "seeds": "https://example.org/"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with topics/, and files that are no targets."""
    monkeypatch.chdir(tmp_path)
    pages = Path("topics/pages")
    pages.mkdir(parents=True)
    (pages / "empty.html").write_bytes(b" \n")
    (pages / "picture.html").write_bytes(b"\x89PNG\0\0<p>")
    for name in ("notes.txt", "notes.html"):
        (pages / name).write_text("a < b, and b > a", encoding="utf-8")
    (pages / "empty.txt").write_text("# none yet\n", encoding="utf-8")
    return tmp_path


def with_line(line):
    """The minimal topic with one key set otherwise."""
    key = line.partition("=")[0]
    kept = [text for text in MINIMAL.splitlines() if text.partition("=")[0] != key]
    return "\n".join([line, *kept]) if not line.startswith("[") else "\n".join([*kept, line])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # the file
        (b'name = "caf\xe9"\n', "line 1 holds the byte 0xe9, which is not UTF-8; save the file as UTF-8"),
        ("keywords = [\n", "not TOML: Invalid value (at end of document); mend it there"),
        ("name = 'a'\nkeywords: x\n", "not TOML: Expected '=' after a key in a key/value pair (at line 2, column 9); mend it there"),
        ("", "the topic is empty; give keywords, a description or targets"),
        ('seeds = ["https://example.org/"]', "the topic is empty; give keywords, a description or targets"),
        # keys
        ('keyword = ["a"]', "keyword is not a key of a topic (did you mean 'keywords'?); known: name, keywords, description, language, seeds, targets, strategy, relevance, render, limits, sites"),
        ("[limits]\npage = 3", "limits.page is not a key of [limits] (did you mean 'pages'?); known: pages, depth, hosts, pages_per_host"),
        ('[sites]\nblock = ["a"]', "sites.block is not a key of [sites]; known: allow, deny"),
        ("limits = 3", "limits = 3: give a table: [limits] with pages, depth, hosts, pages_per_host"),
        ("strategy = 3", "strategy = 3: give a name, or a table: [strategy] with name"),
        (MINIMAL + "[strategy]\nalpha = 0.5", 'strategy: there are parameters but no name; give the strategy\'s name, such as name = "dom"'),
        # texts
        (with_line('name = "a/b"'), 'name = "a/b": it names a folder of exports; give letters, digits, and - _ . + between them'),
        (with_line('name = ""'), 'name = "": give a text that is not empty, or leave it out'),
        (with_line("description = 3"), "description = 3: give a text that is not empty, or leave it out"),
        (with_line('language = "klingon"'), 'language = "klingon": not a known language; give its English name or its ISO 639-1 code'),
        (with_line('language = "englsh"'), 'language = "englsh": not a known language (did you mean \'english\'?); give its English name or its ISO 639-1 code'),
        (with_line('keywords = "a, b"'), 'keywords = "a, b": give a list of texts, such as ["a", "b"]'),
        (with_line('keywords = ["a", 3]'), "keywords: 3 is no text; give texts that are not empty"),
        (with_line('keywords = [" "]'), 'keywords: " " is no text; give texts that are not empty'),
        (with_line("[strategy]\nname = true"), "strategy.name = true: give a text that is not empty, or leave it out"),
        (with_line("[relevance]\nkind = []"), "relevance.kind = []: give a text that is not empty, or leave it out"),
        # seeds
        (with_line("seeds = []"), "there are no seeds; give the URLs that the crawl starts from"),
        (with_line('seeds = ["example.org/a"]'), 'seeds: "example.org/a" has no scheme; write "https://example.org/a"'),
        (with_line('seeds = ["//example.org/a"]'), 'seeds: "//example.org/a" has no scheme; write "https://example.org/a"'),
        (with_line('seeds = ["localhost:8000/"]'), 'seeds: "localhost:8000/" has no scheme; write "https://localhost:8000/"'),
        (with_line('seeds = ["ftp://example.org/"]'), 'seeds: "ftp://example.org/" has the scheme ftp; only http and https can be crawled'),
        (with_line('seeds = ["mailto:a@example.org"]'), 'seeds: "mailto:a@example.org" has the scheme mailto; only http and https can be crawled'),
        (with_line('seeds = ["https:///a"]'), 'seeds: "https:///a" has no host; write https://HOST/PATH'),
        (with_line('seeds = ["https:example.org"]'), 'seeds: "https:example.org" has no host; write https://HOST/PATH'),
        (with_line('seeds = ["https://example.org/a b"]'), 'seeds: "https://example.org/a b" holds white space or control characters; write a space as %20'),
        (with_line('seeds = ["https://me:secret@example.org/"]'), 'seeds: "https://…@example.org/" holds credentials, which would reach logs and exports; take them out'),
        (with_line('seeds = ["https://a..b/"]'), 'seeds: "https://a..b/" has a host that cannot exist: "a..b"'),
        (with_line('seeds = ["https://a.example,b.example/"]'), 'seeds: "https://a.example,b.example/" has a host that cannot exist: "a.example,b.example"'),
        (with_line('seeds = ["https://ü..example/"]'), 'seeds: "https://ü..example/" has a host that cannot exist: "ü..example"'),
        (with_line('seeds = ["https://example.org:99999/"]'), 'seeds: "https://example.org:99999/" is no URL: Port out of range 0-65535'),
        (with_line('seeds = ["https://[::1/"]'), 'seeds: "https://[::1/" is no URL: Invalid IPv6 URL'),
        # targets
        (with_line('targets = ["pages/none.html"]'), 'targets: "pages/none.html" is no file (FOLDER/topics/pages/none.html does not exist), and a URL starts with http:// or https://'),
        (with_line('targets = ["pages"]'), 'targets: "pages" is a folder; name its HTML files one by one'),
        (with_line('targets = ["pages/empty.html"]'), 'targets: "pages/empty.html" is an empty file; give an HTML page'),
        (with_line('targets = ["pages/picture.html"]'), 'targets: "pages/picture.html" holds no HTML; save the page as HTML'),
        (with_line('targets = ["pages/notes.html"]'), 'targets: "pages/notes.html" holds no HTML; save the page as HTML'),
        (with_line('targets = ["pages/notes.txt"]'), "targets: topics/pages/notes.txt: line 1 is no URL of a page, 'a < b, and b > a'; give one a line, such as https://www.example.org/page"),
        (with_line('seeds = ["pages/empty.txt"]'), 'seeds: "pages/empty.txt" is a list without a URL; give one a line'),
        (with_line('seeds = ["example.org/seeds.txt"]'), 'seeds: "example.org/seeds.txt" is no list of URLs (topics/example.org/seeds.txt does not exist), and a URL starts with http:// or https://'),
        (with_line('targets = ["https://"]'), 'targets: "https://" has no host; write https://HOST/PATH'),
        # numbers
        (with_line("[limits]\npages = 0"), "limits.pages = 0: give a whole number of 1 or more, or leave it out for no limit"),
        (with_line("[limits]\ndepth = -1"), "limits.depth = -1: give a whole number of 1 or more, or leave it out for no limit"),
        (with_line("[limits]\nhosts = true"), "limits.hosts = true: give a whole number of 1 or more, or leave it out for no limit"),
        (with_line("[limits]\npages_per_host = 2.0"), "limits.pages_per_host = 2.0: give a whole number of 1 or more, or leave it out for no limit"),
        (with_line('[limits]\npages = "many"'), 'limits.pages = "many": give a whole number of 1 or more, or leave it out for no limit'),
        (with_line('[limits]\nhosts = 1').replace('"https://example.org/"', '"http://a.example/", "http://b.example/"'), "limits.hosts = 1: the seeds are on 2 hosts; raise the limit, or take seeds out"),
        (with_line("[relevance]\nthreshold = 1.5"), "relevance.threshold = 1.5: give a number from 0 to 1"),
        (with_line("[relevance]\nthreshold = nan"), "relevance.threshold = NaN: give a number from 0 to 1"),
        (with_line("[relevance]\nthreshold = true"), "relevance.threshold = true: give a number from 0 to 1"),
        # sites
        (with_line('[sites]\nallow = "example.org"'), 'sites.allow = "example.org": give a list of texts, such as ["a", "b"]'),
        (with_line('[sites]\nallow = ["example.com"]'), 'sites.allow = ["example.com"]: no seed is left to crawl, not even https://example.org/; mend it, or the seeds'),
        (with_line('[sites]\nallow = ["example.org"]\ndeny = ["org"]'), 'sites.deny = ["org"]: no seed is left to crawl, not even https://example.org/; mend it, or the seeds'),
        (with_line('[sites]\ndeny = ["re:("]'), 'sites.deny: "re:(" is no regular expression: missing ), unterminated subpattern at position 0'),
        (with_line('[sites]\ndeny = ["example.org/a"]'), 'sites.deny: "example.org/a" is neither a domain nor a URL prefix; write http://example.org/a'),
    ],
)  # fmt: skip
def test_a_wrong_file(folder, text, message):
    path = Path("topics/t.toml")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TopicError) as caught:
        Topic.from_toml(path)
    assert str(caught.value) == f"{path}: {message}".replace("FOLDER", str(folder))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"page": "3"},
            "argument page is not known (did you mean 'pages'?); known: name, keywords, description, language, seeds, targets, strategy, relevance, render, threshold, pages, depth, hosts, pages_per_host, allow, deny",
        ),
        (
            {"pages": "ten"},
            'argument pages = "ten": give a whole number of 1 or more, or leave it out for no limit',
        ),
        (
            {"pages": "9" * 5000},
            f'argument pages = "{"9" * 78}…: give a whole number of 1 or more, or leave it out for no limit',
        ),
        (
            {"depth": "0"},
            "argument depth = 0: give a whole number of 1 or more, or leave it out for no limit",
        ),
        ({"threshold": "high"}, 'argument threshold = "high": give a number from 0 to 1'),
        ({"threshold": "-0.1"}, "argument threshold = -0.1: give a number from 0 to 1"),
        (
            {"keywords": '["a"'},
            'argument keywords = "[\\"a\\"": give a list of texts, such as ["a", "b"]',
        ),
        (
            {"keywords": ""},
            "arguments: the topic is empty; give keywords, a description or targets",
        ),
        ({"seeds": ""}, "arguments: there are no seeds; give the URLs that the crawl starts from"),
        (
            {"seeds": "https://example.org/a,b"},
            'argument seeds: "b" has no scheme; write "https://b"',
        ),
        (
            {"targets": "none.html"},
            'argument targets: "none.html" is no file (FOLDER/none.html does not exist), and a URL starts with http:// or https://',
        ),
        (
            {"strategy": '{"name": dom}'},
            'argument strategy = "{\\"name\\": dom}": not JSON: Expecting value: line 1 column 10 (char 9); mend it there',
        ),
        (
            {"strategy": '{"alpha": 1}'},
            'argument strategy: there are parameters but no name; give the strategy\'s name, such as name = "dom"',
        ),
        (
            {"relevance": 3},
            "argument relevance = 3: give a name, or a table: [relevance] with kind, threshold",
        ),
        (
            {"allow": "example.com"},
            'argument allow = ["example.com"]: no seed is left to crawl, not even https://example.org/; mend it, or the seeds',
        ),
        (
            {"name": ".."},
            'argument name = "..": it names a folder of exports; give letters, digits, and - _ . + between them',
        ),
        (
            {"language": "xx"},
            'argument language = "xx": not a known language; give its English name or its ISO 639-1 code',
        ),
    ],
)
def test_a_wrong_argument(folder, arguments, message):
    with pytest.raises(TopicError) as caught:
        Topic.from_arguments(**(INLINE | arguments))
    assert str(caught.value) == message.replace("FOLDER", str(folder))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.toml", "none.toml: there is no such file; mend the path"),
        (
            "topics/pages",
            "topic 'topics/pages': there is no topics/topics/pages.toml; topics there: alpha, more/beta",
        ),
        (
            "alfa",
            "topic 'alfa': there is no topics/alfa.toml (did you mean 'alpha'?); topics there: alpha, more/beta",
        ),
        ("", "topic '': there is no topics/.toml; topics there: alpha, more/beta"),
        ("folder.toml", "folder.toml: this is a folder; name the topic file in it"),
        (
            "topics/pages/picture.html",
            "topics/pages/picture.html: line 1 holds the byte 0x89, which is not UTF-8; save the file as UTF-8",
        ),
        ("a\0.toml", "a\0.toml: cannot be read: embedded null byte"),
        ("a" * 300 + ".toml", "a" * 300 + ".toml: cannot be read: File name too long"),
    ],
)
def test_a_topic_that_is_not_there(folder, name, message):
    Path("topics/more").mkdir()
    for file in ("topics/alpha.toml", "topics/more/beta.toml"):
        Path(file).write_text(MINIMAL, encoding="utf-8")
    Path("folder.toml").mkdir()
    with pytest.raises(TopicError) as caught:
        Topic.load(name)
    assert str(caught.value) == message


def test_no_folder_of_topics(folder):
    with pytest.raises(TopicError) as caught:
        Topic.load("graphs", "elsewhere")
    assert str(caught.value) == (
        "topic 'graphs': there is no folder elsewhere to look in; "
        "give the path of a topic file, or set FOCUS_TOPICS_DIR"
    )


def test_an_argument_is_blamed_for_itself_and_the_file_for_the_rest(folder):
    Path("topics/t.toml").write_text(MINIMAL + "limits.depth = 0", encoding="utf-8")
    with pytest.raises(TopicError, match=r"^argument pages = 0: "):
        Topic.load("t", arguments={"pages": "0", "depth": "1"})
    with pytest.raises(TopicError, match=r"^topics/t\.toml: limits\.depth = 0: "):
        Topic.load("t", arguments={"pages": "1"})


TEXTS = st.text("ab1 ,.:/@[]{}()*?#%\"'=-_\\\0\n\u00fc\u3042\ud800", max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
ENTRIES = st.sampled_from(["name", "kind", "threshold", "pages", "depth", "hosts", "allow", "deny"])


@given(st.dictionaries(st.sampled_from(list(ARGUMENTS)), VALUES))
def test_any_argument_gives_a_topic_or_a_message(arguments):
    with suppress(TopicError):
        Topic.from_arguments(**(INLINE | arguments))


@given(st.dictionaries(st.sampled_from(TOP_KEYS), VALUES | st.dictionaries(ENTRIES, VALUES)))
def test_any_value_of_a_file_gives_its_values_or_a_message(table):
    values = {"keywords": ["graphs"], "seeds": ["https://example.org/"], **table}
    with suppress(TopicError):
        Topic.from_table(values)


@given(TEXTS | TEXTS.map("http://".__add__) | TEXTS.map("http://a.example".__add__))
def test_any_text_is_a_url_or_has_a_problem(text):
    problem = url_problem(text)
    if problem is None:
        assert resolve(text, text)  # what a crawl can ask for


@given(TEXTS)
def test_any_text_is_an_entry_of_sites_or_has_a_problem(text):
    with suppress(ValueError):
        check_entry(text)
        Sites(allow=(text,)).allows("http://example.org/")
