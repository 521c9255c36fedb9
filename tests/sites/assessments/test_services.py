"""Tests for creating, changing, refreshing and deleting assessments."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from infrastructure.api.errors import InvalidParams, NotFound
from reports.models import Mute, Report
from scans.policy import scan_policy
from sites.assessments import loading, refreshing, results, services
from sites.models import Assessment, AssessmentFinding, AssessmentResult, Audit
from tests.factories import Member
from tests.sites.assessments.cast import HOST, assess, audit_of, caller_of, check, decide, museum_audit, result_of
from website_scan.net.targets import parse_target


def outcomes(assessment: Assessment) -> dict[str, str]:
    return {row["number"]: row["outcome"] for row in loading.criteria_rows(assessment)}


def test_automatic_failures_are_in_a_new_assessment(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    failing = result_of(assessment, 2, "1.1.1")
    assert (failing.outcome, failing.result, failing.automatic) == ("failed", "untested", "fails")
    assert result_of(assessment, 2, "1.4.3").automatic == "needs-review"
    assert result_of(assessment, 1, "1.1.1").automatic == "no-automatic-failure"
    assert result_of(assessment, 1, "2.4.3").automatic == "not-tested"
    assert outcomes(assessment)["1.1.1"] == "failed"
    assert outcomes(assessment)["1.4.3"] == "untested"
    (finding,) = assessment.findings.filter(has_failed=True)
    assert [place["text"] for place in finding.places] == ["#a", "#b"]
    assert not assessment.is_refreshing
    document = loading.assessment_json_of(assessment)
    assert (document["pages"], document["progress"]["results"]) == (3, 3 * 55)
    assert document["progress"]["results_tested"] == 1


def test_criterion_is_tested_when_each_page_has_a_result(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    for number in (1, 2, 3):
        assert outcomes(assessment)["2.4.3"] == "untested"
        decide(home, assessment, number, "2.4.3", "not_applicable" if number == 1 else "passed")
    assert outcomes(assessment)["2.4.3"] == "passed"
    assert loading.assessment_json_of(assessment)["progress"]["criteria_tested"] == 1


def test_result_of_an_earlier_version_is_refused_with_the_current_one(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    values = {"version": 0, "result": "failed", "note": "The order of the tabs jumps."}
    arguments: dict[str, Any] = {
        "caller": caller_of(home),
        "assessment_id": assessment.id,
        "number": 1,
        "criterion": "2.4.3",
    }
    results.set_result(**arguments, values=values)
    results.set_result(**arguments, values=values)  # The same request again is no conflict.
    with pytest.raises(results.ResultChanged) as caught:
        results.set_result(**arguments, values={"version": 0, "result": "passed"})
    current: Any = caught.value.details["current"]
    assert current["note"] == "The order of the tabs jumps."
    assert result_of(assessment, 1, "2.4.3").result == "failed"


def test_page_with_an_automatic_failure_cannot_pass_before_a_dispute(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    with pytest.raises(InvalidParams, match="Dispute"):
        decide(home, assessment, 2, "1.1.1", "passed")
    finding = assessment.findings.get(has_failed=True)
    results.dispute(
        caller=caller_of(home), assessment_id=assessment.id, finding_id=finding.id, reason="Decoration only."
    )
    assert result_of(assessment, 2, "1.1.1").outcome == "untested"
    # The check ran, so that nobody reads "Not tested automatically".
    assert result_of(assessment, 2, "1.1.1").automatic == "no-automatic-failure"
    audit = museum_audit(home)
    services.refresh_assessment(caller=caller_of(home), assessment_id=assessment.id, audit_id=audit.id)
    refreshing.copy_results(assessment.id)
    assert result_of(assessment, 2, "1.1.1").automatic == "no-automatic-failure"
    assert {mute.path_prefix for mute in Mute.objects.filter(ended_at=None)} == {"/visit"}
    assert Mute.objects.filter(ended_at=None).count() == 2
    decide(home, assessment, 2, "1.1.1", "passed")
    results.withdraw_dispute(caller=caller_of(home), assessment_id=assessment.id, finding_id=finding.id)
    assert result_of(assessment, 2, "1.1.1").outcome == "failed"
    assert not Mute.objects.filter(ended_at=None).exists()


def test_refresh_tells_fixed_old_and_new_findings_apart(home: Member) -> None:
    before = {"/": (check("image-alt", "fail", "#a"), check("html-has-lang", "fail", "html"))}
    assessment = assess(home, audit_of(home, before))
    decide(home, assessment, 1, "2.4.3", "passed", note="By keyboard.")
    after = {"/": (check("image-alt", "pass"), check("html-has-lang", "fail", "html"), check("color-contrast", "fail"))}
    later = audit_of(home, after)
    services.refresh_assessment(caller=caller_of(home), assessment_id=assessment.id, audit_id=later.id)
    refreshing.copy_results(assessment.id)
    states = {
        row["check"]: row["state"]
        for row in (loading.finding_json_of(finding, finding.page) for finding in AssessmentFinding.objects.all())
    }
    assert states == {"image-alt": "fixed", "html-has-lang": "still", "color-contrast": "new"}
    assert outcomes(assessment)["1.1.1"] == "untested"
    assert result_of(assessment, 1, "2.4.3").note == "By keyboard."


def test_dispute_ends_when_the_finding_has_a_new_place(home: Member) -> None:
    assessment = assess(home, audit_of(home, {"/": (check("image-alt", "fail", "#a"),)}))
    finding = assessment.findings.get()
    results.dispute(caller=caller_of(home), assessment_id=assessment.id, finding_id=finding.id, reason="Decoration.")
    for places, is_disputed in ((("#a",), True), (("#a", "#new"), False)):
        later = audit_of(home, {"/": (check("image-alt", "fail", *places),)})
        services.refresh_assessment(caller=caller_of(home), assessment_id=assessment.id, audit_id=later.id)
        refreshing.copy_results(assessment.id)
        assert assessment.findings.get().is_disputed is is_disputed
    assert assessment.events.filter(action="dispute_ended").count() == 1


def test_assessment_outlives_its_audit(home: Member) -> None:
    audit = museum_audit(home)
    assessment = assess(home, audit)
    Audit.objects.all().delete()
    assert outcomes(assessment)["1.1.1"] == "failed"
    assert assessment.findings.get(has_failed=True).place_count == 2


def test_refresh_of_a_deleted_audit_ends_with_a_message(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    later = museum_audit(home)
    services.refresh_assessment(caller=caller_of(home), assessment_id=assessment.id, audit_id=later.id)
    Audit.objects.all().delete()
    refreshing.copy_results(assessment.id)
    assessment.refresh_from_db()
    assert (assessment.is_refreshing, assessment.refresh_error) == (False, refreshing.EXPIRED)
    assert outcomes(assessment)["1.1.1"] == "failed"


def test_audit_of_another_site_is_refused(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    other = audit_of(home, {"/": (check("image-alt", "pass"),)}, url="https://other.example/")
    with pytest.raises(InvalidParams, match="same site"):
        services.refresh_assessment(caller=caller_of(home), assessment_id=assessment.id, audit_id=other.id)


def test_state_is_tested_by_people_only(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    target = parse_target(f"{HOST}/visit", scan_policy())
    arguments: dict[str, Any] = {"caller": caller_of(home), "assessment_id": assessment.id, "target": target}
    with pytest.raises(InvalidParams, match="already"):
        services.add_page(**arguments, name="", is_state=False)
    with pytest.raises(InvalidParams, match="that says how to reach it, such as: Cart"):
        services.add_page(**arguments, name="", is_state=True)
    state = services.add_page(**arguments, name="Opened menu", is_state=True)
    refreshing.copy_results(assessment.id)
    assert state.number == 4
    assert result_of(assessment, 4, "1.1.1").automatic == "not-tested"
    assert not state.findings.exists()


def digests_set(digest: str) -> None:
    """Give all reports without a digest of the page's content this one."""
    Report.objects.exclude(facts__has_key="content_digest").update(facts={"content_digest": digest})


@pytest.mark.parametrize("is_in_sample", [True, False])
def test_change_of_a_page_makes_results_of_its_states_older(home: Member, *, is_in_sample: bool) -> None:
    first = museum_audit(home)
    digests_set("first")
    assessment = assess(home, first, sample_size=3 if is_in_sample else 1)
    arguments: dict[str, Any] = {"caller": caller_of(home), "assessment_id": assessment.id}
    states = [
        services.add_page(
            **arguments, target=parse_target(f"{HOST}{path}", scan_policy()), name="Opened menu", is_state=True
        ).number
        for path in ("/visit", "/not-in-the-audit")
    ]
    for number in states:
        decide(home, assessment, number, "2.4.3", "passed")
    for digest, is_older in (("first", False), ("second", True)):
        later = museum_audit(home)
        digests_set(digest)
        services.refresh_assessment(**arguments, audit_id=later.id)
        refreshing.copy_results(assessment.id)
        rows = [result_of(assessment, number, "2.4.3") for number in states]
        assert [row.is_older_than(row.page) for row in rows] == [is_older, False]
    state = assessment.pages.get(number=states[0])
    assert (state.is_missing, state.scan_id, state.judged_at) == (False, "", None)
    older = loading.older_results(assessment)
    assert older.sentence == "1 result is older than a change of 1 page."


@pytest.mark.parametrize("is_state", [True, False])
def test_page_of_another_site_is_refused_by_name(home: Member, *, is_state: bool) -> None:
    assessment = assess(home, museum_audit(home))
    arguments: dict[str, Any] = {"caller": caller_of(home), "assessment_id": assessment.id, "is_state": is_state}
    other = parse_target("https://example.org/cart", scan_policy())
    with pytest.raises(InvalidParams, match=r"The address must be one of example\.com, the site of this assessment\."):
        services.add_page(**arguments, name="Cart", target=other)
    subdomain = parse_target("https://shop.example.com/cart", scan_policy())
    assert services.add_page(**arguments, name="Cart", target=subdomain).url == "https://shop.example.com/cart"


@pytest.mark.parametrize("result", ["failed", "cannot_tell"])
def test_result_that_says_nothing_by_itself_needs_a_note(home: Member, result: str) -> None:
    assessment = assess(home, museum_audit(home))
    remaining: dict[str, Any] = {"caller": caller_of(home), "assessment_id": assessment.id, "criterion": "2.4.3"}
    with pytest.raises(InvalidParams, match="needs a note: say") as single:
        decide(home, assessment, 1, "2.4.3", result)
    with pytest.raises(InvalidParams, match="needs a note: say") as several:
        results.set_remaining(**remaining, result=result)
    assert (single.value.field, str(single.value)) == (several.value.field, str(several.value))
    assert single.value.field == "note"
    decide(home, assessment, 1, "2.4.3", result, note="The order of the tabs jumps.")
    with pytest.raises(InvalidParams, match="needs a note"):
        decide(home, assessment, 1, "2.4.3", result, note="")
    assert results.set_remaining(**remaining, result=result, note="It jumps.") == 2
    assert results.set_remaining(**remaining | {"criterion": "1.2.1"}, result="not_applicable") == 3


def test_automatic_failure_is_confirmed_without_a_note(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    decide(home, assessment, 2, "1.1.1", "failed")
    assert result_of(assessment, 2, "1.1.1").result == "failed"


def test_added_page_gets_the_results_of_the_audit(home: Member) -> None:
    assessment = assess(home, museum_audit(home), sample_size=1)
    assert [page.url for page in assessment.pages.all()] == [f"{HOST}/"]
    target = parse_target(f"{HOST}/visit", scan_policy())
    services.add_page(
        caller=caller_of(home), assessment_id=assessment.id, target=target, name="Visit us", is_state=False
    )
    refreshing.copy_results(assessment.id)
    assert result_of(assessment, 2, "1.1.1").outcome == "failed"


def test_same_result_after_a_change_of_the_page_is_a_new_test(home: Member) -> None:
    """Regression test: a result that a person confirmed stayed older than the page's change, and to be reviewed."""
    assessment = assess(home, museum_audit(home))
    decide(home, assessment, 1, "2.4.3", "passed")
    tested = result_of(assessment, 1, "2.4.3")
    assessment.pages.filter(number=1).update(changed_at=timezone.now())
    assert result_of(assessment, 1, "2.4.3").is_older_than(assessment.pages.get(number=1))
    values = {"version": tested.version, "result": "passed"}
    arguments: dict[str, Any] = {"assessment_id": assessment.id, "number": 1, "criterion": "2.4.3", "values": values}
    for _ in range(2):  # The second request changes nothing.
        again = results.set_result(caller=caller_of(home), **arguments)
        assert (again.result, again.version) == ("passed", tested.version + 1)
        assert not again.is_older_than(assessment.pages.get(number=1))
    actions = list(assessment.events.filter(criterion="2.4.3").order_by("id").values_list("action", flat=True))
    assert actions == ["result", "tested_again"]


def test_remaining_pages_get_the_same_result(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    decide(home, assessment, 1, "1.2.2", "failed", note="No captions.")
    number = results.set_remaining(
        caller=caller_of(home), assessment_id=assessment.id, criterion="1.2.2", result="not_applicable"
    )
    assert number == 2
    assert [result_of(assessment, page, "1.2.2").result for page in (1, 2, 3)] == [
        "failed",
        "not_applicable",
        "not_applicable",
    ]


def test_finished_assessment_cannot_be_changed_until_reopened(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    change: dict[str, Any] = {"caller": caller_of(home), "assessment_id": assessment.id}
    services.change_assessment(**change, values={"status": "finished"})
    with pytest.raises(services.AssessmentFinished):
        decide(home, assessment, 1, "2.4.3", "passed")
    with pytest.raises(services.AssessmentFinished):
        services.change_assessment(**change, values={"scope": "All."})
    services.change_assessment(**change, values={"status": "open", "scope": "All."})
    decide(home, assessment, 1, "2.4.3", "passed")


def test_plan_limits_the_number_of_assessments(home: Member) -> None:
    audit = museum_audit(home)
    assess(home, audit)
    with pytest.raises(services.AssessmentLimit, match="1 assessment"):
        assess(home, audit)


def test_deletion_leaves_no_rows(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    services.delete_assessment(caller=caller_of(home), assessment_id=assessment.id)
    assert not Assessment.objects.exists()
    assert not AssessmentResult.objects.exists()
    with pytest.raises(NotFound):
        services.find_assessment(home.organization.id, assessment.id)


def test_assessments_of_other_organizations_are_unknown(home: Member, stranger: Member) -> None:
    assessment = assess(home, museum_audit(home))
    with pytest.raises(NotFound):
        services.find_assessment(stranger.organization.id, assessment.id)
    assert HOST not in str(list(services.assessments_of(stranger.organization.id)))


def test_finding_with_an_outcome_of_an_earlier_catalogue_can_be_disputed(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    finding = assessment.findings.get(has_failed=True)
    AssessmentFinding.objects.filter(id=finding.id).update(outcome="renamed-since")
    results.dispute(caller=caller_of(home), assessment_id=assessment.id, finding_id=finding.id, reason="Decoration.")
    assert {mute.outcome for mute in Mute.objects.all()} == {""}
