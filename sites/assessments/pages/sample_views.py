"""Dashboard pages for the sample of an assessment: its pages and named states."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.authentication import member_caller
from accounts.identity.freshness import session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import form_page, refuse_over_rate_or_in_maintenance
from infrastructure.api.errors import NotFound
from infrastructure.web import keyset
from scans.policy import scan_policy
from sites.assessments import loading, services
from sites.assessments.pages.forms import PageForm, PageNameForm
from sites.assessments.pages.views import WORK, context_of, find
from sites.assessments.requests import MAX_SAMPLE, PageNameSerializer, PageSerializer
from website_scan.errors import Refusal

Role = Membership.Role
PAGES_PER_PAGE = 100


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.VIEWER)
@known
@session_suffices(WORK)
def assessment_sample(request: MemberRequest, assessment_id: str) -> HttpResponse:
    """Render the pages of the sample with a form that adds one, or add a page."""
    assessment = find(request, assessment_id)

    def show(form: PageForm, status: int) -> HttpResponse:
        page = keyset.by_columns(
            assessment.pages.all(), request.GET, columns=["number"], size=PAGES_PER_PAGE, filters={}
        )
        counts = loading.counts_by_page(assessment, page.rows)
        rows = [(row, counts.get(row.id, {})) for row in page.rows]
        context = context_of(request, assessment, "assessment-sample", form=form, page=page, rows=rows)
        context |= {"most": MAX_SAMPLE, "criteria": context["document"]["progress"]["criteria"]}
        return render(request, "sites/assessments/sample.html", context, status=status)

    def submit(form: PageForm) -> HttpResponse:
        refuse_over_rate_or_in_maintenance(request)
        values = PageSerializer.judged(form.cleaned_data, policy=scan_policy())
        page = services.add_page(
            caller=member_caller(request.membership),
            assessment_id=assessment_id,
            target=values["url"],
            name=values.get("name", ""),
            is_state=values["is_state"],
        )
        messages.success(request, f"Page {page.number} was added: {page.title}.")
        return redirect(page_of(request.membership, "assessment-sample", assessment_id))

    if request.method == "POST" and not request.membership.is_member:
        raise PermissionDenied
    return form_page(request, PageForm, show, submit)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def assessment_page_rename(request: MemberRequest, assessment_id: str, page_number: int) -> HttpResponse:
    """Render the form for the name of a page, or change the name."""
    assessment = find(request, assessment_id)
    page = services.find_page(assessment, page_number)

    def make(data: QueryDict | None) -> PageNameForm:
        return PageNameForm(data, initial={"name": page.name})

    def show(form: PageNameForm, status: int) -> HttpResponse:
        context = context_of(request, assessment, "assessment-sample", form=form, page=page)
        return render(request, "sites/assessments/rename.html", context, status=status)

    def submit(form: PageNameForm) -> HttpResponse:
        name = PageNameSerializer.judged(form.cleaned_data)["name"]
        caller = member_caller(request.membership)
        services.rename_page(caller=caller, assessment_id=assessment_id, number=page_number, name=name)
        messages.success(request, f"The name of page {page_number} was changed.")
        return redirect(page_of(request.membership, "assessment-sample", assessment_id))

    return form_page(request, make, show, submit)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def assessment_page_remove(request: MemberRequest, assessment_id: str, page_number: int) -> HttpResponse:
    """Remove a page with its results from the sample, after a confirmation page."""
    assessment = find(request, assessment_id)
    page = services.find_page(assessment, page_number)
    if request.method != "POST":
        counts = loading.counts_by_page(assessment, [page]).get(page.id, {})
        context = context_of(request, assessment, "assessment-sample", page=page, counts=counts)
        return render(request, "sites/assessments/remove.html", context)
    try:
        caller = member_caller(request.membership)
        services.remove_page(caller=caller, assessment_id=assessment_id, number=page_number)
        messages.success(request, f"Page {page_number} was removed: {page.title}.")
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, str(refusal))
    return redirect(page_of(request.membership, "assessment-sample", assessment_id))
