from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from msgspec.structs import replace

from tests.website_scan.cast import message, outcome, page, rows, severity_of, title_of, verdict
from website_scan.findings import Severity
from website_scan.outcomes import Verdict
from website_scan.page.evidence import Page
from website_scan.page.references import ResourceKind
from website_scan.performance.checks import weight as checks
from website_scan.performance.evidence import Resource, Resources

HERE = "https://site.example.com"
Kind = ResourceKind
Check = Callable[[Resources], Verdict]


def resource(
    url: str = f"{HERE}/a",
    kind: Kind = Kind.IMAGE,
    *,
    kb: float = 1,
    eager: bool = True,
    sha: str = "",
    status: int = 200,
) -> Resource:
    size = int(kb * 1000)
    return Resource(url, kind, eager, 1, status, size, size, body_sha256=sha or url, final_url=url)


def empty_page() -> Page:
    """Return a page whose document has no weight."""
    scanned_page = page()
    return replace(scanned_page, hops=(replace(scanned_page.response, body_wire_bytes=0),))


@pytest.mark.parametrize(
    ("check", "kind", "good", "poor"),
    [
        (partial(checks.total_weight, empty_page()), Kind.OTHER, 1_500, 4_000),
        (checks.js_weight, Kind.SCRIPT, 150, 600),
        (checks.css_weight, Kind.STYLESHEET, 80, 120),
        (checks.image_weight, Kind.IMAGE, 700, 1_500),
    ],
)
def test_verdict_depends_on_the_weight(check: Check, kind: Kind, good: int, poor: int) -> None:
    def judge_weight(kb: float) -> str:
        halves = (resource(f"{HERE}/a", kind, kb=kb - 1), resource(f"{HERE}/b", kind, kb=1))
        finding = check(Resources(halves))
        assert outcome(finding) in ("pass", "heavy")
        return verdict(finding)

    assert [judge_weight(good), judge_weight(good + 1), judge_weight(poor), judge_weight(poor + 1)] == [
        "pass",
        "warn",
        "warn",
        "fail",
    ]


@pytest.mark.parametrize("check", [checks.js_weight, checks.css_weight, checks.image_weight])
def test_weight_check_needs_files_of_its_kind(check: Check) -> None:
    resources = Resources((resource(kind=Kind.FONT), resource(kind=Kind.IMAGE, eager=False)))
    assert verdict(check(resources)) == "n/a"


def test_total_weight_includes_document() -> None:
    scanned_page = page()
    heavy = replace(scanned_page, hops=(replace(scanned_page.response, body_wire_bytes=5_000_000),))
    finding = checks.total_weight(heavy, Resources(()))
    assert (verdict(finding), outcome(finding)) == ("fail", "heavy")
    assert message(finding) == "The page weighs 5.0 MB in 1 file; up to 1.5 MB is good."


def test_lazy_resources_do_not_count() -> None:
    assert verdict(checks.total_weight(page(), Resources((resource(kb=9_000, eager=False),)))) == "pass"


def test_message_names_heaviest_file() -> None:
    resources = Resources((resource(f"{HERE}/a.js", Kind.SCRIPT, kb=20), resource(f"{HERE}/b.js", Kind.SCRIPT, kb=300)))
    assert message(checks.js_weight(resources)) == (
        f"2 scripts weigh 320 kB, the heaviest file {HERE}/b.js (300 kB); up to 150 kB is good."
    )


def test_message_states_weight_of_single_file_once() -> None:
    resources = Resources((resource(f"{HERE}/a.js", Kind.SCRIPT, kb=300),))
    assert message(checks.js_weight(resources)) == f"1 script weighs 300 kB: {HERE}/a.js; up to 150 kB is good."


def test_weight_table_lists_heaviest_file_first() -> None:
    resources = Resources((resource(f"{HERE}/a.js", Kind.SCRIPT, kb=20), resource(f"{HERE}/b.js", Kind.SCRIPT, kb=300)))
    assert rows(checks.js_weight(resources)) == [
        {"url": f"{HERE}/b.js", "type": "script", "wire_bytes": 300_000},
        {"url": f"{HERE}/a.js", "type": "script", "wire_bytes": 20_000},
    ]


def test_weight_is_a_minimum_without_all_resources() -> None:
    resources = Resources((resource(f"{HERE}/a.js", Kind.SCRIPT, kb=10),), left_out=4)
    assert message(checks.js_weight(resources)) == "1 script weighs at least 10 kB."


@pytest.mark.parametrize(("count", "expected"), [(79, "pass"), (80, "warn"), (239, "warn"), (240, "fail")])
def test_request_count_includes_document(count: int, expected: str) -> None:
    resources = Resources(tuple(resource(f"{HERE}/{number}") for number in range(count)))
    finding = checks.requests(page(), resources)
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "many")


def test_message_counts_requests_by_kind() -> None:
    kinds = [Kind.IMAGE] * 3 + [Kind.SCRIPT] * 2 + [Kind.FONT, Kind.STYLESHEET, Kind.ICON, Kind.OTHER]
    resources = Resources(tuple(resource(f"{HERE}/{number}", kind) for number, kind in enumerate(kinds)))
    assert message(checks.requests(page(), resources)) == (
        "The page is loaded with 10 requests (3 images, 2 scripts, 1 font, 1 style sheet, 2 others)."
    )
    assert message(checks.requests(page(), Resources(()))) == "The page is loaded with 1 request."


def test_requests_beyond_limit_count() -> None:
    assert verdict(checks.requests(page(), Resources((resource(),), left_out=300))) == "fail"


@pytest.mark.parametrize(("others", "expected"), [(11, "pass"), (12, "warn"), (29, "warn"), (30, "fail")])
def test_domains_check_verdict(others: int, expected: str) -> None:
    resources = Resources(tuple(resource(f"https://host{number}.example.org/a") for number in range(others)))
    finding = checks.domains(page(), resources)
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "many")


@pytest.mark.parametrize(
    ("own", "foreign", "expected"),
    [
        (0, 0, "pass"),
        (9, 0, "pass"),
        (7, 1, "low"),
        (8, 1, "pass"),
        (0, 9, "low"),  # All requests are third-party, but they are few.
        (79, 10, "warn"),
        (89, 10, "pass"),
        (8, 10, "fail"),
        (9, 10, "warn"),
    ],
)
def test_third_party_share_check_verdict(own: int, foreign: int, expected: str) -> None:
    # The CDN belongs to the same site.
    resources = [resource(f"https://cdn.example.com/{number}") for number in range(own)]
    resources += [resource(f"https://tracker.example.org/{number}") for number in range(foreign)]
    finding = checks.third_party_share(page(), Resources(tuple(resources)))
    assert outcome(finding) == ("pass" if expected == "pass" else "high")
    is_low_severity = expected != "pass" and severity_of(checks.third_party_share, finding) is Severity.LOW
    assert ("low" if is_low_severity else verdict(finding)) == expected


def test_file_that_cannot_be_loaded_is_not_heavy() -> None:
    """The check broken-resources reports resources without a response."""
    missing = [replace(resource(f"https://tracker.example.org/{number}"), status=None) for number in range(30)]
    resources = Resources(tuple(missing))
    assert outcome(checks.third_party_share(page(), resources)) == "pass"
    assert verdict(checks.js_weight(resources)) == "n/a"


def test_third_party_message_names_sites() -> None:
    def message_about_share(own: int, foreign: int) -> str:
        items = [resource(f"{HERE}/{number}") for number in range(own)]
        items += [resource(f"https://cdn{number % 2}.example{number % 2}.org/{number}") for number in range(foreign)]
        return message(checks.third_party_share(page(), Resources(tuple(items))))

    assert message_about_share(3, 0) == "No request goes to another site."
    assert (
        message_about_share(7, 1) == "1 of 9 requests (11%) goes to other sites (example0.org), too few to matter much."
    )
    assert message_about_share(8, 11) == (
        "11 of 20 requests (55%) go to other sites (example0.org, example1.org); up to 10% is good."
    )


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([], "n/a"),
        ([resource(f"{HERE}/a", sha="1"), resource(f"{HERE}/b", sha="2")], "pass"),
        ([resource(f"{HERE}/a?v=1", sha="1"), resource(f"{HERE}/a?v=2", sha="1")], "warn"),
        ([resource(f"{HERE}/a?v={number}", sha="1") for number in range(6)], "warn"),
        ([resource(f"{HERE}/a?v={number}", sha="1") for number in range(7)], "fail"),
        ([resource(f"{HERE}/a.gif", kb=0.04, sha="1"), resource(f"{HERE}/b.gif", kb=0.04, sha="1")], "pass"),
        ([resource(f"{HERE}/a", sha="1", status=404), resource(f"{HERE}/b", sha="1", status=404)], "pass"),
        (
            [resource(f"{HERE}/a", sha="1"), replace(resource(f"{HERE}/b", sha="1"), final_url=f"{HERE}/a")],
            "pass",
        ),  # One of the two URLs redirects to the other.
    ],
)
def test_duplicate_files_check_verdict(items: list[Resource], expected: str) -> None:
    finding = checks.duplicate_files(Resources(tuple(items)))
    assert verdict(finding) == expected
    assert outcome(finding) == ("loaded-twice" if expected in ("warn", "fail") else expected)


def test_duplicate_file_is_listed_with_other_url() -> None:
    items = (resource(f"{HERE}/a?v=1", sha="1"), resource(f"{HERE}/a?v=2", sha="1"))
    finding = checks.duplicate_files(Resources(items))
    assert message(finding) == "1 file is loaded again from another URL."
    assert rows(finding) == [{"url": f"{HERE}/a?v=2", "same_as": f"{HERE}/a?v=1", "bytes": 1000}]
    assert title_of(checks.duplicate_files, finding) == "Duplicate files"


@pytest.mark.parametrize(("sizes", "expected"), [([], "n/a"), ([1], "pass"), ([1, 0], "warn"), ([0, 0], "fail")])
def test_empty_responses_check_verdict(sizes: list[int], expected: str) -> None:
    items = tuple(resource(f"{HERE}/{number}", kb=size) for number, size in enumerate(sizes))
    finding = checks.empty_responses(Resources(items))
    assert verdict(finding) == expected
    assert outcome(finding) == ("no-content" if expected in ("warn", "fail") else expected)


def test_status_204_is_not_an_empty_response() -> None:
    assert verdict(checks.empty_responses(Resources((resource(kb=0, status=204),)))) == "pass"
