"""Organizations' login requirements for members: a second factor and an identity provider."""

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
from infrastructure.mail_addresses import domain_of, normal_domain


class UnmetLoginRequirement(Exception):
    """Raised for a member who does not meet a login requirement.

    RequirementMiddleware redirects the member.

    `provider` is the ID of the identity provider to log in with; empty if a second factor is missing.
    """

    def __init__(self, organization: Organization, provider: str = "") -> None:
        super().__init__(f"{organization.slug} requires {provider or 'a second factor'}")
        self.organization = organization
        self.provider = provider


def missing(user: User | AnonymousUser, organization: Organization) -> UnmetLoginRequirement | None:
    """Return the first login requirement that the session does not meet, or None.

    `user` must be `request.user`.
    """
    if not isinstance(user, User):
        return None
    if must_use_provider(user, organization) and organization.login_provider not in user.session_providers:
        return UnmetLoginRequirement(organization, organization.login_provider)
    if organization.second_factor_required and not has_second_factor(user):
        return UnmetLoginRequirement(organization)
    return None


def must_use_provider(user: User, organization: Organization) -> bool:
    """Return True if users with this e-mail domain must log in with the organization's identity provider.

    Guests with addresses of other domains may log in with any method.
    """
    domain = organization.login_domain
    return bool(organization.login_provider) and domain_of(user.email) == normal_domain(domain)


class RequirementMiddleware:
    """Middleware for `UnmetLoginRequirement`.

    It redirects to the page where the member can meet the requirement.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, UnmetLoginRequirement):
            return None
        is_get_request = request.method in ("GET", "HEAD") or drafts.save(request)
        back = request.get_full_path() if is_get_request else reverse("dashboard")
        if exception.provider:
            url = f"{reverse('account_again')}?{urlencode({'provider': exception.provider, 'next': back})}"
        else:
            url = reverse("mfa_index")  # The page displays which organization requires a second factor.
        if getattr(request, "htmx", None):
            return HttpResponseClientRedirect(url)
        return redirect(url)
