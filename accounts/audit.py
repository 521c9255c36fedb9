"""Who did what: written here, read by an organization's admins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts import access
from accounts.models import AuditEvent, Membership, Organization, User

PAGE_SIZE = 50

# Every action, in the words that follow the person's address; what the action was done to comes after.
ACTIONS: Mapping[str, str] = {
    "organization.created": "created the organization",
    "organization.changed": "changed the settings",
    "member.invited": "invited",
    "member.added": "added",
    "invitation.revoked": "revoked the invitation of",
    "member.joined": "joined",
    "member.role_changed": "changed the role of",
    "member.removed": "removed",
    "member.left": "left",
    "key.created": "created the API key",
    "key.changed": "changed the API key",
    "key.regenerated": "replaced the secret of the API key",
    "key.former_ended": "ended a former secret of the API key",
    "key.revoked": "revoked the API key",
    "scan.created": "started a scan of",
    "scan.cancelled": "cancelled the scan of",
    "scan.requeued": "put back into the queue the scan of",
    "audit.created": "started an audit of",
    "audit.cancelled": "cancelled the audit of",
    "audit.shared": "shared the audit of",
    "audit.unshared": "stopped sharing the audit of",
    "monitor.created": "created the monitor",
    "monitor.changed": "changed the monitor",
    "monitor.paused": "paused the monitor",
    "monitor.resumed": "resumed the monitor",
    "monitor.run": "ran at once the monitor",
    "monitor.deleted": "deleted the monitor",
    "badge.created": "switched on the badge of",
    "badge.deleted": "switched off the badge of",
    "report.shared": "shared the report",
    "report.unshared": "stopped sharing the report",
    "mute.created": "muted",
    "mute.changed": "changed the mute of",
    "mute.ended": "stopped muting",
    "webhook.created": "registered the webhook",
    "webhook.changed": "changed the webhook",
    "webhook.deleted": "deleted the webhook",
    "webhook.tested": "sent a test event to the webhook",
    "webhook.secret_rotated": "rotated the secret of the webhook",
    "webhook.recovered": "sent again what had failed of the webhook",
    "delivery.replayed": "sent again the delivery",
}


def record(organization: Organization, actor: User | None, action: str, target: str = "", **details: Any) -> AuditEvent:
    """Note what somebody has just done, in the transaction that does it.

    `actor` is None for the service itself. `details` is shown as it is: plain JSON, and never a secret.
    """
    return AuditEvent.objects.create(
        organization=organization,
        actor=actor,
        actor_email=actor.email if actor else "",
        action=action,
        target=target[: AuditEvent._meta.get_field("target").max_length],
        details=details,
    )


def record_by(member: Membership | None, action: str, target: str = "", **details: Any) -> None:
    """Note what a member has just done; nothing for None: what API keys do is not in the log."""
    if member is not None:
        record(member.organization, member.user, action, target, **details)


def events_page(organization_id: int, *, action: str = "", before: int | None = None) -> tuple[list[AuditEvent], bool]:
    """A page of events, newest first, and whether there are older ones; `before` is the last page's last ID."""
    events = access.rows(AuditEvent, organization_id).order_by("-id")
    if action:
        events = events.filter(action=action)
    if before is not None:
        events = events.filter(id__lt=before)
    found = list(events[: PAGE_SIZE + 1])
    return found[:PAGE_SIZE], len(found) > PAGE_SIZE
