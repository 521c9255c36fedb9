"""Tests for mutes through the API.

They cover the effect of mutes on scores, SARIF and diffs.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from msgspec.structs import replace

from accounts.models import ActivityEvent
from reports.exported import KINDS
from reports.models import Mute, Report
from tests.factories import Member
from tests.reports.mutes.cast import CHECKS, URL, finished_scan_with
from tests.reports.sarif import assert_sarif
from website_scan.fingerprints import fingerprints
from website_scan.places import NO_ROWS
from website_scan.result import CheckResult
from website_scan.timestamps import timestamp

BODY = {"check": "exposed-git", "host": "example.com", "reason": "A copy for auditors."}
COOKIES = fingerprints("cookie-secure", CHECKS[1].places.kept, URL)


def mute(member: Member, **changes: Any) -> dict[str, Any]:
    response = member.api.post("/v1/mutes", BODY | changes)
    assert response.status_code in (200, 201), response.content
    mute_json: dict[str, Any] = response.json()
    return mute_json


def test_mute_is_created_listed_and_ended(home: Member) -> None:
    response = home.api.post("/v1/mutes", BODY)
    assert response.status_code == 201
    mute_json = response.json()
    assert response["Location"] == f"/v1/mutes/{mute_json['id']}"
    assert mute_json == {
        "id": mute_json["id"],
        "check": "exposed-git",
        "host": "example.com",
        "path_prefix": None,
        "outcome": None,
        "fingerprint": None,
        "place": None,
        "reason": "A copy for auditors.",
        "by": "API key tests",
        "created_at": mute_json["created_at"],
        "expires_at": mute_json["expires_at"],
    }
    assert home.api.get(response["Location"]).json() == mute_json
    assert home.api.get("/v1/mutes").json() == {"mutes": [mute_json], "total": 1, "limit": 20, "offset": 0}
    assert home.api.delete(response["Location"]).status_code == 204
    assert home.api.delete(response["Location"]).status_code == 404
    assert home.api.get("/v1/mutes").json()["mutes"] == []


def test_mutes_are_filtered_and_ordered(home: Member) -> None:
    now = timezone.now()
    for days, path in ((9, "/c"), (3, "/a"), (6, "/b")):
        mute(home, path_prefix=path, expires_at=timestamp(now + timedelta(days=days)))
    mute(home, check="hsts", host="other.example.com")
    paths = [mute_json["path_prefix"] for mute_json in home.api.get("/v1/mutes?host=example.com").json()["mutes"]]
    assert paths == ["/a", "/b", "/c"]
    page = home.api.get("/v1/mutes?check=exposed-git&limit=1&offset=1").json()
    assert ([mute_json["path_prefix"] for mute_json in page["mutes"]], page["total"]) == (["/b"], 3)


def test_creating_a_mute_again_renews_it(home: Member) -> None:
    first = mute(home)
    response = home.api.post("/v1/mutes", BODY | {"reason": "Until spring."})
    assert response.status_code == 200
    assert not response.has_header("Location")
    assert (response.json()["id"], response.json()["reason"]) == (first["id"], "Until spring.")


def test_mutes_do_not_change_a_stored_report(home: Member) -> None:
    scan = finished_scan_with(home)
    paths = [f"/v1/report/{scan.id}", f"/v1/report/{scan.id}/export", f"/v1/report/{scan.id}/export?format=csv"]
    before = [home.api.get(path) for path in paths]
    row = Report.objects.values().get(scan=scan)
    for check in ("exposed-git", "cookie-secure", "hsts"):
        mute(home, check=check)
    after = [home.api.get(path) for path in paths]
    assert [response.content for response in after] == [response.content for response in before]
    assert after[0]["ETag"] == before[0]["ETag"]
    assert home.api.get(paths[0], If_None_Match=before[0]["ETag"]).status_code == 304
    assert Report.objects.values().get(scan=scan) == row


def test_muted_findings_do_not_cap_the_score(home: Member) -> None:
    scan = finished_scan_with(home)
    path = f"/v1/report/{scan.id}/mutes"
    unmuted = home.api.get(path).json()
    report = home.api.get(f"/v1/report/{scan.id}").json()
    assert unmuted == {
        "id": scan.id,
        "score": report["score"],
        "grade": report["grade"],
        "without_muted": None,
        "findings": [],
    }
    mute_json = mute(home)
    muted = home.api.get(path).json()
    assert muted["score"] == report["score"]
    # The muted check counts as passed, which makes 17.5 of 25 points.
    assert muted["without_muted"] == {"score": 70, "grade": "C"}
    assert muted["findings"] == [
        {
            "check": "exposed-git",
            "title": "Git repository is public",
            "status": "fail",
            "severity": "critical",
            "is_whole": True,
            "mutes": [mute_json],
        }
    ]


def test_muting_one_of_two_places_keeps_the_score(home: Member) -> None:
    scan = finished_scan_with(home)
    first, second = COOKIES
    mute(home, check="cookie-secure", fingerprint=first)
    muted = home.api.get(f"/v1/report/{scan.id}/mutes").json()
    assert (muted["without_muted"], [finding["is_whole"] for finding in muted["findings"]]) == (None, [False])
    mute(home, check="cookie-secure", fingerprint=second)
    muted = home.api.get(f"/v1/report/{scan.id}/mutes").json()
    assert muted["without_muted"] is not None
    assert [finding["is_whole"] for finding in muted["findings"]] == [True]
    assert len(muted["findings"][0]["mutes"]) == 2


def test_score_without_mutes_needs_a_score_basis(home: Member) -> None:
    scan = finished_scan_with(home)
    Report.objects.update(scoring=None)
    mute(home)
    muted = home.api.get(f"/v1/report/{scan.id}/mutes").json()
    assert muted["without_muted"] is None
    assert [finding["check"] for finding in muted["findings"]] == ["exposed-git"]


def test_sarif_marks_muted_findings_as_suppressed(home: Member) -> None:
    scan = finished_scan_with(home)
    path = f"/v1/report/{scan.id}/export?format=sarif"
    assert all("suppressions" not in result for result in results_of(home, path))
    mute(home)
    mute(home, check="cookie-secure", fingerprint=next(iter(COOKIES)))
    suppressed = [{"kind": "external", "status": "accepted", "justification": "A copy for auditors."}]
    suppressions = [(result["ruleId"], result["suppressions"]) for result in results_of(home, path)]
    assert sorted(suppressions, key=str) == [
        ("cookie-secure", []),  # The other cookie is not muted.
        ("cookie-secure", suppressed),
        ("exposed-git", suppressed),
        ("hsts", []),
    ]
    assert home.api.get(path)["Cache-Control"] == "private, no-cache"


def results_of(member: Member, path: str) -> list[dict[str, Any]]:
    sarif_log = member.api.get(path).json()
    assert_sarif(sarif_log)
    results: list[dict[str, Any]] = sarif_log["runs"][0]["results"]
    return results


def test_diff_lists_muted_findings_separately(home: Member) -> None:
    passed_checks = (
        replace(check, status="pass", severity=None, places=NO_ROWS, outcome="", how_to_fix=None) for check in CHECKS
    )
    before = finished_scan_with(home, checks=tuple(passed_checks))
    after = finished_scan_with(home)
    path = f"/v1/report/{after.id}/diff?with={before.id}"
    unmuted = home.api.get(path)
    assert {change["id"] for change in unmuted.json()["new"]} == {"exposed-git", "cookie-secure", "hsts"}
    assert unmuted.json()["muted"] == []
    mute(home)
    first_cookie, second_cookie = COOKIES
    mute(home, check="cookie-secure", fingerprint=first_cookie)
    # Mutes change both the diff and its ETag.
    muted = home.api.get(path, If_None_Match=unmuted["ETag"])
    assert muted.status_code == 200
    assert muted["ETag"] != unmuted["ETag"]
    assert home.api.get(path, If_None_Match=muted["ETag"]).status_code == 304
    muted_diff = muted.json()
    assert {change["id"] for change in muted_diff["new"]} == {"cookie-secure", "hsts"}
    assert [change["id"] for change in muted_diff["muted"]] == ["exposed-git"]
    (cookies,) = (change for change in muted_diff["new"] if change["id"] == "cookie-secure")
    assert [place["fingerprint"] for place in cookies["new_places"]] == [second_cookie]
    # The reverse diff does not list muted findings as fixed.
    reverse_diff = home.api.get(f"/v1/report/{before.id}/diff?with={after.id}").json()
    assert {change["id"] for change in reverse_diff["fixed"]} == {"cookie-secure", "hsts"}
    assert [change["id"] for change in reverse_diff["muted"]] == ["exposed-git"]


def test_expired_mutes_stop_applying_at_once(home: Member) -> None:
    scan = finished_scan_with(home)
    mute(home)
    Mute.objects.update(expires_at=timezone.now())
    assert home.api.get(f"/v1/report/{scan.id}/mutes").json()["findings"] == []
    assert all("suppressions" not in result for result in results_of(home, f"/v1/report/{scan.id}/export?format=sarif"))
    assert home.api.get("/v1/mutes").json()["total"] == 0


def mute_hsts(outcome: str) -> tuple[CheckResult, ...]:
    return tuple(replace(check, outcome=outcome) for check in CHECKS if check.id == "hsts")


def test_muting_one_outcome_mutes_no_other(home: Member) -> None:
    short, missing = (
        finished_scan_with(home, checks=mute_hsts("short")),
        finished_scan_with(home, checks=mute_hsts("missing")),
    )
    mute_json = mute(home, check="hsts", outcome="short")
    assert mute_json["outcome"] == "short"
    findings_of_scans = [home.api.get(f"/v1/report/{scan.id}/mutes").json()["findings"] for scan in (short, missing)]
    assert [[finding["mutes"] for finding in findings] for findings in findings_of_scans] == [[[mute_json]], []]
    suppressed = [
        bool(result["suppressions"]) if "suppressions" in result else False
        for scan in (short, missing)
        for result in results_of(home, f"/v1/report/{scan.id}/export?format=sarif")
    ]
    assert suppressed == [True, False]


def test_outcomes_can_be_muted_separately(home: Member) -> None:
    whole, short, missing = (mute(home, check="hsts", outcome=outcome) for outcome in (None, "short", "missing"))
    assert len({mute_json["id"] for mute_json in (whole, short, missing)}) == 3
    assert mute(home, check="hsts", outcome="short")["id"] == short["id"]


@pytest.mark.parametrize(
    ("check", "outcome", "outcomes"),
    [
        ("hsts", "faulty", "hsts: missing, ignored, invalid, off, short, repeated, contradictory."),
        ("hsts", "hsts.short", "hsts: missing, ignored, invalid, off, short, repeated, contradictory."),
        ("exposed-git", "short", "exposed-git: public."),
    ],
)
def test_unknown_outcome_is_refused(home: Member, check: str, outcome: str, outcomes: str) -> None:
    response = home.api.post("/v1/mutes", BODY | {"check": check, "outcome": outcome})
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_PARAMS")
    assert response.json()["error"] == f"outcome must be one of those of {outcomes}"


def test_diff_reports_other_outcomes_of_a_check(home: Member) -> None:
    before = finished_scan_with(home, checks=CHECKS[3:])
    short, missing = (
        finished_scan_with(home, checks=mute_hsts("short")),
        finished_scan_with(home, checks=mute_hsts("missing")),
    )
    mute(home, check="hsts", outcome="short")
    diffs = [home.api.get(f"/v1/report/{after.id}/diff?with={before.id}").json() for after in (short, missing)]
    assert [[change["outcome"] for change in diff["muted"]] for diff in diffs] == [["short"], []]
    assert [[change["outcome"] for change in diff["new"]] for diff in diffs] == [[], ["missing"]]


def test_activity_log_includes_the_muted_outcome(home: Member) -> None:
    mute(home, check="hsts", outcome="short")
    assert ActivityEvent.objects.get(action="mute.created").details["outcome"] == "short"
    (kind,) = (kind for kind in KINDS if kind.name == "mutes")
    rows: Any = map(kind.serialize, kind.rows(home.organization.id))
    assert [row["outcome"] for row in rows] == ["short"]
