"""Roles on pages: find the membership in the organization of a page, and check that its role is high enough."""

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
from accounts.access import memberships_of
from accounts.identity.requirements import missing
from accounts.models import Membership
from infrastructure.api.errors import NotFound

View: TypeAlias = Callable[..., HttpResponseBase]

SESSION_KEY = "organization"
START = "/dashboard/"
# Memberships loaded for a request: more than anybody switches between. The page's own and the chosen one always are.
MAX_SHOWN = 100


class MemberRequest(HttpRequest):
    """Request with the membership that `requires` has set."""

    membership: Membership


def requires(role: str) -> Callable[[View], View]:
    """Decorator for pages of an organization, whose slug is in the URL: sets `request.membership`, or refuses.

    Anonymous users are redirected to the login page, people who are not members get a 404 as if the organization did
    not exist, and members whose role is lower than `role` get a 403. Raises `Unmet` for members who have not logged in
    in the way that the organization requires.
    """

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def wrapped(request: HttpRequest, *args: Any, organization: str, **kwargs: Any) -> HttpResponseBase:
            return _refusal(request, organization, role) or view(request, *args, **kwargs)

        return wrapped

    return decorate


def login_needed(view: View) -> View:
    """Decorator for a person's pages, which need no organization: redirects anonymous users like `requires`."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return view(request, *args, **kwargs) if request.user.is_authenticated else _to_login(request)

    return wrapped


def known(view: View) -> View:
    """Decorator for pages: answers 404 if the organization does not have a row that the URL names."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except NotFound as error:
            raise Http404 from error

    return wrapped


def page_of(membership: Membership, name: str, *args: object) -> str:
    """Return the URL of the named page of the membership's organization."""
    return reverse(name, args=[membership.organization.slug, *args])


def current_membership(request: HttpRequest) -> Membership | None:
    """Return the membership in the page's organization, on other pages in the one chosen last; None without any."""
    found: Membership | None = getattr(request, "membership", None)
    if found is None:
        found = next(iter(_memberships(request)), None)
    return found


def membership_in(request: HttpRequest, organization_id: int) -> Membership | None:
    """Return the person's membership in that organization, with organization, tier and user; None without one."""
    known = _memberships(request)
    found = next((each for each in known if each.organization_id == organization_id), None)
    if found is None and len(known) == MAX_SHOWN:
        rows = memberships_of(request.user).select_related("organization__tier", "user")
        found = rows.filter(organization_id=organization_id).first()
    return found


def membership(request: HttpRequest) -> dict[str, Any]:
    """Context processor: `membership`, and `memberships` sorted by organization name. Both query lazily."""
    return {
        "membership": SimpleLazyObject(lambda: current_membership(request)),
        "memberships": SimpleLazyObject(
            lambda: sorted(_memberships(request), key=lambda each: each.organization.name.casefold())
        ),
    }


def choose(request: HttpRequest, organization_id: int) -> None:
    """Choose the organization that this session's dashboard opens with. The caller has checked the membership.

    Pages of an organization do not use it, because their URLs name the organization.
    """
    request.session[SESSION_KEY] = organization_id


def _refusal(request: HttpRequest, organization: str, role: str) -> HttpResponse | None:
    if not request.user.is_authenticated:
        return _to_login(request)
    found = next(iter(_memberships(request, organization)), None)
    if found is None or found.organization.slug != organization:
        raise Http404
    if unmet := missing(request.user, found.organization):
        raise unmet
    request.membership = found  # type: ignore[attr-defined]  # the decorated view may rely on it
    if found.has(role):
        return None
    context = {
        "status": 403,
        "shell": "shell.html",
        "message": "Your role does not allow this.",
        "detail": f"This requires the role {role}; your role in {found.organization} is {found.role}. "
        "Ask an owner to change it.",
    }
    return render(request, "error.html", context, status=403)


def _to_login(request: HttpRequest) -> HttpResponse:
    htmx = getattr(request, "htmx", None)
    if htmx:
        # htmx would follow a redirect and insert the login page into the current page.
        to_login = redirect_to_login(htmx.current_url_abs_path or START)
        return HttpResponseClientRedirect(to_login.url)
    # A form can't be sent again after the login, and its URL may not answer GET; the URLs of drafts do.
    is_page = request.method in ("GET", "HEAD") or drafts.save(request)
    return redirect_to_login(request.get_full_path() if is_page else START)


def _memberships(request: HttpRequest, organization: str = "") -> list[Membership]:
    """Return the person's memberships with organization, tier and user. One query per request; the result is cached.

    The membership in the organization with that slug comes first, then the one chosen for the session.
    """
    known: list[Membership] | None = getattr(request, "memberships", None)
    if known is None:
        user = getattr(request, "user", None)
        known = []
        if user is not None and user.is_authenticated:
            chosen = request.session.get(SESSION_KEY)
            rows = memberships_of(user).select_related("organization__tier").order_by("created_at", "id")
            known = list(rows[:MAX_SHOWN])
            if len(known) == MAX_SHOWN:  # these two may not be among them
                wanted = rows.filter(Q(organization__slug=organization) | Q(organization_id=chosen))
                known = list(dict.fromkeys([*wanted, *known]))[:MAX_SHOWN]
            known.sort(key=lambda each: (each.organization.slug != organization, each.organization_id != chosen))
            for each in known:
                each.user = user
        request.memberships = known  # type: ignore[attr-defined]  # cache for this request
    return known
