"""View decorators that restrict an organization's pages by role, and the request's membership."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

from django.contrib.auth.views import redirect_to_login
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django_htmx.http import HttpResponseClientRedirect

from accounts import drafts
from accounts.access import memberships_of_user
from accounts.identity.requirements import missing
from accounts.models import Membership
from infrastructure.api.errors import NotFound

View: TypeAlias = Callable[..., HttpResponseBase]

SELECTED_ORGANIZATION_KEY = "organization"
START = "/dashboard/"
# Maximum number of memberships that a request loads. The page's and the selected organization are always included.
MAX_LOADED_MEMBERSHIPS = 100


class MemberRequest(HttpRequest):
    """Request with the attribute `membership`, which the decorator `requires` sets."""

    membership: Membership


def requires(role: str, *, serves_limited: bool = False) -> Callable[[View], View]:
    """Decorator for pages with an organization's slug in the URL. Sets `request.membership` or refuses the request.

    Members who are limited to some sites get a 403, unless `serves_limited` is True. Then the view must restrict what
    it shows and does to `visible_sites_of(request.membership)`.

    Anonymous users are redirected to the login page, people who are not members get a 404 as if the organization did
    not exist, and members whose role is lower than `role` get a 403. Raises `UnmetLoginRequirement` for members
    who have not logged in as the organization requires.
    """

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def wrapped(request: HttpRequest, *args: Any, organization: str, **kwargs: Any) -> HttpResponseBase:
            return _refusal(request, organization, role, serves_limited) or view(request, *args, **kwargs)

        return wrapped

    return decorate


def require_login(view: View) -> View:
    """Decorator for a user's pages outside an organization.

    Redirects anonymous users to the login page.
    """

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return view(request, *args, **kwargs) if request.user.is_authenticated else _redirect_to_login(request)

    return wrapped


def known(view: View) -> View:
    """Decorator for pages. Turns a service's NotFound error into a 404 page."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except NotFound as error:
            raise Http404 from error

    return wrapped


def page_of(membership: Membership, name: str, *args: object) -> str:
    """Return a page's URL in the membership's organization.

    `name` is the URL name.
    """
    return reverse(name, args=[membership.organization.slug, *args])


def current_membership(request: HttpRequest) -> Membership | None:
    """Return the membership in the page's organization, or in the selected one.

    None without memberships.
    """
    current: Membership | None = getattr(request, "membership", None)
    if current is None:
        current = next(iter(_load_memberships(request)), None)
    return current


def membership_in(request: HttpRequest, organization_id: int) -> Membership | None:
    """Return the user's membership in an organization, with organization, tier and user, or None."""
    memberships = _load_memberships(request)
    membership = next((row for row in memberships if row.organization_id == organization_id), None)
    if membership is None and len(memberships) == MAX_LOADED_MEMBERSHIPS:
        rows = memberships_of_user(request.user).select_related("organization__tier", "user")
        membership = rows.filter(organization_id=organization_id).first()
    return membership


def membership(request: HttpRequest) -> dict[str, Any]:
    """Context processor that adds the current `membership` and all `memberships`.

    Both are queried lazily.
    """
    return {
        "membership": SimpleLazyObject(lambda: current_membership(request)),
        "memberships": SimpleLazyObject(
            lambda: sorted(_load_memberships(request), key=lambda row: row.organization.name.casefold())
        ),
    }


def select_organization(request: HttpRequest, organization_id: int) -> None:
    """Store in the session which organization the dashboard displays first.

    The caller has checked the membership.

    Pages of an organization ignore the selection, because their URLs contain the organization.
    """
    request.session[SELECTED_ORGANIZATION_KEY] = organization_id


def _refusal(request: HttpRequest, organization: str, role: str, serves_limited: bool) -> HttpResponse | None:
    if not request.user.is_authenticated:
        return _redirect_to_login(request)
    membership = next(iter(_load_memberships(request, organization)), None)
    if membership is None or membership.organization.slug != organization:
        raise Http404
    if unmet := missing(request.user, membership.organization):
        raise unmet
    request.membership = membership  # type: ignore[attr-defined]  # declared by MemberRequest
    if membership.is_limited and not serves_limited:
        detail = f"You can see only some sites of {membership.organization}. This page is about all of them."
        context = {"status": 403, "shell": "shell.html", "message": "This page is not available to you."}
        return render(request, "error.html", context | {"detail": detail}, status=403)
    if membership.has(role):
        return None
    context = {
        "status": 403,
        "shell": "shell.html",
        "message": "Your role does not allow this.",
        "detail": f"This requires the role {role}; your role in {membership.organization} is {membership.role}. "
        "Ask an owner to change it.",
    }
    return render(request, "error.html", context, status=403)


def _redirect_to_login(request: HttpRequest) -> HttpResponse:
    htmx = getattr(request, "htmx", None)
    if htmx:
        # htmx would follow a normal redirect, and insert the login page into the current page.
        login_redirect = redirect_to_login(htmx.current_url_abs_path or START)
        return HttpResponseClientRedirect(login_redirect.url)
    # The browser cannot submit a form again after the login, and the form's URL may not support GET. A draft's URL
    # does.
    is_get_request = request.method in ("GET", "HEAD") or drafts.save(request)
    return redirect_to_login(request.get_full_path() if is_get_request else START)


def _load_memberships(request: HttpRequest, organization: str = "") -> list[Membership]:
    """Return the user's memberships with organization, tier and user.

    The request caches the result.

    The membership in the organization with this slug is first, then that in the organization selected in the session.
    """
    memberships: list[Membership] | None = getattr(request, "memberships", None)
    if memberships is None:
        user = getattr(request, "user", None)
        memberships = []
        if user is not None and user.is_authenticated:
            selected_id = request.session.get(SELECTED_ORGANIZATION_KEY)
            rows = memberships_of_user(user).select_related("organization__tier").order_by("created_at", "id")
            memberships = list(rows[:MAX_LOADED_MEMBERSHIPS])
            # The limit may have cut off the memberships that must come first.
            if len(memberships) == MAX_LOADED_MEMBERSHIPS:
                preferred_memberships = rows.filter(Q(organization__slug=organization) | Q(organization_id=selected_id))
                memberships = list(dict.fromkeys([*preferred_memberships, *memberships]))[:MAX_LOADED_MEMBERSHIPS]
            memberships.sort(
                key=lambda row: (row.organization.slug != organization, row.organization_id != selected_id)
            )
            for row in memberships:
                row.user = user
        request.memberships = memberships  # type: ignore[attr-defined]  # cache for this request
    return memberships
