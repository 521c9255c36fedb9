from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.website_scan.cast import body, document, head, message, outcome, page, rows, severity_of, title_of, verdict
from tests.website_scan.performance.cast import labels
from website_scan.findings import Severity
from website_scan.outcomes import Fault, Fix
from website_scan.page.references import ResourceKind
from website_scan.performance.checks import server as checks
from website_scan.performance.evidence import Resource, Resources, Timing
from website_scan.performance.probes.dom_size import dom_size

# In a closed network, name servers cannot resolve other sites.
MISSING_NAME = Resource("https://cdn.example/a.js", ResourceKind.SCRIPT, True, 1, None, error="x", may_exist=True)


def resource(
    status: int | None = 200, *, url: str = "https://site.example.com/a.png", eager: bool = True, error: str = ""
) -> Resource:
    return Resource(url, ResourceKind.IMAGE, eager, 1, status, error=error)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ((0.2,), "pass"),
        ((0.6, 0.6, 0.6), "pass"),
        ((9.0, 0.2, 0.3), "pass"),  # The first request is slow because of a cold cache.
        ((0.7, 0.2, 0.7), "warn"),
        ((1.8, 1.8, 1.8), "warn"),
        ((1.9, 2.0, 0.1), "fail"),
        ((0.1, 3.0), "warn"),
    ],
)
def test_ttfb_is_judged_by_its_median(seconds: tuple[float, ...], expected: str) -> None:
    finding = checks.ttfb(Timing(seconds))
    assert verdict(finding) == expected
    assert outcome(finding) == ("slow" if expected in ("warn", "fail") else expected)


def test_ttfb_message_states_median() -> None:
    finding = checks.ttfb(Timing((1.0, 1.25, 3.0)))
    assert message(finding) == (
        "The server starts to respond after 1,250 ms (median of 3 tries); up to 600 ms is good."
    )
    assert [row["ttfb_ms"] for row in rows(finding)] == [1000, 1250, 3000]
    assert rows(finding)[0] == {"attempt": 1, "ttfb_ms": 1000}
    assert message(checks.ttfb(Timing((0.2,)))) == "The server starts to respond after 200 ms (1 try)."


@pytest.mark.parametrize(
    ("via", "expected"),
    [
        ((), "pass"),
        ((("http://site.example.com/", 301),), "warn"),
        ((("https://www.example.com/", 302),), "warn"),  # This redirect leads to another page of the same site.
        ((("https://short.example.org/x", 301),), "fail"),
        ((("http://site.example.com/", 301), ("https://www.site.example.com/", 301)), "fail"),
    ],
)
def test_doc_redirects_check_verdict(via: tuple[tuple[str, int], ...], expected: str) -> None:
    finding = checks.doc_redirects(page(via=via))
    assert verdict(finding) == expected
    assert outcome(finding) == ("redirected" if expected in ("warn", "fail") else expected)


def test_redirects_message_lists_destinations() -> None:
    finding = checks.doc_redirects(page(via=(("http://site.example.com/", 301),)))
    assert message(finding) == "1 redirect comes before the document: to https://site.example.com/shop/shoes."
    assert rows(finding) == [
        {"hop": 1, "url": "http://site.example.com/", "status": 301},
        {"hop": 2, "url": "https://site.example.com/shop/shoes", "status": 200},
    ]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((), "n/a"),
        ((resource(200),), "pass"),
        ((resource(204),), "pass"),
        ((resource(304),), "pass"),
        ((resource(404),), "failed"),
        ((resource(410),), "failed"),
        ((resource(500),), "failed"),
        ((resource(None, error="site.example.com refuses connections on port 443."),), "failed"),
        ((resource(404, eager=False),), "perhaps-unused"),  # A background image may be unused.
        ((resource(404, eager=False), resource(404)), "failed"),
        ((resource(403),), "refused"),  # The server may refuse only bots with this status.
        ((resource(429),), "refused"),
        ((resource(403), resource(404)), "failed"),
        ((resource(200), MISSING_NAME), "pass"),
        ((MISSING_NAME,), "n/a"),
        ((MISSING_NAME, resource(404)), "failed"),
    ],
)
def test_broken_resources_check_verdict(items: tuple[Resource, ...], expected: str) -> None:
    finding = checks.broken_resources(Resources(items))
    assert outcome(finding) == expected
    if expected not in ("pass", "n/a"):
        assert verdict(finding) == ("fail" if expected == "failed" else "warn")


def test_broken_resources_are_listed_with_status() -> None:
    finding = checks.broken_resources(Resources((resource(404), resource(200, url="https://b/")), left_out=3))
    assert message(finding) == "1 of 2 resources failed to load (3 more were not requested)."
    assert labels(finding) == ["https://site.example.com/a.png (404)"]
    assert rows(finding) == [
        {"url": "https://site.example.com/a.png", "type": "image", "status": 404, "loaded_with_the_page": True}
    ]


def test_resources_without_response_are_listed() -> None:
    error = "site.example.com refuses connections on port 443."
    finding = checks.broken_resources(Resources((resource(None, error=error), resource(404, url="/b", eager=False))))
    assert message(finding) == "1 of 2 resources failed to load, and 1 that visitors may never need."
    assert labels(finding) == [
        "https://site.example.com/a.png (site.example.com refuses connections on port 443)",
        "/b (404, perhaps unused)",
    ]
    assert rows(finding)[0]["error"] == error


def test_message_mentions_unused_background_images() -> None:
    finding = checks.broken_resources(Resources((resource(404, eager=False),)))
    assert message(finding) == "1 resource failed to load, though visitors may never need it."


def test_refused_resources_have_their_own_fix() -> None:
    finding = checks.broken_resources(Resources((resource(403), resource(200, url="https://b/"))))
    assert message(finding) == "1 of 2 resources was refused to the scanner, and perhaps to visitors."
    assert title_of(checks.broken_resources, finding) == "Resources were refused to the scanner"
    assert severity_of(checks.broken_resources, finding) is Severity.LOW
    assert isinstance(finding, Fault)
    assert finding.fix == Fix(
        "Check in a browser whether the files load; if they do, the server only blocks bots, and nothing is wrong."
    )


def test_message_counts_loaded_resources() -> None:
    assert message(checks.broken_resources(Resources((resource(200),)))) == "1 resource loaded without a failure."
    assert message(checks.broken_resources(Resources((resource(200),), left_out=1))) == (
        "1 resource loaded without a failure (1 more was not requested)."
    )
    assert message(checks.broken_resources(Resources((resource(200), MISSING_NAME)))) == (
        "All other resources loaded (1 resource could not be checked, because the scanner's name servers cannot "
        "resolve other sites)."
    )


def test_resources_of_unresolved_hosts_are_not_judged() -> None:
    finding = checks.broken_resources(Resources((resource(404), MISSING_NAME)))
    assert message(finding) == (
        "1 of 2 resources failed to load (1 resource could not be checked, because the scanner's name servers cannot "
        "resolve other sites)."
    )


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (resource(404), Severity.HIGH),
        (replace(resource(404), depth=2), Severity.MEDIUM),  # The missing image belongs to a style sheet.
        (replace(resource(404), depth=2, kind=ResourceKind.STYLESHEET), Severity.HIGH),
        (resource(404, eager=False), Severity.LOW),  # Style sheets of plug-ins often refer to unused images.
    ],
)
def test_broken_resource_severity_depends_on_kind(broken: Resource, expected: Severity) -> None:
    finding = checks.broken_resources(Resources((broken,)))
    assert severity_of(checks.broken_resources, finding) is expected


@pytest.mark.parametrize(
    ("elements", "expected"),
    [(10, "pass"), (1_500, "pass"), (1_501, "warn"), (3_000, "warn"), (3_001, "fail")],
)
def test_dom_size_check_verdict(elements: int, expected: str) -> None:
    skeleton_elements = 4  # The skeleton consists of html, head, title and body.
    scanned_page = page(body("<b></b>" * (elements - skeleton_elements)))
    finding = checks.dom_size(dom_size(document(scanned_page)))
    assert verdict(finding) == expected
    assert outcome(finding) == ("large" if expected in ("warn", "fail") else expected)


@pytest.mark.parametrize(("depth", "expected"), [(1, "pass"), (15, "pass"), (16, "warn"), (25, "warn"), (26, "fail")])
def test_dom_depth_check_verdict(depth: int, expected: str) -> None:
    scanned_page = page(body("<i></i>" + "<div>" * depth + "text" + "</div>" * depth + "<p>after"))
    finding = checks.dom_depth(dom_size(document(scanned_page)))
    assert verdict(finding) == expected
    assert outcome(finding) == ("deep" if expected in ("warn", "fail") else expected)


def test_messages_state_size_and_depth_of_dom() -> None:
    size = dom_size(document(page(body("<p>a<b>c</b>d</p><p>e"))))
    assert message(checks.dom_size(size)) == "The document has 7 elements."
    assert message(checks.dom_depth(size)) == "Elements are nested 2 levels deep below the body (body > p > b)."
    large = replace(size, elements=3_001, depth=26)
    assert message(checks.dom_size(large)) == "The document has 3,001 elements; up to 1,500 is good."
    assert message(checks.dom_depth(large)).endswith("(body > p > b); up to 15 is good.")


@pytest.mark.parametrize(
    ("markup", "elements", "depth", "deepest"),
    [
        ("", 4, 0, "body"),
        ("text", 4, 0, "body"),
        ("<p>a<b>c</b>d</p><p>e", 7, 2, "body > p > b"),
        ("<!-- --> <ul><li>a<li>b <i>c</i></ul>", 8, 3, "body > ul > li > i"),
        ("<template><p><b></b></p></template>", 5, 1, "body > template"),
    ],
)
def test_dom_size_has_deepest_element(markup: str, elements: int, depth: int, deepest: str) -> None:
    size = dom_size(document(page(body(markup))))
    assert (size.elements, size.depth, size.deepest) == (elements, depth, deepest)


@pytest.mark.parametrize(
    ("html", "cache_control", "expected"),
    [
        (body(""), None, "pass"),
        (body(""), "no-cache, max-age=0", "pass"),
        (body(""), "No-Store", "prevented"),
        (body(""), "private, no-store, max-age=0", "prevented"),
        ("<!doctype html><body onunload='bye()'>", None, "prevented"),
        ("<!doctype html><body onbeforeunload='ask()'>", None, "pass"),
        (head("<script>window.addEventListener('unload', bye)</script>"), None, "prevented"),
        (head("<script>window.onunload = bye</script>"), None, "prevented"),
        (head("<script>$(window).on('unload', bye)</script>"), None, "prevented"),
        (head("<script>window.addEventListener('beforeunload', ask)</script>"), None, "pass"),
        (head("<script>window.onbeforeunload = ask</script>"), None, "pass"),
        (head("<script>if (window.onunload == null) go()</script>"), None, "pass"),
        (head("<script>window.addEventListener('pagehide', bye)</script>"), None, "pass"),
    ],
)
def test_bfcache_blocked_check_verdict(html: str, cache_control: str | None, expected: str) -> None:
    scanned_page = page(html, *([("Cache-Control", cache_control)] if cache_control else []))
    finding = checks.bfcache_blocked(scanned_page, document(scanned_page))
    assert outcome(finding) == expected
    assert verdict(finding) == ("pass" if expected == "pass" else "warn")


@pytest.mark.parametrize(
    ("html", "expected"), [(body(""), "pass"), ("<!doctype html><body onunload='bye()'>", "prevented")]
)
def test_page_behind_login_may_use_no_store(html: str, expected: str) -> None:
    scanned_page = replace(page(html, ("Cache-Control", "no-store")), has_credentials=True)
    assert outcome(checks.bfcache_blocked(scanned_page, document(scanned_page))) == expected


def test_message_lists_cache_obstacles() -> None:
    scanned_page = page("<!doctype html><body onunload='bye()'>", ("Cache-Control", "no-store"))
    assert message(checks.bfcache_blocked(scanned_page, document(scanned_page))) == (
        "The page prevents the back/forward cache with Cache-Control: no-store and <body onunload>."
    )
