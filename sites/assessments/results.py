"""Services that store what people decide: results of criteria, and disputes of automatic findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts import usage
from accounts.authentication import Caller
from infrastructure.api.errors import InvalidParams, NotFound
from reports.mutes.requests import MuteRequest
from reports.mutes.services import create_mute, end_mute, mute_places
from scans.check_catalogue import outcomes_of_check
from sites.assessments import log
from sites.assessments.counting import count_findings
from sites.assessments.loading import result_json_of
from sites.assessments.services import criteria_of, find_page, open_assessment, touch
from sites.models import Assessment, AssessmentFinding, AssessmentPage, AssessmentResult
from website_scan.errors import Refusal
from website_scan.report.mute_matching import host_and_path

Result = AssessmentResult.Result
FIELDS = ("result", "note", "remedy")
# A person may not decide these results against an automatic failure.
AGAINST_FAILURES = (Result.PASSED, Result.NOT_APPLICABLE)
# Results that need a note, with what to write.
WITH_NOTE: Mapping[str, str] = {
    Result.FAILED: "say where the page fails, and how",
    Result.CANNOT_TELL: "say why you could not decide",
}


class CriterionNotFound(NotFound):
    """Raised for a criterion that the assessment's standard does not have at its level."""

    code = "CRITERION_NOT_FOUND"

    def __init__(self) -> None:
        super().__init__("The assessment has no criterion with this number.", self.code)


class FindingNotFound(NotFound):
    """Raised for a finding that the assessment does not have."""

    code = "FINDING_NOT_FOUND"

    def __init__(self) -> None:
        super().__init__("There is no finding with this ID.", self.code)


class ResultChanged(Refusal):
    """Raised when somebody else has changed a result since the caller read it. `details` has the current result."""

    code = "RESULT_CHANGED"
    status = 409


def set_result(
    *, caller: Caller, assessment_id: str, number: int, criterion: str, values: Mapping[str, Any]
) -> AssessmentResult:
    """Store a person's result of a criterion on a page.

    `values` are the validated fields of `ResultSerializer`. If the stored result already has these values, nothing
    changes, whatever the version, unless the page has changed since: then the person has tested it again. Raises
    NotFound, AssessmentFinished, ResultChanged, and InvalidParams for a result against an open automatic failure, or
    for one that needs a note. An open automatic failure explains itself.
    """
    with transaction.atomic():
        assessment = open_assessment(caller, assessment_id)
        page = find_page(assessment, number)
        refuse_unknown_criterion(assessment, criterion)
        row = page.results.select_for_update(no_key=True).get(criterion=criterion)
        changed = {name: values[name] for name in FIELDS if name in values and getattr(row, name) != values[name]}
        is_tested_again = "result" in values and row.result != Result.UNTESTED and row.is_older_than(page)
        if not changed and not is_tested_again:
            return row
        if values["version"] != row.version:
            refusal = ResultChanged(
                f"{row.tested_by_name or 'Somebody'} has changed this result since you read it. Read it again."
            )
            refusal.details = {"current": result_json_of(row, page)}
            raise refusal
        if row.open_failures and changed.get("result") in AGAINST_FAILURES:
            text = "An automatic check proves a failure on this page. Dispute the finding with a reason first."
            raise InvalidParams(text, "result")
        if not row.open_failures and ("result" in changed or "note" in changed):
            _refuse_missing_note(changed.get("result", row.result), changed.get("note", row.note))
        before = {name: getattr(row, name) for name in changed}
        for name, value in changed.items():
            setattr(row, name, value)
        row.version += 1
        row.tested_at, row.tested_by_name = timezone.now(), log.name_of(caller)
        row.tested_by_id = caller.member.user_id if caller.member else None
        row.save(update_fields=[*changed, "version", "tested_at", "tested_by", "tested_by_name"])
        action = "result" if changed else "tested_again"
        log.record(caller, assessment, action, page=page, criterion=criterion, before=before, after=changed)
        touch(assessment)
    return row


def set_remaining(*, caller: Caller, assessment_id: str, criterion: str, result: str, note: str = "") -> int:
    """Store the same result on all pages on which the criterion is untested, and return their number.

    Pages with an open automatic failure are left out. Raises NotFound, AssessmentFinished, and InvalidParams for a
    result that needs a note.
    """
    with transaction.atomic():
        assessment = open_assessment(caller, assessment_id)
        refuse_unknown_criterion(assessment, criterion)
        _refuse_missing_note(result, note)
        rows = assessment.results.filter(criterion=criterion, result=Result.UNTESTED, open_failures=0)
        # Locks are taken in the order of the pages, so that two such requests cannot block each other.
        ids = list(rows.select_for_update(no_key=True).order_by("page_id").values_list("id", flat=True))
        number = assessment.results.filter(id__in=ids).update(
            result=result,
            note=note,
            version=F("version") + 1,
            tested_at=timezone.now(),
            tested_by_name=log.name_of(caller),
            tested_by_id=caller.member.user_id if caller.member else None,
        )
        if number:
            after = {"result": result, "note": note, "pages": str(number)}
            log.record(caller, assessment, "remaining_results", criterion=criterion, after=after)
            touch(assessment)
    return number


def _refuse_missing_note(result: str, note: str) -> None:
    if result in WITH_NOTE and not note:
        raise InvalidParams(f"The result “{Result(result).label}” needs a note: {WITH_NOTE[result]}.", "note")


def refuse_unknown_criterion(assessment: Assessment, criterion: str) -> None:
    """Raise CriterionNotFound if the assessment's standard does not have this criterion at its level."""
    if criterion not in criteria_of(assessment):
        raise CriterionNotFound


def dispute(*, caller: Caller, assessment_id: str, finding_id: int, reason: str) -> AssessmentFinding:
    """Dispute an automatic finding: it no longer fails its criteria here, and is muted in the page's reports.

    Disputing it again replaces the reason. Raises NotFound, AssessmentFinished, MuteLimit and InvalidParams.
    """
    if not reason:
        raise InvalidParams("reason must explain why this is not a failure.", "reason")
    with transaction.atomic():
        assessment, page, finding = _finding_of(caller, assessment_id, finding_id)
        before = {"reason": finding.dispute_reason} if finding.is_disputed else {}
        finding.mute_ids = list(dict.fromkeys([*finding.mute_ids, *_mute(caller, page, finding, reason)]))
        finding.dispute_reason, finding.disputed_by_name = reason, log.name_of(caller)
        finding.disputed_at = timezone.now()
        finding.save(update_fields=["mute_ids", "dispute_reason", "disputed_by_name", "disputed_at"])
        count_findings(page)
        after = {"check": finding.check_id, "reason": reason}
        log.record(caller, assessment, "disputed", page=page, before=before, after=after)
        touch(assessment)
    return finding


def withdraw_dispute(*, caller: Caller, assessment_id: str, finding_id: int) -> AssessmentFinding:
    """End the dispute of a finding, and the mutes that it created. Raises NotFound and AssessmentFinished."""
    with transaction.atomic():
        assessment, page, finding = _finding_of(caller, assessment_id, finding_id)
        if not finding.is_disputed:
            return finding
        for mute_id in finding.mute_ids:
            _end_mute(caller, mute_id)
        before = {"check": finding.check_id, "reason": finding.dispute_reason}
        finding.end_dispute()
        finding.save(update_fields=["mute_ids", "dispute_reason", "disputed_by_name", "disputed_at"])
        count_findings(page)
        log.record(caller, assessment, "dispute_withdrawn", page=page, before=before)
        touch(assessment)
    return finding


def _finding_of(
    caller: Caller, assessment_id: str, finding_id: int
) -> tuple[Assessment, AssessmentPage, AssessmentFinding]:
    # Muting locks the organization, which comes first in the lock order.
    usage.lock(caller.organization_id)
    assessment = open_assessment(caller, assessment_id)
    found = assessment.findings.filter(id=finding_id).select_related("page").first()
    if found is None:
        raise FindingNotFound
    # A refresh may change the finding until the page is locked.
    page = find_page(assessment, found.page.number, lock=True)
    return assessment, page, page.findings.get(id=finding_id)


def _mute(caller: Caller, page: AssessmentPage, finding: AssessmentFinding, reason: str) -> list[str]:
    """Mute the finding on the page, and return the IDs of the mutes.

    If all places are known, each is muted alone, so that a new place is a new failure.
    """
    host, path = host_and_path(page.url)
    request = MuteRequest.of(
        check=finding.check_id,
        host=host,
        path_prefix=path,
        # The catalogue of checks may have changed since the audit.
        outcome=finding.outcome if finding.outcome in outcomes_of_check(finding.check_id) else "",
        reason=reason,
        now=timezone.now(),
    )
    places = {place["fingerprint"]: place["text"] for place in finding.places}
    if places and finding.place_count <= len(finding.places):
        return mute_places(caller=caller, request=request, places=places)
    mute, _ = create_mute(caller=caller, request=request)
    return [mute.id]


def _end_mute(caller: Caller, mute_id: str) -> None:
    try:
        end_mute(caller=caller, mute_id=mute_id)
    except NotFound:
        pass  # It has ended already.
