"""Start of audits from pages of the dashboard."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.authentication import Caller, member_caller
from accounts.roles import MemberRequest
from accounts.submissions import refuse_now
from scans.policy import scan_policy
from scans.reachability import has_scheme, with_scheme
from sites.audits.requests import AuditRequest, targets_of
from sites.audits.services import create_audit
from sites.models import Audit, AuditPage
from sites.pages.forms import ScanForm


@dataclass(frozen=True, slots=True)
class Started:
    """ID of a started audit. `note` names the scheme that was chosen if the user entered none."""

    audit_id: str
    note: str = ""


def start(request: MemberRequest, form: ScanForm) -> Started:
    """Create the audit that a valid form describes. Raises the API's refusals."""
    caller = member_caller(request.membership)
    refuse_now(request)
    entered = form.cleaned_data["url"].strip()
    if not entered or has_scheme(entered):
        return _create(caller, form.audit_request([entered]))
    url = with_scheme(entered, scan_policy(), caller.organization_id)
    if url.startswith("https:"):
        note = f"You did not enter https:// or http://, so the scan uses {url}"
    else:
        note = f"The site does not respond over https, so the scan uses {url}"
    return _create(caller, form.audit_request([url]), note)


def start_again(request: MemberRequest, audit: Audit) -> Started:
    """Create an audit with the target, types and credentials of an earlier audit. Raises the API's refusals."""
    caller = member_caller(request.membership)
    refuse_now(request)
    urls = [audit.url]
    if audit.kind == Audit.Kind.PAGES:
        urls = list(AuditPage.objects.filter(audit=audit).order_by("position").values_list("url", flat=True))
    page_limit = caller.limits.pages_per_audit
    audit_request = AuditRequest.of(
        audit.kind,
        targets_of(audit.kind, urls, scan_policy(), page_limit),
        page_limit,
        types=audit.types,
        max_pages=min(audit.max_pages, page_limit),  # the tier's limit may have been lowered since the earlier audit
        discover=audit.discover,
        include=audit.include,
        exclude=audit.exclude,
        credentials=audit.credentials,
    )
    return _create(caller, audit_request)


def _create(caller: Caller, audit_request: AuditRequest, note: str = "") -> Started:
    return Started(create_audit(caller=caller, request=audit_request).response["id"], note)
