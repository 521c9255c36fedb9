"""Tests for the diff of two reports on the same page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from tests.results import check_of, elements, stored
from website_scan.findings import Severity
from website_scan.places import MAX_STORED_PLACES, Place, Resource
from website_scan.report.diff import Diff, diff
from website_scan.report.not_compared import Reason
from website_scan.report_json import ExportJson

STATES = ("pass", "warn", "fail", "skipped", "omitted", "repeated", "absent")
GROUPS = ("new", "fixed", "worse", "better", "same", "not_compared")


def document(
    states: dict[str, str],
    *,
    score: int = 50,
    version: str = "1",
    severity: str = "high",
    browser: str | None = None,
    places: dict[str, Sequence[Place]] | None = None,
    url: str = "https://example.com/",
) -> ExportJson:
    """Return the compared part of an export with these check states.

    See STATES.
    """
    checks = [
        stored(
            check_of(
                id,
                id.title(),
                id.title(),
                state,  # type: ignore[arg-type]  # one of the three
                None if state == "pass" else Severity(severity),
                Severity(severity),
                "It is so.",
                places=(places or {}).get(id, ()),
                points=1.0,
                later=1.0,
            ),
            url,
        )
        for id, state in states.items()
        if state in ("pass", "warn", "fail")
    ]
    compared = {
        "url": url,
        "score": score,
        "catalogue_version": version,
        "browser": browser,
        "categories": [{"name": "Some", "checks": checks[::2]}, {"name": "Others", "checks": checks[1::2]}],
        "skipped_checks": [{"id": id} for id, state in states.items() if state == "skipped"],
        "omitted_checks": [{"id": id} for id, state in states.items() if state == "omitted"],
        "repeated_checks": [{"id": id} for id, state in states.items() if state == "repeated"],
    }
    return cast("ExportJson", compared)


def document_with_places(*selectors: str, **more: Any) -> ExportJson:
    return document({"a": "fail"}, places={"a": elements(*selectors)}, **more)


def check_ids_by_group(changes: Diff[ExportJson]) -> dict[str, list[str]]:
    """Return the check IDs in each non-empty group of changes."""
    return {name: [change.id for change in group] for name in GROUPS if (group := getattr(changes, name))}


def group_and_places(changes: Diff[ExportJson]) -> tuple[str, list[str], list[str]]:
    """Return the only finding's group, new places and fixed places."""
    ((group, _),) = check_ids_by_group(changes).items()
    (change,) = getattr(changes, group)
    return group, [place.text for place in change.new_places], [place.text for place in change.fixed_places]


def test_status_change_determines_group() -> None:
    ways = {
        ("fail", "pass"): "fixed",
        ("warn", "pass"): "fixed",
        ("pass", "fail"): "new",
        ("pass", "warn"): "new",
        ("absent", "warn"): "new",
        ("fail", "fail"): "same",
        ("warn", "fail"): "worse",
        ("fail", "warn"): "better",
    }
    for (before, now), group in ways.items():
        assert check_ids_by_group(diff(document({"a": before}), document({"a": now}))) == {group: ["a"]}, (before, now)


def test_finding_without_other_verdict_is_not_compared() -> None:
    ways = {
        ("skipped", "fail"): (Reason.COULD_NOT_RUN, "to", "the check could not run last time"),
        ("omitted", "fail"): (Reason.NEEDS_BROWSER, "to", "no browser was available last time"),
        ("fail", "skipped"): (Reason.COULD_NOT_RUN, "from", "the check could not run this time"),
        ("warn", "omitted"): (Reason.NEEDS_BROWSER, "from", "no browser was available this time"),
        ("repeated", "fail"): (Reason.TOLD_BY_ANOTHER, "to", "another check reported the same fact last time"),
        ("fail", "repeated"): (Reason.TOLD_BY_ANOTHER, "from", "another check reported the same fact this time"),
        ("fail", "absent"): (Reason.NOT_APPLICABLE, "from", "the check does not apply this time"),
    }
    for (before, now), expected in ways.items():
        changes = diff(document({"a": before}), document({"a": now}))
        assert check_ids_by_group(changes) == {"not_compared": ["a"]}
        (uncompared,) = changes.not_compared
        assert (uncompared.reason, uncompared.found_in, uncompared.said) == expected


def test_checks_of_one_version_are_not_compared() -> None:
    before, now = document({"old": "fail"}, version="1"), document({"young": "fail"}, version="2")
    changes = diff(before, now)
    assert check_ids_by_group(changes) == {"not_compared": ["young", "old"]}
    assert {change.reason for change in changes.not_compared} == {Reason.OTHER_RULES}


def test_categories_that_one_report_was_limited_to_others_are_not_compared() -> None:
    whole = document({"spf": "fail", "hsts": "fail"})
    mail, transport = whole["categories"]
    mail["name"], transport["name"] = "Mail", "Transport security"
    limited: ExportJson = {**whole, "categories": [], "chosen_categories": ["mail"]}
    for (before, after), found_in in (((whole, limited), "from"), ((limited, whole), "to")):
        changes = diff(before, after)
        found = {finding.id: finding.reason for finding in changes.not_compared if finding.found_in == found_in}
        assert found["hsts"] is Reason.NOT_CHOSEN
        assert found.get("spf", Reason.NOT_APPLICABLE) is Reason.NOT_APPLICABLE
        assert changes.fixed == ()
        assert [change.id for change in changes.new] == (["spf"] if found_in == "to" else [])
        assert (changes.points, changes.same_categories) == (None, False)


def test_checks_of_both_versions_are_compared() -> None:
    before, now = document({"a": "pass", "b": "fail"}, version="1"), document({"a": "fail", "b": "pass"}, version="2")
    assert check_ids_by_group(diff(before, now)) == {"new": ["a"], "fixed": ["b"]}


def test_finding_is_in_exactly_one_group() -> None:
    ways = {f"{before}-{now}": (before, now) for before in STATES for now in STATES}
    earlier = {id: before for id, (before, _) in ways.items()}
    newer = {id: now for id, (_, now) in ways.items()}
    changes = diff(document(earlier), document(newer))
    groups = {name: sorted(change.id for change in getattr(changes, name)) for name in GROUPS[:-1]}
    both = groups["worse"] + groups["better"] + groups["same"]
    uncompared = {
        side: [change.id for change in changes.not_compared if change.found_in == side] for side in ("from", "to")
    }
    findings_before = sorted(id for id, state in earlier.items() if state in ("fail", "warn"))
    findings_now = sorted(id for id, state in newer.items() if state in ("fail", "warn"))
    assert sorted(groups["fixed"] + both + uncompared["from"]) == findings_before
    assert sorted(groups["new"] + both + uncompared["to"]) == findings_now


def test_report_does_not_differ_from_itself() -> None:
    states = dict(zip("abcdefg", STATES, strict=True))
    assert diff(document(states), document(states)).is_empty


def test_finding_with_one_place_fixed_is_better() -> None:
    assert group_and_places(diff(document_with_places("#a", "#b", "#c"), document_with_places("#c", "#a"))) == (
        "better",
        [],
        ["#b"],
    )


def test_finding_with_a_new_place_is_worse() -> None:
    changes = diff(document_with_places("#a", "#b"), document_with_places("#b", "#c"))
    assert group_and_places(changes) == ("worse", ["#c"], ["#a"])
    assert changes.worse[0].said == "1 new place; 1 fixed place"


def images(*numbers: int) -> ExportJson:
    return document_with_places(*(f"main > img:nth-of-type({number})" for number in numbers))


def test_occurrences_of_a_fingerprint_are_counted() -> None:
    changes = diff(images(1, 2, 3), images(1, 2, 3, 4))
    assert group_and_places(changes) == ("worse", ["main > img:nth-of-type(4)"], [])
    assert changes.worse[0].said == "1 new place"
    assert group_and_places(diff(images(1, 2, 3, 4), images(1, 2, 3))) == ("better", [], ["main > img:nth-of-type(4)"])
    assert group_and_places(diff(images(1), images(1, 2, 3)))[1] == [
        "main > img:nth-of-type(2)",
        "main > img:nth-of-type(3)",
    ]


def test_moved_occurrences_are_unchanged() -> None:
    assert group_and_places(diff(images(1, 2, 3), images(4, 5, 9))) == ("same", [], [])
    assert group_and_places(diff(images(1, 2, 3), images(7, 8, 9, 10)))[0] == "worse"


def test_truncated_occurrences_are_not_counted() -> None:
    full, more = images(*range(MAX_STORED_PLACES)), images(*range(MAX_STORED_PLACES + 3))
    assert group_and_places(diff(full, more)) == ("same", [], [])
    assert group_and_places(diff(full, images(1, 2))) == (
        "better",
        [],
        [f"main > img:nth-of-type({n})" for n in (0, *range(3, 20))],
    )


def test_new_position_does_not_change_a_place() -> None:
    before = document_with_places("ul > li:nth-of-type(1) > a", "ul > li:nth-of-type(2) > a", "p.css-1x2y3z")
    after = document_with_places("p.css-9z8y7x", "ul > li:nth-of-type(9) > a", "ul > li:nth-of-type(1) > a")
    assert group_and_places(diff(before, after)) == ("same", [], [])


def test_truncated_places_are_not_compared() -> None:
    full = [f"#place{letter}" for letter in "abcdefghijklmnopqrst"]
    assert len(full) == MAX_STORED_PLACES
    cut, other = document_with_places(*full), document_with_places(*full[1:], "#zzz")
    assert group_and_places(diff(cut, other)) == ("same", [], [])
    # The shorter list is complete, but its new places may have existed before.
    assert group_and_places(diff(cut, document_with_places("#placea", "#zzz"))) == (
        "better",
        [],
        [f"#place{letter}" for letter in "bcdefghijklmnopqrst"],
    )
    # The earlier list is complete, so places that it lacks are new.
    assert group_and_places(diff(document_with_places("#placea", "#zzz"), cut))[::2] == ("worse", [])


def test_finding_without_places_is_not_compared() -> None:
    assert group_and_places(diff(document_with_places(), document_with_places("#a"))) == ("same", [], [])
    assert group_and_places(diff(document_with_places("#a"), document_with_places())) == ("same", [], [])


def test_new_and_fixed_findings_list_places() -> None:
    fine = document({"a": "pass"})
    assert group_and_places(diff(fine, document_with_places("#a", "#b"))) == ("new", ["#a", "#b"], [])
    assert group_and_places(diff(document_with_places("#a", "#b"), fine)) == ("fixed", [], ["#a", "#b"])


def test_places_found_without_browser_are_not_compared() -> None:
    changes = diff(document_with_places("#a"), document_with_places("#b", browser="Chromium 150.0"))
    assert group_and_places(changes) == ("same", [], [])
    assert not changes.same_browser
    assert diff(
        document_with_places("#a", browser="Chromium 149.0"), document_with_places("#a", browser="Chromium 150.0")
    ).same_browser


def test_old_report_can_be_compared() -> None:
    old = document({"a": "fail"})
    del old["browser"], old["omitted_checks"], old["repeated_checks"]
    assert check_ids_by_group(diff(old, document({"a": "fail"}))) == {"same": ["a"]}


def test_place_on_another_host_is_unchanged() -> None:
    """The command line compares a site with a preview of its next version.

    The preview has another host.
    """
    before, now = (
        document({"a": "fail"}, url=f"https://{host}/", places={"a": [Resource(f"https://{host}/app.js")]})
        for host in ("example.com", "next.example.com")
    )
    assert group_and_places(diff(before, now)) == ("same", [], [])


def test_higher_severity_is_worse() -> None:
    light, heavy = document({"a": "fail"}, severity="low"), document({"a": "fail"}, severity="critical")
    assert check_ids_by_group(diff(light, heavy)) == {"worse": ["a"]}
    assert check_ids_by_group(diff(heavy, light)) == {"better": ["a"]}
    assert diff(light, heavy).worse[0].said == "now critical, was low"
    assert diff(document({"a": "warn"}), document({"a": "fail"})).worse[0].said == "now failed, was only a warning"


def test_diff_contains_score_difference() -> None:
    assert diff(document({}, score=70), document({}, score=64)).points == -6


def test_scores_of_two_versions_are_not_compared() -> None:
    changes = diff(document({}, score=70, version="2026.1"), document({}, score=64, version="2026.2"))
    assert (changes.points, changes.same_rules) == (None, False)


def test_changes_are_sorted_by_priority() -> None:
    report = document({"low": "fail", "warned": "warn", "failed": "fail", "holder": "fail", "worst": "fail"})
    for category in report["categories"]:
        for check in category["checks"]:
            assert check["status"] != "pass"
            check["severity"] = {"low": "low", "worst": "critical"}.get(check["id"], "high")
            check["holds"] = check["id"] == "holder"
    order = ["worst", "holder", "failed", "warned", "low"]
    assert check_ids_by_group(diff(document({}), report)) == {"new": order}
    assert check_ids_by_group(diff(report, document(dict.fromkeys(order, "pass")))) == {"fixed": order}
    assert check_ids_by_group(diff(document(dict.fromkeys(order, "skipped")), report)) == {"not_compared": order}
