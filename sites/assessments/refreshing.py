"""Copies the automatic results of an audit into an assessment.

Each page is copied in a transaction of its own. A worker that dies leaves an assessment with pages that are not copied
yet; another worker continues with them. What people wrote does not change, except that a dispute ends if the finding
has new places.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from accounts import access
from infrastructure.leases import RELEASED, Lease, written
from reports.mutes.services import active_mutes
from sites.assessments import log
from sites.assessments.counting import count_findings, set_passes
from sites.assessments.evidence import digest_of, report_of
from sites.assessments.services import criteria_of, enqueue_refresh
from sites.models import Assessment, AssessmentFinding, AssessmentPage, Audit
from sites.models.assessment import FrozenPlace
from website_scan.report.conformance import criteria_of as criteria_of_references
from website_scan.report.mute_matching import Mutes
from website_scan.report.places import count_places, describe_places
from website_scan.report_json import ExportedFinding, ExportJson, checks_of

logger = logging.getLogger(__name__)

LEASE = Lease(timedelta(minutes=2))
REQUEUE_DELAY = timedelta(seconds=30)
MAX_ASSESSMENTS_PER_SWEEP = 100
EXPIRED = "The audit has expired or was deleted before all of its results were copied."


def copy_results(assessment_id: str) -> None:
    """Copy the results of the pending audit to all pages, unless another worker does so already."""
    token = uuid.uuid4()
    free = Assessment.objects.waiting().filter(LEASE.free, id=assessment_id)
    if not free.update(**LEASE.taken(token)):
        return
    assessment = Assessment.objects.get(id=assessment_id)
    mutes = active_mutes(assessment.organization_id, timezone.now())
    audit = access.rows(Audit, assessment.organization_id).filter(id=assessment.pending_audit_id).first()
    if audit is None:
        _finish(assessment, token, None, EXPIRED)
        return
    pages = assessment.pages.exclude(copied_audit_id=audit.id)
    for page_id in pages.order_by("number").values_list("id", flat=True):
        if not written(partial(_copy_page, assessment, token, audit, page_id, mutes)):
            logger.warning("another worker copies the results of %s, or it was deleted", assessment.id)
            return
    written(lambda: _finish(assessment, token, audit, ""))


def enqueue_lost_refreshes() -> None:
    """Enqueue refreshes again whose message was lost or whose worker has died. Concurrent calls are safe."""
    now = timezone.now()
    lost = Assessment.objects.waiting().filter(LEASE.free, enqueued_at__lt=now - REQUEUE_DELAY)
    rows = list(lost.order_by("enqueued_at").values_list("id", "enqueued_at")[:MAX_ASSESSMENTS_PER_SWEEP])
    for assessment_id, enqueued_at in rows:
        # Compare-and-set, so that two concurrent sweepers enqueue an assessment only once.
        if Assessment.objects.filter(id=assessment_id, enqueued_at=enqueued_at).update(enqueued_at=now):
            enqueue_refresh(assessment_id)


def _finish(assessment: Assessment, token: uuid.UUID, audit: Audit | None, error: str) -> bool:
    """End the refresh, with the error if there was one."""
    values: dict[str, object] = {"pending_audit_id": "", "refresh_error": error, **RELEASED}
    if audit is not None:
        values |= {"audit_id": audit.id, "evidence_at": audit.completed_at or audit.created_at}
    with transaction.atomic():
        is_own = Assessment.objects.filter(id=assessment.id, claim_token=token).update(**values)
        if is_own and audit is not None:
            log.record(None, assessment, "results_copied", after={"audit": audit.id})
    return bool(is_own)


def _copy_page(assessment: Assessment, token: uuid.UUID, audit: Audit, page_id: int, mutes: Mutes) -> bool:
    """Copy the results of one page. Returns False if the assessment is no longer this worker's."""
    with transaction.atomic():
        if not Assessment.objects.filter(id=assessment.id, claim_token=token).update(**LEASE.renewed()):
            return False
        page = assessment.pages.select_for_update(no_key=True).filter(id=page_id).first()
        if page is None:  # Somebody has removed it.
            return True
        report = report_of(audit, page.url)
        judged_at = audit.completed_at or audit.created_at
        if not page.is_state:
            page.is_missing = report is None
            if report is not None:
                _PageCopier(assessment, page, report.export_json, judged_at, mutes).copy()
                page.scan_id, page.judged_at = report.scan_id, judged_at
        # People alone test a state, but a change of the page at its address may change the state, too.
        _compare_content(page, digest_of(report), judged_at)
        page.copied_audit_id = audit.id
        page.save()
    return True


def _compare_content(page: AssessmentPage, digest: str, judged_at: datetime) -> None:
    if digest and page.digest and digest != page.digest:
        page.changed_at = judged_at
    page.digest = digest or page.digest


class _PageCopier:
    """Copies the findings of a page's report to its rows. The page is locked."""

    def __init__(
        self, assessment: Assessment, page: AssessmentPage, export: ExportJson, judged_at: datetime, mutes: Mutes
    ) -> None:
        self.judged_at = judged_at
        self._assessment, self._page, self._export = assessment, page, export
        self._is_first = not page.judged_at
        self._mutes = mutes.of_page(page.url)
        self._known = {finding.check_id: finding for finding in page.findings.all()}
        self._criteria = frozenset(criteria_of(assessment))

    def copy(self) -> None:
        passed: set[str] = set()
        seen = set()
        for _, check in checks_of(self._export):
            criteria = [one for one in criteria_of_references(check["references"]) if one in self._criteria]
            if check["status"] == "pass":
                passed.update(criteria)
            elif criteria:
                seen.add(check["id"])
                self._copy_finding(check, criteria)
        export = self._export
        # A check that did not run proves nothing, so its earlier finding stays.
        unknown = {row["id"] for row in export["skipped_checks"]}
        unknown |= {row["id"] for row in export.get("omitted_checks", ())}
        unknown |= {row["id"] for row in export.get("repeated_checks", ())}
        for check_id, finding in self._known.items():
            if check_id not in seen and check_id not in unknown and finding.fixed_at is None:
                finding.fixed_at, finding.is_new = self.judged_at, False
                finding.save(update_fields=["fixed_at", "is_new"])
        set_passes(self._page, passed)
        count_findings(self._page)

    def _copy_finding(self, check: ExportedFinding, criteria: list[str]) -> None:
        finding = self._known.get(check["id"])
        is_known = finding is not None
        if finding is None:
            finding = AssessmentFinding(
                assessment=self._assessment, page=self._page, check_id=check["id"], first_seen_at=self.judged_at
            )
        texts = describe_places(check)
        count = count_places(check)
        if finding.is_disputed and not self._has_same_places(finding, check["outcome"], texts, count):
            log.record(
                None,
                self._assessment,
                "dispute_ended",
                page=self._page,
                before={"check": finding.check_id, "reason": finding.dispute_reason},
            )
            finding.end_dispute()
        finding.is_new = not self._is_first and (not is_known or finding.fixed_at is not None)
        finding.fixed_at = None
        finding.seen_at = self.judged_at
        finding.outcome, finding.has_failed = check["outcome"], check["status"] == "fail"
        finding.severity, finding.title, finding.message = check["severity"], check["title"], check["message"]
        finding.fix, finding.criteria = check.get("fix", ""), criteria
        finding.places, finding.place_count = self._frozen(texts), count
        self._apply_mute(finding, check)
        finding.save()

    def _apply_mute(self, finding: AssessmentFinding, check: ExportedFinding) -> None:
        """Dispute the finding if the organization mutes it as a whole."""
        muted = self._mutes.muted_places(check, self._export["url"])
        if finding.is_disputed or muted is None or not muted.is_whole:
            return
        finding.dispute_reason, finding.disputed_by_name = muted.rule.reason, muted.rule.by
        finding.disputed_at = muted.rule.created_at

    @staticmethod
    def _frozen(texts: Mapping[str, str]) -> list[FrozenPlace]:
        return [
            {"fingerprint": place, "text": text} for place, text in list(texts.items())[: AssessmentFinding.MAX_PLACES]
        ]

    @staticmethod
    def _has_same_places(finding: AssessmentFinding, outcome: str, texts: Mapping[str, str], count: int) -> bool:
        """Return True if the finding has no place that it did not have when it was disputed."""
        if finding.outcome != outcome or count > finding.place_count:
            return False
        is_whole = finding.place_count <= len(finding.places)
        return not is_whole or texts.keys() <= {place["fingerprint"] for place in finding.places}
