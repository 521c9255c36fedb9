"""Test scans with own requirements."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, document, page
from tests.website_scan.performance.test_repetition import FAST_LOAD
from website_scan.accessibility.document import AccessibleDocument
from website_scan.browser.visit import Repetition
from website_scan.catalogue import catalogue_version
from website_scan.evidence_cache import InMemoryEvidence
from website_scan.extension import NO_EXTENSION
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.targets import parse_target
from website_scan.page.evidence import Page
from website_scan.plan import plan
from website_scan.requirements.building import extension_of
from website_scan.requirements.content_checks import file_check
from website_scan.requirements.files import FileAnswer, FileUnavailable, OwnFiles, file_probe
from website_scan.requirements.model import FileRule
from website_scan.requirements.reading import read_requirements
from website_scan.result import Budget, CheckResult, ScanResult
from website_scan.run import scan
from website_scan.security.evidence import NotFoundBaseline

PAGE = """<!doctype html><html lang=en><head><title>Shop</title></head><body>
<header><a class=logo href="/">Shop</a></header>
<main><h1>Tea</h1><p>All prices   include&nbsp;VAT.</p><p hidden>Secret sale</p><img src="/tea.png" alt="Tea"></main>
<footer><a href="imprint">Imprint</a> <a href="tel:+49123">Call</a> <a href="https://example.com/a#top">Partner</a>
</footer></body></html>"""
HEADERS = (
    ("Content-Type", "text/html"),
    ("X-Frame-Options", "DENY"),
    ("Vary", "Accept-Encoding"),
    ("Vary", "Cookie"),
    ("Set-Cookie", "session=s3cret; Secure; HttpOnly"),
)
ROUTES = {
    "/": Answer(PAGE, headers=HEADERS),
    "/shop/tea": Answer(PAGE, headers=HEADERS),
    "/tea.png": Answer(b"\x89PNG" + b"0" * 5000, headers={"Content-Type": "image/png"}),
    "/robots.txt": Answer("User-agent: *\nDisallow:"),
    "/old.txt": Answer.redirect("/robots.txt"),
    "/home.txt": Answer.redirect("/"),
    "/away.txt": Answer.redirect("https://example.com/away.txt"),
    "/secret": Answer("No", status=403),
}


def scanned(
    rules: Sequence[Mapping[str, Any]],
    path: str = "/",
    routes: Mapping[str, Any] = ROUTES,
    types: tuple[ScanType, ...] = tuple(ScanType),
    weight: int = 0,
) -> dict[ScanType, ScanResult]:
    requirements = read_requirements({"rules": list(rules), "weight": weight})
    with Site(routes) as site, Network(POLICY, time_limit_s=30) as network:
        target = parse_target(f"{site.url}{path}", POLICY)
        results = scan(target, types, network, Budget(30), extension=extension_of(requirements))
    assert [result.error for result in results] == [None] * len(types)
    return {result.type: result for result in results}


def own_results(results: Mapping[ScanType, ScanResult]) -> dict[str, CheckResult]:
    return {
        check.name: check
        for result in results.values()
        for category in result.categories
        if category.id == "own"
        for check in category.checks
    }


CASES: list[tuple[dict[str, Any], str]] = [
    ({"header": "x-frame-options"}, "pass"),
    ({"header": "X-Frame-Options", "equals": "deny"}, "pass"),
    ({"header": "X-Frame-Options", "equals": "SAMEORIGIN"}, "different"),
    ({"header": "X-Frame-Options", "matches": "DEN*"}, "pass"),
    ({"header": "X-Frame-Options", "matches": "DEN"}, "different"),
    ({"header": "X-Frame-Options", "absent": True}, "present"),
    ({"header": "X-Frame-Options", "matches": "ALLOW*", "absent": True}, "pass"),
    ({"header": "Referrer-Policy"}, "missing"),
    ({"header": "Referrer-Policy", "absent": True}, "pass"),
    ({"header": "Vary", "equals": "Cookie"}, "pass"),
    ({"header": "Vary", "equals": "Accept-Encoding, Cookie"}, "pass"),
    ({"header": "Vary", "equals": "Origin"}, "different"),
    ({"header": "Set-Cookie", "matches": "*HttpOnly*"}, "pass"),
    ({"text": "all prices include VAT"}, "pass"),
    ({"text": "prices * VAT."}, "pass"),
    ({"text": "plus VAT"}, "missing"),
    ({"text": "Secret sale"}, "missing"),
    ({"text": "Secret sale", "absent": True}, "pass"),
    ({"text": "tea", "absent": True}, "present"),
    ({"element": "footer > a"}, "pass"),
    ({"element": "footer > p"}, "missing"),
    ({"element": "a", "absent": True}, "present"),
    ({"element": "iframe", "absent": True}, "pass"),
    ({"link": "/imprint"}, "pass"),
    ({"link": "/imprint/"}, "missing"),
    ({"link": "/imp*"}, "pass"),
    ({"link": "tel:+49*"}, "pass"),
    ({"link": "https://example.com/a"}, "pass"),
    ({"link": "https://example.com/*", "absent": True}, "present"),
    ({"link": "https://example.net/*", "absent": True}, "pass"),
    ({"file": "/robots.txt"}, "pass"),
    ({"file": "/old.txt"}, "pass"),
    ({"file": "/home.txt"}, "missing"),
    ({"file": "/away.txt"}, "missing"),
    ({"file": "/humans.txt"}, "missing"),
    ({"file": "/secret"}, "missing"),
    ({"file": "/secret", "absent": True}, "pass"),
    ({"file": "/robots.txt", "absent": True}, "present"),
    ({"bytes": "image", "at_most": 6000}, "pass"),
    ({"bytes": "image", "at_most": 5000}, "above"),
    ({"bytes": "total", "at_most": 5100}, "above"),
    ({"bytes": "document", "at_most": 50_000}, "pass"),
    ({"bytes": "third-party", "at_most": 0}, "pass"),
    ({"requests": "total", "at_most": 2}, "pass"),
    ({"requests": "total", "at_most": 1}, "above"),
    ({"requests": "script", "at_most": 0}, "pass"),
    ({"metric": "server-response-time", "at_most": 20_000}, "pass"),
    ({"metric": "server-response-time", "at_most": 0}, "above"),
    ({"metric": "dom-elements", "at_most": 100}, "pass"),
    ({"metric": "dom-elements", "at_most": 5}, "above"),
]


@pytest.mark.parametrize("part", range(2))
def test_each_kind_is_judged(part: int) -> None:
    cases = [case for case in CASES if ("file" in case[0] or "bytes" in case[0]) == bool(part)]
    rules = [{"name": f"Rule {number}", **rule} for number, (rule, _) in enumerate(cases)]
    results = own_results(scanned(rules))
    outcomes = {
        number: check.outcome or check.status
        for number in range(len(cases))
        if (check := results.get(f"Rule {number}")) is not None
    }
    assert {str(cases[number][0]): outcome for number, outcome in outcomes.items()} == {
        str(rule): outcome for rule, outcome in cases
    }


def test_finding_has_the_texts_and_values_of_the_rule() -> None:
    rules: list[dict[str, Any]] = [
        {"name": "Frames are refused", "header": "X-Frame-Options", "equals": "SAMEORIGIN", "severity": "high"},
        {"name": "No cookies", "header": "Set-Cookie", "absent": True, "severity": "low"},
        {"name": "No links", "element": "footer a", "absent": True},
        {"name": "Small", "bytes": "total", "at_most": 10},
    ]
    results = own_results(scanned(rules))
    frames = results["Frames are refused"]
    assert (frames.id, frames.title, frames.severity, frames.status) == (
        "own-frames-are-refused",
        "Not met: Frames are refused",
        "high",
        "fail",
    )
    assert frames.summary == "The header X-Frame-Options is DENY, but should be SAMEORIGIN."
    assert frames.why == "You have made this a requirement of your site."
    assert frames.consequence == "The page does not meet a requirement that has been set for this site."
    assert frames.how_to_fix is not None
    assert frames.how_to_fix.text == "Send the header `X-Frame-Options: SAMEORIGIN`."
    cookies = results["No cookies"]
    assert cookies.summary == "The page sends the header Set-Cookie: session=•••; Secure; HttpOnly."
    assert "s3cret" not in repr(cookies)
    assert [place.label for place in results["No links"].places.kept] == [
        '<a href="imprint"> at html > body > footer > a:nth-of-type(1)',
        '<a href="tel:+49123"> at html > body > footer > a:nth-of-type(2)',
        '<a href="https://example.com/a#top"> at html > body > footer > a:nth-of-type(3)',
    ]
    assert [row["type"] for row in (dict(place.row()) for place in results["Small"].places.kept)] == [
        "image",
        "document",
    ]


def test_rule_applies_to_chosen_pages_only() -> None:
    rules = [
        {"name": "In shop", "text": "nowhere", "pages": ["/shop/*"]},
        {"name": "On start page", "text": "nowhere", "pages": ["/"]},
        {"name": "On old pages", "text": "nowhere", "pages": ["/old*"]},
    ]
    assert set(own_results(scanned(rules, "/shop/tea"))) == {"In shop"}
    assert set(own_results(scanned(rules))) == {"On start page"}
    redirected = {**ROUTES, "/old": Answer.redirect("/shop/tea")}
    assert set(own_results(scanned(rules, "/old", redirected))) == {"In shop", "On old pages"}


def test_soft_404_is_no_file() -> None:
    def anything(_request: object) -> Answer:
        return Answer("<!doctype html><title>Shop</title><p>Welcome", headers={"Content-Type": "text/html"})

    routes = {"/": Answer(PAGE), "/real.txt": Answer("Contact: mailto:security@example.com"), "*": anything}
    rules = [{"name": "Real", "file": "/real.txt"}, {"name": "Soft", "file": "/soft.txt"}]
    results = own_results(scanned(rules, routes=routes, types=(ScanType.SECURITY,)))
    assert {name: check.status for name, check in results.items()} == {"Real": "pass", "Soft": "fail"}
    assert results["Soft"].summary == "For /soft.txt, the site answers as for a page that does not exist."


def test_redirects_of_all_missing_paths_are_no_file() -> None:
    def to_log_in(_request: object) -> Answer:
        return Answer.redirect("/login")

    routes = {"/": Answer(PAGE), "/login": Answer("<!doctype html><title>Log in</title>"), "*": to_log_in}
    results = own_results(scanned([{"name": "Soft", "file": "/a.txt"}], routes=routes, types=(ScanType.SECURITY,)))
    assert results["Soft"].status == "fail"


def test_content_that_scripts_may_add_is_a_warning() -> None:
    routes = {"/": Answer("<!doctype html><title>Shop</title><p>Tea<script>add()</script>")}
    rules = [
        {"name": "Link", "link": "/imprint"},
        {"name": "Text", "text": "Imprint"},
        {"name": "Nav", "element": "nav"},
    ]
    results = own_results(scanned(rules, routes=routes))
    assert {name: check.status for name, check in results.items()} == dict.fromkeys(["Link", "Text", "Nav"], "warn")
    assert results["Text"].summary == (
        "The page does not show “Imprint” before its scripts run; no browser has looked whether they add it."
    )


def test_each_file_is_requested_once_for_all_pages() -> None:
    requirements = read_requirements({"rules": [{"name": "Robots", "file": "/own.txt"}]})
    others = read_requirements({"rules": [{"name": "Robots", "file": "/other.txt"}]})
    shared = InMemoryEvidence()
    with Site({**ROUTES, "/own.txt": Answer("Own")}) as site:
        for path, used in (("/", requirements), ("/shop/tea", requirements), ("/", others)):
            with Network(POLICY, time_limit_s=30) as network:
                target = parse_target(f"{site.url}{path}", POLICY)
                (result,) = scan(
                    target, [ScanType.SECURITY], network, Budget(30), shared=shared, extension=extension_of(used)
                )
            assert own_results({result.type: result})["Robots"].status == ("pass" if used is requirements else "fail")
        paths = [request.path for request in site.requests]
    assert (paths.count("/own.txt"), paths.count("/other.txt")) == (1, 1)


def test_weight_zero_changes_no_score() -> None:
    rules = [{"name": "Never", "header": "X-Never", "severity": "critical"}]
    plain = scanned([], types=(ScanType.SECURITY,))[ScanType.SECURITY]
    without, with_weight = (
        scanned(rules, types=(ScanType.SECURITY,), weight=weight)[ScanType.SECURITY] for weight in (0, 50)
    )
    assert (without.score, without.grade, without.catalogue_version) == (
        plain.score,
        plain.grade,
        catalogue_version(ScanType.SECURITY),
    )
    assert with_weight.score is not None
    assert plain.score is not None
    assert with_weight.score < plain.score


def test_own_limits_need_a_second_load() -> None:
    """The usual limits are higher, so one load would be enough for them."""
    rule = {"name": "Fast", "metric": "first-contentful-paint", "at_most": 1000}
    own = extension_of(read_requirements({"rules": [rule]}))
    site_page = page(PAGE)
    for extension, is_enough in ((NO_EXTENSION, True), (own, False)):
        probe = plan(ScanType.PERFORMANCE, has_browser=True, extension=extension).probes[Repetition]
        repetition = probe.function(page=site_page, document=AccessibleDocument(document(site_page)))
        assert isinstance(repetition, Repetition)
        assert repetition.is_one_load_enough(FAST_LOAD) is is_enough


def test_metrics_of_a_browser_are_omitted_without_one() -> None:
    result = scanned([{"name": "Fast", "metric": "speed-index", "at_most": 1000}])[ScanType.PERFORMANCE]
    assert "own-fast" in {check.id for check in result.omitted_checks}


def test_text_of_a_rule_is_no_template() -> None:
    rules = [
        {"name": "Template", "text": "{text} {link:a|b}"},
        {"name": "Header", "header": "X-A", "equals": "{header}"},
    ]
    results = own_results(scanned(rules))
    assert results["Template"].summary == "The page does not show “{text} {link:a|b}”."
    assert results["Header"].how_to_fix is not None
    assert results["Header"].how_to_fix.text == "Send the header `X-A: {header}`."


def test_file_that_cannot_be_requested_is_skipped() -> None:
    routes = {**ROUTES, "/limited.txt": Answer("Wait", status=429), "/loop.txt": Answer.redirect("http://[")}
    rules = [
        {"name": "Limited", "file": "/limited.txt"},
        {"name": "Invalid", "file": "/loop.txt"},
        {"name": "There", "file": "/robots.txt"},
    ]
    result = scanned(rules, routes=routes, types=(ScanType.SECURITY,))[ScanType.SECURITY]
    skipped = {check.name: check.code for check in result.skipped_checks}
    assert {"Limited", "Invalid"} <= set(skipped)
    assert own_results({result.type: result})["There"].status == "pass"


def test_answers_for_files_can_be_stored_by_an_audit() -> None:
    rule = FileRule("/limited.txt")
    files = OwnFiles({rule: FileAnswer(error_code="RATE_LIMITED", error="The site limits requests.")})
    restored = pickle.loads(pickle.dumps(files))
    assert restored == files
    with pytest.raises(FileUnavailable, match="The site limits requests") as refusal:
        file_check(rule)(files=restored)
    assert refusal.value.code == "RATE_LIMITED"


def test_protected_file_of_a_protected_site_is_skipped() -> None:
    rules = (FileRule("/secret"), FileRule("/secret", absent=True))
    with Site(ROUTES) as site, Network(POLICY, time_limit_s=30) as network:
        target = parse_target(f"{site.url}/", POLICY)
        response = network.fetch(target)
        for has_credentials in (True, False):
            page = Page(target, target, (response,), has_credentials=has_credentials)
            files = file_probe(rules).function(page=page, baseline=NotFoundBaseline(()), network=network)
            assert isinstance(files, OwnFiles)
            errors = [files.answers[rule].error for rule in rules]
            assert bool(errors[0]) == has_credentials
            assert errors[1] == ""
