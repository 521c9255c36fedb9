"""Access control for audit pages.

Members of the organization, and anyone with the link of a shared audit, may view them.
"""

from __future__ import annotations

from datetime import datetime

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from msgspec import Struct

from accounts import access, activity, roles
from accounts.identity import requirements
from accounts.models import Membership
from accounts.visible_sites import VisibleSites, visible_sites_of
from infrastructure.api.errors import InvalidParams
from sites.audits.requests import AuditRequest
from sites.models import Audit, AuditPage
from website_scan.ids import is_id


class VisibleAudit(Struct, frozen=True):
    """Audit that the reader may view.

    `membership` is None for readers who only have the link of a shared audit.
    """

    audit: Audit
    membership: Membership | None
    now: datetime


def may_see_audit(membership: Membership, audit: Audit) -> bool:
    """Return True unless the member is limited to other sites. All sites of listed pages must be visible."""
    scope = visible_sites_of(membership)
    return (
        scope is None or visible_audits(access.rows(Audit, audit.organization_id).filter(id=audit.id), scope).exists()
    )


def visible_audits(audits: QuerySet[Audit], scope: VisibleSites) -> QuerySet[Audit]:
    """Return the audits of which a limited member may see all sites.

    Only audits of listed pages may have several. Journeys are closed to limited members, and their runs with them.
    """
    hidden_pages = AuditPage.objects.filter(audit=OuterRef("pk")).exclude(scope.url_condition)
    visible = audits.filter(scope.url_condition).exclude(kind=Audit.Kind.JOURNEY)
    return visible.exclude(Exists(hidden_pages), kind=Audit.Kind.PAGES)


def refuse_other_sites(membership: Membership, audit_request: AuditRequest) -> None:
    """Raise InvalidParams if the audit has pages of sites that the member may not see."""
    scope = visible_sites_of(membership)
    if scope is None or scope.allows_urls(target.url for target in audit_request.targets):
        return
    sites = ", ".join(membership.limited_to)
    raise InvalidParams(f"You can scan only your own sites in {membership.organization}: {sites}.", "url")


def find_visible_audit(request: HttpRequest, audit_id: str) -> VisibleAudit | None:
    """Return the audit if the user may view it, else None.

    Everybody may view shared audits until they expire.

    Raises `UnmetLoginRequirement` for members whose log-in does not meet the organization's requirements.
    """
    if not is_id("aud", audit_id):
        return None
    now = timezone.now()
    unmet = None
    audit = access.rows_of_any_member(Audit, request.user).filter(id=audit_id).first()
    if audit is not None:
        membership = roles.membership_in(request, audit.organization_id)
        if membership is not None and not may_see_audit(membership, audit):
            membership = None
        # The membership may have ended since the previous query. Then the user is not a member.
        unmet = requirements.missing(request.user, membership.organization) if membership else None
        if membership is not None and unmet is None:
            return VisibleAudit(audit, membership, now)
    shared = access.shared_rows(Audit).filter(id=audit_id).first()
    if shared is not None and shared.is_kept:
        return VisibleAudit(shared, None, now)
    if unmet is not None:
        raise unmet
    return None


def set_sharing(visible: VisibleAudit, *, is_shared: bool) -> bool:
    """Start or stop sharing an audit and its reports by link.

    Returns False if nothing changed. Raises PermissionDenied unless the user is a member who may write.
    """
    if visible.membership is None or not visible.membership.is_member:
        raise PermissionDenied
    audit = visible.audit
    with transaction.atomic():
        audits_to_change = access.rows(Audit, audit.organization_id).filter(id=audit.id, shared_at__isnull=is_shared)
        changed = bool(audits_to_change.update(shared_at=visible.now if is_shared else None))
        if changed:
            action = "audit.shared" if is_shared else "audit.unshared"
            activity.record_by_member(visible.membership, action, audit.url, audit=audit.id)
    return changed
