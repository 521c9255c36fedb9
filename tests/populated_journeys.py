"""Journeys in each state, with runs whose steps have pictures."""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User
from sites.journeys.requests import parse_new
from sites.models import Audit, AuditPage, Journey, JourneyStep, Monitor
from sites.models.journey import new_journey_id, secret_columns
from tests.factories import Member
from tests.populated_audits import _findings, look_at, make_audit, make_pages
from tests.populated_monitors import make_monitor
from website_scan.journeys.journey import Judge
from website_scan.journeys.recordings import recording_of
from website_scan.journeys.words import step_in_words
from website_scan.net.policy import Policy
from website_scan.page.registrable_domain import site_of
from website_scan.urls import Url

HOST = "https://pottery.example.com"
STEPS = """
open /login
fill “E-mail” with {{user}}
fill “Password” with {{password}}
click button “Sign in”
wait for “My account”
judge “Account”
click “Orders”
judge “Orders with a name that is as long as names of states may be, which is eighty.”
click “Sign out”
judge “Signed out”
"""
SECRETS = {"user": "ann@pottery.example.com", "password": "correct-horse-7"}
# Picture in WebP of one grey pixel.
PICTURE = base64.b64decode("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAgA0JaQAA3AA/vuUAAA=")
JPEG = b"\xff\xd8\xff\xe0..JFIF"  # The beginning of a JPEG, by which its type is recognized.


def populate_journeys(home: Member, rows: int, now: datetime, owner: User) -> dict[str, Any]:
    """Create journeys and runs, and return their IDs by name."""
    for number in range(rows):
        _journey(home, f"Journey {number}", f"{HOST}/{number}", created_at=now - timedelta(days=number + 2))
    unproven = _journey(home, "Checkout <b>now</b>", f"{HOST}/shop", secrets={}, is_proven=False, created_by=owner)
    proven = _journey(home, "Log-in", HOST)
    before = _run(home, proven, now - timedelta(days=1), states=3)
    run = _run(home, proven, now - timedelta(hours=2), states=3, has_news=True)
    stopped = _run(home, proven, now - timedelta(hours=1), states=1)
    failed = _run(home, proven, now - timedelta(minutes=30), states=0)
    monitor = _monitor(home, proven, stopped)
    running = make_audit(home, kind="journey", url=proven.start_url, journey=proven, max_pages=3, created_at=now)
    dry, failed_dry = (_dry_run(home, proven, now, has_failed=has_failed) for has_failed in (False, True))
    make_pages(running, [proven.start_url])
    return {
        "journey_id": proven.id,
        "unproven_journey_id": unproven.id,
        "journey_run_id": failed.id,
        "journey_monitor_id": monitor.id,
        "journey_before_audit_id": before.id,
        "journey_audit_id": run.id,
        "stopped_journey_audit_id": stopped.id,
        "running_journey_audit_id": running.id,
        "dry_run_id": dry.id,
        "failed_dry_run_id": failed_dry.id,
    }


def _journey(
    home: Member,
    name: str,
    start: str,
    *,
    secrets: dict[str, str] | None = None,
    is_proven: bool = True,
    **columns: Any,
) -> Journey:
    request = parse_new({"name": name, "steps": STEPS, "start": start}, Policy())
    assert request.steps is not None
    site = site_of(Url.of(start).host)
    proof = {"proof_method": "dns", "proven_scope": site, "proven_at": timezone.now()} if is_proven else {}
    return Journey.objects.create(
        id=new_journey_id(),
        organization=home.organization,
        recording=recording_of(request.steps),
        start_url=request.steps.start_url,
        site=site,
        proof_token="mPz0Y2kTfW8cQe5RnV1sLhJ7bXuD3aGi",
        **request.columns,
        **secret_columns(SECRETS if secrets is None else secrets),
        **proof,
        **columns,
    )


def _monitor(home: Member, journey: Journey, run: Audit) -> Monitor:
    """Create a monitor of the journey, in whose last run a step has failed."""
    at = run.created_at
    Audit.objects.filter(id=run.id).update(run_of=Audit.RunOf.MONITOR)
    target = {"kind": "journey", "journey": journey, "pages": [journey.start_url], "max_pages": 3}
    failure = {"failing_since": at, "memory": {"is_step_failure": True}}
    monitor = make_monitor(
        home, name="Log-in of members", **target, types=journey.types, next_run_at=at + timedelta(days=1), **failure
    )
    monitor.runs.create(
        due_at=at, not_before=at, started_at=at, ended_at=at, attempts=2, audit=run, status="failed", is_told=True,
        error_code="JOURNEY_FAILED", error_message=run.error_message.replace(":", " failed:", 1),
    )  # fmt: skip
    return monitor


def _run(home: Member, journey: Journey, at: datetime, *, states: int, has_news: bool = False) -> Audit:
    """Create a run that has judged the first states. The step after the last one of fewer than three has failed."""
    names = [step.name for step in journey.steps.steps if hasattr(step, "name")]
    at_steps = [number for number, step in enumerate(journey.steps.steps) if hasattr(step, "name")]
    audit = make_audit(home, kind="journey", url=journey.start_url, journey=journey, max_pages=3, created_at=at)
    pages = make_pages(audit, [f"{HOST}/{path}" for path in ("account", "orders?page=1", "")[:states]])
    for page, name, step in zip(pages, names, at_steps, strict=False):
        AuditPage.objects.filter(id=page.id).update(state=name, step=step)
        page.refresh_from_db()
        look_at(page, at, **(_findings(page.position) if has_news or page.position else {}))
    failed_at = len(journey.steps.steps) if states == len(names) else at_steps[states - 1] + 1 if states else 3
    if states < len(names):
        audit.refresh_from_db()
        audit.status, audit.error_code = "partial" if states else "failed", "JOURNEY_FAILED"
        audit.completed_at = at
        audit.error_message = f"Step {failed_at + 1}: no element is named “Orders”."
        audit.save()
    _insert_steps(audit, journey, failed_at)
    return audit


def _dry_run(home: Member, journey: Journey, at: datetime, *, has_failed: bool) -> Audit:
    audit = make_audit(home, kind="journey", run_of="dry_run", url=journey.start_url, journey=journey, created_at=at)
    failed_at = 3 if has_failed else len(journey.steps.steps)
    audit.types, audit.kept_days, audit.status, audit.completed_at = [], 1, "completed", at
    if has_failed:
        audit.status, audit.error_code = "failed", "JOURNEY_FAILED"
        audit.error_message = f"Step {failed_at + 1}: no button is named “Sign in”."
    audit.save()
    _insert_steps(audit, journey, failed_at)
    return audit


def _insert_steps(audit: Audit, journey: Journey, failed_at: int) -> None:
    JourneyStep.objects.bulk_create(
        JourneyStep(
            audit=audit,
            position=position,
            text=step_in_words(step),
            status="done" if position < failed_at else "failed" if position == failed_at else "not_reached",
            state=step.name if isinstance(step, Judge) and position < failed_at else "",
            url=f"{HOST}/account" if position <= failed_at else "",
            duration_ms=420 if position <= failed_at else 0,
            problem=audit.error_message if position == failed_at else "",
            near_matches=["link “My orders”", "button “Order <again>”"] if position == failed_at else [],
            notes=["A new window was closed."] if position == 3 else [],
            picture=PICTURE if position <= failed_at and not hasattr(step, "name") else None,
            width=1440 if position <= failed_at and not hasattr(step, "name") else None,
            height=900 if position <= failed_at and not hasattr(step, "name") else None,
        )
        for position, step in enumerate(journey.steps.steps)
    )
