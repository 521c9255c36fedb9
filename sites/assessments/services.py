"""Services that create, change, finish, share, refresh and delete assessments, and change their samples.

Lock order: the organization, the assessment, then its pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import access, activity, usage
from accounts.access import Lock
from accounts.authentication import Caller
from accounts.models import Organization
from infrastructure import queue
from infrastructure.api.errors import InvalidParams, NotFound
from infrastructure.api.idempotency import Once
from scans.idempotency_records import Created, created_once
from sites.assessments import log
from sites.assessments.evidence import digest_of, report_of
from sites.assessments.loading import assessment_json_of, standard_criteria
from sites.assessments.requests import MAX_SAMPLE
from sites.assessments.sampling import Candidate, ChosenPage, choose_sample
from sites.assessments.schemas import AssessmentJson
from sites.audits.conformance import TYPE
from sites.audits.services import find_ended_audit
from sites.models import Assessment, AssessmentPage, Audit, AuditPage
from sites.models.assessment import new_assessment_id
from sites.resources import ASSESSMENT
from website_scan.accessibility.standards import Standard
from website_scan.errors import Refusal
from website_scan.messages import counted
from website_scan.net.targets import Target
from website_scan.page.registrable_domain import site_of
from website_scan.urls import host_and_port_of, host_of

# Inserts a row for each criterion of the standard for the given pages.
INSERT_RESULTS = """
    INSERT INTO sites_assessmentresult (
        assessment_id, page_id, criterion, result, note, remedy, version, tested_by_name, open_failures, open_reviews,
        has_passes
    )
    SELECT page.assessment_id, page.id, criterion, 'untested', '', '', 0, '', 0, 0, false
    FROM sites_assessmentpage AS page, unnest(%s::text[]) AS criterion
    WHERE page.id = ANY(%s)
"""


class PageNotFound(NotFound):
    """Raised for a number that no page of the sample has."""

    code = "PAGE_NOT_FOUND"

    def __init__(self) -> None:
        super().__init__("There is no page with this number.", self.code)


class AssessmentLimit(Refusal):
    """Raised when the organization has the plan's maximum number of assessments."""

    code = "ASSESSMENT_LIMIT"
    status = 409


class AssessmentFinished(Refusal):
    """Raised for a change of a finished assessment."""

    code = "ASSESSMENT_FINISHED"
    status = 409


class AssessmentBusy(Refusal):
    """Raised for a refresh while results of an audit are still being copied."""

    code = "ASSESSMENT_BUSY"
    status = 409


def assessments_of(organization_id: int) -> QuerySet[Assessment]:
    """Return the organization's assessments, newest first."""
    return access.rows(Assessment, organization_id).order_by("-created_at", "-id")


def find_assessment(organization_id: int, assessment_id: str) -> Assessment:
    """Return the assessment. Raises NotFound."""
    return ASSESSMENT.find(organization_id, assessment_id)


def create_assessment(
    *, caller: Caller, values: Mapping[str, Any], once: Once | None = None
) -> Created[AssessmentJson]:
    """Create an assessment from an audit and choose its sample. Automatic results are copied by a task.

    `values` are the validated fields of `AssessmentRequestSerializer`. Raises NotFound for the audit, AuditNotComplete,
    InvalidParams for an audit without accessibility results, and AssessmentLimit.
    """
    return created_once(caller.organization_id, once, None, lambda: _create(caller, dict(values)), None)


def _create(caller: Caller, values: dict[str, Any]) -> AssessmentJson:
    audit = find_ended_audit(caller.organization_id, values.pop("audit"))
    _refuse_audit_without_results(audit)
    sample_size = values.pop("sample_size")
    with transaction.atomic():
        organization = usage.lock(caller.organization_id)
        _refuse_too_many_assessments(organization)
        standard = Standard(values["standard"])
        # EN 301 549 and Section 508 have no criteria of level AAA.
        level = min(values["level"], standard.highest_level, key=len)
        assessment = Assessment.objects.create(
            id=new_assessment_id(),
            organization=organization,
            created_by_id=caller.member.user_id if caller.member else None,
            url=audit.url,
            **{**values, "level": level},
        )
        chosen = choose_sample(_candidates(audit), sample_size, assessment.id)
        _insert_pages(assessment, chosen)
        _begin_refresh(assessment, audit)
        assessment.save()
        log.record(caller, assessment, "created")
        activity.record_by_caller(
            caller, "assessment.created", assessment.name, assessment=assessment.id, url=assessment.url
        )
    return assessment_json_of(assessment)


def change_assessment(*, caller: Caller, assessment_id: str, values: Mapping[str, Any]) -> Assessment:
    """Change texts, name, status or sharing. Raises NotFound, and AssessmentFinished for texts of a finished one."""
    values = dict(values)
    status, is_shared = values.pop("status", None), values.pop("shared", None)
    now = timezone.now()
    with transaction.atomic():
        assessment = ASSESSMENT.find(caller.organization_id, assessment_id, lock=Lock.CHANGE)
        if status == Assessment.Status.OPEN and assessment.is_finished:
            assessment.status, assessment.finished_at = Assessment.Status.OPEN, None
            _record(caller, assessment, "reopened")
        changed = {name: value for name, value in values.items() if getattr(assessment, name) != value}
        if changed:
            refuse_finished(assessment)
            before = {name: str(getattr(assessment, name)) for name in changed}
            for name, value in changed.items():
                setattr(assessment, name, value)
            log.record(caller, assessment, "changed", before=before, after={**changed})
            activity.record_by_caller(
                caller,
                "assessment.changed",
                assessment.name,
                assessment=assessment.id,
                changed=", ".join(sorted(changed)),
            )
        if status == Assessment.Status.FINISHED and not assessment.is_finished:
            assessment.status, assessment.finished_at = Assessment.Status.FINISHED, now
            _record(caller, assessment, "finished")
        if is_shared is not None and is_shared != (assessment.shared_at is not None):
            assessment.shared_at = now if is_shared else None
            _record(caller, assessment, "shared" if is_shared else "unshared")
        assessment.updated_at = now
        assessment.save()
    return assessment


def delete_assessment(*, caller: Caller, assessment_id: str) -> None:
    """Delete an assessment with all its results. Raises NotFound."""
    with transaction.atomic():
        assessment = ASSESSMENT.find(caller.organization_id, assessment_id, lock=Lock.DELETION)
        activity.record_by_caller(caller, "assessment.deleted", assessment.name, assessment=assessment.id)
        with connection.cursor() as cursor:
            # Django would load up to a hundred thousand rows to delete them.
            for table in ("count", "result", "finding", "event", "page"):
                cursor.execute(f"DELETE FROM sites_assessment{table} WHERE assessment_id = %s", [assessment.id])  # noqa: S608  # constants
        assessment.delete()


def refresh_assessment(*, caller: Caller, assessment_id: str, audit_id: str) -> Assessment:
    """Replace the automatic results by those of a later audit of the same site. A task copies them.

    What people wrote stays. Raises NotFound, AssessmentFinished, AssessmentBusy, AuditNotComplete, and InvalidParams
    for an audit of another site or without accessibility results.
    """
    audit = find_ended_audit(caller.organization_id, audit_id)
    with transaction.atomic():
        assessment = open_assessment(caller, assessment_id)
        if assessment.is_refreshing:
            raise AssessmentBusy("Results of an audit are still being copied. Try again when that has ended.")
        _refuse_audit_without_results(audit)
        if host_and_port_of(audit.url) != host_and_port_of(assessment.url):
            raise InvalidParams("audit must be an audit of the same site.", "audit")
        ended_at = audit.completed_at or audit.created_at
        if assessment.evidence_at is not None and ended_at < assessment.evidence_at:
            raise InvalidParams("audit must not be older than the audit whose results the assessment has.", "audit")
        _begin_refresh(assessment, audit)
        assessment.save()
        _record(caller, assessment, "refreshed", after={"audit": audit.id})
    return assessment


def add_page(*, caller: Caller, assessment_id: str, target: Target, name: str, is_state: bool) -> AssessmentPage:
    """Add a page or a state of a page to the sample. Raises NotFound, AssessmentFinished and InvalidParams.

    Refuses pages of another site, unless the assessment's audit has them, and states without a name. A page gets
    the automatic results of the assessment's audit, if the audit has the page.
    """
    with transaction.atomic():
        assessment = open_assessment(caller, assessment_id)
        pages = assessment.pages.all()
        if pages.count() >= MAX_SAMPLE:
            raise InvalidParams(f"A sample has at most {MAX_SAMPLE:,} pages.", "url")
        if is_state:
            _refuse_unnamed_state(name)
        elif pages.filter(url=target.url, is_state=False).exists():
            raise InvalidParams("The sample has this page already.", "url")
        audit_id = assessment.pending_audit_id or assessment.audit_id
        audit = access.rows(Audit, caller.organization_id).filter(id=audit_id).first()
        _refuse_other_site(assessment, audit, target)
        page = _insert_pages(assessment, [ChosenPage(target.url, AssessmentPage.Reason.ADDED)], name, is_state)[0]
        if is_state:
            page.digest = _current_digest(assessment, audit, page.url)
            page.save(update_fields=["digest"])
        elif audit is not None and not assessment.is_refreshing:
            _begin_refresh(assessment, audit)
        assessment.updated_at = timezone.now()
        assessment.save()
        log.record(caller, assessment, "page_added", page=page)
    return page


def rename_page(*, caller: Caller, assessment_id: str, number: int, name: str) -> AssessmentPage:
    """Change the name of a page. Raises NotFound, AssessmentFinished, and InvalidParams for a state without a name."""
    with transaction.atomic():
        assessment = open_assessment(caller, assessment_id)
        page = find_page(assessment, number)
        if page.is_state:
            _refuse_unnamed_state(name)
        before, page.name = page.name, name
        page.save(update_fields=["name"])
        touch(assessment)
        log.record(caller, assessment, "page_renamed", page=page, before={"name": before}, after={"name": name})
    return page


def remove_page(*, caller: Caller, assessment_id: str, number: int) -> None:
    """Remove a page with its results from the sample. Raises NotFound, AssessmentFinished and InvalidParams."""
    with transaction.atomic():
        assessment = open_assessment(caller, assessment_id)
        page = find_page(assessment, number)
        if assessment.pages.count() == 1:
            raise InvalidParams("A sample needs at least one page. Add another one first.")
        log.record(caller, assessment, "page_removed", page=page)
        page.delete()
        touch(assessment)


def count_sharing_limit(organization: Organization) -> int:
    """Return the number of assessments that count against the plan's limit."""
    return Assessment.objects.filter(organization__in=usage.sharing_limits(organization)).count()


def find_page(assessment: Assessment, number: int, *, lock: bool = False) -> AssessmentPage:
    """Return the page with this number. Raises NotFound."""
    pages = assessment.pages.select_for_update(no_key=True) if lock else assessment.pages
    page = pages.filter(number=number).first()
    if page is None:
        raise PageNotFound
    return page


def open_assessment(caller: Caller, assessment_id: str) -> Assessment:
    """Lock and return the assessment, which must not be finished. Raises NotFound and AssessmentFinished."""
    assessment = ASSESSMENT.find(caller.organization_id, assessment_id, lock=Lock.CHANGE)
    refuse_finished(assessment)
    return assessment


def refuse_finished(assessment: Assessment) -> None:
    if assessment.is_finished:
        raise AssessmentFinished("This assessment is finished. Reopen it before you change it.")


def touch(assessment: Assessment) -> None:
    """Record that a person has changed the assessment now."""
    Assessment.objects.filter(id=assessment.id).update(updated_at=timezone.now())


def enqueue_refresh(assessment_id: str) -> None:
    """Enqueue the task that copies the results of the pending audit.

    If the queue is down, the sweeper enqueues the task later.
    """
    queue.enqueue("sites.tasks.copy_results", assessment_id)


def criteria_of(assessment: Assessment) -> list[str]:
    """Return the numbers of the criteria that the assessment's standard requires at its level, in order."""
    return [one.number for one in standard_criteria(assessment)]


def _begin_refresh(assessment: Assessment, audit: Audit) -> None:
    """Set the pending audit. The caller saves the row."""
    now = timezone.now()
    assessment.pending_audit_id, assessment.enqueued_at, assessment.refresh_error = audit.id, now, ""
    assessment.updated_at = now
    transaction.on_commit(lambda: enqueue_refresh(assessment.id))


def _insert_pages(
    assessment: Assessment, chosen: Sequence[ChosenPage], name: str = "", is_state: bool = False
) -> list[AssessmentPage]:
    """Insert pages with an untested result for each criterion. The caller saves the assessment."""
    first = assessment.next_page_number
    pages = AssessmentPage.objects.bulk_create(
        AssessmentPage(
            assessment=assessment, number=number, url=page.url, name=name, is_state=is_state, reason=page.reason
        )
        for number, page in enumerate(chosen, first)
    )
    assessment.next_page_number = first + len(pages)
    with connection.cursor() as cursor:
        cursor.execute(INSERT_RESULTS, [criteria_of(assessment), [page.id for page in pages]])
    return pages


def _refuse_unnamed_state(name: str) -> None:
    if not name:
        raise InvalidParams("A state needs a name that says how to reach it, such as: Cart with one item.", "name")


def _refuse_other_site(assessment: Assessment, audit: Audit | None, target: Target) -> None:
    """Refuse a page whose registrable domain is not that of the assessment, unless the audit has the page."""
    site = site_of(host_of(assessment.url))
    if site_of(target.host) == site:
        return
    if audit is None or not AuditPage.objects.filter(audit=audit, url=target.url).exists():
        raise InvalidParams(f"The address must be one of {site}, the site of this assessment.", "url")


def _current_digest(assessment: Assessment, audit: Audit | None, url: str) -> str:
    """Return the digest of the page at a state's address, with which later audits are compared. Empty if unknown."""
    digests = assessment.pages.filter(url=url).exclude(digest="").values_list("digest", flat=True)
    return digests.first() or (digest_of(report_of(audit, url)) if audit else "")


def _candidates(audit: Audit) -> list[Candidate]:
    rows = AuditPage.objects.filter(audit=audit, status=AuditPage.Status.DONE).order_by("position")
    return [
        Candidate(url, results[TYPE]["score"]) for url, results in rows.values_list("url", "results") if TYPE in results
    ]


def _refuse_audit_without_results(audit: Audit) -> None:
    if TYPE not in audit.types:
        raise InvalidParams("audit must be an audit of accessibility.", "audit")
    if not audit.pages_judged(TYPE):
        raise InvalidParams("audit has no page with a result.", "audit")


def _refuse_too_many_assessments(organization: Organization) -> None:
    most = organization.tier.assessments
    if count_sharing_limit(organization) >= most:
        raise AssessmentLimit(
            f"Your plan allows {counted(most, 'assessment')}. Delete one, or ask the operator for a larger plan."
        )


def _record(caller: Caller, assessment: Assessment, action: str, **values: Any) -> None:
    """Write an action to the assessment's log and to the organization's."""
    log.record(caller, assessment, action, **values)
    activity.record_by_caller(caller, f"assessment.{action}", assessment.name, assessment=assessment.id)
