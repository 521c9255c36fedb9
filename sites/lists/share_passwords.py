"""Passwords of shared pages.

A visitor who enters the password gets a signed cookie, which opens the page for half a day.
"""

from __future__ import annotations

from django.contrib.auth.hashers import check_password, make_password
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from accounts.limits import client
from infrastructure.api import throttling
from infrastructure.api.errors import InvalidParams
from sites.models import ListShare

MIN_LENGTH, MAX_LENGTH = 8, 128
MAX_AGE_S = 12 * 3600
SALT = "sites.lists.share_passwords"
# Attempts per minute of a client, and of all clients for one page. Each costs as much as a log-in.
ATTEMPTS_OF_CLIENT = 10
ATTEMPTS_OF_SHARE = 60


def hashed(password: str) -> str:
    """Return the hash of a new password, or "" for none. Raises InvalidParams."""
    if not password:
        return ""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH or "\0" in password:
        raise InvalidParams(f"password must have {MIN_LENGTH} to {MAX_LENGTH} characters.")
    return make_password(password)


def may_try(request: HttpRequest, share: ListShare) -> bool:
    """Count an attempt.

    Returns False if the client or all clients together have made too many in this minute.
    """
    of_client = throttling.count(f"share-passwords:{client(request)}", ATTEMPTS_OF_CLIENT)
    if of_client.used > of_client.limit:
        return False
    of_share = throttling.count(f"share-passwords:{share.id}", ATTEMPTS_OF_SHARE)
    return of_share.used <= of_share.limit


def is_right(share: ListShare, password: str) -> bool:
    return len(password) <= MAX_LENGTH and check_password(password, share.password)


def is_open(request: HttpRequest, share: ListShare) -> bool:
    """Return True if the share has no password, or the visitor has entered it."""
    if not share.password:
        return True
    try:
        value = signing.loads(request.COOKIES.get(_cookie_name(share), ""), salt=SALT, max_age=MAX_AGE_S)
    except signing.BadSignature:
        return False
    return bool(value == [share.id, share.password[-16:]])


def let_in(request: HttpRequest, response: HttpResponse, share: ListShare) -> None:
    """Give the visitor the cookie that opens the page.

    It has no personal data.
    """
    value = signing.dumps([share.id, share.password[-16:]], salt=SALT)
    path = reverse("list-share", args=[share.id])
    # The path covers the page, its badge and its card, and no other pages.
    response.set_cookie(
        *(_cookie_name(share), value, MAX_AGE_S),
        path=path,
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )


def _cookie_name(share: ListShare) -> str:
    return f"opened_{share.id}"
