"""Access to pages that members can share: for members, and for anybody with the link while a page is shared."""

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
# Limit per client that is not a member, because such a page may take seconds. Members have their organization's limit.
STRANGERS_PER_MINUTE = 60


class VisibleObject(Protocol):
    """Protocol of an object that the visitor may see. `membership` is None for a visitor who only has the link."""

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
    """Decorator that passes to the view the object that `look` returns for the request and the ID `id_name` of the URL.

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
                    # The navigation displays the organization of `request.membership`.
                    request.membership = visible.membership  # type: ignore[attr-defined]  # as accounts.roles does
                response = view(request, visible, **kwargs)
            elif request.htmx:  # type: ignore[attr-defined]  # django-htmx
                response = HttpResponseClientRefresh()  # After the reload, the page displays the reason.
            elif request.user.is_authenticated:
                response = not_found(request)
            else:
                # After the login, a form cannot be sent again, so the browser returns to the page.
                is_form = request.method == "POST"
                response = redirect_to_login(reverse(page, args=[public_id]) if is_form else request.get_full_path())
            if not response.has_header("Cache-Control"):
                if visible is None or request.user.is_authenticated:
                    add_never_cache_headers(response)
                else:
                    # The browser history of an anonymous visitor may reuse the page; a reload must revalidate the page.
                    patch_cache_control(response, private=True, no_cache=True)
            response["X-Robots-Tag"] = ROBOTS
            return response

        return wrapped

    return decorate


def surroundings(visible: VisibleObject) -> dict[str, Any]:
    """Return the template context for the layout around a shared page."""
    return {
        "section": "scans",
        "shell": "shell.html" if visible.membership else "base.html",
        "is_member": visible.membership is not None,
        "may_scan": visible.membership is not None and visible.membership.is_member,
    }


def is_over_rate(request: HttpRequest) -> bool:
    """Count a stranger's request for a shared page; return True if the client has sent too many in this minute."""
    rate = throttling.count(f"shared-reports:{client(request)}", STRANGERS_PER_MINUTE)
    return rate.used > rate.limit


def too_many(request: HttpRequest) -> HttpResponse:
    """Return the error page for a client that has exceeded the rate limit."""
    context = {"status": 429, "message": "Too many requests. Try again in a minute."}
    response = render(request, "error.html", context, status=429)
    response["Retry-After"] = str(throttling.WINDOW_S)
    return response
