"""Creation of audits from dashboard forms."""

from __future__ import annotations

from msgspec import Struct

from accounts.authentication import member_caller
from accounts.models import Membership
from accounts.roles import MemberRequest
from accounts.submissions import refuse_over_rate_or_in_maintenance
from infrastructure.api.errors import InvalidParams
from scans.policy import scan_policy
from scans.reachability import complete_url, has_scheme
from sites.audits.requests import AuditRequest, targets_of
from sites.audits.services import create_audit
from sites.audits.visibility import refuse_other_sites
from sites.models import Audit, AuditPage
from sites.pages.forms import ScanForm


class StartedAudit(Struct, frozen=True):
    """ID of a created audit.

    `note` tells the user which URL scheme was chosen if none was entered.
    """

    audit_id: str
    note: str = ""


def start(request: MemberRequest, form: ScanForm) -> StartedAudit:
    """Create an audit from the values of a valid form.

    Raises the same refusals as the API.
    """
    caller = member_caller(request.membership)
    refuse_over_rate_or_in_maintenance(request)
    entered_url = form.cleaned_data["url"].strip()
    if not entered_url or has_scheme(entered_url):
        return _create(request.membership, form.audit_request([entered_url]))
    url = complete_url(entered_url, scan_policy(), caller.organization_id)
    if url.startswith("https:"):
        note = f"You did not enter https:// or http://, so the scan uses {url}"
    else:
        note = f"The site does not respond over https, so the scan uses {url}"
    return _create(request.membership, form.audit_request([url]), note)


def start_again(request: MemberRequest, audit: Audit) -> StartedAudit:
    """Create an audit with the target, options and credentials of an earlier audit.

    Raises the same refusals as the API.
    """
    caller = member_caller(request.membership)
    refuse_over_rate_or_in_maintenance(request)
    urls = [audit.url]
    if audit.kind == Audit.Kind.JOURNEY:
        raise InvalidParams("The journey of this run was deleted.")
    if audit.kind == Audit.Kind.PAGES:
        urls = list(AuditPage.objects.filter(audit=audit).order_by("position").values_list("url", flat=True))
    page_limit = caller.limits.pages_per_audit
    audit_request = AuditRequest.of(
        audit.kind,
        targets_of(audit.kind, urls, scan_policy(), page_limit),
        page_limit,
        types=audit.types,
        # The tier's limit may have been lowered since the earlier audit.
        max_pages=min(audit.max_pages, page_limit),
        discover=audit.discover,
        include=audit.include,
        exclude=audit.exclude,
        credentials=audit.credentials,
        viewing=audit.chosen_viewing,
        requirements=audit.own_requirements,
        categories=audit.categories,
    )
    return _create(request.membership, audit_request)


def _create(membership: Membership, audit_request: AuditRequest, note: str = "") -> StartedAudit:
    refuse_other_sites(membership, audit_request)
    created = create_audit(caller=member_caller(membership), request=audit_request)
    return StartedAudit(created.response["id"], note)
