"""Diff of two reports on a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from tests.results import check_of, elements, stored
from website_scan.findings import Severity
from website_scan.places import MOST_ROWS, Place, Resource
from website_scan.report.diff import Diff, Reason, diff
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
    """Return the compared part of an export, in which each check has one of STATES."""
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


def placed(*selectors: str, **more: Any) -> ExportJson:
    return document({"a": "fail"}, places={"a": elements(*selectors)}, **more)


def told(changes: Diff[ExportJson]) -> dict[str, list[str]]:
    return {name: [each.id for each in group] for name in GROUPS if (group := getattr(changes, name))}


def moved(changes: Diff[ExportJson]) -> tuple[str, list[str], list[str]]:
    """Return the group of the only finding, and the places that it gained and lost."""
    ((group, _),) = told(changes).items()
    (change,) = getattr(changes, group)
    return group, [each.text for each in change.new_places], [each.text for each in change.fixed_places]


def test_every_way_a_check_can_change_has_its_group() -> None:
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
        assert told(diff(document({"a": before}), document({"a": now}))) == {group: ["a"]}, (before, now)


def test_where_a_report_is_silent_nothing_is_new_and_nothing_is_fixed() -> None:
    ways = {
        ("skipped", "fail"): (Reason.COULD_NOT_RUN, "to", "the check could not run last time"),
        ("omitted", "fail"): (Reason.NEEDS_BROWSER, "to", "no browser was available last time"),
        ("fail", "skipped"): (Reason.COULD_NOT_RUN, "from", "the check could not run this time"),
        ("warn", "omitted"): (Reason.NEEDS_BROWSER, "from", "no browser was available this time"),
        ("repeated", "fail"): (Reason.TOLD_BY_ANOTHER, "to", "another check told the same last time"),
        ("fail", "repeated"): (Reason.TOLD_BY_ANOTHER, "from", "another check told the same this time"),
        ("fail", "absent"): (Reason.NOT_APPLICABLE, "from", "the check does not apply this time"),
    }
    for (before, now), expected in ways.items():
        changes = diff(document({"a": before}), document({"a": now}))
        assert told(changes) == {"not_compared": ["a"]}
        (each,) = changes.not_compared
        assert (each.reason, each.found_in, each.said) == expected


def test_checks_that_other_rules_may_not_have_known_are_not_new() -> None:
    before, now = document({"old": "fail"}, version="1"), document({"young": "fail"}, version="2")
    changes = diff(before, now)
    assert told(changes) == {"not_compared": ["young", "old"]}
    assert {each.reason for each in changes.not_compared} == {Reason.OTHER_RULES}


def test_other_rules_hide_no_change_of_a_check_that_both_know() -> None:
    before, now = document({"a": "pass", "b": "fail"}, version="1"), document({"a": "fail", "b": "pass"}, version="2")
    assert told(diff(before, now)) == {"new": ["a"], "fixed": ["b"]}


def test_no_finding_is_lost_or_told_twice() -> None:
    ways = {f"{before}-{now}": (before, now) for before in STATES for now in STATES}
    earlier = {id: before for id, (before, _) in ways.items()}
    newer = {id: now for id, (_, now) in ways.items()}
    changes = diff(document(earlier), document(newer))
    groups = {name: sorted(each.id for each in getattr(changes, name)) for name in GROUPS[:-1]}
    both = groups["worse"] + groups["better"] + groups["same"]
    silent = {side: [each.id for each in changes.not_compared if each.found_in == side] for side in ("from", "to")}
    found_before = sorted(id for id, state in earlier.items() if state in ("fail", "warn"))
    found_now = sorted(id for id, state in newer.items() if state in ("fail", "warn"))
    assert sorted(groups["fixed"] + both + silent["from"]) == found_before
    assert sorted(groups["new"] + both + silent["to"]) == found_now


def test_the_same_report_has_no_changes() -> None:
    states = dict(zip("abcdefg", STATES, strict=True))
    assert diff(document(states), document(states)).is_empty


def test_one_of_three_places_mended_is_better_and_not_fixed() -> None:
    assert moved(diff(placed("#a", "#b", "#c"), placed("#c", "#a"))) == ("better", [], ["#b"])


def test_a_new_place_is_worse_even_where_another_is_mended() -> None:
    changes = diff(placed("#a", "#b"), placed("#b", "#c"))
    assert moved(changes) == ("worse", ["#c"], ["#a"])
    assert changes.worse[0].said == "1 new place; 1 fixed place"


def images(*numbers: int) -> ExportJson:
    return placed(*(f"main > img:nth-of-type({each})" for each in numbers))


def test_one_more_element_of_a_kind_is_worse_and_one_less_is_better() -> None:
    changes = diff(images(1, 2, 3), images(1, 2, 3, 4))
    assert moved(changes) == ("worse", ["main > img:nth-of-type(4)"], [])
    assert changes.worse[0].said == "1 new place"
    assert moved(diff(images(1, 2, 3, 4), images(1, 2, 3))) == ("better", [], ["main > img:nth-of-type(4)"])
    assert moved(diff(images(1), images(1, 2, 3)))[1] == ["main > img:nth-of-type(2)", "main > img:nth-of-type(3)"]


def test_as_many_elements_of_a_kind_at_other_positions_are_the_same() -> None:
    assert moved(diff(images(1, 2, 3), images(4, 5, 9))) == ("same", [], [])
    assert moved(diff(images(1, 2, 3), images(7, 8, 9, 10)))[0] == "worse"


def test_a_list_that_was_cut_is_not_counted() -> None:
    full, more = images(*range(MOST_ROWS)), images(*range(MOST_ROWS + 3))
    assert moved(diff(full, more)) == ("same", [], [])
    assert moved(diff(full, images(1, 2))) == (
        "better",
        [],
        [f"main > img:nth-of-type({n})" for n in (0, *range(3, 20))],
    )


def test_places_are_quiet_about_what_changes_by_itself() -> None:
    before = placed("ul > li:nth-of-type(1) > a", "ul > li:nth-of-type(2) > a", "p.css-1x2y3z")
    after = placed("p.css-9z8y7x", "ul > li:nth-of-type(9) > a", "ul > li:nth-of-type(1) > a")
    assert moved(diff(before, after)) == ("same", [], [])


def test_a_list_that_was_cut_makes_no_news() -> None:
    full = [f"#place{each}" for each in "abcdefghijklmnopqrst"]
    assert len(full) == MOST_ROWS
    cut, other = placed(*full), placed(*full[1:], "#zzz")
    assert moved(diff(cut, other)) == ("same", [], [])
    # The shorter list is complete: places not in it are fixed, but places only in it may have been there before.
    assert moved(diff(cut, placed("#placea", "#zzz"))) == (
        "better",
        [],
        [f"#place{each}" for each in "bcdefghijklmnopqrst"],
    )
    # The earlier list is complete: places not in it are new, but places missing in the cut one may still be there.
    assert moved(diff(placed("#placea", "#zzz"), cut))[::2] == ("worse", [])


def test_a_finding_that_names_no_place_is_not_compared_by_places() -> None:
    assert moved(diff(placed(), placed("#a"))) == ("same", [], [])
    assert moved(diff(placed("#a"), placed())) == ("same", [], [])


def test_new_and_fixed_findings_tell_all_their_places() -> None:
    fine = document({"a": "pass"})
    assert moved(diff(fine, placed("#a", "#b"))) == ("new", ["#a", "#b"], [])
    assert moved(diff(placed("#a", "#b"), fine)) == ("fixed", [], ["#a", "#b"])


def test_what_a_browser_sees_is_not_compared_with_the_markup_place_by_place() -> None:
    changes = diff(placed("#a"), placed("#b", browser="Chromium 150.0"))
    assert moved(changes) == ("same", [], [])
    assert not changes.same_browser
    assert diff(placed("#a", browser="Chromium 149.0"), placed("#a", browser="Chromium 150.0")).same_browser


def test_a_report_of_before_there_were_browsers_can_be_compared() -> None:
    old = document({"a": "fail"})
    del old["browser"], old["omitted_checks"], old["repeated_checks"]
    assert told(diff(old, document({"a": "fail"}))) == {"same": ["a"]}


def test_the_same_place_of_two_hosts_is_the_same() -> None:
    """As on the command line, where a site is compared with its next version."""
    before, now = (
        document({"a": "fail"}, url=f"https://{host}/", places={"a": [Resource(f"https://{host}/app.js")]})
        for host in ("example.com", "next.example.com")
    )
    assert moved(diff(before, now)) == ("same", [], [])


def test_a_heavier_severity_is_worse_and_a_lighter_one_better() -> None:
    light, heavy = document({"a": "fail"}, severity="low"), document({"a": "fail"}, severity="critical")
    assert told(diff(light, heavy)) == {"worse": ["a"]}
    assert told(diff(heavy, light)) == {"better": ["a"]}
    assert diff(light, heavy).worse[0].said == "now critical, was low"
    assert diff(document({"a": "warn"}), document({"a": "fail"})).worse[0].said == "now failed, was only a warning"


def test_the_scores_are_compared_too() -> None:
    assert diff(document({}, score=70), document({}, score=64)).points == -6


def test_scores_of_different_rules_have_no_difference() -> None:
    changes = diff(document({}, score=70, version="2026.1"), document({}, score=64, version="2026.2"))
    assert (changes.points, changes.same_rules) == (None, False)


def test_top_priority_change_comes_first_in_each_group() -> None:
    found = document({"low": "fail", "warned": "warn", "failed": "fail", "holder": "fail", "worst": "fail"})
    for category in found["categories"]:
        for check in category["checks"]:
            assert check["status"] != "pass"
            check["severity"] = {"low": "low", "worst": "critical"}.get(check["id"], "high")
            check["holds"] = check["id"] == "holder"
    order = ["worst", "holder", "failed", "warned", "low"]
    assert told(diff(document({}), found)) == {"new": order}
    assert told(diff(found, document(dict.fromkeys(order, "pass")))) == {"fixed": order}
    assert told(diff(document(dict.fromkeys(order, "skipped")), found)) == {"not_compared": order}
