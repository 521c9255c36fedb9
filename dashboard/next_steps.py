"""A new organization's next steps, such as its first scan.

Database rows show which steps are done.

Nobody has to dismiss a step, because steps are displayed only until an organization is `MAX_AGE` old.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.urls import reverse
from msgspec import Struct

from accounts import access
from accounts.models import Membership
from accounts.roles import page_of

MAX_AGE = timedelta(days=30)
DONE_STEPS = """
    SELECT
        EXISTS (SELECT FROM scans_scan WHERE organization_id = %(organization)s),
        EXISTS (SELECT FROM sites_monitor WHERE organization_id = %(organization)s),
        EXISTS (SELECT FROM accounts_apikey WHERE organization_id = %(organization)s),
        EXISTS (SELECT FROM accounts_apikey WHERE organization_id = %(organization)s AND last_used_at IS NOT NULL)
"""


class Step(Struct, frozen=True):
    """A step that a person can take. `action` is the link text for `url`."""

    name: str
    title: str
    text: str
    url: str
    action: str


def next_steps(member: Membership, now: datetime) -> list[Step]:
    """Return the unfinished steps that the member's role and tier allow.

    Needs at most one query.
    """
    organization = member.organization
    if not member.is_member or organization.created_at < now - MAX_AGE:
        return []
    ((has_scan, has_monitor, has_key, has_used_key),) = access.fetch_rows(DONE_STEPS, organization.id)
    steps = []
    if not has_scan:
        text = "In seconds you have four grades, and what to fix first."
        steps.append(Step("scan", "Scan a page", text, "#new-scan", "Enter an address"))
    if not has_monitor and organization.tier.schedules:
        text = "A monitor scans a page or a site on a schedule, and notifies you when something changes."
        steps.append(Step("monitor", "Watch a site", text, page_of(member, "monitor-new"), "Create a monitor"))
    if not has_key and member.is_admin:
        text = "With a key, scripts and builds start scans and read reports."
        steps.append(Step("key", "Create an API key", text, page_of(member, "keys"), "Create a key"))
    if not has_used_key:
        text = "The command website-scan, or a call to the API, fails a build when a page gets worse."
        if not has_key and not member.is_admin:
            text += f" It needs an API key, which an admin of {organization.name} can create."
        steps.append(Step("gate", "Gate a build", text, reverse("docs-guide", args=["ci"]), "Set up a gate"))
    return steps
