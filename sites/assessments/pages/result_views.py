"""Dashboard pages on which people judge: a criterion on all pages, a page by all criteria, a result, and disputes."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import drafts
from accounts.authentication import member_caller
from accounts.identity.freshness import session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import form_page, refuse_over_rate_or_in_maintenance
from infrastructure.api.errors import NotFound
from sites.assessments import loading, results, services
from sites.assessments.pages.forms import DisputeForm, RemainingForm
from sites.assessments.pages.rows import (
    BY_CRITERION,
    BY_PAGE,
    FILTERS,
    Entered,
    Problem,
    ResultRow,
    anchor_of,
    criterion_of,
    row_of,
    rows_by_criterion,
    rows_by_page,
)
from sites.assessments.pages.views import WORK, context_of, find
from sites.assessments.requests import MAX_SAMPLE, DisputeSerializer, RemainingSerializer, ResultSerializer
from sites.models import Assessment, AssessmentFinding, AssessmentPage, AssessmentResult
from website_scan.accessibility.standards import Standard, SuccessCriterion
from website_scan.errors import Refusal
from website_scan.messages import counted

Role = Membership.Role
RESULT_CHOICES = AssessmentResult.Result.choices


@require_safe
@requires(Role.VIEWER)
@known
def assessment_criterion(request: MemberRequest, assessment_id: str, criterion: str) -> HttpResponse:
    """Render a criterion with its test procedure and its results on the pages, a part of them at a time."""
    assessment = find(request, assessment_id)
    chosen = _criterion(assessment, criterion)
    show, part = _show(request.GET), _part(request.GET)
    rows, has_more = rows_by_page(assessment, chosen, show, part)
    criteria = loading.criteria_rows(assessment)
    numbers = [row["number"] for row in criteria]
    at = numbers.index(criterion)
    untested = [row for row in (*criteria[at + 1 :], *criteria[:at]) if row["pages"]["untested"]]
    context = _context(request, assessment, "assessment-criterion", rows, criteria)
    context |= {
        "criterion": chosen,
        "clause": chosen.clause(Standard(assessment.standard)),
        "row": criteria[at],
        "previous": criteria[at - 1] if at else None,
        "next": criteria[at + 1] if at + 1 < len(criteria) else None,
        "next_untested": untested[0] if untested else None,
        "show": show,
        "part": part,
        "previous_part": _query(show, part - 1) if part > 1 else None,
        "next_part": _query(show, part + 1) if has_more else None,
        "remaining_form": RemainingForm(),
    }
    return render(request, "sites/assessments/criterion.html", context)


@require_safe
@requires(Role.VIEWER)
@known
def assessment_page(request: MemberRequest, assessment_id: str, page_number: int) -> HttpResponse:
    """Render a page of the sample with its results by criterion."""
    assessment = find(request, assessment_id)
    page = services.find_page(assessment, page_number)
    show = _show(request.GET)
    rows = rows_by_criterion(assessment, page, show)
    pages = assessment.pages
    context = _context(request, assessment, "assessment-page", rows)
    context |= {
        "page": page,
        "show": show,
        "previous": pages.filter(number__lt=page_number).order_by("-number").first(),
        "next": pages.filter(number__gt=page_number).order_by("number").first(),
    }
    return render(request, "sites/assessments/page.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.VIEWER)
@known
@session_suffices(WORK)
def assessment_result(request: MemberRequest, assessment_id: str, page_number: int, criterion: str) -> HttpResponse:
    """Render one result, or store it.

    The form field `view` is `page` if the row is on the page of its page, and its answer goes back there. If the form
    is refused, the response has the row with the input and the reason; for htmx only the row.
    """
    assessment = find(request, assessment_id)
    page, chosen = services.find_page(assessment, page_number), _criterion(assessment, criterion)
    if request.method != "POST":
        draft = drafts.restore(request)
        entered = _entered(draft) if draft else None
        return _result_page(request, assessment, row_of(assessment, page, chosen, BY_CRITERION, entered=entered))
    if not request.membership.is_member:
        raise PermissionDenied
    view = BY_PAGE if request.POST.get("view") == BY_PAGE else BY_CRITERION
    entered = _entered(request.POST)
    try:
        refuse_over_rate_or_in_maintenance(request)
        _store(request, assessment, page, chosen, entered)
    except NotFound:
        raise
    except Refusal as refusal:
        problem = Problem(str(refusal), refusal.field, isinstance(refusal, results.ResultChanged))
        row = row_of(assessment, page, chosen, view, entered=entered, problem=problem)
        return _result_page(request, assessment, row, refusal.status)
    text = f"Saved: {chosen.number} on {page.title}."
    if request.htmx:  # type: ignore[attr-defined]  # django-htmx
        row = row_of(assessment, page, chosen, view, is_saved=True)
        context = _context(request, assessment, "", [row])
        context |= {"row": row, "saved": text, "show": _show(request.POST), "part": _part(request.POST)}
        return render(request, "sites/assessments/_saved.html", context)
    messages.success(request, text)
    return redirect(_back(request, assessment, page_number, criterion, view))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def assessment_remaining(request: MemberRequest, assessment_id: str, criterion: str) -> HttpResponse:
    """Set all untested pages of a criterion to one result."""
    assessment = find(request, assessment_id)
    chosen = _criterion(assessment, criterion)

    def show(form: RemainingForm, status: int) -> HttpResponse:
        context = context_of(request, assessment, "assessment-criterion", form=form, criterion=chosen)
        return render(request, "sites/assessments/remaining.html", context, status=status)

    def submit(form: RemainingForm) -> HttpResponse:
        refuse_over_rate_or_in_maintenance(request)
        values = RemainingSerializer.judged(form.cleaned_data)
        caller = member_caller(request.membership)
        number = results.set_remaining(caller=caller, assessment_id=assessment_id, criterion=criterion, **values)
        if number:
            messages.success(request, f"Saved: {chosen.number} on {counted(number, 'page')}.")
        else:
            messages.info(request, "No page was changed: each has a result or an automatic failure.")
        return redirect(page_of(request.membership, "assessment-criterion", assessment_id, criterion))

    return form_page(request, RemainingForm, show, submit)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def assessment_dispute(request: MemberRequest, assessment_id: str, finding_id: int) -> HttpResponse:
    """Dispute an automatic finding with a reason."""
    assessment = find(request, assessment_id)
    finding = _finding(assessment, finding_id)

    def show(form: DisputeForm, status: int) -> HttpResponse:
        context = context_of(request, assessment, "", form=form, finding=finding, back=_back_of(request, finding))
        context |= {"criterion": _criterion_in(request, finding), "view": request.POST.get("view", "")}
        return render(request, "sites/assessments/dispute.html", context, status=status)

    def submit(form: DisputeForm) -> HttpResponse:
        refuse_over_rate_or_in_maintenance(request)
        reason = DisputeSerializer.judged(form.cleaned_data)["reason"]
        caller = member_caller(request.membership)
        results.dispute(caller=caller, assessment_id=assessment_id, finding_id=finding_id, reason=reason)
        messages.success(request, f"Disputed: {finding.title} on {finding.page.title}.")
        return redirect(_back_of(request, finding))

    return form_page(request, DisputeForm, show, submit)


@require_POST
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def assessment_withdraw(request: MemberRequest, assessment_id: str, finding_id: int) -> HttpResponse:
    """Withdraw the dispute of a finding, which fails its criteria again."""
    finding = _finding(find(request, assessment_id), finding_id)
    try:
        refuse_over_rate_or_in_maintenance(request)
        caller = member_caller(request.membership)
        results.withdraw_dispute(caller=caller, assessment_id=assessment_id, finding_id=finding_id)
        messages.success(request, f"The dispute was withdrawn: {finding.title} on {finding.page.title}.")
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, str(refusal))
    return redirect(_back_of(request, finding))


def _store(
    request: MemberRequest,
    assessment: Assessment,
    page: AssessmentPage,
    criterion: SuccessCriterion,
    entered: Entered,
) -> None:
    version = entered["version"]
    number = int(version) if version.isascii() and version.isdecimal() and len(version) < 10 else version
    results.set_result(
        caller=member_caller(request.membership),
        assessment_id=assessment.id,
        number=page.number,
        criterion=criterion.number,
        values=ResultSerializer.judged({**entered, "version": number}),
    )


def _result_page(request: MemberRequest, assessment: Assessment, row: ResultRow, status: int = 200) -> HttpResponse:
    """Render a single row; for htmx without a page around it."""
    is_htmx = bool(request.htmx)  # type: ignore[attr-defined]  # django-htmx
    context = _context(request, assessment, "assessment-result", [row])
    context |= {"row": row, "show": _show(request.POST), "part": _part(request.POST)}
    template = "sites/assessments/_only_row.html" if is_htmx else "sites/assessments/result.html"
    return render(request, template, context, status=status)


def _context(
    request: MemberRequest, assessment: Assessment, tab: str, rows: list[ResultRow], criteria: Any = None
) -> dict[str, Any]:
    context = context_of(request, assessment, tab, criteria, rows=rows)
    return context | {"result_choices": RESULT_CHOICES, "filters": FILTERS}


def _criterion(assessment: Assessment, number: str) -> SuccessCriterion:
    criterion = criterion_of(assessment, number)
    if criterion is None:
        raise NotFound("The assessment has no criterion with this number.", "CRITERION_NOT_FOUND")
    return criterion


def _finding(assessment: Assessment, finding_id: int) -> AssessmentFinding:
    finding = assessment.findings.filter(id=finding_id).select_related("page").first()
    if finding is None:
        raise NotFound("There is no finding with this ID.", "FINDING_NOT_FOUND")
    return finding


def _entered(data: QueryDict) -> Entered:
    return {
        "version": data.get("version", ""),
        "result": data.get("result", ""),
        "note": data.get("note", ""),
        "remedy": data.get("remedy", ""),
    }


def _show(query: QueryDict) -> str:
    show = query.get("show", "")
    return show if show in FILTERS else ""


def _part(query: QueryDict) -> int:
    """Return the number of a part of the rows. An assessment has at most MAX_SAMPLE rows of a criterion."""
    text = query.get("part", "")
    return min(max(int(text), 1), MAX_SAMPLE) if text.isascii() and text.isdecimal() and len(text) < 5 else 1


def _query(show: str, part: int) -> str:
    return urlencode({name: value for name, value in (("show", show), ("part", part)) if value})


def _back(request: MemberRequest, assessment: Assessment, number: int, criterion: str, view: str) -> str:
    """Return the address of the row on the page from which the form was sent."""
    show, part = _show(request.POST), _part(request.POST)
    if view == BY_PAGE:
        page, part = page_of(request.membership, "assessment-page", assessment.id, number), 0
    else:
        page = page_of(request.membership, "assessment-criterion", assessment.id, criterion)
    query = _query(show, part if part > 1 else 0)
    return f"{page}{'?' if query else ''}{query}#{anchor_of(number, criterion)}"


def _criterion_in(request: MemberRequest, finding: AssessmentFinding) -> str:
    """Return the criterion in the form, if the finding concerns it, or the finding's first one."""
    criterion = request.POST.get("criterion", "")
    return criterion if criterion in finding.criteria else finding.criteria[0]


def _back_of(request: MemberRequest, finding: AssessmentFinding) -> str:
    """Return the address of the row of a finding, which the form names with its criterion."""
    criterion = _criterion_in(request, finding)
    assessment, number = finding.assessment_id, finding.page.number
    if request.POST.get("view") == BY_PAGE:
        page = page_of(request.membership, "assessment-page", assessment, number)
        return f"{page}#{anchor_of(number, criterion)}"
    page = page_of(request.membership, "assessment-criterion", assessment, criterion)
    query = _query(_show(request.POST), part) if (part := _part(request.POST)) > 1 else ""
    return f"{page}{'?' if query else ''}{query}#{anchor_of(number, criterion)}"
