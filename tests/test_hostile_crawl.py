"""A crawl of a site that serves all the web has to offer to break one."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

import pytest

from focusspider import stats
from tests.crawls import Crawl, crawl
from tests.site import Reply, Site, links

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MEGABYTE = 1_000_000
QUICKLY = {"AUTOTHROTTLE_ENABLED": False, "DOWNLOAD_DELAY": 0}
#: A host whose robots.txt is garbage, one whose connection breaks at it, one that is not there.
GARBAGE, BREAKS, DEAD = "127.0.0.2", "127.0.0.3", "127.0.0.250"


def gzipped(body: bytes) -> Reply:
    return Reply(body, headers={"Content-Encoding": "gzip"})


def redirect(location: str | bytes, status: int = 302) -> Reply:
    return Reply(status=status, headers={"Location": location})


def raw(head: str, body: bytes = b"") -> Reply:
    return Reply(raw=head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body)


def hostile() -> dict[str, Reply | str | bytes]:
    """Return what each path of the site serves; every one is linked from the front page."""
    bomb = gzip.compress(bytes(100 * MEGABYTE))
    pages: dict[str, Reply | str | bytes] = {
        # encodings
        "/latin1-as-utf8": "tide é".encode("latin-1"),
        "/nonsense-charset": Reply("tide", headers={"Content-Type": "text/html; charset=klingon"}),
        "/binary-charset": Reply("tide", headers={"Content-Type": b"text/html; charset=\xff\x01"}),
        "/utf16": "\ufefftide <a href=/end>end</a>".encode("utf-16-le"),
        "/utf7": Reply("+ADw-tide", headers={"Content-Type": "text/html; charset=utf-7"}),
        "/nul": b"<title>t\0de</title>\0<a href='/n\0ul2'>x\0</a>" + b"\0" * 100_000,
        "/surrogates": "<a href='/&#xD800;'>&#xDFFF;</a>",
        # shapes
        "/one-line": "<p>" + "tide " * MEGABYTE,
        "/many-links": "".join(f"<a href=/l/{n}>{n}</a>" for n in range(200_000)),
        "/deep": "<div>" * 10_000 + "<a href=/end>end</a>" + "</div>" * 10_000,
        "/deep-unclosed": "<b><a href=/x><font>" * 10_000,
        "/long-anchor": f"<a href=/end>{'tide ' * 2_000}</a>",
        "/attributes": "<a " + " ".join(f"a{n}=1" for n in range(20_000)) + " href=/end>e</a>",
        "/entities": "&" * 100_000 + "&#x110000;&#0;&#99999999999999999999;",
        "/xml-bomb": Reply(
            '<!DOCTYPE x [<!ENTITY a "tide"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><x>&b;</x>',
            headers={"Content-Type": "application/xhtml+xml"},
        ),
        "/empty": b"",
        "/spaces": " \n\t ",
        "/png.html": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 100,
        "/file.pdf": Reply(b"%PDF-1.4 \0", headers={"Content-Type": "application/pdf"}),
        "/no-type": Reply(b"\x7fELF\x02\x01", headers={"Content-Type": ""}),
        "/many-types": Reply("tide", headers={"Content-Type": "text/html" * 500}),
        # sizes
        "/big": b"x" * (11 * MEGABYTE),
        "/big-unannounced": raw("HTTP/1.1 200 OK\nContent-Type: text/html", b"x" * 11 * MEGABYTE),
        "/bomb": gzipped(bomb),
        "/bomb-in-bomb": Reply(gzip.compress(bomb), headers={"Content-Encoding": "gzip, gzip"}),
        "/deflate-bomb": Reply(
            zlib.compress(bytes(100 * MEGABYTE)), headers={"Content-Encoding": "deflate"}
        ),
        "/no-gzip": gzipped(b"this is not gzip"),
        "/half-gzip": gzipped(gzip.compress(b"tide " * 10_000)[:60]),
        "/nonsense-encoding": Reply("tide", headers={"Content-Encoding": "klingon"}),
        # HTTP
        "/closes": Reply(raw=b""),
        "/garbage": Reply(raw=b"\0\xff\0\xff\r\n\r\n"),
        "/short": raw("HTTP/1.1 200 OK\nContent-Length: 1000", b"tide"),
        "/bad-length": raw("HTTP/1.1 200 OK\nContent-Length: -5", b"tide"),
        "/bad-chunk": raw("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", b"zz\r\ntide\r\n"),
        "/long-header": raw(f"HTTP/1.1 200 OK\nX: {'x' * 100_000}", b"tide"),
        "/many-headers": raw("HTTP/1.1 200 OK\n" + "X: x\n" * 10_000 + "X: x", b"tide"),
        "/bad-cookies": Reply("tide", headers={"Set-Cookie": b"\xff=\x01; Domain=\xff; Expires=x"}),
        "/bad-refresh": "<meta http-equiv=refresh content='0; url=javascript:alert(1)'>",
        "/refresh-loop": "<meta http-equiv=refresh content='0; url=/refresh-loop'>",
        "/no-content": Reply(status=204),
        "/teapot": Reply(status=418),
        "/status-999": Reply("tide", status=999),
        "/bad-retry-after": Reply(status=503, headers={"Retry-After": b"\xff soon"}),
        # redirects
        "/loop-a": redirect("/loop-b"),
        "/loop-b": redirect("/loop-a", 307),
        "/itself": redirect("/itself"),
        "/to-javascript": redirect("javascript:alert(1)"),
        "/to-data": redirect("data:text/html,tide"),
        "/to-file": redirect("file:///etc/hostname"),
        "/to-credentials": redirect("http://user:secret@127.0.0.1/"),
        "/to-nowhere": redirect(""),
        "/to-bad-host": redirect("http://[::bad/"),
        "/to-bad-port": redirect("http://127.0.0.1:99999999/"),
        "/to-no-host": redirect("http:///x"),
        "/to-bytes": redirect(b"/\xff\xfe\xe9"),
        "/to-long": redirect("/" + "x" * 5_000),
        "/no-location": Reply(status=301),
        # links
        "/odd-links": links(
            "javascript:alert(1)", "data:text/html,tide", "mailto:a@b.example", "ftp://b.example/",
            "tel:1", "http://user:secret@127.0.0.1/", "http://[::bad/", "http://127.0.0.1:bad/",
            "http://127.0.0.1:0/", "//", "http://", "/" + "x" * 5_000, "/a/b/" * 20,
            "http://" + "a" * 64 + ".example/", "http://a..example/", "\\\\x\\y", "?", "#x",
        ),
        "/bad-base": "<base href='javascript:alert(1)'><a href=/end>end</a>",
        "/bad-base-2": "<base href='http://[::bad'><a href=/end>end</a>",
    }  # fmt: skip
    return pages


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    pages = hostile()
    with Site(pages, hosts=("127.0.0.1", GARBAGE, BREAKS)) as site:
        others = [
            "http://bücher.example/fach",
            site.url("/", GARBAGE),
            site.url("/", BREAKS),
            site.url("/", DEAD),
            "http://nowhere.invalid/",
        ]
        pages["/"] = links(*pages, *others, "/calendar/0", "/chain/0", "/end", title="tide")
        pages |= {f"/calendar/{n}": links(f"/calendar/{n + 1}") for n in range(50)}
        pages |= {f"/chain/{n}": redirect(f"/chain/{n + 1}") for n in range(50)}
        pages["/end"] = pages["xn--bcher-kva.example/fach"] = "tide"
        pages[f"{GARBAGE}/robots.txt"] = b"\xff\0Crawl-delay: nan\nUser-agent: *\n" + (
            b"Crawl-delay: 1e999\nCrawl-delay: -5\nDisallow: /\xff\0*$*$\n" * 1_000
        )
        pages[f"{BREAKS}/robots.txt"] = Reply(raw=b"")
        pages[f"{GARBAGE}/"] = pages[f"{BREAKS}/"] = "tide"
        yield site


@pytest.fixture(scope="module")
def done(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawl]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("http_proxy", site.proxy)
        patch.setenv("no_proxy", f"127.0.0.1,{GARBAGE},{BREAKS},{DEAD},nowhere.invalid")
        yield crawl(
            tmp_path_factory.mktemp("hostile"),
            "keywords=tide",
            f"seeds={site.url('/')}",
            "depth=5",
            **QUICKLY,
            CONCURRENT_REQUESTS_PER_DOMAIN=8,
            FOCUS_EXPORT="all",
            FOCUS_MAX_LINKS=200,
            LOG_LEVEL="INFO",
        )


class TestHostileSite:
    def test_nothing_stops_the_crawl_or_leaves_a_traceback(self, done: Crawl) -> None:
        assert done.code == 0
        assert done.run["stop_reason"] == "finished"
        assert "Traceback" not in done.log
        assert done.stats.get("spider_exceptions/count") is None
        assert done.stats[stats.FRONTIER_WAITING] == done.stats[stats.FRONTIER_LEASED] == 0

    def test_everything_was_asked_for(self, site: Site, done: Crawl) -> None:
        linked = {path for path in hostile() if not path.startswith("/chain")}
        asked = {hit.path for hit in site.hits}
        assert linked - asked == set()
        assert ("xn--bcher-kva.example", "/fach") in {(hit.host, hit.path) for hit in site.hits}
        assert [page["url"] for page in done.pages].count(site.url("/end")) == 1

    def test_parts_sum_to_the_whole(self, done: Crawl) -> None:
        counts = done.stats
        assert stats.unequal_sums(counts) == []
        assert counts[stats.PAGE_FETCHED] == len(done.pages) == len(done.items)
        known = counts[stats.LINK_PUSHED] + counts[stats.REQUEST_SCHEDULED]
        assert known == counts[stats.FRONTIER_DONE] + counts[stats.FRONTIER_DROPPED]

    @pytest.mark.parametrize("path", ["/bad-refresh", "/refresh-loop", "/bad-base", "/bad-base-2"])
    def test_a_page_with_a_bad_base_or_refresh_is_a_page(
        self, path: str, site: Site, done: Crawl
    ) -> None:
        assert site.url(path) in {page["url"] for page in done.pages}

    @pytest.mark.parametrize(
        ("reason", "paths"),
        [
            ("too_large", 5),  # two announced or not, three that are small until unpacked
            ("invalid", 4),  # one not compressed, three redirects
            ("redirects", 1),
            ("connection", 8),  # six broken answers, a dead host and a dead port
            ("dns", 1),
        ],
    )
    def test_what_brought_no_page_is_counted_by_its_reason(
        self, reason: str, paths: int, done: Crawl
    ) -> None:
        assert done.stats[f"{stats.PAGE_FAILED}/{reason}"] == paths

    def test_no_failure_is_without_a_reason(self, done: Crawl) -> None:
        assert f"{stats.PAGE_FAILED}/other" not in done.stats
        assert f"{stats.PAGE_FAILED}/ignored" not in done.stats

    @pytest.mark.parametrize(
        ("reason", "least"),
        [
            ("links", 200_000 - 200),
            ("scheme", 5),
            ("invalid", 5),
            ("credentials", 1),
            ("too_long", 1),
            ("segment_repeats", 1),
            ("depth", 1),
        ],
    )
    def test_links_that_lead_nowhere_are_counted(
        self, reason: str, least: int, done: Crawl
    ) -> None:
        assert done.stats[f"{stats.LINK_REFUSED}/{reason}"] >= least

    @pytest.mark.parametrize("reason", ["credentials", "too_long"])
    def test_no_redirect_leads_where_no_link_may(self, reason: str, done: Crawl) -> None:
        assert done.stats[f"{stats.REQUEST_REFUSED}/{reason}"] == 1

    def test_a_loop_ends_at_the_url_that_is_known(self, site: Site, done: Crawl) -> None:
        for path in ("/itself", "/refresh-loop", "/loop-a", "/loop-b"):
            assert site.paths("127.0.0.1").count(path) == 1

    def test_a_chain_ends_at_its_limit(self, site: Site, done: Crawl) -> None:
        chain = [path for path in site.paths("127.0.0.1") if path.startswith("/chain/")]
        assert chain == [f"/chain/{n}" for n in range(21)]  # REDIRECT_MAX_TIMES is 20

    def test_a_calendar_ends_at_its_depth(self, site: Site, done: Crawl) -> None:
        calendar = [path for path in site.paths("127.0.0.1") if path.startswith("/calendar/")]
        assert len(calendar) == 5

    def test_what_is_no_page_is_not_relevant(self, site: Site, done: Crawl) -> None:
        relevant = {page["url"]: page["relevant"] for page in done.pages}
        for path in ("/empty", "/spaces", "/png.html", "/file.pdf", "/no-type"):
            assert relevant[site.url(path)] is False
        assert done.stats[stats.PAGE_NOT_HTML] >= 5


class TestStops:
    """Each crawl says why it stopped; the limit of pages is in test_polite_crawl.py."""

    def test_seeds_that_all_fail_are_an_error_with_the_causes(self, tmp_path: Path) -> None:
        robots = Reply("User-agent: *\nDisallow: /private\n")
        with Site({"/robots.txt": robots}) as site:
            seeds = [site.url("/gone"), site.url("/lost"), site.url("/private")]
            seeds += [site.url("/", DEAD), "http://nowhere.invalid/"]
            done = crawl(tmp_path, "keywords=tide", f"seeds={','.join(seeds)}", **QUICKLY)
        assert done.run["stop_reason"] == done.stats["finish_reason"] == "no_page"
        assert done.run["fetched"] == 0
        (error,) = [line for line in done.log.splitlines() if "No page could be fetched" in line]
        assert " ERROR: " in error
        for cause in ("2 × http (", "1 × robots (", "1 × connection (", "1 × dns ("):
            assert cause in error
        assert stats.unequal_sums(done.stats) == []
        assert "Traceback" not in done.log

    @pytest.mark.parametrize("busy", [False, True], ids=["endless", "held"])
    def test_a_crawl_ends_at_its_time(self, busy: bool, tmp_path: Path) -> None:
        """Also while all that it could do is wait for a host that asked to be left alone."""

        def pages(host: str, path: str) -> Reply | None:
            if path == "/robots.txt":
                return None
            if busy and path != "/0":
                return Reply(status=503, headers={"Retry-After": "1000"})
            n = int(path.strip("/"))
            return Reply(links(f"/{n + 1}"), delay=0.2)

        with Site(pages) as site:
            done = crawl(
                tmp_path,
                "keywords=tide",
                f"seeds={site.url('/0')}",
                CLOSESPIDER_TIMEOUT=2,
                **QUICKLY,
            )
        assert done.run["stop_reason"] == "closespider_timeout"
        assert done.run["fetched"] == (1 if busy else len(site.paths("127.0.0.1")))
        assert done.stats[stats.FRONTIER_WAITING] == 1
        if busy:
            assert done.stats[f"{stats.HOST_CAPPED}/retry_after"] == 1
            assert site.paths("127.0.0.1") == ["/0", "/1"]
