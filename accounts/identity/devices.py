"""Device cookies (OWASP), which mark browsers that a person has used to log in before.

These browsers have their own rate limit, so that strangers' wrong passwords do not lock the person out. The signed
cookie is valid for one account. The cookie proves no identity and contains no address: the e-mail address is only part
of the signature's salt.
"""

from __future__ import annotations

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from infrastructure.mail_addresses import normal_form
from website_scan.ids import random_base62

COOKIE = "device"
COOKIE_LIFETIME_S = 365 * 24 * 3600
NONCE_LENGTH = 22


def read_device_id(request: HttpRequest, email: str) -> str | None:
    """Return the random ID from the browser's device cookie, or None without a valid cookie for this account."""
    try:
        return _signer(email).unsign(request.COOKIES.get(COOKIE, ""), max_age=COOKIE_LIFETIME_S)
    except BadSignature:
        return None


def set_cookie(request: HttpRequest, response: HttpResponse, email: str) -> None:
    """Set the device cookie for the account after a successful authentication."""
    response.set_cookie(
        COOKIE,
        _signer(email).sign(read_device_id(request, email) or random_base62(NONCE_LENGTH)),
        max_age=COOKIE_LIFETIME_S,
        path=reverse("account_login"),
        secure=settings.SECURE,
        httponly=True,
        samesite="Lax",
    )


def _signer(email: str) -> TimestampSigner:
    return TimestampSigner(salt=f"accounts.device:{normal_form(email)}")
