from __future__ import annotations

import pytest

from tests.website_scan.cast import document, head, message, outcome, page, rows, verdict
from tests.website_scan.performance.cast import HERE, OTHER, labels, resource, resource_with_url, resources_of
from website_scan.performance.checks import network as checks
from website_scan.performance.evidence import OriginProtocol, Protocols, Resource

CLOSE = ("Connection", "close")


def origin_with(alpn: str | None, count: int = 6, *, h3: bool = False, origin: str = HERE) -> OriginProtocol:
    return OriginProtocol(origin, count, alpn, h3)


@pytest.mark.parametrize(
    ("origins", "expected"),
    [
        ((), "n/a"),
        ((origin_with("http/1.1", 5),), "n/a"),
        ((origin_with("http/1.1", 6),), "fail"),
        ((origin_with("h2", 6),), "pass"),
        ((origin_with("http/1.1", 6, h3=True),), "pass"),
        ((origin_with(None, 6),), "n/a"),
        ((origin_with("h2"), origin_with("http/1.1", origin=OTHER)), "fail"),
        ((origin_with("h2"), origin_with(None, origin=OTHER)), "pass"),
    ],
)
def test_http_version_check_verdict(origins: tuple[OriginProtocol, ...], expected: str) -> None:
    finding = checks.http_version(Protocols(origins))
    assert verdict(finding) == expected
    assert outcome(finding) == ("http-1-1" if expected in ("warn", "fail") else expected)


def test_message_counts_http_1_files() -> None:
    finding = checks.http_version(Protocols((origin_with("http/1.1", 12),)))
    assert message(finding) == (
        "12 static files are sent over HTTP/1.1, at most six at a time, because the server negotiates nothing newer in "
        "the TLS handshake."
    )
    assert labels(finding) == [f"{HERE} (12 static files)"]


def test_table_lists_busy_origins() -> None:
    finding = checks.http_version(Protocols((origin_with("h2"), origin_with("http/1.1", origin=OTHER))))
    assert labels(finding) == ["", f"{OTHER} (6 static files)"]
    assert rows(finding) == [
        {"origin": HERE, "alpn": "h2", "http_3_offered": False, "static_requests": 6},
        {"origin": OTHER, "alpn": "http/1.1", "http_3_offered": False, "static_requests": 6},
    ]


def test_message_names_http_2_origins() -> None:
    assert message(checks.http_version(Protocols((origin_with("h2"),)))) == f"{HERE} uses HTTP/2 or newer."


def closing_responses(count: int, origin: str = HERE) -> tuple[Resource, ...]:
    return tuple(
        resource_with_url(resource("u", resource().kind, b"a", CLOSE), f"{origin}/{n}.js") for n in range(count)
    )


OLD = Protocols((origin_with("http/1.1"),))


@pytest.mark.parametrize(
    ("items", "protocols", "expected"),
    [
        ((), Protocols(), "n/a"),
        ((resource(),), Protocols(), "pass"),
        (closing_responses(1), OLD, "warn"),  # The origin also served the document.
        (closing_responses(4), OLD, "warn"),
        (closing_responses(5), OLD, "fail"),
        # Browsers use HTTP/2 here, so keep-alive does not matter.
        (closing_responses(5), Protocols((origin_with("h2"),)), "pass"),
        (closing_responses(5), Protocols((origin_with(None),)), "pass"),  # The HTTP version of the host is unknown.
        # No further request goes to this host.
        (closing_responses(1, OTHER), Protocols((origin_with("http/1.1", origin=OTHER),)), "pass"),
        (closing_responses(2, OTHER), Protocols((origin_with("http/1.1", origin=OTHER),)), "warn"),
        (closing_responses(5, "http://site.example.com"), Protocols(), "warn"),
        (closing_responses(6, "http://site.example.com"), Protocols(), "fail"),
        ((resource(status=404), *(resource("u", status=500) for _ in range(9))), OLD, "pass"),
    ],
)
def test_keep_alive_check_verdict(items: tuple[Resource, ...], protocols: Protocols, expected: str) -> None:
    finding = checks.keep_alive(page(), resources_of(*items), protocols)
    assert verdict(finding) == expected
    assert outcome(finding) == ("closed" if expected in ("warn", "fail") else expected)


def test_message_counts_closed_connections() -> None:
    finding = checks.keep_alive(page(), resources_of(*closing_responses(4)), OLD)
    assert message(finding) == "4 responses closed the connection although more requests followed."
    assert labels(finding) == [f"{HERE} (4 times)"]
    assert rows(finding) == [{"origin": HERE, "closed": 4}]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (resource("u", resource().kind, b"a", ("Connection", "Close, TE")), "warn"),
        (resource("u", resource().kind, b"a", ("Connection", "keep-alive")), "pass"),
        (resource("u", resource().kind, b"a", http_version="1.0"), "warn"),
        (resource("u", resource().kind, b"a", ("Connection", "keep-alive"), http_version="1.0"), "pass"),
        # An error response may close its connection.
        (resource("u", resource().kind, b"a", CLOSE, status=404), "pass"),
        (resource("u", resource().kind, b"a", CLOSE, eager=False), "pass"),
    ],
)
def test_keep_alive_depends_on_the_response(item: Resource, expected: str) -> None:
    finding = checks.keep_alive(page(), resources_of(resource_with_url(item, f"{HERE}/a.js")), OLD)
    assert verdict(finding) == expected
    assert outcome(finding) == ("closed" if expected in ("warn", "fail") else expected)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((), "pass"),
        ((resource(header_bytes=20_000),), "pass"),
        ((resource(header_bytes=20_001),), "fail"),
        ((resource(header_bytes=20_001, status=404),), "fail"),
        ((resource(header_bytes=20_001, status=None),), "pass"),
    ],
)
def test_header_size_check_verdict(items: tuple[Resource, ...], expected: str) -> None:
    finding = checks.header_size(page(), resources_of(*items))
    assert verdict(finding) == expected
    assert outcome(finding) == ("large" if expected in ("warn", "fail") else expected)


def test_responses_with_large_headers_are_listed() -> None:
    items = (resource(header_bytes=21_000), resource(f"{HERE}/b.js", header_bytes=30_000), resource(f"{HERE}/c.js"))
    finding = checks.header_size(page(), resources_of(*items))
    assert message(finding) == "The headers of 2 responses are larger than 20 kB."
    assert labels(finding) == [f"{HERE}/b.js (30 kB)", f"{HERE}/a.js (21 kB)"]
    assert rows(finding)[0] == {"url": f"{HERE}/b.js", "header_bytes": 30_000}


def preconnect(*hosts: str) -> str:
    return head("".join(f"<link rel=preconnect href=https://{host}>" for host in hosts))


FOUR = ("a.example", "b.example", "c.example", "d.example")


@pytest.mark.parametrize(
    ("markup", "links", "expected"),
    [
        (preconnect(), (), "pass"),
        (preconnect(*FOUR), (), "pass"),
        (preconnect(*FOUR, "e.example"), (), "fail"),
        (preconnect(*FOUR, "d.example"), (), "pass"),  # The two preconnect hints differ only in CORS.
        (head("<link rel=dns-prefetch href=https://a.example>" * 9), (), "pass"),
        (preconnect(*FOUR), ("<https://e.example>; rel=preconnect",), "fail"),
        (
            preconnect(),
            (", ".join(f'<https://{n}.example>; rel="preconnect"; crossorigin' for n in "abcde"),),
            "fail",
        ),
        (preconnect(), (", ".join(f"<https://{n}.example/a.css>; rel=preload" for n in "abcde"),), "pass"),
    ],
)
def test_preconnects_check_verdict(markup: str, links: tuple[str, ...], expected: str) -> None:
    scanned_page = page(markup, *(("Link", link) for link in links))
    finding = checks.preconnects(scanned_page, document(scanned_page))
    assert verdict(finding) == expected
    assert outcome(finding) == ("too-many" if expected in ("warn", "fail") else expected)


def test_preconnects_message_states_limit() -> None:
    scanned_page = page(preconnect(*FOUR, "e.example"))
    finding = checks.preconnects(scanned_page, document(scanned_page))
    assert message(finding) == "The page preconnects to 5 origins (up to 4 is good)."
    assert rows(finding)[4] == {"origin": "https://e.example"}
