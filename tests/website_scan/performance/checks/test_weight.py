from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

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
    """Return a page whose document weighs nothing."""
    seen = page()
    return replace(seen, hops=(replace(seen.response, body_wire_bytes=0),))


@pytest.mark.parametrize(
    ("check", "kind", "good", "poor"),
    [
        (partial(checks.total_weight, empty_page()), Kind.OTHER, 1_500, 4_000),
        (checks.js_weight, Kind.SCRIPT, 150, 600),
        (checks.css_weight, Kind.STYLESHEET, 80, 120),
        (checks.image_weight, Kind.IMAGE, 700, 1_500),
    ],
)
def test_the_limits_of_weights(check: Check, kind: Kind, good: int, poor: int) -> None:
    def judged(kb: float) -> str:
        halves = (resource(f"{HERE}/a", kind, kb=kb - 1), resource(f"{HERE}/b", kind, kb=1))
        finding = check(Resources(halves))
        assert outcome(finding) in ("pass", "heavy")
        return verdict(finding)

    assert [judged(good), judged(good + 1), judged(poor), judged(poor + 1)] == ["pass", "warn", "warn", "fail"]


@pytest.mark.parametrize("check", [checks.js_weight, checks.css_weight, checks.image_weight])
def test_a_kind_that_the_page_does_not_load_is_left_out(check: Check) -> None:
    found = Resources((resource(kind=Kind.FONT), resource(kind=Kind.IMAGE, eager=False)))
    assert verdict(check(found)) == "n/a"


def test_the_document_itself_weighs() -> None:
    seen = page()
    heavy = replace(seen, hops=(replace(seen.response, body_wire_bytes=5_000_000),))
    finding = checks.total_weight(heavy, Resources(()))
    assert (verdict(finding), outcome(finding)) == ("fail", "heavy")
    assert message(finding) == "The page weighs 5.0 MB in 1 file; up to 1.5 MB is good."


def test_what_is_lazy_does_not_weigh() -> None:
    assert verdict(checks.total_weight(page(), Resources((resource(kb=9_000, eager=False),)))) == "pass"


def test_the_message_of_a_weight_names_the_heaviest_file() -> None:
    found = Resources((resource(f"{HERE}/a.js", Kind.SCRIPT, kb=20), resource(f"{HERE}/b.js", Kind.SCRIPT, kb=300)))
    assert message(checks.js_weight(found)) == (
        f"2 scripts weigh 320 kB, the heaviest file {HERE}/b.js (300 kB); up to 150 kB is good."
    )


def test_a_single_heavy_file_is_named_without_its_weight_twice() -> None:
    found = Resources((resource(f"{HERE}/a.js", Kind.SCRIPT, kb=300),))
    assert message(checks.js_weight(found)) == f"1 script weighs 300 kB: {HERE}/a.js; up to 150 kB is good."


def test_the_table_of_a_weight_has_all_files_with_the_heaviest_first() -> None:
    found = Resources((resource(f"{HERE}/a.js", Kind.SCRIPT, kb=20), resource(f"{HERE}/b.js", Kind.SCRIPT, kb=300)))
    assert rows(checks.js_weight(found)) == [
        {"url": f"{HERE}/b.js", "type": "script", "wire_bytes": 300_000},
        {"url": f"{HERE}/a.js", "type": "script", "wire_bytes": 20_000},
    ]


def test_one_script_weighs_and_what_was_left_out_is_owned_to() -> None:
    found = Resources((resource(f"{HERE}/a.js", Kind.SCRIPT, kb=10),), left_out=4)
    assert message(checks.js_weight(found)) == "1 script weighs at least 10 kB."


@pytest.mark.parametrize(("count", "expected"), [(79, "pass"), (80, "warn"), (239, "warn"), (240, "fail")])
def test_requests_are_counted_with_the_document(count: int, expected: str) -> None:
    found = Resources(tuple(resource(f"{HERE}/{number}") for number in range(count)))
    finding = checks.requests(page(), found)
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "many")


def test_requests_are_listed_by_the_kinds_of_files() -> None:
    kinds = [Kind.IMAGE] * 3 + [Kind.SCRIPT] * 2 + [Kind.FONT, Kind.STYLESHEET, Kind.ICON, Kind.OTHER]
    found = Resources(tuple(resource(f"{HERE}/{number}", kind) for number, kind in enumerate(kinds)))
    assert message(checks.requests(page(), found)) == (
        "The page is loaded with 10 requests (3 images, 2 scripts, 1 font, 1 style sheet, 2 others)."
    )
    assert message(checks.requests(page(), Resources(()))) == "The page is loaded with 1 request."


def test_requests_that_were_not_made_count_too() -> None:
    assert verdict(checks.requests(page(), Resources((resource(),), left_out=300))) == "fail"


@pytest.mark.parametrize(("others", "expected"), [(11, "pass"), (12, "warn"), (29, "warn"), (30, "fail")])
def test_domains(others: int, expected: str) -> None:
    found = Resources(tuple(resource(f"https://host{number}.example.org/a") for number in range(others)))
    finding = checks.domains(page(), found)
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "many")


@pytest.mark.parametrize(
    ("own", "foreign", "expected"),
    [
        (0, 0, "pass"),
        (9, 0, "pass"),
        (7, 1, "low"),
        (8, 1, "pass"),
        (0, 9, "low"),  # a template with a library, icons, two fonts and pictures of other sites
        (79, 10, "warn"),
        (89, 10, "pass"),
        (8, 10, "fail"),
        (9, 10, "warn"),
    ],
)
def test_third_party_share(own: int, foreign: int, expected: str) -> None:
    found = [resource(f"https://cdn.example.com/{number}") for number in range(own)]  # the same site
    found += [resource(f"https://tracker.example.org/{number}") for number in range(foreign)]
    finding = checks.third_party_share(page(), Resources(tuple(found)))
    assert outcome(finding) == ("pass" if expected == "pass" else "high")
    is_low = expected != "pass" and severity_of(checks.third_party_share, finding) is Severity.LOW
    assert ("low" if is_low else verdict(finding)) == expected


def test_the_message_of_the_third_party_share_names_the_sites() -> None:
    def said(own: int, foreign: int) -> str:
        found = [resource(f"{HERE}/{number}") for number in range(own)]
        found += [resource(f"https://cdn{number % 2}.example{number % 2}.org/{number}") for number in range(foreign)]
        return message(checks.third_party_share(page(), Resources(tuple(found))))

    assert said(3, 0) == "No request goes to another site."
    assert said(7, 1) == "1 of 9 requests (11%) goes to other sites (example0.org), too few to matter much."
    assert said(8, 11) == ("11 of 20 requests (55%) go to other sites (example0.org, example1.org); up to 10% is good.")


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
        ),  # a redirect to the same file
    ],
)
def test_duplicate_files(items: list[Resource], expected: str) -> None:
    finding = checks.duplicate_files(Resources(tuple(items)))
    assert verdict(finding) == expected
    assert outcome(finding) == ("loaded-twice" if expected in ("warn", "fail") else expected)


def test_a_duplicate_file_is_named_with_its_other_url() -> None:
    items = (resource(f"{HERE}/a?v=1", sha="1"), resource(f"{HERE}/a?v=2", sha="1"))
    finding = checks.duplicate_files(Resources(items))
    assert message(finding) == "1 file is loaded again from another URL."
    assert rows(finding) == [{"url": f"{HERE}/a?v=2", "same_as": f"{HERE}/a?v=1", "bytes": 1000}]
    assert title_of(checks.duplicate_files, finding) == "Duplicate files"


@pytest.mark.parametrize(("sizes", "expected"), [([], "n/a"), ([1], "pass"), ([1, 0], "warn"), ([0, 0], "fail")])
def test_empty_responses(sizes: list[int], expected: str) -> None:
    items = tuple(resource(f"{HERE}/{number}", kb=size) for number, size in enumerate(sizes))
    finding = checks.empty_responses(Resources(items))
    assert verdict(finding) == expected
    assert outcome(finding) == ("no-content" if expected in ("warn", "fail") else expected)


def test_an_answer_that_says_it_has_no_content_is_not_empty_by_mistake() -> None:
    assert verdict(checks.empty_responses(Resources((resource(kb=0, status=204),)))) == "pass"
