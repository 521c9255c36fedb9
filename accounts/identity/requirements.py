"""Login requirements of organizations: second factor and identity provider. They do not apply to API keys."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from accounts import drafts
from accounts.identity.factors import has_second_factor
from accounts.models import Organization, User


class Unmet(Exception):
    """Exception for a member who does not fulfil a login requirement. RequirementMiddleware redirects the member.

    `provider` is the ID of the identity provider to log in with; empty if a second factor is missing.
    """

    def __init__(self, organization: Organization, provider: str = "") -> None:
        super().__init__(f"{organization.slug} requires {provider or 'a second factor'}")
        self.organization = organization
        self.provider = provider


def missing(user: User | AnonymousUser, organization: Organization) -> Unmet | None:
    """Return the first login requirement that the session does not fulfil, or None. `user` must be `request.user`."""
    if not isinstance(user, User):
        return None
    if must_use_provider(user, organization) and organization.login_provider not in user.session_providers:
        return Unmet(organization, organization.login_provider)
    if organization.second_factor_required and not has_second_factor(user):
        return Unmet(organization)
    return None


def must_use_provider(user: User, organization: Organization) -> bool:
    """Return True if the domain of the person's address obliges them to log in with the organization's provider.

    Guests with addresses of other domains may log in with any method.
    """
    domain = organization.login_domain
    return bool(organization.login_provider) and user.email.rpartition("@")[2].lower() == domain


class RequirementMiddleware:
    """Middleware that answers `Unmet` with a redirect to the page where the member can fulfil the requirement."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, Unmet):
            return None
        is_page = request.method in ("GET", "HEAD") or drafts.save(request)
        back = request.get_full_path() if is_page else reverse("dashboard")
        if exception.provider:
            url = f"{reverse('account_again')}?{urlencode({'provider': exception.provider, 'next': back})}"
        else:
            url = reverse("mfa_index")  # This page names the organization that requires a second factor.
        if getattr(request, "htmx", None):
            return HttpResponseClientRedirect(url)
        return redirect(url)
