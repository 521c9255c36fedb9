"""Access to shareable pages.

Members may see them, and so may anybody with the link to a shared page.
"""

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
# Maximum requests per minute by a visitor who is not a member, because shared pages may take seconds.
MAX_STRANGER_REQUESTS_PER_MINUTE = 60


class VisibleObject(Protocol):
    """Protocol for an object that the visitor may view.

    `membership` is None for visitors who only have the link.
    """

    @property
    def membership(self) -> Membership | None: ...


S = TypeVar("S", bound=VisibleObject)
View: TypeAlias = Callable[..., HttpResponseBase]


def require_visible(
    *,
    look: Callable[[HttpRequest, str], S | None],
    id_name: str,
    page: str,
    not_found: Callable[[HttpRequest], HttpResponse],
) -> Callable[[View], View]:
    """Decorator that finds the page's object by the URL argument `id_name` and passes it to the view.

    If `look` returns None, anonymous visitors are redirected to the login and then back to `page`; visitors who are
    logged in get `not_found`.
    """

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def wrapped(request: HttpRequest, **kwargs: str) -> HttpResponseBase:
            public_id = kwargs.pop(id_name)
            response: HttpResponseBase
            visible = look(request, public_id)
            if visible is not None and visible.membership is None and is_over_rate(request):
                response = too_many(request)
            elif visible is not None:
                if visible.membership is not None:
                    # The page's navigation displays the organization of `request.membership`.
                    request.membership = visible.membership  # type: ignore[attr-defined]  # as accounts.roles does
                response = view(request, visible, **kwargs)
            elif request.htmx:  # type: ignore[attr-defined]  # django-htmx
                # After the reload, the page displays why the object is not visible.
                response = HttpResponseClientRefresh()
            elif request.user.is_authenticated:
                response = not_found(request)
            else:
                # The browser cannot submit a form again after the login, so it returns to the page.
                is_form_submission = request.method == "POST"
                response = redirect_to_login(
                    reverse(page, args=[public_id]) if is_form_submission else request.get_full_path()
                )
            if not response.has_header("Cache-Control"):
                if visible is None or request.user.is_authenticated:
                    add_never_cache_headers(response)
                else:
                    # `no-cache` allows the browser's history to reuse an anonymous visitor's page, but a reload
                    # revalidates the page.
                    patch_cache_control(response, private=True, no_cache=True)
            response["X-Robots-Tag"] = ROBOTS
            return response

        return wrapped

    return decorate


def surroundings(visible: VisibleObject) -> dict[str, Any]:
    """Return the template context for a shared page's layout."""
    return {
        "section": "scans",
        "shell": "shell.html" if visible.membership else "base.html",
        "is_member": visible.membership is not None,
        "may_scan": visible.membership is not None and visible.membership.is_member,
        "sees_everything": sees_everything(visible.membership),
    }


def sees_everything(membership: Membership | None) -> bool:
    """Return True for a member who is not limited to some sites.

    Only they can open the pages of mutes, and see the reasons of mutes, which may name other sites or members.
    """
    return membership is not None and not membership.is_limited


def readers_sentence(membership: Membership | None, *, is_shared: bool) -> str:
    """Return a sentence about who can open the link of a shareable page.

    Without a membership, the reader has the link of a shared page.
    """
    if membership is None or is_shared:
        return "Anyone with this link can open the report."
    name = membership.organization.name
    return f"Only members of {name} can open this link, after logging in. To let others read it, share the report."


def is_over_rate(request: HttpRequest) -> bool:
    """Count a request from a visitor without a membership.

    Returns True if the client exceeds the limit per minute.
    """
    rate = throttling.count(f"shared-reports:{client(request)}", MAX_STRANGER_REQUESTS_PER_MINUTE)
    return rate.used > rate.limit


def too_many(request: HttpRequest) -> HttpResponse:
    """Return the error page (429) for a client that has exceeded the rate limit."""
    context = {"status": 429, "message": "Too many requests. Try again in a minute."}
    response = render(request, "error.html", context, status=429)
    response["Retry-After"] = str(throttling.WINDOW_S)
    return response
