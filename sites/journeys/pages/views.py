"""Dashboard views for journeys, their proofs of control and their runs.

Viewers of the organization may read journeys, members may change and run them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.authentication import member_caller
from accounts.identity.freshness import session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import refuse_over_rate_or_in_maintenance
from infrastructure.api.errors import NotFound
from scans.idempotency_records import Created
from sites.audits.schemas import AuditJson
from sites.journeys import services
from sites.journeys.dry_runs import dry_run_journey
from sites.journeys.pages import lists
from sites.journeys.pages.page import judged_in_words, secret_states, step_lines
from sites.journeys.pages.sources import pretty_json
from sites.journeys.schemas import proof_of
from sites.models import Journey, Monitor
from sites.resources import JOURNEY
from website_scan.errors import Refusal
from website_scan.journeys.planned import planned_states
from website_scan.report.references import safe_link

Role = Membership.Role
WORK = "the organization's own work, which all members see"


def find(request: MemberRequest, journey_id: str) -> Journey:
    return JOURNEY.find(request.membership.organization_id, journey_id)


@require_safe
@requires(Role.VIEWER)
def journeys(request: MemberRequest) -> HttpResponse:
    """Render the list of journeys with their latest runs."""
    organization = request.membership.organization
    journey_list = lists.journey_list(
        organization.id,
        request.GET,
        used=services.count_sharing_limit(organization),
        most=organization.tier.journeys,
    )
    return render(request, "sites/journeys/list.html", {"section": "journeys", "list": journey_list})


@require_safe
@requires(Role.VIEWER)
@known
def journey(request: MemberRequest, journey_id: str) -> HttpResponse:
    """Render a journey's page with its steps, its proof of control and its runs."""
    return _page(request, find(request, journey_id))


@require_safe
@requires(Role.VIEWER)
@known
def journey_recording(request: MemberRequest, journey_id: str) -> HttpResponse:
    """Download the steps as a recording, which Chrome's Recorder imports. It has secrets by name only."""
    row = find(request, journey_id)
    response = HttpResponse(pretty_json(row.recording), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{row.id}.json"'
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def journey_check(request: MemberRequest, journey_id: str) -> HttpResponse:
    """Check now that the organization controls the site, and render the result on the journey's page."""
    row = find(request, journey_id)
    back = f"{page_of(request.membership, 'journey', row.id)}#proof"
    if request.method != "POST":
        return redirect(back)
    try:
        refuse_over_rate_or_in_maintenance(request)
        check = services.check_proof(caller=member_caller(request.membership), journey_id=row.id)
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, f"Control was not checked. {refusal}")
        return redirect(back)
    if check["is_proven"]:
        messages.success(request, f"Your control of {check['host']} is proven. The journey can run.")
        return redirect(back)
    return _page(request, find(request, journey_id), check["problems"])


@require_POST
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def journey_run(request: MemberRequest, journey_id: str) -> HttpResponse:
    """Start a run of the journey, and open its page."""
    return _start(request, journey_id, services.run_journey, "run")


@require_POST
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def journey_dry_run(request: MemberRequest, journey_id: str) -> HttpResponse:
    """Start a dry run of the journey, and open its page."""
    return _start(request, journey_id, dry_run_journey, "dry run")


def _start(
    request: MemberRequest, journey_id: str, start: Callable[..., Created[AuditJson]], noun: str
) -> HttpResponse:
    try:
        refuse_over_rate_or_in_maintenance(request)
        created = start(caller=member_caller(request.membership), journey_id=journey_id)
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, f"The {noun} was not started. {refusal}")
        return redirect(page_of(request.membership, "journey", journey_id))
    return redirect("audit-page", created.response["id"])


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def journey_delete(request: MemberRequest, journey_id: str) -> HttpResponse:
    """Delete a journey, after a confirmation page."""
    row = find(request, journey_id)
    if request.method != "POST":
        context = {"section": "journeys", "journey": row, "monitors": _monitors_of(row)}
        return render(request, "sites/journeys/delete.html", context)
    services.delete_journey(caller=member_caller(request.membership), journey_id=journey_id)
    messages.success(request, f"The journey {row.name} was deleted.")
    return redirect(page_of(request.membership, "journeys"))


def _monitors_of(row: Journey) -> list[Monitor]:
    return list(services.monitors_of(row).only("name").order_by("name", "id"))


def _page(request: MemberRequest, row: Journey, problems: Sequence[str] = ()) -> HttpResponse:
    """Return the page of a journey. `problems` say why a check of control has just failed."""
    steps = row.steps
    planned = planned_states(steps, request.membership.organization.tier.pages_per_audit)
    context = {
        "section": "journeys",
        "journey": row,
        "link": safe_link(row.start_url),
        "steps": step_lines(steps),
        "judged": judged_in_words(steps),
        "planned": planned,
        "left_out": planned_states(steps) - planned,
        "planned_scans": planned * len(row.types),
        "secrets": secret_states(row, steps),
        "missing_secrets": row.missing_secrets,
        "proof": proof_of(row),
        "problems": problems,
        "monitors": _monitors_of(row),
        "runs": lists.run_list(row, request.GET),
        "labels": lists.type_labels(),
    }
    return render(request, "sites/journeys/detail.html", context)
