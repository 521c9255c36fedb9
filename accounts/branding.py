"""Name and logo on an organization's shared reports, lists and prints."""

from __future__ import annotations

from django.db import transaction
from django.urls import reverse
from msgspec import Struct

from accounts import access, activity
from accounts.models import Branding, Membership
from accounts.models.branding import new_logo_id
from accounts.services import lock
from infrastructure.web.logos import Logo
from website_scan.ids import is_id

# Displayed height of logos in CSS pixels. Wide logos are displayed lower.
MAX_SHOWN_WIDTH, MAX_SHOWN_HEIGHT = 240, 64


class ShownBranding(Struct, frozen=True):
    """Name and logo as templates show them. `logo_url` is empty without a logo."""

    name: str
    logo_url: str
    width: int
    height: int


def branding_of(organization_id: int) -> ShownBranding | None:
    """Return what an organization shows on its reports, or None. The picture is not loaded."""
    columns = ("name", "logo_id", "logo_width", "logo_height")
    row = access.rows(Branding, organization_id).values_list(*columns).first()
    if row is None or not (row[0] or row[1]):
        return None
    name, logo_id, width, height = row
    if not logo_id:
        return ShownBranding(name, "", 0, 0)
    scale = min(1, MAX_SHOWN_WIDTH / width, MAX_SHOWN_HEIGHT / height)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    return ShownBranding(name, reverse("logo", args=[logo_id]), *size)


def find_logo(logo_id: str) -> bytes | None:
    """Return the logo with this ID, which nobody can guess. None for former logos and closed organizations."""
    if not is_id("logo", logo_id):
        return None
    rows = Branding.objects.filter(logo_id=logo_id, organization__closed_at=None)
    content = rows.values_list("logo", flat=True).first()
    return None if content is None else bytes(content)


def change_branding(*, actor: Membership, name: str, logo: Logo | None, removes_logo: bool) -> None:
    """Set the name, and replace or remove the logo. Logs what has changed.

    Without a new `logo`, the present one stays unless `removes_logo`.

    Raises AccountRefused for a closed organization.
    """
    with transaction.atomic():
        organization = lock(actor.organization_id)
        rows = access.rows(Branding, organization.id)
        before = rows.values_list("name", "logo_id").first() or ("", None)
        columns: dict[str, object] = {"name": name}
        if logo is not None:
            columns |= {"logo": logo.content, "logo_width": logo.width, "logo_height": logo.height}
            columns["logo_id"] = new_logo_id()
        elif removes_logo:
            columns |= {"logo": None, "logo_id": None, "logo_width": 0, "logo_height": 0}
        changes: dict[str, object] = {}
        if name != before[0]:
            changes["name on reports"] = {"from": before[0], "to": name}
        if logo is not None:
            changes["logo"] = "replaced" if before[1] else "added"
        elif removes_logo and before[1]:
            changes["logo"] = "removed"
        if not changes:
            return
        Branding.objects.update_or_create(organization=organization, defaults=columns)
        activity.record_by_member(actor, "organization.changed", organization.name, **changes)
