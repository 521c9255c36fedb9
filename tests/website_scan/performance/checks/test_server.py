from __future__ import annotations

from dataclasses import replace

import pytest

from tests.website_scan.cast import body, document, head, message, page, severity, verdict
from website_scan.findings import Severity
from website_scan.page.references import ResourceKind
from website_scan.performance.checks import server as checks
from website_scan.performance.evidence import Resource, Resources, Timing
from website_scan.performance.probes.dom_size import dom_size

# The scanner's name servers know no other site, as in a closed network.
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
        ((9.0, 0.2, 0.3), "pass"),  # the first is slow: a cold cache
        ((0.7, 0.2, 0.7), "warn"),
        ((1.8, 1.8, 1.8), "warn"),
        ((1.9, 2.0, 0.1), "fail"),
        ((0.1, 3.0), "warn"),
    ],
)
def test_ttfb_is_judged_by_its_median(seconds: tuple[float, ...], expected: str) -> None:
    assert verdict(checks.ttfb(Timing(seconds))) == expected


def test_the_message_of_ttfb_says_what_was_measured() -> None:
    assert message(checks.ttfb(Timing((1.0, 1.25, 3.0)))).startswith(
        "The server starts to respond after 1,250 ms (median of 3)"
    )


@pytest.mark.parametrize(
    ("via", "expected"),
    [
        ((), "pass"),
        ((("http://site.example.com/", 301),), "warn"),
        ((("https://www.example.com/", 302),), "warn"),  # the same site
        ((("https://short.example.org/x", 301),), "fail"),
        ((("http://site.example.com/", 301), ("https://www.site.example.com/", 301)), "fail"),
    ],
)
def test_doc_redirects(via: tuple[tuple[str, int], ...], expected: str) -> None:
    assert verdict(checks.doc_redirects(page(via=via))) == expected


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((), "n/a"),
        ((resource(200),), "pass"),
        ((resource(204),), "pass"),
        ((resource(304),), "pass"),
        ((resource(404),), "fail"),
        ((resource(410),), "fail"),
        ((resource(500),), "fail"),
        ((resource(None, error="site.example.com refuses connections on port 443."),), "fail"),
        ((resource(404, eager=False),), "warn"),  # a background that perhaps nothing uses
        ((resource(404, eager=False), resource(404)), "fail"),
        ((resource(403),), "warn"),  # robots are refused, but perhaps not visitors
        ((resource(429),), "warn"),
        ((resource(403), resource(404)), "fail"),
        ((resource(200), MISSING_NAME), "pass"),
        ((MISSING_NAME,), "n/a"),
        ((MISSING_NAME, resource(404)), "fail"),
    ],
)
def test_broken_resources(items: tuple[Resource, ...], expected: str) -> None:
    assert verdict(checks.broken_resources(Resources(items))) == expected


def test_broken_resources_are_named_with_their_status() -> None:
    finding = checks.broken_resources(Resources((resource(404), resource(200, url="https://b/")), left_out=3))
    assert message(finding) == (
        "1 of 2 resources (3 more were not requested) failed to load: https://site.example.com/a.png (404)."
    )


def test_resources_of_names_that_may_exist_are_told_but_not_judged() -> None:
    finding = checks.broken_resources(Resources((resource(404), MISSING_NAME)))
    assert message(finding) == (
        "1 of 2 resources failed to load: https://site.example.com/a.png (404). "
        "1 resource could not be checked: the scanner's name servers know no name of another site."
    )


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (resource(404), None),
        (replace(resource(404), depth=2), Severity.MEDIUM),  # a list's bullets in a manual's style sheet
        (replace(resource(404), depth=2, kind=ResourceKind.STYLESHEET), None),
        (resource(404, eager=False), Severity.LOW),  # style sheets of plug-ins name pictures that no page shows
    ],
)
def test_broken_resources_weigh_by_what_the_page_loses(broken: Resource, expected: Severity | None) -> None:
    assert severity(checks.broken_resources(Resources((broken,)))) is expected


@pytest.mark.parametrize(
    ("elements", "expected"),
    [(10, "pass"), (1_500, "pass"), (1_501, "warn"), (3_000, "warn"), (3_001, "fail")],
)
def test_dom_size(elements: int, expected: str) -> None:
    skeleton = 4  # html, head, title, body
    seen = page(body("<b></b>" * (elements - skeleton)))
    assert verdict(checks.dom_size(dom_size(document(seen)))) == expected


@pytest.mark.parametrize(("depth", "expected"), [(1, "pass"), (15, "pass"), (16, "warn"), (25, "warn"), (26, "fail")])
def test_dom_depth(depth: int, expected: str) -> None:
    seen = page(body("<i></i>" + "<div>" * depth + "text" + "</div>" * depth + "<p>after"))
    assert verdict(checks.dom_depth(dom_size(document(seen)))) == expected


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
def test_the_tree_is_measured(markup: str, elements: int, depth: int, deepest: str) -> None:
    size = dom_size(document(page(body(markup))))
    assert (size.elements, size.depth, size.deepest) == (elements, depth, deepest)


@pytest.mark.parametrize(
    ("html", "cache_control", "expected"),
    [
        (body(""), None, "pass"),
        (body(""), "no-cache, max-age=0", "pass"),
        (body(""), "No-Store", "warn"),
        (body(""), "private, no-store, max-age=0", "warn"),
        ("<!doctype html><body onunload='bye()'>", None, "warn"),
        ("<!doctype html><body onbeforeunload='ask()'>", None, "pass"),
        (head("<script>window.addEventListener('unload', bye)</script>"), None, "warn"),
        (head("<script>window.onunload = bye</script>"), None, "warn"),
        (head("<script>$(window).on('unload', bye)</script>"), None, "warn"),
        (head("<script>window.addEventListener('beforeunload', ask)</script>"), None, "pass"),
        (head("<script>window.onbeforeunload = ask</script>"), None, "pass"),
        (head("<script>if (window.onunload == null) go()</script>"), None, "pass"),
        (head("<script>window.addEventListener('pagehide', bye)</script>"), None, "pass"),
    ],
)
def test_bfcache_blocked(html: str, cache_control: str | None, expected: str) -> None:
    seen = page(html, *([("Cache-Control", cache_control)] if cache_control else []))
    assert verdict(checks.bfcache_blocked(seen, document(seen))) == expected


@pytest.mark.parametrize(("html", "expected"), [(body(""), "pass"), ("<!doctype html><body onunload='bye()'>", "warn")])
def test_a_page_behind_a_log_in_may_forbid_to_be_kept(html: str, expected: str) -> None:
    seen = replace(page(html, ("Cache-Control", "no-store")), is_keyed=True)
    assert verdict(checks.bfcache_blocked(seen, document(seen))) == expected
