"""Security events for a user account.

They cause e-mails to the user and activity log entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from accounts import access, activity, mail
from accounts.mailing import outbox
from accounts.models import User
from accounts.sessions import browser_name

# Maximum number of organizations whose activity log gets an entry. Without it, logins would be slow for members of
# many.
MAX_ORGANIZATIONS = 50
# Maps each kind of security event to the subject and the first sentence of its e-mail.
SECURITY: Mapping[str, tuple[str, str]] = {
    "new_device": ("New log-in to your account", "Your account was used in a browser that is new to us."),
    "app_added": ("Authenticator app added", "An authenticator app was added to your account."),
    "app_removed": ("Authenticator app removed", "The authenticator app was removed from your account."),
    "passkey_added": ("Passkey added", "A passkey was added to your account."),
    "passkey_removed": ("Passkey removed", "A passkey was removed from your account."),
    "codes_replaced": ("New recovery codes", "Your recovery codes were replaced. The former ones no longer work."),
    "codes_used": ("Recovery code used", "A recovery code was used to log in to your account."),
    "provider_connected": ("Log-in connected", "Your account can now be logged in to with {provider}."),
    "factors_reset": (
        "Second factor removed",
        "The operator of the service removed your authenticator app, passkeys and recovery codes.",
    ),
    "key_made": ("API key created", "You created the API key {key} of {organization}."),
}


def post(user: User, event: str, request: HttpRequest | None, **context: Any) -> None:
    """Queue a security e-mail for an event in SECURITY. Users cannot unsubscribe from these e-mails."""
    subject, happened = SECURITY[event]
    outbox.post(
        to=user,
        template="security",
        subject=subject,
        topic="security",
        organization=None,
        context={
            "happened": happened.format_map({name: str(value) for name, value in context.items()}),
            "at": timezone.now(),
            "address": address(request) if request else "",
            "browser": browser_name(request.META.get("HTTP_USER_AGENT", "")) if request else "",
            "page_url": f"{settings.BASE_URL}{reverse('account')}",
        },
    )


def notify_former_address(former: str, email: str) -> None:
    """Send an e-mail about the changed address to the old address.

    Ignores mail server errors.

    The e-mail is sent at once, because the outbox sends to a person's present address.
    """
    try:
        mail.send("email_changed", former, "Your e-mail address was changed", new=email)
    except mail.MailNotSent:
        return


def record(user: User, action: str, object_name: str = "", **details: Any) -> None:
    """Log an action in the activity logs of the user's organizations, up to MAX_ORGANIZATIONS."""
    for membership in (
        access.memberships_of_user(user).select_related("organization").order_by("id")[:MAX_ORGANIZATIONS]
    ):
        activity.record(membership.organization, user, action, object_name, **details)


def address(request: HttpRequest) -> str:
    """Return the client's IP address, at most 45 characters."""
    return str(request.META.get("REMOTE_ADDR", ""))[:45]
