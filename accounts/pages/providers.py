"""Pages to log in with an identity provider."""

from __future__ import annotations

import logging

import requests
from allauth.socialaccount.providers.openid_connect import views
from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts import limits
from accounts.identity.factors import providers_of_user
from accounts.identity.freshness import session_suffices
from accounts.limits import Limit
from accounts.models import User
from accounts.pages.login import MAX_ATTEMPTS_PER_ADDRESS, MAX_ATTEMPTS_PER_NETWORK, own_next_page
from accounts.roles import require_login

logger = logging.getLogger(__name__)

PARAMETERS = {"csrfmiddlewaretoken", "next"}


@never_cache
@require_POST
@session_suffices("proves the identity itself")
def provider_login(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Show a page with a link to the identity provider, because the CSP forbids redirects of forms to other hosts.

    Parameters for other actions of django-allauth than a log-in are refused, such as `process=connect`.
    """
    if (request.GET.keys() | request.POST.keys()) - PARAMETERS:
        raise BadRequest
    attempts = [
        Limit(limits.client(request), MAX_ATTEMPTS_PER_ADDRESS),
        Limit(f"network {limits.network(request)}", MAX_ATTEMPTS_PER_NETWORK),
    ]
    if refusal := limits.refusal(request, "provider", attempts):
        return refusal
    try:
        response: HttpResponse = views.login(request, provider_id)
    except (requests.RequestException, ValueError, KeyError) as error:
        return _unavailable_page(request, provider_id, error)
    if response.status_code != 302:
        return response
    return render(request, "accounts/provider_onward.html", {"provider_url": response["Location"]})


@never_cache
@require_safe
def provider_callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Callback URL where the identity provider redirects users after the login."""
    try:
        response: HttpResponse = views.callback(request, provider_id)
    except (requests.RequestException, ValueError, KeyError) as error:
        return _unavailable_page(request, provider_id, error)
    return response


@require_safe
@require_login
def provider_again(request: HttpRequest) -> HttpResponse:
    """Send the user to log in with an identity provider again, then on to `next`."""
    configured = settings.OIDC_PROVIDERS
    provider_id = request.GET.get("provider")
    if provider_id is None and isinstance(request.user, User):
        connected = providers_of_user(request.user)
        providers = [provider for provider in configured if provider.id in connected]
    else:
        providers = [provider for provider in configured if provider.id == provider_id]
    context = {"providers": providers, "next": own_next_page(request), "is_required": provider_id is not None}
    return render(request, "accounts/security/provider_again.html", context)


def _unavailable_page(request: HttpRequest, provider_id: str, error: Exception) -> HttpResponse:
    logger.error("the identity provider %s cannot be used: %s", provider_id, error)
    context = {
        "status": 503,
        "message": "The identity provider does not answer.",
        "detail": "Try again in a few minutes, or log in with your password.",
    }
    return render(request, "error.html", context, status=503)
