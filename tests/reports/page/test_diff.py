"""What changed between two reports of a page."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reports.page.diff import Changes, Note, compare

STATES = ("pass", "warn", "fail", "skipped", "absent")


def document(states: dict[str, str], *, score: int = 50, version: str = "1", severity: str = "high") -> dict[str, Any]:
    """An export in which each check is in one of STATES."""
    checks = [
        {"id": id, "name": id.title(), "status": state, "severity": None if state == "pass" else severity}
        for id, state in states.items()
        if state in ("pass", "warn", "fail")
    ]
    return {
        "score": score,
        "catalogue_version": version,
        "categories": [{"checks": checks[::2]}, {"checks": checks[1::2]}],
        "skipped_checks": [{"id": id} for id, state in states.items() if state == "skipped"],
    }


def told(changes: Changes) -> dict[str, list[tuple[str, Note]]]:
    groups = {"fixed": changes.fixed, "new": changes.new, "still": changes.still, "gone": changes.gone}
    return {name: [(each.id, each.note) for each in group] for name, group in groups.items() if group}


def test_every_way_a_check_can_change_has_its_group() -> None:
    ways = {
        ("fail", "pass"): ("fixed", Note.NONE),
        ("warn", "pass"): ("fixed", Note.NONE),
        ("pass", "fail"): ("new", Note.NONE),
        ("absent", "warn"): ("new", Note.UNJUDGED),
        ("skipped", "fail"): ("new", Note.UNJUDGED),
        ("fail", "fail"): ("still", Note.NONE),
        ("warn", "fail"): ("still", Note.WORSE),
        ("fail", "warn"): ("still", Note.BETTER),
        ("fail", "skipped"): ("gone", Note.COULD_NOT_RUN),
        ("warn", "absent"): ("gone", Note.NOT_APPLICABLE),
    }
    for (before, now), (group, note) in ways.items():
        assert told(compare(document({"a": before}), document({"a": now}))) == {group: [("a", note)]}, (before, now)


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(st.sampled_from(STATES), st.sampled_from(STATES))))
def test_no_finding_is_lost_or_told_twice(ways: dict[str, tuple[str, str]]) -> None:
    earlier = {id: before for id, (before, _) in ways.items()}
    newer = {id: now for id, (_, now) in ways.items()}
    changes = compare(document(earlier), document(newer))
    fixed, new, still, gone = (
        sorted(each.id for each in group) for group in (changes.fixed, changes.new, changes.still, changes.gone)
    )
    assert sorted(fixed + still + gone) == sorted(id for id, state in earlier.items() if state in ("fail", "warn"))
    assert sorted(new + still) == sorted(id for id, state in newer.items() if state in ("fail", "warn"))
    assert changes.is_empty == (not (fixed or new or gone))
    assert all(
        each.is_in_report is (each not in changes.gone) for group in told(changes) for each in getattr(changes, group)
    )


def test_the_scores_are_compared_too() -> None:
    earlier, newer = document({}, score=70), document({}, score=64)
    changes = compare(earlier, newer)
    assert (changes.points, changes.score_before, changes.catalogue_before) == (-6, 70, None)


def test_scores_of_different_rules_have_no_difference() -> None:
    earlier, newer = document({}, score=70, version="2026.1"), document({}, score=64, version="2026.2")
    changes = compare(earlier, newer)
    assert (changes.points, changes.score_before, changes.catalogue_before) == (None, 70, "2026.1")


def test_what_weighs_most_comes_first() -> None:
    def check(id: str, status: str, severity: str) -> dict[str, str]:
        return {"id": id, "name": id, "status": status, "severity": severity}

    now = document({})
    now["categories"] = [
        {"checks": [check("low", "fail", "low"), check("warned", "warn", "high"), check("failed", "fail", "high")]},
        {"checks": [check("worst", "warn", "critical")]},
    ]
    assert [each.id for each in compare(document({}), now).new] == ["worst", "failed", "warned", "low"]
