from __future__ import annotations

import pytest

from focusspider.errors import TopicError
from focusspider.page import PageParser
from focusspider.profile import TopicProfile
from focusspider.text import Analyzer
from focusspider.topic import Topic


def profile(language="english", **values):
    return TopicProfile(Topic(**values, language=language), Analyzer(language))


def test_keywords_description_and_both():
    topic = profile(keywords=("Graph search", "shortest paths"), description="Search the graphs.")
    assert topic.keywords == {"graph": 1, "search": 1, "shortest": 1, "path": 1}
    assert topic.description == {"graph": 1, "search": 1}
    assert topic.query == {"graph": 2, "search": 2, "shortest": 1, "path": 1}
    assert topic.phrases == (("graph", "search"), ("shortest", "path"))


def test_in_the_language_of_the_topic():
    topic = profile(language="german", keywords=("die Häuser",))
    assert topic.keywords == {"haus": 1}
    assert topic.phrases == (("haus",),)


def test_words_of_two_keywords_do_not_run_together():
    assert profile(keywords=("end", "less")).keywords == {"end": 1, "less": 1}


def test_seed_hosts_are_fully_qualified_lower_case_and_distinct():
    topic = profile(
        keywords=("graphs",),
        seeds=(
            "http://WWW.example.org/a",
            "https://www.example.org:8443/b",
            "http://bücher.example/",
            "http://[::1]:8000/",
        ),
    )
    assert topic.seed_hosts == {"www.example.org", "xn--bcher-kva.example", "::1"}


def test_targets_are_kept_in_their_order():
    topic = profile(targets=("http://example.org/a", "http://example.org/b"))
    parser = PageParser(analyzer=topic.analyzer)
    for name, text in (("a", "graphs graphs"), ("b", "paths")):
        html = f"<title>Page</title><p>{text}"
        topic.add_target(parser.parse_html(html, f"http://example.org/{name}"))
    assert [(target.url, target.terms) for target in topic.targets] == [
        ("http://example.org/a", {"page": 1, "graph": 2}),
        ("http://example.org/b", {"page": 1, "path": 1}),
    ]


def test_a_topic_of_stop_words_is_refused():
    with pytest.raises(TopicError) as caught:
        profile(keywords=("the", "of"), description="!", source="topics/t.toml")
    assert str(caught.value) == (
        "topics/t.toml: keywords and description leave no terms, since stop words, numbers and "
        "punctuation do not count; give words that the pages wanted use"
    )


def test_a_topic_of_targets_alone_is_not():
    assert profile(targets=("http://example.org/a",)).query == {}
