"""Test that repeated findings are suppressed or linked.

They are suppressed within a scan type and linked across scan types.
"""

from __future__ import annotations

import itertools

import pytest
from msgspec.structs import replace

from tests.results import check_of, elements
from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, head, target
from website_scan.catalogue import catalogue_version, checks
from website_scan.findings import MEDIUM, ScanType, Severity
from website_scan.net.client import Network
from website_scan.places import MAX_STORED_PLACES
from website_scan.repeats import REPEATS, CheckKey, reported_elsewhere, reporters, suppress_repeats
from website_scan.result import Budget, CheckResult, CheckStatus, RepeatedCheck, ScanResult
from website_scan.run import scan
from website_scan.wording import fix, message

SEO, ACCESSIBILITY = ScanType.SEO, ScanType.ACCESSIBILITY
CARD = '<meta property="og:title" content="Shoes"><meta property="og:image" content="{url}/a.png">'
TWITTER = '<meta name="twitter:card" content="summary">'
TITLE = '<meta property="og:title" content="Shoes">'
CONTENT = "<header><a href=/>Home</a></header>"
SHOES = "<p>Red shoes for the road.</p>"


def scan_markup(scan_type: ScanType, markup: str) -> ScanResult:
    with Site() as site, Network(POLICY) as network:
        answer = Answer(markup.replace("{url}", site.url), headers={"Content-Type": "text/html; charset=utf-8"})
        site.routes |= {"/": answer, "/a.png": Answer("png", headers={"Content-Type": "image/png"})}
        return scan(target(site.url), [scan_type], network, Budget())[0]


def findings(result: ScanResult, *of: str) -> list[str]:
    return [check.id for check in result.checks if check.status != "pass" and (not of or check.id in of)]


def failed_check(result: ScanResult, id: str) -> CheckResult:
    return next(check for check in result.checks if check.id == id)


LANDMARKS = ("landmark-one-main", "region", "bypass", "page-has-heading-one")
CARDS = ("og-title", "og-image", "og-url", "twitter-card")


@pytest.mark.parametrize(
    ("body", "expected", "repeated"),
    [
        (SHOES + "<a href=/x>More</a>", ["landmark-one-main"], {"region", "bypass", "page-has-heading-one"}),
        (f"{CONTENT}<h1>Shoes</h1>{SHOES}", ["landmark-one-main"], {"region"}),
        (f"{CONTENT}<main><h1>Shoes</h1>{SHOES}</main>", [], set()),
        # The faulty heading is outside the main landmark.
        (f"{CONTENT}<h1>Shoes</h1><main>{SHOES}</main>", ["region"], set()),
        (f"{CONTENT}<main>{SHOES}</main>", ["page-has-heading-one"], set()),
        (f"<main><h1>Shoes</h1></main><main>{SHOES}</main>{SHOES}", ["region"], set()),
    ],
    ids=["nothing", "heading", "in order", "heading outside of main", "main without a heading", "two mains"],
)
def test_missing_main_landmark_is_reported_once(body: str, expected: list[str], repeated: set[str]) -> None:
    result = scan_markup(ACCESSIBILITY, head("", body))
    assert findings(result, *LANDMARKS) == expected
    assert {repeat.id for repeat in result.repeated_checks} & set(LANDMARKS) == repeated


def test_second_main_landmark_is_one_finding() -> None:
    two = "<main><h1>Shoes</h1></main><main><p>Boots</p></main>"
    duplicates = ("landmark-no-duplicate-main", "landmark-unique")
    assert findings(scan_markup(ACCESSIBILITY, head("", two)), *duplicates) == ["landmark-no-duplicate-main"]
    menus = "<nav><a href=/a>A</a></nav><nav><a href=/b>B</a></nav>"
    assert findings(scan_markup(ACCESSIBILITY, head("", two + menus)), *duplicates) == list(duplicates)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("", ["og-title"]),
        (CARD + TWITTER, []),  # A missing og:url alone is not a fault.
        (CARD, ["twitter-card"]),
        (TWITTER, ["og-title"]),
        (TITLE, ["og-image", "twitter-card"]),
        # A broken picture is a different fact from a missing picture.
        ('<meta property="og:image" content="{url}/none.png">', ["og-title", "og-image"]),
    ],
    ids=["none", "all but og:url", "no Twitter card", "only a Twitter card", "only a title", "broken picture"],
)
def test_missing_social_card_is_reported_once(markup: str, expected: list[str]) -> None:
    assert findings(scan_markup(SEO, head(markup)), *CARDS) == expected


@pytest.mark.parametrize(
    ("robots", "expected"),
    [
        (Answer("Busy", status=503), ["robots-txt"]),
        (Answer("User-agent: *\nDisallow: /\nEverybody is welcome"), ["robots-blocked", "robots-txt"]),
        (Answer("User-agent: *\nDisallow: /"), ["robots-blocked"]),
    ],
    ids=["without an answer", "two faults", "blocked"],
)
def test_unreachable_robots_txt_is_reported_once(robots: Answer, expected: list[str]) -> None:
    with Site({"/": Answer(head("")), "/robots.txt": robots}) as site, Network(POLICY) as network:
        result = scan(target(site.url), [SEO], network, Budget())[0]
    assert findings(result, "robots-txt", "robots-blocked") == expected


def test_finding_includes_suppressed_titles() -> None:
    result = scan_markup(SEO, head(""))
    reporting = failed_check(result, "og-title")
    included = "This includes “Open Graph image is missing” and “Twitter card is missing”."
    assert reporting.summary == "The page has no og:title."
    assert reporting.includes == ("Open Graph image is missing", "Twitter card is missing")
    assert message(reporting) == f"The page has no og:title. {included} {reporting.why}"
    assert reporting.how_to_fix is not None
    assert all(tag in fix(reporting.how_to_fix) for tag in ("og:title", "og:image", "twitter:card"))
    ((label, code),) = reporting.how_to_fix.snippets
    assert (label, code.count("<meta "), code.count("\n")) == ("HTML", 3, 2)
    assert result.repeated_checks == (
        RepeatedCheck("og-image", "Open Graph image loads", "og-title", "Open Graph title is missing"),
        RepeatedCheck("twitter-card", "Twitter card is set", "og-title", "Open Graph title is missing"),
    )


def test_suppressed_check_costs_nothing() -> None:
    outside = scan_markup(ACCESSIBILITY, head("", f"{CONTENT}<h1>Shoes</h1>{SHOES}"))
    assert failed_check(outside, "landmark-one-main").included_weight == 0
    without_heading = scan_markup(ACCESSIBILITY, head("", f"{CONTENT}{SHOES}"))
    assert failed_check(without_heading, "landmark-one-main").included_weight == 3
    for result in (outside, without_heading):
        assert not {repeat.id for repeat in result.repeated_checks} & {check.id for check in result.checks}


@pytest.mark.parametrize("more", [["", TITLE, CARD, CARD + TWITTER], ["", TWITTER, CARD + TWITTER], ["", CARD]])
def test_larger_social_card_raises_the_score(more: list[str]) -> None:
    assert_rises([category_score(scan_markup(SEO, head(markup)), "social") for markup in more])


def test_landmarks_raise_the_score() -> None:
    bodies = [
        f"{SHOES}<a href=/x>More</a>",
        f"<main>{SHOES}</main><a href=/x>More</a>",
        f"<main><h1>Shoes</h1>{SHOES}</main><a href=/x>More</a>",
        f"<main><h1>Shoes</h1>{SHOES}<a href=/x>More</a></main>",
    ]
    assert_rises([category_score(scan_markup(ACCESSIBILITY, head("", body)), "structure") for body in bodies])


def category_score(result: ScanResult, id: str) -> int:
    return next(category.score for category in result.categories if category.id == id)


def assert_rises(scores: list[int]) -> None:
    assert all(before < after for before, after in itertools.pairwise(scores)), scores


def result(id: str, status: CheckStatus = "warn", *places: str, declared: Severity = MEDIUM) -> CheckResult:
    severity = None if status == "pass" else declared
    return check_of(
        id, f"{id} is right", f"{id} is wrong", status, severity, declared, "Seen.", f"Mend {id}.", elements(*places)
    )


def reported_checks(scan_type: ScanType, *results: CheckResult) -> list[str]:
    return [failed_check.id for failed_check in suppress_repeats(scan_type, results)[0]]


def test_passed_check_suppresses_no_check() -> None:
    region = result("region")
    assert reported_checks(ACCESSIBILITY, region, result("landmark-one-main")) == ["landmark-one-main"]
    assert reported_checks(ACCESSIBILITY, region, result("landmark-one-main", "pass")) == [
        "region",
        "landmark-one-main",
    ]
    review = replace(result("landmark-one-main"), weighs=False)
    assert reported_checks(ACCESSIBILITY, region, review) == ["region", "landmark-one-main"]
    assert reported_checks(ACCESSIBILITY, region) == ["region"]


def test_truncated_finding_is_not_suppressed() -> None:
    names = [f"#a{number}" for number in range(MAX_STORED_PLACES)]
    short = result("landmark-unique", "fail", *names[1:])
    cut = result("landmark-unique", "fail", *names)
    reporter = result("landmark-no-duplicate-main", "fail", *names)
    assert reported_checks(ACCESSIBILITY, short, reporter) == ["landmark-no-duplicate-main"]
    assert reported_checks(ACCESSIBILITY, cut, reporter) == ["landmark-unique", "landmark-no-duplicate-main"]


def test_several_checks_suppress_a_finding() -> None:
    unique = result("landmark-unique", "fail", "main.b", "header.b")
    main, banner = "landmark-no-duplicate-main", "landmark-no-duplicate-banner"
    both = result(main, "fail", "main.a", "main.b"), result(banner, "fail", "header.a", "header.b")
    assert reported_checks(ACCESSIBILITY, unique, *both) == [main, banner]
    assert reported_checks(ACCESSIBILITY, unique, both[0]) == ["landmark-unique", main]


def test_fact_of_two_scan_types_is_reported_once() -> None:
    seo = reporters([result("lang-present"), result("h1"), result("title")], [])
    accessibility = reporters([result("html-has-lang"), result("image-alt")], [])
    assert reported_elsewhere({SEO: seo, ACCESSIBILITY: accessibility}) == {
        CheckKey(SEO, "lang-present"): CheckKey(ACCESSIBILITY, "html-has-lang")
    }
    assert reported_elsewhere({SEO: seo}) == {}


def test_suppressed_check_leads_to_reporting_check() -> None:
    _, repeated = suppress_repeats(ACCESSIBILITY, [result("landmark-one-main"), result("page-has-heading-one")])
    accessibility = reporters([result("landmark-one-main")], repeated)
    assert reported_elsewhere({SEO: reporters([result("h1")], []), ACCESSIBILITY: accessibility}) == {
        CheckKey(SEO, "h1"): CheckKey(ACCESSIBILITY, "landmark-one-main")
    }


def test_finding_for_review_suppresses_no_check() -> None:
    review = replace(result("target-size"), weighs=False)
    assert (
        reported_elsewhere({SEO: reporters([result("tap-targets")], []), ACCESSIBILITY: reporters([review], [])}) == {}
    )


def test_REPEATS_names_existing_checks() -> None:
    existing = {CheckKey(check.type, check.id) for scan_type in ScanType for check in checks(scan_type)}
    assert {key for repeat in REPEATS for key in (repeat.check, repeat.told_by)} <= existing
    within = [repeat for repeat in REPEATS if repeat.is_within_type]
    assert not {repeat.check for repeat in within} & {repeat.told_by for repeat in within}


def test_included_check_has_the_same_category() -> None:
    categories = {CheckKey(check.type, check.id): check.category_id for kind in ScanType for check in checks(kind)}
    assert all(categories[repeat.check] == categories[repeat.told_by] for repeat in REPEATS if repeat.is_part)


def test_version_changes_with_REPEATS(monkeypatch: pytest.MonkeyPatch) -> None:
    version = catalogue_version.__wrapped__  # `__wrapped__` is the same function without its cache.
    before = {scan_type: version(scan_type) for scan_type in ScanType}
    # The removed rule belongs to the accessibility scan.
    monkeypatch.setattr("website_scan.catalogue.REPEATS", REPEATS[1:])
    changed = {scan_type for scan_type in ScanType if version(scan_type) != before[scan_type]}
    assert changed == {ACCESSIBILITY}


def test_missing_viewport_costs_more() -> None:
    result = scan_markup(SEO, head(""))
    assert failed_check(result, "viewport").points > failed_check(result, "meta-description").points > 0
