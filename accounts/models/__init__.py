"""Models for organizations, people, API keys, tiers, e-mails, quiet hours and data exports."""

# ruff: noqa: I001  one line per name would make the list too long to read
# fmt: off
from accounts.models.branding import Branding
from accounts.models.export import DataExport, DataExportChunk, DataExportPart, new_export_id
from accounts.models.mail import Mail, Unsubscription, new_mail_id
from accounts.models.organizations import (
    ACTIVITY_KEPT_DAYS, DELIVERIES_KEPT_DAYS, RANKS, REPORTS_KEPT_DAYS, ActivityEvent, ApiKey, FormerKey, Interval,
    LoginSession, Membership, MonthlyUsage, Organization, Tier, User, new_key_id, new_login_id,
)
from accounts.models.invitations import INVITATION_LIFETIME, Invitation, new_invitation_id
from accounts.models.quiet_hours import QuietHours
from accounts.models.user_manager import UserManager
__all__ = [
    "ACTIVITY_KEPT_DAYS",
    "DELIVERIES_KEPT_DAYS",
    "INVITATION_LIFETIME",
    "RANKS",
    "REPORTS_KEPT_DAYS",
    "ActivityEvent",
    "ApiKey",
    "Branding",
    "DataExport",
    "DataExportChunk",
    "DataExportPart",
    "FormerKey",
    "Interval",
    "Invitation",
    "LoginSession",
    "Mail",
    "Membership",
    "MonthlyUsage",
    "Organization",
    "QuietHours",
    "Tier",
    "Unsubscription",
    "User",
    "UserManager",
    "new_export_id",
    "new_invitation_id",
    "new_key_id",
    "new_login_id",
    "new_mail_id",
]
