"""Export of this app's tables: the rows and columns in an organization's export. No secrets, and no digests of them."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.forms.models import model_to_dict

from accounts import access, activity
from accounts.export.kinds import Kind
from accounts.models import ActivityEvent, ApiKey, Invitation, Membership, MonthlyUsage, Organization


def _organization(organization_id: int) -> QuerySet[Organization]:
    return Organization.objects.filter(id=organization_id).select_related("tier")


def _shown(organization: Organization) -> dict[str, Any]:
    return {
        "name": organization.name,
        "slug": organization.slug,
        "created_at": organization.created_at,
        "shares_reports": organization.shares_reports,
        "plan": model_to_dict(organization.tier),
    }


def _member(membership: Membership) -> dict[str, Any]:
    user = membership.user
    return {
        "email": user.email,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "role": membership.role,
        "weekly_digest": membership.weekly_digest,
        "created_at": membership.created_at,
    }


def _invitation(invitation: Invitation) -> dict[str, Any]:
    return {
        "id": invitation.id,
        "email": invitation.email,
        "role": invitation.role,
        "invited_by": invitation.invited_by.email if invitation.invited_by else None,
        "created_at": invitation.created_at,
        "expires_at": invitation.expires_at,
        "accepted_at": invitation.accepted_at,
        "revoked_at": invitation.revoked_at,
    }


def _key(key: ApiKey) -> dict[str, Any]:
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
            {"prefix": each.prefix, "expires_at": each.expires_at, "last_used_at": each.last_used_at}
            for each in key.former.all()
        ],
    }


KINDS = (
    Kind("organization", _organization, _shown),
    Kind("members", lambda id: access.rows(Membership, id).select_related("user"), _member),
    Kind("invitations", lambda id: access.rows(Invitation, id).select_related("invited_by"), _invitation),
    Kind("keys", lambda id: access.rows(ApiKey, id).select_related("created_by").prefetch_related("former"), _key),
    Kind("usage", lambda id: access.rows(MonthlyUsage, id), lambda row: {"month": row.period, "scans": row.used}),
    Kind("activity_log", lambda id: access.rows(ActivityEvent, id), activity.document),
)
