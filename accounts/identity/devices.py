"""Browsers in which a person has logged in before: others' wrong passwords do not keep them out.

As OWASP's "device cookies": a signed cookie is good for one account, and its attempts are counted by themselves. It
proves no identity, and names nobody: the address is part of the signature alone.
"""

from __future__ import annotations

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from scanner.ids import random_base62

COOKIE = "device"
LIFETIME_S = 365 * 24 * 3600
NONCE_LENGTH = 22


def known_device(request: HttpRequest, email: str) -> str | None:
    """The random name of a browser in which this account's person has logged in; None for any other."""
    try:
        return _signer(email).unsign(request.COOKIES.get(COOKIE, ""), max_age=LIFETIME_S)
    except BadSignature:
        return None


def remember(request: HttpRequest, response: HttpResponse, email: str) -> None:
    """Make it a known browser of the account, after its person has proven who they are."""
    response.set_cookie(
        COOKIE,
        _signer(email).sign(known_device(request, email) or random_base62(NONCE_LENGTH)),
        max_age=LIFETIME_S,
        path=reverse("account_login"),
        secure=settings.SECURE,
        httponly=True,
        samesite="Lax",
    )


def _signer(email: str) -> TimestampSigner:
    return TimestampSigner(salt=f"accounts.device:{email.strip().lower()}")
