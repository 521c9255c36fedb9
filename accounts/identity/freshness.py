"""Decorators that require reauthentication before sensitive actions, and a session's login methods.

A view that grants access beyond the session, to a person, a program or the public, has `require_fresh_login`, so that
the thief of a session gets no permanent access. Every other view that changes data has `session_suffices` with the
reason why it needs no reauthentication.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY, get_authentication_records
from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.login import record_authentication
from allauth.account.internal.flows.reauthentication import (
    did_recently_reauthenticate,
    get_reauthentication_flows,
)
from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse

from accounts import drafts
from accounts.identity.factors import providers_of_user
from accounts.models import User

View = Callable[..., HttpResponseBase]
V = TypeVar("V", bound=Callable[..., object])
METHODS = {"password": "a password", "totp": "an authenticator app", "recovery_codes": "a recovery code"}
METHODS |= {"webauthn": "a passkey", "socialaccount": "an identity provider"}


def log_in_new_person(request: HttpRequest, user: User) -> None:
    """Log in a new person who has just chosen their first password and has no second factor yet."""
    login(request, user)
    request.session.set_expiry(0)
    record_authentication(request, user, "password")
    mark_reauthenticated(request, user)


def mark_reauthenticated(request: HttpRequest, user: User) -> None:
    """Mark the login as a reauthentication, so that nobody has to enter the same factor twice in a row."""
    records = get_authentication_records(request, user)
    if records:
        request.session[AUTHENTICATION_METHODS_SESSION_KEY] = [
            *records[:-1],
            records[-1] | {"reauthenticated": True},
        ]


def describe_methods(request: HttpRequest, user: User) -> str:
    """Return the session's login methods as text, such as "a password and a passkey".

    Empty if unknown.
    """
    methods = [record.get("type") or record["method"] for record in get_authentication_records(request, user)]
    return " and ".join(dict.fromkeys(METHODS[method] for method in methods if method in METHODS))


def require_fresh_login(*methods: str, back: Callable[[Any], str] | None = None) -> Callable[[View], View]:
    """Decorator for sensitive views.

    Requires reauthentication within `ACCOUNT_REAUTHENTICATION_TIMEOUT` seconds.

    After the reauthentication, the browser returns to the request. The decorator applies to these HTTP `methods`, by
    default to all, and belongs below the decorators that refuse anonymous users. `back` returns, for a request, another
    URL to return to. Views that return a file need `back`, because a browser that downloads a file still displays the
    password form.
    """

    def decorate(view: View) -> View:
        guarded = reauthentication_required(view)

        @functools.wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if methods and request.method not in methods:
                return view(request, *args, **kwargs)
            if _needs_provider_login(request):
                is_get_request = request.method in ("GET", "HEAD") or drafts.save(request)
                address = request.get_full_path() if is_get_request else reverse("account")
                return _redirect_to(reverse("account_again"), back(request) if back else address)
            if back and not did_recently_reauthenticate(request):
                return _redirect_to(get_adapter().get_reauthentication_methods(request.user)[0]["url"], back(request))
            response: HttpResponseBase = guarded(request, *args, **kwargs)
            return response

        return _mark_view(wrapped, requires=True)

    return decorate


def session_suffices(why: str) -> Callable[[V], V]:
    """Decorator that marks a view as safe without reauthentication.

    `why` documents the reason.
    """
    assert why

    def decorate(view: V) -> V:
        return _mark_view(view, requires=False)

    return decorate


def reauthenticates_itself(view: V) -> V:
    """Mark a django-allauth view that already requires reauthentication itself."""
    return _mark_view(view, requires=True)


def _mark_view(view: V, *, requires: bool) -> V:
    view.fresh_login = requires  # type: ignore[attr-defined]  # A test of all views reads this attribute.
    return view


def _redirect_to(form_url: str, back: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{form_url}?{urlencode({'next': back})}")


def _needs_provider_login(request: HttpRequest) -> bool:
    """Return True if the user must reauthenticate but can only do so with an identity provider."""
    user = request.user
    if not isinstance(user, User) or get_reauthentication_flows(user):
        return False
    times = [record["at"] for record in get_authentication_records(request, user)]
    if times and time.time() - times[-1] < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT:
        return False
    return bool(providers_of_user(user))
