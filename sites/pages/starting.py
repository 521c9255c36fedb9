"""Start of audits from the dashboard's pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accounts.authentication import member_caller
from accounts.roles import MemberRequest
from infrastructure.api.errors import refuse_in_maintenance
from infrastructure.api.throttling import refuse_over_rate
from scans.policy import scan_policy
from scans.reachability import has_scheme, with_scheme
from sites.audits.services import create_audit
from sites.models import Audit, AuditPage
from sites.pages.forms import ScanForm


@dataclass(frozen=True, slots=True)
class Started:
    """ID of a started audit; `note` names the scheme that was chosen if the user entered none."""

    audit_id: str
    note: str = ""


def start(request: MemberRequest, form: ScanForm) -> Started:
    """Create the audit that a valid form describes. Raises the API's refusals."""
    caller = member_caller(request.membership)
    refuse_over_rate(request, caller)
    refuse_in_maintenance()
    entered = form.cleaned_data["url"].strip()
    if not entered or has_scheme(entered):
        return Started(_create(request, form.body(entered)))
    url = with_scheme(entered, scan_policy(), caller.organization_id)
    if url.startswith("https:"):
        note = f"You did not enter https:// or http://, so the scan uses {url}"
    else:
        note = f"The site does not respond over https, so the scan uses {url}"
    return Started(_create(request, form.body(url)), note)


def start_again(request: MemberRequest, audit: Audit) -> Started:
    """Create an audit with the target, types and credentials of an earlier one. Raises the API's refusals."""
    caller = member_caller(request.membership)
    refuse_over_rate(request, caller)
    refuse_in_maintenance()
    body: dict[str, Any] = {"types": audit.types}
    if audit.kind == Audit.Kind.PAGES:
        pages = AuditPage.objects.filter(audit=audit).order_by("position")
        body["pages"] = list(pages.values_list("url", flat=True))
    else:
        body[audit.kind] = audit.url
    if audit.kind == Audit.Kind.SITE:
        # The plan's limit may be lower than at the earlier audit.
        body["max_pages"] = min(audit.max_pages, caller.limits.pages_per_audit)
        body |= {name: getattr(audit, name) for name in ("discover", "include", "exclude")}
    if (given := audit.credentials) is not None:
        body["request"] = given.request
    return Started(_create(request, body))


def _create(request: MemberRequest, body: dict[str, Any]) -> str:
    created = create_audit(caller=member_caller(request.membership), body=body, idempotency_key=None)
    audit_id: str = created.response["id"]
    return audit_id
