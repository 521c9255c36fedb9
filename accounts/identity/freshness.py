"""Reauthentication: when and by which methods the person of a session has proven who they are.

A view that gives access beyond the session, to a person, a program or the public, has `fresh_login_needed`, so that a
stolen session gains nothing that lasts. All other views that change something declare with `session_suffices` why not.
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
from accounts.identity.factors import providers_of
from accounts.models import User

View = Callable[..., HttpResponseBase]
V = TypeVar("V", bound=Callable[..., object])
METHODS = {"password": "a password", "totp": "an authenticator app", "recovery_codes": "a recovery code"}
METHODS |= {"webauthn": "a passkey", "socialaccount": "an identity provider"}


def log_in_new(request: HttpRequest, user: User) -> None:
    """Log in a new person who has just chosen their first password and has no second factor yet."""
    login(request, user)
    request.session.set_expiry(0)
    record_authentication(request, user, "password")
    begin(request, user)


def begin(request: HttpRequest, user: User) -> None:
    """Count the log-in as a reauthentication, so that nobody is asked for the same factor twice in a row."""
    records = get_authentication_records(request, user)
    if records:
        request.session[AUTHENTICATION_METHODS_SESSION_KEY] = [
            *records[:-1],
            records[-1] | {"reauthenticated": True},
        ]


def method_of(request: HttpRequest, user: User) -> str:
    """Return the methods of the person's log-in in words; empty if they are not known."""
    used = [record.get("type") or record["method"] for record in get_authentication_records(request, user)]
    return " and ".join(dict.fromkeys(METHODS[each] for each in used if each in METHODS))


def fresh_login_needed(*methods: str, back: Callable[[Any], str] | None = None) -> Callable[[View], View]:
    """Decorator for sensitive views: require a reauthentication within `ACCOUNT_REAUTHENTICATION_TIMEOUT` seconds.

    People who have to reauthenticate return to the request afterwards. Applies to requests with these HTTP methods, to
    all if none is given. Put it below the decorators that refuse anonymous users. `back` returns, for a request, the
    URL to return to instead; views that answer with a file need it, because a browser that gets a file goes on showing
    the page that asked for the password.
    """

    def decorate(view: View) -> View:
        asking = reauthentication_required(view)

        @functools.wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if methods and request.method not in methods:
                return view(request, *args, **kwargs)
            if _needs_provider(request):
                is_page = request.method in ("GET", "HEAD") or drafts.keep(request)
                address = request.get_full_path() if is_page else reverse("account")
                return _to(reverse("account_again"), back(request) if back else address)
            if back and not did_recently_reauthenticate(request):
                return _to(get_adapter().get_reauthentication_methods(request.user)[0]["url"], back(request))
            response: HttpResponseBase = asking(request, *args, **kwargs)
            return response

        return _declare(wrapped, asks=True)

    return decorate


def session_suffices(why: str) -> Callable[[V], V]:
    """Decorator for views that change something without a reauthentication; `why` is the reason, for readers."""
    assert why

    def decorate(view: V) -> V:
        return _declare(view, asks=False)

    return decorate


def asks_itself(view: V) -> V:
    """Decorator for views of django-allauth that require a reauthentication by themselves."""
    return _declare(view, asks=True)


def _declare(view: V, *, asks: bool) -> V:
    view.fresh_login = asks  # type: ignore[attr-defined]  # read by the test of all views
    return view


def _to(asking: str, back: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{asking}?{urlencode({'next': back})}")


def _needs_provider(request: HttpRequest) -> bool:
    """Return True if the person can reauthenticate only with an identity provider, and last did so too long ago."""
    user = request.user
    if not isinstance(user, User) or get_reauthentication_flows(user):
        return False
    times = [record["at"] for record in get_authentication_records(request, user)]
    if times and time.time() - times[-1] < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT:
        return False
    return bool(providers_of(user))
