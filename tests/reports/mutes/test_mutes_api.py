"""Mutes over the API, and their effect on scores, SARIF and diffs. Reports themselves do not change."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ActivityEvent
from reports.exported import KINDS
from reports.models import Mute, Report
from tests.factories import Member
from tests.reports.mutes.cast import CHECKS, URL, reported
from tests.reports.sarif import assert_sarif
from website_scan.fingerprints import fingerprints
from website_scan.places import NO_ROWS
from website_scan.result import CheckResult
from website_scan.timestamps import timestamp

BODY = {"check": "exposed-git", "host": "example.com", "reason": "A copy for auditors."}
COOKIES = fingerprints("cookie-secure", CHECKS[1].places.kept, URL)


def mute(member: Member, **changes: Any) -> dict[str, Any]:
    answer = member.api.post("/v1/mutes", BODY | changes)
    assert answer.status_code in (200, 201), answer.content
    shown: dict[str, Any] = answer.json()
    return shown


def test_a_mute_is_made_listed_and_ended(home: Member) -> None:
    answer = home.api.post("/v1/mutes", BODY)
    assert answer.status_code == 201
    shown = answer.json()
    assert answer["Location"] == f"/v1/mutes/{shown['id']}"
    assert shown == {
        "id": shown["id"],
        "check": "exposed-git",
        "host": "example.com",
        "path_prefix": None,
        "outcome": None,
        "fingerprint": None,
        "place": None,
        "reason": "A copy for auditors.",
        "by": "API key tests",
        "created_at": shown["created_at"],
        "expires_at": shown["expires_at"],
    }
    assert home.api.get(answer["Location"]).json() == shown
    assert home.api.get("/v1/mutes").json() == {"mutes": [shown], "total": 1, "limit": 20, "offset": 0}
    assert home.api.delete(answer["Location"]).status_code == 204
    assert home.api.delete(answer["Location"]).status_code == 404
    assert home.api.get("/v1/mutes").json()["mutes"] == []


def test_the_list_is_filtered_and_paged_by_what_ends_first(home: Member) -> None:
    now = timezone.now()
    for days, path in ((9, "/c"), (3, "/a"), (6, "/b")):
        mute(home, path_prefix=path, expires_at=timestamp(now + timedelta(days=days)))
    mute(home, check="hsts", host="other.example.com")
    paths = [each["path_prefix"] for each in home.api.get("/v1/mutes?host=example.com").json()["mutes"]]
    assert paths == ["/a", "/b", "/c"]
    page = home.api.get("/v1/mutes?check=exposed-git&limit=1&offset=1").json()
    assert ([each["path_prefix"] for each in page["mutes"]], page["total"]) == (["/b"], 3)


def test_the_same_again_renews_it(home: Member) -> None:
    first = mute(home)
    answer = home.api.post("/v1/mutes", BODY | {"reason": "Until spring."})
    assert answer.status_code == 200
    assert not answer.has_header("Location")
    assert (answer.json()["id"], answer.json()["reason"]) == (first["id"], "Until spring.")


def test_a_stored_report_never_changes(home: Member) -> None:
    scan = reported(home)
    addresses = [f"/v1/report/{scan.id}", f"/v1/report/{scan.id}/export", f"/v1/report/{scan.id}/export?format=csv"]
    before = [home.api.get(each) for each in addresses]
    row = Report.objects.values().get(scan=scan)
    for check in ("exposed-git", "cookie-secure", "hsts"):
        mute(home, check=check)
    after = [home.api.get(each) for each in addresses]
    assert [each.content for each in after] == [each.content for each in before]
    assert after[0]["ETag"] == before[0]["ETag"]
    assert home.api.get(addresses[0], If_None_Match=before[0]["ETag"]).status_code == 304
    assert Report.objects.values().get(scan=scan) == row


def test_both_scores_are_told_and_the_one_without_lifts_caps(home: Member) -> None:
    scan = reported(home)
    address = f"/v1/report/{scan.id}/mutes"
    plain = home.api.get(address).json()
    report = home.api.get(f"/v1/report/{scan.id}").json()
    assert plain == {
        "id": scan.id,
        "score": report["score"],
        "grade": report["grade"],
        "without_muted": None,
        "findings": [],
    }
    shown = mute(home)
    muted = home.api.get(address).json()
    assert muted["score"] == report["score"]
    # As if the check had passed, the points are 10 of 10, 0 of 6, 1.5 of 3 and 6 of 6.
    assert muted["without_muted"] == {"score": 70, "grade": "C"}
    assert muted["findings"] == [
        {
            "check": "exposed-git",
            "title": "Git repository is public",
            "status": "fail",
            "severity": "critical",
            "is_whole": True,
            "mutes": [shown],
        }
    ]


def test_one_of_two_places_changes_no_score(home: Member) -> None:
    scan = reported(home)
    one, other = COOKIES
    mute(home, check="cookie-secure", fingerprint=one)
    told = home.api.get(f"/v1/report/{scan.id}/mutes").json()
    assert (told["without_muted"], [each["is_whole"] for each in told["findings"]]) == (None, [False])
    mute(home, check="cookie-secure", fingerprint=other)
    told = home.api.get(f"/v1/report/{scan.id}/mutes").json()
    assert told["without_muted"] is not None
    assert [each["is_whole"] for each in told["findings"]] == [True]
    assert len(told["findings"][0]["mutes"]) == 2


def test_a_report_from_before_mutes_has_no_score_without_them(home: Member) -> None:
    scan = reported(home)
    Report.objects.update(scoring=None)
    mute(home)
    told = home.api.get(f"/v1/report/{scan.id}/mutes").json()
    assert told["without_muted"] is None
    assert [each["check"] for each in told["findings"]] == ["exposed-git"]


def test_sarif_says_what_is_suppressed_and_why(home: Member) -> None:
    scan = reported(home)
    address = f"/v1/report/{scan.id}/export?format=sarif"
    assert all("suppressions" not in each for each in results_of(home, address))
    mute(home)
    mute(home, check="cookie-secure", fingerprint=next(iter(COOKIES)))
    suppressed = [{"kind": "external", "status": "accepted", "justification": "A copy for auditors."}]
    found = [(each["ruleId"], each["suppressions"]) for each in results_of(home, address)]
    assert sorted(found, key=str) == [
        ("cookie-secure", []),  # the other cookie is not muted
        ("cookie-secure", suppressed),
        ("exposed-git", suppressed),
        ("hsts", []),
    ]
    assert home.api.get(address)["Cache-Control"] == "private, no-cache"


def results_of(member: Member, address: str) -> list[dict[str, Any]]:
    document = member.api.get(address).json()
    assert_sarif(document)
    results: list[dict[str, Any]] = document["runs"][0]["results"]
    return results


def test_a_diff_leaves_out_what_is_muted(home: Member) -> None:
    passed = (
        replace(each, status="pass", severity=None, places=NO_ROWS, outcome="", how_to_fix=None) for each in CHECKS
    )
    before = reported(home, checks=tuple(passed))
    after = reported(home)
    address = f"/v1/report/{after.id}/diff?with={before.id}"
    plain = home.api.get(address)
    assert {each["id"] for each in plain.json()["new"]} == {"exposed-git", "cookie-secure", "hsts"}
    assert plain.json()["muted"] == []
    mute(home)
    one, other = COOKIES
    mute(home, check="cookie-secure", fingerprint=one)
    # With the mutes, the diff and its ETag have changed.
    muted = home.api.get(address, If_None_Match=plain["ETag"])
    assert muted.status_code == 200
    assert muted["ETag"] != plain["ETag"]
    assert home.api.get(address, If_None_Match=muted["ETag"]).status_code == 304
    told = muted.json()
    assert {each["id"] for each in told["new"]} == {"cookie-secure", "hsts"}
    assert [each["id"] for each in told["muted"]] == ["exposed-git"]
    (cookies,) = (each for each in told["new"] if each["id"] == "cookie-secure")
    assert [each["fingerprint"] for each in cookies["new_places"]] == [other]
    # In the reverse diff, muted findings are not listed as fixed either.
    back = home.api.get(f"/v1/report/{before.id}/diff?with={after.id}").json()
    assert {each["id"] for each in back["fixed"]} == {"cookie-secure", "hsts"}
    assert [each["id"] for each in back["muted"]] == ["exposed-git"]


def test_expired_mutes_apply_no_more_without_any_job(home: Member) -> None:
    scan = reported(home)
    mute(home)
    Mute.objects.update(expires_at=timezone.now())
    assert home.api.get(f"/v1/report/{scan.id}/mutes").json()["findings"] == []
    assert all("suppressions" not in each for each in results_of(home, f"/v1/report/{scan.id}/export?format=sarif"))
    assert home.api.get("/v1/mutes").json()["total"] == 0


def hsts(outcome: str) -> tuple[CheckResult, ...]:
    return tuple(replace(each, outcome=outcome) for each in CHECKS if each.id == "hsts")


def test_a_mute_of_one_outcome_leaves_the_others(home: Member) -> None:
    short, missing = reported(home, checks=hsts("short")), reported(home, checks=hsts("missing"))
    shown = mute(home, check="hsts", outcome="short")
    assert shown["outcome"] == "short"
    found = [home.api.get(f"/v1/report/{scan.id}/mutes").json()["findings"] for scan in (short, missing)]
    assert [[each["mutes"] for each in findings] for findings in found] == [[[shown]], []]
    suppressed = [
        bool(each["suppressions"]) if "suppressions" in each else False
        for scan in (short, missing)
        for each in results_of(home, f"/v1/report/{scan.id}/export?format=sarif")
    ]
    assert suppressed == [True, False]


def test_each_outcome_and_the_whole_check_have_a_mute_of_their_own(home: Member) -> None:
    whole, short, missing = (mute(home, check="hsts", outcome=each) for each in (None, "short", "missing"))
    assert len({each["id"] for each in (whole, short, missing)}) == 3
    assert mute(home, check="hsts", outcome="short")["id"] == short["id"]


@pytest.mark.parametrize(
    ("check", "outcome", "known"),
    [
        ("hsts", "faulty", "hsts: missing, ignored, invalid, off, short, repeated, contradictory."),
        ("hsts", "hsts.short", "hsts: missing, ignored, invalid, off, short, repeated, contradictory."),
        ("exposed-git", "short", "exposed-git: public."),
    ],
)
def test_an_unknown_outcome_is_refused_with_those_that_the_check_has(
    home: Member, check: str, outcome: str, known: str
) -> None:
    answer = home.api.post("/v1/mutes", BODY | {"check": check, "outcome": outcome})
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMS")
    assert answer.json()["error"] == f"outcome must be one of those of {known}"


def test_a_diff_leaves_out_a_muted_outcome_until_it_is_another(home: Member) -> None:
    before = reported(home, checks=CHECKS[3:])
    short, missing = reported(home, checks=hsts("short")), reported(home, checks=hsts("missing"))
    mute(home, check="hsts", outcome="short")
    found = [home.api.get(f"/v1/report/{after.id}/diff?with={before.id}").json() for after in (short, missing)]
    assert [[each["outcome"] for each in diff["muted"]] for diff in found] == [["short"], []]
    assert [[each["outcome"] for each in diff["new"]] for diff in found] == [[], ["missing"]]


def test_the_activity_log_and_the_export_of_the_organization_name_the_outcome(home: Member) -> None:
    mute(home, check="hsts", outcome="short")
    assert ActivityEvent.objects.get(action="mute.created").details["outcome"] == "short"
    (kind,) = (each for each in KINDS if each.name == "mutes")
    rows: Any = map(kind.serialize, kind.rows(home.organization.id))
    assert [row["outcome"] for row in rows] == ["short"]
