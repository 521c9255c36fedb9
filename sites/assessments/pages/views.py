"""Dashboard pages of assessments, their texts and their logs. Viewers may read, members may change."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access
from accounts.authentication import member_caller
from accounts.identity.freshness import require_fresh_login, session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import form_idempotency, form_page, refuse_over_rate_or_in_maintenance
from infrastructure.api.errors import InvalidParams, NotFound
from infrastructure.api.idempotency import IdempotencyConflict
from infrastructure.web import keyset
from infrastructure.web.time_zones import in_zone
from sites.assessments import loading, services
from sites.assessments.documents.formats import DOCUMENT_FORMATS
from sites.assessments.method import METHOD
from sites.assessments.pages.choices import assessable_audits, choices_of, later_audits
from sites.assessments.pages.forms import NewAssessmentForm, TextsForm
from sites.assessments.pages.overview import overview_of
from sites.assessments.pages.rows import FILTERS
from sites.assessments.pages.sentences import log_line
from sites.assessments.requests import AssessmentRequestSerializer, RefreshSerializer
from sites.assessments.schemas import AssessmentCriterionJson
from sites.assessments.texts import change_texts
from sites.models import Assessment
from website_scan.errors import Refusal
from website_scan.urls import host_and_port_of

Role = Membership.Role
WORK = "the organization's own work, which all members see"
ASSESSMENTS_PER_PAGE, EVENTS_PER_PAGE = 20, 50


def find(request: MemberRequest, assessment_id: str) -> Assessment:
    return services.find_assessment(request.membership.organization_id, assessment_id)


def context_of(
    request: MemberRequest,
    assessment: Assessment,
    tab: str,
    criteria: list[AssessmentCriterionJson] | None = None,
    **context: Any,
) -> dict[str, Any]:
    """Return the context of the templates that extend `sites/assessments/base.html`.

    `criteria` are the assessment's rows, if the caller has loaded them.
    """
    return {
        "section": "assessments",
        "assessment": assessment,
        "document": loading.assessment_json_of(assessment, criteria),
        "tab": tab,
        "may_change": request.membership.is_member and not assessment.is_finished,
        **context,
    }


@require_safe
@requires(Role.VIEWER)
def assessments(request: MemberRequest) -> HttpResponse:
    """List the organization's assessments, newest first, with their progress."""
    organization = request.membership.organization
    rows = access.rows(Assessment, organization.id)
    page = keyset.by_time([rows], request.GET, size=ASSESSMENTS_PER_PAGE, filters={})
    context = {
        "section": "assessments",
        "page": page,
        "rows": list(zip(page.rows, loading.assessments_json(page.rows), strict=True)),
        "limit": organization.tier.assessments,
        "used": services.count_sharing_limit(organization),
    }
    return render(request, "sites/assessments/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@session_suffices(WORK)
def assessment_new(request: MemberRequest) -> HttpResponse:
    """Render the form for a new assessment, of the audit in the query if there is one, or create the assessment."""
    organization = request.membership.organization
    audit_id = request.GET.get("audit", "")
    audits = assessable_audits(organization.id, audit_id)

    def make(data: QueryDict | None) -> NewAssessmentForm:
        chosen = next((audit for audit in audits if audit.id == audit_id), audits[0] if audits else None)
        initial = {"method": METHOD, "audit": chosen.id if chosen else ""}
        if chosen is not None:
            ended_at = chosen.completed_at or chosen.created_at
            initial["name"] = f"{host_and_port_of(chosen.url)[:80]}, {in_zone(ended_at, '%B %Y')}"
        return NewAssessmentForm(data, audits=choices_of(audits), initial=initial)

    def show(form: NewAssessmentForm, status: int) -> HttpResponse:
        context = {
            "section": "assessments",
            "form": form,
            "has_audits": bool(audits),
            "limit": organization.tier.assessments,
            "used": services.count_sharing_limit(organization),
        }
        return render(request, "sites/assessments/new.html", context, status=status)

    def submit(form: NewAssessmentForm) -> HttpResponse:
        refuse_over_rate_or_in_maintenance(request)
        values = AssessmentRequestSerializer.judged(form.body)
        once = form_idempotency(request, form)
        try:
            created = services.create_assessment(caller=member_caller(request.membership), values=values, once=once)
        except IdempotencyConflict:
            messages.success(request, "The assessment is being created.")
            return redirect(page_of(request.membership, "assessments"))
        except NotFound as refusal:
            raise InvalidParams("This scan no longer exists. Choose another one.", "audit") from refusal
        messages.success(request, "The assessment was created. Its automatic results appear in a moment.")
        return redirect(page_of(request.membership, "assessment", created.response["id"]))

    return form_page(request, make, show, submit)


@require_safe
@requires(Role.VIEWER)
@known
def assessment(request: MemberRequest, assessment_id: str) -> HttpResponse:
    """Render the criteria of an assessment, with their results and its actions."""
    row = find(request, assessment_id)
    overview = overview_of(row, request.GET)
    context = context_of(request, row, "assessment", overview.criteria, overview=overview, filters=FILTERS)
    context["formats"] = DOCUMENT_FORMATS
    if context["may_change"] and not row.is_refreshing:
        context["later_audits"] = choices_of(later_audits(row))
    return render(request, "sites/assessments/criteria.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def assessment_texts(request: MemberRequest, assessment_id: str) -> HttpResponse:
    """Render the form for the texts of the report and the statement, and store the texts that its author changed."""
    row = find(request, assessment_id)

    def show(form: TextsForm, status: int) -> HttpResponse:
        context = context_of(request, row, "assessment-texts", form=form)
        return render(request, "sites/assessments/texts.html", context, status=status)

    def submit(form: TextsForm) -> HttpResponse:
        refuse_over_rate_or_in_maintenance(request)
        caller = member_caller(request.membership)
        change_texts(caller=caller, assessment_id=assessment_id, changes_of=form.changes_of)
        if form.errors:
            return show(form, 409)
        messages.success(request, "The texts were saved.")
        return redirect(page_of(request.membership, "assessment-texts", assessment_id))

    return form_page(request, functools.partial(TextsForm, assessment=row), show, submit)


@require_safe
@requires(Role.VIEWER)
@known
def assessment_log(request: MemberRequest, assessment_id: str) -> HttpResponse:
    """Render the log of an assessment, newest first."""
    row = find(request, assessment_id)
    events = loading.events_of(row)
    before = request.GET.get("before", "")
    is_first = not (before.isascii() and before.isdecimal() and len(before) <= 18)
    if not is_first:
        events = events.filter(id__lt=int(before))
    found = list(events[: EVENTS_PER_PAGE + 1])
    lines = [log_line(event) for event in found[:EVENTS_PER_PAGE]]
    older = lines[-1].event.id if len(found) > EVENTS_PER_PAGE else None
    context = context_of(request, row, "assessment-log", lines=lines, older=older, is_first=is_first)
    return render(request, "sites/assessments/log.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def assessment_status(request: MemberRequest, assessment_id: str) -> HttpResponse:
    """Render what is still open before an assessment is finished, or finish or reopen it.

    The form field `status` is `finished` or `open`.
    """
    if request.method != "POST":
        row = find(request, assessment_id)
        if row.is_finished:
            return redirect(page_of(request.membership, "assessment", assessment_id))
        criteria = loading.criteria_rows(row)
        context = context_of(request, row, "assessment-finish", criteria, older=loading.older_results(row))
        for outcome in ("untested", "cannot_tell"):
            context[outcome] = sum(criterion["pages"][outcome] > 0 for criterion in criteria)
        return render(request, "sites/assessments/finish.html", context)
    status = request.POST.get("status", "")
    if status not in Assessment.Status.values:
        raise BadRequest
    text = "The assessment is finished." if status == Assessment.Status.FINISHED else "The assessment is open again."
    return _change(request, assessment_id, {"status": status}, text)


@require_POST
@requires(Role.MEMBER)
@require_fresh_login()
@known
def assessment_share(request: MemberRequest, assessment_id: str) -> HttpResponse:
    """Share the report with everybody who has the link, or stop that. The form field `shared` is `on` or `off`."""
    is_shared = {"on": True, "off": False}.get(request.POST.get("shared", ""))
    if is_shared is None:
        raise BadRequest
    shared = "Anyone with the link can now read the report."
    text = shared if is_shared else "Only members can read the report now."
    response = _change(request, assessment_id, {"shared": is_shared}, text)
    # With `shared=now`, the page expands the section with the link.
    return redirect(f"{response['Location']}?shared=now") if is_shared else response


@require_POST
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def assessment_refresh(request: MemberRequest, assessment_id: str) -> HttpResponse:
    """Copy the automatic results of a later audit of the site, whose ID is the form field `audit`."""

    def refresh() -> None:
        audit_id = RefreshSerializer.judged({"audit": request.POST.get("audit", "")})["audit"]
        caller = member_caller(request.membership)
        try:
            services.refresh_assessment(caller=caller, assessment_id=assessment_id, audit_id=audit_id)
        except NotFound as refusal:
            find(request, assessment_id)
            raise InvalidParams("This scan no longer exists.") from refusal

    return _act(request, assessment_id, refresh, "The results are being copied. What people wrote stays.")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def assessment_delete(request: MemberRequest, assessment_id: str) -> HttpResponse:
    """Delete an assessment, after a confirmation page."""
    row = find(request, assessment_id)
    if request.method != "POST":
        context = {"section": "assessments", "assessment": row, "document": loading.assessment_json_of(row)}
        return render(request, "sites/assessments/delete.html", context)
    services.delete_assessment(caller=member_caller(request.membership), assessment_id=assessment_id)
    messages.success(request, f"The assessment {row.name} was deleted.")
    return redirect(page_of(request.membership, "assessments"))


def _change(request: MemberRequest, assessment_id: str, values: dict[str, Any], text: str) -> HttpResponse:
    caller = member_caller(request.membership)
    change = functools.partial(services.change_assessment, caller=caller, assessment_id=assessment_id, values=values)
    return _act(request, assessment_id, change, text)


def _act(request: MemberRequest, assessment_id: str, act: Callable[[], object], text: str) -> HttpResponse:
    """Perform an action, and redirect to the assessment's page with a message about it or its refusal."""
    try:
        refuse_over_rate_or_in_maintenance(request)
        act()
        messages.success(request, text)
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, str(refusal))
    return redirect(page_of(request.membership, "assessment", assessment_id))
