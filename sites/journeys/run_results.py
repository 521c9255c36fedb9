"""Results of a journey's run, stored in the transaction that ends its visit.

The scans that were created for the run become those of the first state that their type judges. Further states get pages
and scans in the same transaction, so that a run ends once and as a whole, however often workers die.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.db import transaction
from msgspec import Struct

from infrastructure.postgresql.statements import fetch
from scans.models import Scan
from scans.signals import scan_ended
from scans.visits.claims import ScanClaim, lock_claimed
from scans.visits.ending import apply_result, is_refunded, refund, save_ended_scans
from sites.models import Audit, AuditPage, JourneyStep
from website_scan.findings import ScanType
from website_scan.ids import new_scan_id
from website_scan.journeys.journey import Step
from website_scan.journeys.walk import StepResult, StepStatus
from website_scan.journeys.words import step_in_words
from website_scan.messages import counted
from website_scan.result import ScanError, ScanResult
from website_scan.run import failed_result
from website_scan.states import JudgedState
from website_scan.urls import Url

# The counters of scans are locked in the order in which their triggers lock them, because the end of a run changes them
# with two statements.
LOCK_COUNTERS = """
    SELECT FROM scans_scancount WHERE organization_id = %(organization)s AND period = %(period)s
    ORDER BY organization_id, period, type, status FOR NO KEY UPDATE
"""
NO_STATE = ScanError("JOURNEY_FAILED", "The journey reached no state that scans of these types can judge.")
STATUSES = {
    StepStatus.DONE: JourneyStep.Status.DONE,
    StepStatus.FAILED: JourneyStep.Status.FAILED,
    StepStatus.NOT_REACHED: JourneyStep.Status.NOT_REACHED,
}
MAX_STATE_NAME, MAX_ORIGIN, MAX_URL = 300, 300, 8192


class RunOutcome(Struct, frozen=True):
    """Outcome of executing a journey.

    `error` says why the journey stopped early, or None if all of its steps are done.
    """

    states: tuple[JudgedState, ...] = ()
    steps: tuple[tuple[Step, StepResult], ...] = ()
    error: ScanError | None = None
    notes: tuple[str, ...] = ()


class _StatePage(Struct, frozen=True):
    """Page of an audit that is a state, with its scans and their results."""

    page: AuditPage
    ended: list[tuple[Scan, ScanResult | None]]

    @property
    def scans(self) -> list[Scan]:
        return [scan for scan, _ in self.ended]


def finish_run(claim: ScanClaim, outcome: RunOutcome, cpu_s: float | None) -> bool:
    """Store the states of a run with their scans, and end its visit, in one transaction.

    The receivers of `scan_ended` run once for each state. Returns False if the claim was lost.
    """
    with transaction.atomic():
        if (planned := lock_claimed(claim)) is None:
            return False
        first_page = AuditPage.objects.select_related("audit").get(scans=claim.scan_id)
        audit = first_page.audit
        reserved_states = planned[claim.types[0]].reserved_scans
        states = [state for state in outcome.states if state.results]
        judged = states[:reserved_states]
        _refund(planned, judged)
        error = outcome.error
        if judged:
            pages = _insert_states(claim, planned, audit, first_page, judged)
        else:
            error = error or NO_STATE
            pages = [_without_state(claim, planned, first_page, error)]
        scans = [scan for page in pages for scan in page.scans]
        save_ended_scans(scans, claim.attempt, None if cpu_s is None else cpu_s / len(scans))
        notes = list(outcome.notes)
        if left_out := len(states) - len(judged):
            notes.append(f"{counted(left_out, 'state was', 'states were')} not judged, because the run had no quota.")
        _update_audit(audit.id, len(pages), notes, error)
        states_by_step = {page.step: page.state for page in (each.page for each in pages) if page.step is not None}
        insert_steps(audit.id, outcome.steps, states_by_step)
        for state_page in pages:
            scan_ended.send(Scan, ended=state_page.ended)
    return True


def _refund(planned: Mapping[ScanType, Scan], judged: Sequence[JudgedState]) -> None:
    """Refund the reserved scans that judged no state. A run without a state uses no quota."""
    results = [result for state in judged for result in state.results]
    used = sum(not is_refunded(result.error) for result in results)
    lead = next(iter(planned.values()))
    refund([(lead, sum(scan.reserved_scans for scan in planned.values()) - used)])


def _without_state(claim: ScanClaim, planned: Mapping[ScanType, Scan], page: AuditPage, error: ScanError) -> _StatePage:
    """Return the page of a run that has judged nothing, with failed scans."""
    state_page = _StatePage(page, [])
    for scan_type in claim.types:
        scan = planned[scan_type]
        assert scan.started_at is not None
        result = failed_result(scan_type, claim.url, scan.started_at, error)
        apply_result(scan, result)
        state_page.ended.append((scan, result))
    return state_page


def _insert_states(
    claim: ScanClaim,
    planned: Mapping[ScanType, Scan],
    audit: Audit,
    first_page: AuditPage,
    judged: Sequence[JudgedState],
) -> list[_StatePage]:
    """Insert a page for each state after the first one, and its scans.

    Planned scans are used for the first state that their type judges. Those of types that judge no state are deleted.
    """
    unused = dict(planned)
    lead = planned[claim.types[0]]
    pages = [first_page, *(AuditPage(audit=audit, position=number) for number in range(1, len(judged)))]
    state_pages = []
    new_scans: list[Scan] = []
    for page, state in zip(pages, judged, strict=True):
        _describe_page(page, state)
        state_page = _StatePage(page, [])
        for result in state.results:
            scan = unused.pop(result.type, None)
            if scan is None:
                scan = _new_scan(lead, result.type)
                new_scans.append(scan)
            scan.url, scan.audit_page, scan.reserved_scans = page.url, page, 1
            state_page.ended.append((scan, result))
        state_pages.append(state_page)
    first_page.save(update_fields=["url", "origin", "state", "step"])
    AuditPage.objects.bulk_create(pages[1:])
    fetch(LOCK_COUNTERS, {"organization": lead.organization_id, "period": lead.period})
    _insert_scans(state_pages, new_scans, list(unused.values()))
    for state_page in state_pages:
        for scan, state_result in state_page.ended:
            assert state_result is not None
            apply_result(scan, state_result)
    return state_pages


def _insert_scans(state_pages: Sequence[_StatePage], new_scans: Sequence[Scan], unused: Sequence[Scan]) -> None:
    """Make the scans of each state a visit with a lead scan of its own, as those of a page are."""
    created = {scan.id for scan in new_scans}
    followers: list[Scan] = []
    for state_page in state_pages:
        state_lead, *others = state_page.scans
        state_lead.lead = None
        for scan in others:
            scan.lead = state_lead
        followers += others
    # Leads come first, because the other scans refer to them.
    leads = [state_page.scans[0] for state_page in state_pages]
    for scans in (leads, followers):
        Scan.objects.bulk_create(scan for scan in scans if scan.id in created)
        Scan.objects.bulk_update(
            [scan for scan in scans if scan.id not in created], ["url", "audit_page", "reserved_scans", "lead"]
        )
    Scan.objects.filter(id__in=[scan.id for scan in unused]).delete()


def _new_scan(planned: Scan, scan_type: ScanType) -> Scan:
    """Return an unsaved scan of a further state, which a worker has already executed."""
    columns = ("organization", "api_key_id", "created_by_id", "period", "kept_days", "request_id", "viewing")
    state_columns = ("is_background", "created_at", "started_at", "enqueued_at", "attempts", "worker")
    return Scan(
        id=new_scan_id(),
        type=scan_type,
        status=Scan.Status.SCANNING,
        is_of_journey=True,
        **{column: getattr(planned, column) for column in (*columns, *state_columns)},
    )


def _describe_page(page: AuditPage, state: JudgedState) -> None:
    page.url = state.results[0].url[:MAX_URL]
    page.origin = Url.of(page.url).origin[:MAX_ORIGIN]
    page.state, page.step = state.name[:MAX_STATE_NAME], state.step
    page.status = AuditPage.Status.RELEASED


def _update_audit(audit_id: str, pages: int, notes: Sequence[str], error: ScanError | None) -> None:
    """Store how many states the run has, and why it stopped early.

    A run that was cancelled in the meantime stays cancelled.
    """
    audit = Audit.objects.select_for_update(no_key=True).get(id=audit_id)
    audit.pages_planned = audit.pages_found = pages
    audit.notes = [*audit.notes, *notes]
    if error is not None:
        audit.error_code, audit.error_message = error.code, error.message
    audit.save(update_fields=["pages_planned", "pages_found", "notes", "error_code", "error_message"])


def insert_steps(audit_id: str, steps: Sequence[tuple[Step, StepResult]], states: Mapping[int, str]) -> None:
    """Store the steps of a run. `states` are names of states by the positions of the steps before them."""
    JourneyStep.objects.bulk_create(_step_rows(audit_id, steps, states))


def _step_rows(
    audit_id: str, steps: Sequence[tuple[Step, StepResult]], states: Mapping[int, str]
) -> Iterator[JourneyStep]:
    for position, (step, result) in enumerate(steps):
        picture = result.picture
        yield JourneyStep(
            audit_id=audit_id,
            position=position,
            text=step_in_words(step),
            status=STATUSES[result.status],
            url=result.url,
            duration_ms=round(1000 * result.duration_s),
            problem=result.problem,
            near_matches=list(result.near_matches),
            state=states.get(position, "")[:MAX_STATE_NAME],
            notes=list(result.notes),
            picture=picture.data if picture else None,
            width=picture.width if picture else None,
            height=picture.height if picture else None,
        )
