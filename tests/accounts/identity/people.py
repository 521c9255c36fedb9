"""Test helpers for second factors."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.test import Client

from accounts.models import User
from tests.responses import ClientResponse

EMAIL, PASSWORD = "ada@people.test", "correct horse 9"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def log_in(client: Client, email: str = EMAIL, password: str = PASSWORD, **data: str) -> ClientResponse:
    return client.post("/login/", {"login": email, "password": password, **data})


def is_logged_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def add_authenticator_app(user: User) -> User:
    """Add an authenticator app with SECRET and recovery codes to the user, and return the user."""
    TOTP.activate(user, SECRET)
    RecoveryCodes.activate(user)
    return user


def code(secret: str = SECRET, *, later: int = 0) -> str:
    """Return the authenticator app's code.

    `later` is an offset in steps of 30 seconds.
    """
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30 + later)))


def recovery_codes(user: User) -> list[str]:
    codes = Authenticator.objects.get(user=user, type=Authenticator.Type.RECOVERY_CODES).wrap().get_unused_codes()
    assert codes
    return list(codes)


def path_of(response: ClientResponse) -> str:
    return urlsplit(response["Location"]).path
