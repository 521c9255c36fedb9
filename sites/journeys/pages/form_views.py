"""Dashboard views that create and change journeys.

The steps are sent first, as a file or as text. The preview shows them in words, with the form for the settings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts import drafts
from accounts.authentication import member_caller
from accounts.identity.freshness import session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import form_idempotency, refuse_over_rate_or_in_maintenance
from infrastructure.api.idempotency import IdempotencyConflict
from infrastructure.web.uploads import accepts_file
from sites.journeys import services
from sites.journeys.pages.carried import carried_journey, carry
from sites.journeys.pages.forms import JourneyForm, initial_values_of
from sites.journeys.pages.sources import (
    SourceForm,
    name_of_host,
    read_source,
    refused_lines,
    uploaded_text,
)
from sites.journeys.pages.views import WORK, find
from sites.models import Journey
from website_scan.errors import Refusal
from website_scan.journeys.journey import JourneyRefused
from website_scan.journeys.json_steps import MAX_RECORDING_BYTES
from website_scan.journeys.passwords import ReadJourney
from website_scan.journeys.short_form import VERBS
from website_scan.journeys.short_form_text import short_form_of

Role = Membership.Role
TOO_OLD = "The preview is too old, or belongs to another form. Send the steps again."
# Title of a journey that was written as text.
NO_TITLE = "Journey"


@accepts_file(MAX_RECORDING_BYTES)
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@session_suffices(WORK)
def journey_new(request: MemberRequest) -> HttpResponse:
    """Render the form for the steps of a new journey, preview them, or create the journey.

    A form that is sent twice creates only one journey.
    """
    member = request.membership
    if request.method != "POST":
        most = member.organization.tier.journeys
        if services.count_sharing_limit(member.organization) >= most:
            return render(request, "sites/journeys/full.html", {"section": "journeys", "most": most})
        if draft := drafts.restore(request):
            return _draft_page(request, draft, None)
        return _source_page(request, SourceForm(), None)
    if "carried" not in request.POST:
        return _preview(request, None)
    read = carried_journey(member, "", request.POST["carried"])
    if read is None:
        return _too_old(request, None)
    form = JourneyForm(request.POST, read=read)

    def create() -> HttpResponse:
        once = form_idempotency(request, form)
        try:
            created = services.create_journey(caller=member_caller(member), request=form.journey_request(), once=once)
        except IdempotencyConflict:
            messages.success(request, "The journey is being created.")
            return redirect(page_of(member, "journeys"))
        if not created.replayed:
            messages.success(request, "The journey was created.")
        return redirect(page_of(member, "journey", created.response["id"]))

    return _submit(request, form, None, create)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def journey_edit(request: MemberRequest, journey_id: str) -> HttpResponse:
    """Render the form with the settings of a journey, and store changed settings and steps."""
    member, row = request.membership, find(request, journey_id)
    if request.method != "POST":
        if draft := drafts.restore(request):
            return _draft_page(request, draft, row)
        return _settings_page(request, _stored_form(request, row), row)
    if "carried" not in request.POST:
        read: ReadJourney | None = ReadJourney(row.steps)
    else:
        read = carried_journey(member, row.id, request.POST["carried"])
    if read is None:
        return _too_old(request, row)
    form = JourneyForm(request.POST, read=read, current=row)

    def change() -> HttpResponse:
        was_proven = row.proven_at is not None
        changed = services.change_journey(
            caller=member_caller(member), journey_id=row.id, request=form.journey_request()
        )
        messages.success(request, "The journey was changed.")
        if was_proven and changed.proven_at is None:
            messages.warning(request, "Its site or its places of log-in are new: prove control before the next run.")
        return redirect(page_of(member, "journey", row.id))

    return _submit(request, form, row, change)


@accepts_file(MAX_RECORDING_BYTES)
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def journey_steps(request: MemberRequest, journey_id: str) -> HttpResponse:
    """Render the form for new steps of a journey, or preview them with its settings."""
    row = find(request, journey_id)
    if request.method == "POST":
        return _preview(request, row)
    text = short_form_of(row.steps)
    form = SourceForm(initial={"start": row.start_url, "steps": text or ""})
    return _source_page(request, form, row, is_only_recording=text is None)


def _preview(request: MemberRequest, row: Journey | None) -> HttpResponse:
    """Show the steps that were sent in words, with the form for the settings, or the refused line."""
    form = SourceForm(request.POST)
    if not form.is_valid():
        return _source_page(request, form, row, 400)
    try:
        refuse_over_rate_or_in_maintenance(request)
        source = read_source(request, form)
    except JourneyRefused as refusal:
        lines, problem = refused_lines(uploaded_text(request) or form.text, refusal)
        return _source_page(request, form, row, refusal.status, lines=lines, problem=problem)
    except Refusal as refusal:
        return _source_page(request, form, row, form.add_refusal(refusal))
    read = source.read
    initial: dict[str, Any] = {"carried": carry(request.membership, row.id if row else "", read)}
    if row is not None:
        initial |= initial_values_of(row)
    else:
        initial["name"] = name_of_host(read) if read.journey.title == NO_TITLE else read.journey.title
    settings = JourneyForm(read=read, current=row, initial=initial)
    return _settings_page(request, settings, row, text=source.text, start=form["start"].value() or "", is_preview=True)


def _submit(
    request: MemberRequest, form: JourneyForm, row: Journey | None, store: Callable[[], HttpResponse]
) -> HttpResponse:
    """Call `store` for a valid form, and show the form with its errors otherwise."""
    if not form.is_valid():
        return _settings_page(request, form, row, 400)
    try:
        refuse_over_rate_or_in_maintenance(request)
        response = store()
    except Refusal as refusal:
        if refusal.status == 404:
            raise
        return _settings_page(request, form, row, form.add_refusal(refusal))
    return response


def _stored_form(request: MemberRequest, row: Journey) -> JourneyForm:
    """Return the form with the stored settings.

    It carries the steps, because somebody else may replace them before it is sent, and states belong to steps.
    """
    read = ReadJourney(row.steps)
    initial = initial_values_of(row) | {"carried": carry(request.membership, row.id, read)}
    return JourneyForm(read=read, current=row, initial=initial)


def _draft_page(request: MemberRequest, draft: QueryDict, row: Journey | None) -> HttpResponse:
    """Show the settings that somebody sent after the session had ended."""
    carried = draft.get("carried", "")
    read = carried_journey(request.membership, row.id if row else "", carried) if carried else None
    if read is None and row is not None and not carried:
        read = ReadJourney(row.steps)
    if read is None:
        return _too_old(request, row)
    form = JourneyForm(draft, read=read, current=row)
    return _settings_page(request, form, row)


def _too_old(request: MemberRequest, row: Journey | None) -> HttpResponse:
    initial = {"start": row.start_url} if row else None
    return _source_page(request, SourceForm(initial=initial), row, 400, problem=TOO_OLD)


def _source_page(
    request: MemberRequest, form: SourceForm, row: Journey | None, status: int = 200, **context: Any
) -> HttpResponse:
    examples = dict.fromkeys(verb.example for verb in VERBS.values())
    defaults = {"problem": "", "lines": (), "examples": list(examples), "is_only_recording": False}
    context = {"section": "journeys", "form": form, "journey": row, **defaults, **context}
    return render(request, "sites/journeys/source.html", context, status=status)


def _settings_page(
    request: MemberRequest, form: JourneyForm, row: Journey | None, status: int = 200, **context: Any
) -> HttpResponse:
    defaults = {"is_preview": False, "text": "", "start": ""}
    context = {"section": "journeys", "form": form, "journey": row, **defaults, **context}
    return render(request, "sites/journeys/form.html", context, status=status)
