"""Row types for exporting an organization, its members, invitations and API keys.

Secrets are left out.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from django.db.models import QuerySet
from django.forms.models import model_to_dict

from accounts import access, activity
from accounts.export.kinds import Kind
from accounts.models import ActivityEvent, ApiKey, Invitation, Membership, MonthlyUsage, Organization


def _organization_rows(organization_id: int) -> QuerySet[Organization]:
    return Organization.objects.filter(id=organization_id).select_related("tier", "branding")


def _organization_json(organization: Organization) -> dict[str, Any]:
    branding = getattr(organization, "branding", None)
    logo = branding and branding.logo
    return {
        "name": organization.name,
        "slug": organization.slug,
        "created_at": organization.created_at,
        "shares_reports": organization.shares_reports,
        "name_on_reports": branding.name if branding else "",
        "logo": b64encode(logo).decode() if logo else None,
        "plan": model_to_dict(organization.tier),
    }


def _member_json(membership: Membership) -> dict[str, Any]:
    user = membership.user
    return {
        "email": user.email,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "role": membership.role,
        "limited_to": membership.limited_to,
        "weekly_digest": membership.weekly_digest,
        "created_at": membership.created_at,
    }


def _invitation_json(invitation: Invitation) -> dict[str, Any]:
    return {
        "id": invitation.id,
        "email": invitation.email,
        "role": invitation.role,
        "limited_to": invitation.limited_to,
        "invited_by": invitation.invited_by.email if invitation.invited_by else None,
        "created_at": invitation.created_at,
        "expires_at": invitation.expires_at,
        "accepted_at": invitation.accepted_at,
        "revoked_at": invitation.revoked_at,
    }


def _key_json(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "scope": key.scope,
        "prefix": key.prefix,
        "created_by": key.created_by.email if key.created_by else None,
        "created_at": key.created_at,
        "regenerated_at": key.regenerated_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
        "last_used_from": key.last_used_from,
        "former_secrets": [
            {"prefix": secret.prefix, "expires_at": secret.expires_at, "last_used_at": secret.last_used_at}
            for secret in key.former.all()
        ],
    }


KINDS = (
    Kind("organization", _organization_rows, _organization_json),
    Kind("members", lambda id: access.rows(Membership, id).select_related("user"), _member_json),
    Kind("invitations", lambda id: access.rows(Invitation, id).select_related("invited_by"), _invitation_json),
    Kind("keys", lambda id: access.rows(ApiKey, id).select_related("created_by").prefetch_related("former"), _key_json),
    Kind("usage", lambda id: access.rows(MonthlyUsage, id), lambda row: {"month": row.period, "scans": row.used}),
    Kind("activity_log", lambda id: access.rows(ActivityEvent, id), activity.document),
)
