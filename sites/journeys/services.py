"""Services that create, change, prove, run and delete journeys.

Lock order: the organization before the journey.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from msgspec.structs import replace

from accounts import access, activity, usage
from accounts.access import Lock
from accounts.authentication import Caller
from accounts.models import Organization
from infrastructure.api.errors import ServiceUnavailable
from infrastructure.api.idempotency import Once
from scans.idempotency_records import Created, created_once
from scans.policy import scan_policy
from scans.reachability import refuse_unreachable, reserve_slot
from scans.requests import types_of
from scans.visits.overload import AUDIT_SHARE_OF_WAIT_LIMIT, refuse_when_overloaded
from sites.audits.dispatch import dispatch_pages
from sites.audits.requests import AuditRequest
from sites.audits.schemas import AuditJson, audit_json_of
from sites.audits.services import insert_audit, refuse_over_audit_limits
from sites.journeys import proof
from sites.journeys.requests import JourneyRequest
from sites.journeys.schemas import JourneyJson, ProofCheckJson, journey_json_of, proof_check_of
from sites.models import Audit, Journey, Monitor
from sites.models.journey import new_journey_id, secret_columns
from sites.resources import JOURNEY
from sites.signals import journey_changed
from website_scan.errors import Refusal
from website_scan.findings import ScanType
from website_scan.journeys.journey import Journey as Steps
from website_scan.journeys.planned import planned_states
from website_scan.journeys.recordings import recording_of
from website_scan.messages import counted
from website_scan.net.targets import parse_target
from website_scan.page.registrable_domain import site_of
from website_scan.urls import Url


class JourneyLimit(Refusal):
    """Raised when the organization has as many journeys as its plan allows."""

    code = "JOURNEY_LIMIT"
    status = 409


class MissingSecret(Refusal):
    """Raised for a run of a journey whose steps use a secret without a value."""

    code = "MISSING_SECRET"
    status = 409


class MissingBrowser(Refusal):
    """Raised for a run of a journey where no browser executes it."""

    code = "MISSING_BROWSER"
    status = 409


def journeys_of(organization_id: int) -> QuerySet[Journey]:
    """Return the organization's journeys, newest first."""
    return access.rows(Journey, organization_id).order_by("-created_at", "-id")


def runs_of(journey: Journey) -> QuerySet[Audit]:
    """Return the audits that are runs of the journey and have not expired, newest first, without dry runs."""
    audits = access.rows(Audit, journey.organization_id).filter(journey=journey).exclude(run_of=Audit.RunOf.DRY_RUN)
    expired = audits.expired()  # type: ignore[attr-defined]  # AuditQuerySet
    return audits.exclude(id__in=expired.values("id")).order_by("-created_at", "-id")


def monitors_of(journey: Journey) -> QuerySet[Monitor]:
    """Return the monitors that repeat the journey."""
    return access.rows(Monitor, journey.organization_id).filter(journey=journey)


def count_sharing_limit(organization: Organization) -> int:
    """Return the number of journeys that count against the plan's limit."""
    return Journey.objects.filter(organization__in=usage.sharing_limits(organization)).count()


def create_journey(*, caller: Caller, request: JourneyRequest, once: Once | None = None) -> Created[JourneyJson]:
    """Create a journey, which has to be proven before it runs. Raises JourneyLimit.

    A repeated request gets the stored response, which contains no secrets. Values of secrets are not compared.
    """
    return created_once(caller.organization_id, once, None, lambda: _create(caller, request), None)


def _create(caller: Caller, request: JourneyRequest) -> JourneyJson:
    assert request.steps is not None
    with transaction.atomic():
        organization = usage.lock(caller.organization_id)
        most = organization.tier.journeys
        if count_sharing_limit(organization) >= most:
            raise JourneyLimit(
                f"Your plan allows {counted(most, 'journey')}. Delete one, or ask the operator for a larger plan."
            )
        journey = Journey(
            id=new_journey_id(),
            organization=organization,
            api_key_id=caller.key_id,
            created_by_id=caller.member.user_id if caller.member else None,
            **request.columns,
        )
        _set_steps(journey, request.steps)
        _set_secrets(journey, request.secrets)
        journey.save()
        activity.record_by_caller(caller, "journey.created", journey.name, journey=journey.id, url=journey.start_url)
    return journey_json_of(journey, request.notes)


def change_journey(*, caller: Caller, journey_id: str, request: JourneyRequest) -> Journey:
    """Apply the requested changes and return the changed journey.

    New steps that begin at another origin, or that may type secrets at another host, delete the stored secrets. Raises
    NotFound.
    """
    with transaction.atomic():
        journey, _ = _lock_with_monitors(caller, journey_id, Lock.CHANGE)
        changed = [name for name, value in request.columns.items() if value != getattr(journey, name)]
        for name, value in request.columns.items():
            setattr(journey, name, value)
        steps = replace(request.steps or journey.steps, title=journey.name)
        if recording_of(steps) != journey.recording:
            changed += ["steps"] if request.steps is not None else []
            _set_steps(journey, steps)
        has_new_steps = request.steps is not None
        if (has_new_steps or request.secrets) and _set_secrets(journey, request.secrets):
            changed.append("secrets")
        journey.save()
        journey_changed.send(Journey, journey=journey)
        if changed:
            activity.record_by_caller(
                caller, "journey.changed", journey.name, journey=journey.id, changed=sorted(set(changed))
            )
    return journey


def _set_steps(journey: Journey, steps: Steps) -> None:
    """Set the columns of the steps. A new site needs a new proof, and new hosts must not get the stored secrets."""
    site = site_of(Url.of(steps.start_url).host)
    providers = list(steps.identity_providers)
    is_new_origin = not journey.start_url or Url.of(journey.start_url).origin != Url.of(steps.start_url).origin
    has_new_provider = not set(providers) <= set(journey.identity_providers)
    if is_new_origin or has_new_provider:
        journey.proof_method, journey.proven_scope, journey.proven_at = "", "", None
        _store_secrets(journey, {})
    if journey.site != site:
        journey.proof_token = _token_for(journey.organization_id, site)
    journey.recording = recording_of(replace(steps, title=journey.name))
    journey.start_url, journey.site, journey.identity_providers = steps.start_url, site, providers


def _token_for(organization_id: int, site: str) -> str:
    """Return the token of the organization for a site, which all its journeys on the site have."""
    known = access.rows(Journey, organization_id).filter(site=site).values_list("proof_token", flat=True).first()
    return known or proof.new_token()


def _set_secrets(journey: Journey, secrets: Mapping[str, str | None]) -> bool:
    """Set or delete values of secrets, and delete those that no step uses. Return True if a value has changed."""
    stored = journey.secrets
    merged = {**stored, **secrets}
    kept = {name: value for name in journey.steps.secret_names if (value := merged.get(name)) is not None}
    if kept == stored:
        return False
    _store_secrets(journey, kept)
    return True


def _store_secrets(journey: Journey, secrets: Mapping[str, str]) -> None:
    for name, value in secret_columns(secrets).items():
        setattr(journey, name, value)


def delete_journey(*, caller: Caller, journey_id: str) -> None:
    """Delete a journey with its secrets and monitors, but not the reports of its runs. Raises NotFound."""
    with transaction.atomic():
        journey, monitors = _lock_with_monitors(caller, journey_id, Lock.DELETION)
        activity.record_all_by_caller(
            caller,
            [
                ("monitor.deleted", monitor.name, {"monitor": monitor.id, "url": monitor.url, "journey": journey.id})
                for monitor in monitors
            ],
        )
        activity.record_by_caller(caller, "journey.deleted", journey.name, journey=journey.id, url=journey.start_url)
        journey.delete()


def _lock_with_monitors(caller: Caller, journey_id: str, lock: Lock) -> tuple[Journey, list[Monitor]]:
    """Lock the monitors before their journey, as at the start of a run, to prevent deadlocks. Raises NotFound."""
    journey = JOURNEY.find(caller.organization_id, journey_id)
    monitors = list(monitors_of(journey).order_by("id").select_for_update(no_key=lock is Lock.CHANGE))
    return JOURNEY.find(caller.organization_id, journey_id, lock=lock), monitors


def check_proof(*, caller: Caller, journey_id: str) -> ProofCheckJson:
    """Check now whether the organization controls the site. Raises NotFound, or ServiceUnavailable if too many run."""
    journey = JOURNEY.find(caller.organization_id, journey_id)
    was_proven = journey.proven_at is not None
    with reserve_slot(caller.organization_id) as has_slot:
        if not has_slot:
            raise ServiceUnavailable("Too many sites are being checked. Try again in a few seconds.")
        with proof.proof_network(scan_policy()) as network:
            check = proof.check_control(journey, network)
    if check.proof is not None and not was_proven:
        activity.record_by_caller(caller, "journey.proven", journey.name, journey=journey.id, host=journey.proven_scope)
    return proof_check_of(journey, check)


def run_journey(*, caller: Caller, journey_id: str, once: Once | None = None) -> Created[AuditJson]:
    """Start a run of a journey. Raises NotFound, the refusals of `start_run`, and those of audits."""

    def refuse(journey: Journey) -> None:
        refuse_when_overloaded(queue_types_of(journey), AUDIT_SHARE_OF_WAIT_LIMIT)
        scans = planned_states(journey.steps, caller.limits.pages_per_audit) * len(journey.types)
        usage.refuse_beyond_quota(caller.organization_id, caller.limits, scans, timezone.now())

    return start_journey_audit(
        caller=caller, journey_id=journey_id, once=once, action="journey.run", refuse=refuse, insert=start_run
    )


def start_journey_audit(
    *,
    caller: Caller,
    journey_id: str,
    once: Once | None,
    action: str,
    refuse: Callable[[Journey], None],
    insert: Callable[..., Audit],
) -> Created[AuditJson]:
    """Start an audit that executes a journey, a run or a dry run, on request.

    `refuse` raises further refusals before the site is contacted. `insert` has the arguments of `start_run`, and
    inserts the audit while the organization is locked. `action` is recorded in the activity log. Raises NotFound,
    AuditLimit, and the refusals of `refuse_unready`, `refuse` and `insert`.
    """
    journey = JOURNEY.find(caller.organization_id, journey_id)

    def start() -> AuditJson:
        refuse_unready(journey)
        refuse(journey)
        addresses = refuse_unreachable(parse_target(journey.start_url, scan_policy()), caller.organization_id)
        with transaction.atomic():
            organization = usage.lock(caller.organization_id)
            refuse_over_audit_limits(organization, Audit.Kind.JOURNEY)
            audit = insert(
                journey,
                organization,
                addresses=addresses,
                api_key_id=caller.key_id,
                created_by_id=caller.member.user_id if caller.member else None,
            )
            activity.record_by_caller(caller, action, journey.name, journey=journey.id, audit=audit.id)
        return audit_json_of(audit)

    created = created_once(caller.organization_id, once, None, start, "audit")
    if not created.replayed:
        dispatch_pages(caller.organization_id)
    return created


def start_run(journey: Journey, organization: Organization, **columns: Any) -> Audit:
    """Insert an audit that is a run of the journey, with one page for its visit, and return it.

    `columns` are further columns of the audit. The caller has locked the organization, and dispatches the page after
    the transaction. The scans of all planned states are reserved then; the worker refunds those of other states. States
    beyond the plan's number of pages are left out. Raises ControlNotProven, MissingBrowser, MissingSecret, and
    InvalidUrl or Blocked for the start.
    """
    refuse_unready(journey)
    return insert_run(journey, organization, types=types_of(journey.types), **columns)


def insert_run(journey: Journey, organization: Organization, *, types: tuple[ScanType, ...], **columns: Any) -> Audit:
    """Insert an audit that executes the journey, and judges its states for some types. The journey is ready."""
    request = replace(audit_request_of(journey, organization.tier.pages_per_audit), types=types)
    return insert_audit(organization, request, journey=journey, **columns)


def audit_request_of(journey: Journey, max_states: int) -> AuditRequest:
    """Return the request for an audit that is a run of the journey.

    States beyond `max_states`, the plan's number of pages of an audit, are left out. Raises InvalidUrl or Blocked for
    the start.
    """
    return AuditRequest(
        Audit.Kind.JOURNEY,
        (parse_target(journey.start_url, scan_policy()),),
        types_of(journey.types),
        planned_states(journey.steps, max_states),
        viewing=journey.chosen_viewing,
        requirements=journey.own_requirements,
    )


def queue_types_of(journey: Journey) -> set[ScanType]:
    """Return the scan types in whose queues a run waits. It needs a browser, whatever its types."""
    return {*types_of(journey.types), ScanType.ACCESSIBILITY}


def refuse_unready(journey: Journey) -> None:
    """Raise ControlNotProven, MissingBrowser or MissingSecret if the journey cannot run."""
    if journey.proven_at is None:
        raise proof.ControlNotProven(
            f"The organization has not proven that it controls {journey.site}. Publish the token of the journey, and "
            "check the proof."
        )
    if settings.SCAN_BROWSER == "off":
        raise MissingBrowser("Journeys need a browser, and this service has none: SCAN_BROWSER is off.")
    if missing := journey.missing_secrets:
        raise MissingSecret(f"The secret “{missing[0]}” has no value.")
