"""What happens to an account: told to its person by e-mail, and noted in the logs of their organizations."""

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

# Somebody in more organizations than anybody needs does not make a log-in slow.
MAX_NOTED = 50
# The subject, and what has happened.
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


def tell(user: User, what: str, request: HttpRequest | None, **context: Any) -> None:
    """Write the e-mail about one of SECURITY; nobody can unsubscribe from these."""
    subject, happened = SECURITY[what]
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


def tell_former_address(former: str, email: str) -> None:
    """Sent at once, as the outbox writes to the address that a person has now. The change stands without it."""
    try:
        mail.send("email_changed", former, "Your e-mail address was changed", new=email)
    except mail.MailNotSent:
        return


def note(user: User, action: str, target: str = "", **details: Any) -> None:
    """Note it for the admins of every organization that the person is a member of."""
    for membership in access.memberships_of(user).select_related("organization").order_by("id")[:MAX_NOTED]:
        activity.record(membership.organization, user, action, target, **details)


def address(request: HttpRequest) -> str:
    """The client's address, without what a proxy may have put beside it."""
    return str(request.META.get("REMOTE_ADDR", ""))[:45]
