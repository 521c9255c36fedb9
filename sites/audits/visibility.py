"""Access to an audit: for members of its organization, and for anybody with the link while it is shared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts import access, activity, roles
from accounts.identity import requirements
from accounts.models import Membership
from sites.models import Audit
from website_scan.ids import is_id


@dataclass(frozen=True, slots=True)
class SeenAudit:
    """Audit that the reader may see; `membership` is None for readers who only have the link of a shared audit."""

    audit: Audit
    membership: Membership | None
    now: datetime


def seen_by(request: HttpRequest, audit_id: str) -> SeenAudit | None:
    """Return the audit if the request's user may see it; strangers may see shared audits until they expire.

    Raises `Unmet` for members who have not logged in as the organization requires.
    """
    if not is_id("aud", audit_id):
        return None
    now = timezone.now()
    unmet = None
    audit = access.rows_of_member(Audit, request.user).filter(id=audit_id).first()
    if audit is not None:
        membership = roles.membership_in(request, audit.organization_id)
        # The membership may have ended since the last query: then the user is a stranger.
        unmet = requirements.missing(request.user, membership.organization) if membership else None
        if membership is not None and unmet is None:
            return SeenAudit(audit, membership, now)
    shared = access.shared_rows(Audit).filter(id=audit_id).first()
    if shared is not None and shared.is_kept:
        return SeenAudit(shared, None, now)
    if unmet is not None:
        raise unmet
    return None


def set_sharing(seen: SeenAudit, *, is_shared: bool) -> bool:
    """Start or stop sharing an audit and its reports by link; return False if nothing changed.

    Raises PermissionDenied for strangers and viewers.
    """
    if seen.membership is None or not seen.membership.is_member:
        raise PermissionDenied
    audit = seen.audit
    with transaction.atomic():
        other_way = access.rows(Audit, audit.organization_id).filter(id=audit.id, shared_at__isnull=is_shared)
        changed = bool(other_way.update(shared_at=seen.now if is_shared else None))
        if changed:
            action = "audit.shared" if is_shared else "audit.unshared"
            activity.record_by(seen.membership, action, audit.url, audit=audit.id)
    return changed
