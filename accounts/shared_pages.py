"""Access to shared pages: members see them, and anybody with the link while a member shares them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeVar

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers, patch_cache_control
from django_htmx.http import HttpResponseClientRefresh

from accounts.limits import client
from accounts.models import Membership
from infrastructure.api import throttling

ROBOTS = "noindex, nofollow"
# Such a page may take seconds. Members' requests are limited by organization, strangers' by this limit.
STRANGERS_PER_MINUTE = 60


class SeenThing(Protocol):
    """Protocol of an object that the visitor may see. `membership` is None if they only have the link."""

    @property
    def membership(self) -> Membership | None: ...


S = TypeVar("S", bound=SeenThing)
View: TypeAlias = Callable[..., HttpResponseBase]


def for_who_may_see(
    *,
    look: Callable[[HttpRequest, str], S | None],
    id_name: str,
    page: str,
    not_found: Callable[[HttpRequest], HttpResponse],
) -> Callable[[View], View]:
    """Decorator: pass to the view the object that `look` returns for the request and the ID in the URL (`id_name`).

    If `look` returns None, anonymous visitors are redirected to the login and then back to `page`; visitors who are
    logged in get `not_found`.
    """

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def wrapped(request: HttpRequest, **kwargs: str) -> HttpResponseBase:
            public_id = kwargs.pop(id_name)
            response: HttpResponseBase
            seen = look(request, public_id)
            if seen is not None and seen.membership is None and is_over_rate(request):
                response = too_many(request)
            elif seen is not None:
                if seen.membership is not None:
                    # The navigation around the page shows its organization.
                    request.membership = seen.membership  # type: ignore[attr-defined]  # as accounts.roles does
                response = view(request, seen, **kwargs)
            elif request.htmx:  # type: ignore[attr-defined]  # django-htmx
                response = HttpResponseClientRefresh()  # after the reload the page itself shows the reason
            elif request.user.is_authenticated:
                response = not_found(request)
            else:
                # A form cannot be sent again after the login, so it returns to the page.
                is_form = request.method == "POST"
                response = redirect_to_login(reverse(page, args=[public_id]) if is_form else request.get_full_path())
            if not response.has_header("Cache-Control"):
                if seen is None or request.user.is_authenticated:
                    add_never_cache_headers(response)
                else:
                    # Anonymous visitors may get the page back from history at once; a reload must revalidate it.
                    patch_cache_control(response, private=True, no_cache=True)
            response["X-Robots-Tag"] = ROBOTS
            return response

        return wrapped

    return decorate


def surroundings(seen: SeenThing) -> dict[str, Any]:
    """Return the template context for the layout around a shared page."""
    return {
        "section": "scans",
        "shell": "shell.html" if seen.membership else "base.html",
        "is_member": seen.membership is not None,
        "may_scan": seen.membership is not None and seen.membership.is_member,
    }


def is_over_rate(request: HttpRequest) -> bool:
    """Count a stranger's request for a shared page; return True if the client has sent too many in this minute."""
    rate = throttling.count(f"shared-reports:{client(request)}", STRANGERS_PER_MINUTE)
    return rate.used > rate.limit


def too_many(request: HttpRequest) -> HttpResponse:
    """Return the page that tells a stranger to wait."""
    context = {"status": 429, "message": "Too many requests. Try again in a minute."}
    response = render(request, "error.html", context, status=429)
    response["Retry-After"] = str(throttling.WINDOW_S)
    return response
