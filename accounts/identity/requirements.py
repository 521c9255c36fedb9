"""What an organization requires of how its members log in. API keys are not people, and need none of it."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from accounts.identity.factors import has_second_factor
from accounts.models import Organization, User


class Unmet(Exception):
    """A member may see the organization's pages only after they have done something; the middleware leads them to it.

    `provider` is the ID of the identity provider to log in with; empty where a second factor is missing.
    """

    def __init__(self, organization: Organization, provider: str = "") -> None:
        super().__init__(f"{organization.slug} requires {provider or 'a second factor'}")
        self.organization = organization
        self.provider = provider


def missing(user: User | AnonymousUser, organization: Organization) -> Unmet | None:
    """What this member, as they have logged in, still has to do; `user` is the person of the request."""
    if not isinstance(user, User):
        return None
    if needs_provider(user, organization) and organization.login_provider not in user.session_providers:
        return Unmet(organization, organization.login_provider)
    if organization.second_factor_required and not has_second_factor(user):
        return Unmet(organization)
    return None


def needs_provider(user: User, organization: Organization) -> bool:
    """Whether the organization's provider speaks for this person; guests with other addresses log in as they like."""
    domain = organization.login_domain
    return bool(organization.login_provider) and user.email.rpartition("@")[2].lower() == domain


class RequirementMiddleware:
    """Turns `Unmet` into the way to what is missing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, Unmet):
            return None
        back = request.get_full_path() if request.method in ("GET", "HEAD") else reverse("dashboard")
        if exception.provider:
            target = f"{reverse('account_again')}?{urlencode({'provider': exception.provider, 'next': back})}"
        else:
            target = reverse("mfa_index")  # which says who requires it
        if getattr(request, "htmx", None):
            return HttpResponseClientRedirect(target)
        return redirect(target)
