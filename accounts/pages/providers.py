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
from accounts.identity.factors import providers_of
from accounts.identity.freshness import session_suffices
from accounts.limits import Limit
from accounts.models import User
from accounts.pages.login import ATTEMPTS_PER_ADDRESS, ATTEMPTS_PER_NETWORK, next_page_of
from accounts.roles import login_needed

logger = logging.getLogger(__name__)

PARAMETERS = {"csrfmiddlewaretoken", "next"}


@never_cache
@require_POST
@session_suffices("proves the identity itself")
def provider_login(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Show a page that leads to the provider, because the Content-Security-Policy forbids redirects of forms to others.

    Parameters for other actions of django-allauth than a log-in are refused, such as `process=connect`.
    """
    if (request.GET.keys() | request.POST.keys()) - PARAMETERS:
        raise BadRequest
    attempts = [
        Limit(limits.client(request), ATTEMPTS_PER_ADDRESS),
        Limit(f"network {limits.network(request)}", ATTEMPTS_PER_NETWORK),
    ]
    if refusal := limits.refusal(request, "provider", attempts):
        return refusal
    try:
        response: HttpResponse = views.login(request, provider_id)
    except (requests.RequestException, ValueError, KeyError) as error:
        return _unavailable(request, provider_id, error)
    if response.status_code != 302:
        return response
    return render(request, "accounts/provider_onward.html", {"provider_url": response["Location"]})


@never_cache
@require_safe
def provider_callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Callback to which the provider redirects people after the log-in."""
    try:
        response: HttpResponse = views.callback(request, provider_id)
    except (requests.RequestException, ValueError, KeyError) as error:
        return _unavailable(request, provider_id, error)
    return response


@require_safe
@login_needed
def provider_again(request: HttpRequest) -> HttpResponse:
    """Ask a person to log in with an identity provider again, and pass on `next`."""
    configured = settings.OIDC_PROVIDERS
    provider_id = request.GET.get("provider")
    if provider_id is None and isinstance(request.user, User):
        connected = providers_of(request.user)
        providers = [provider for provider in configured if provider.id in connected]
    else:
        providers = [provider for provider in configured if provider.id == provider_id]
    context = {"providers": providers, "next": next_page_of(request), "is_required": provider_id is not None}
    return render(request, "accounts/security/provider_again.html", context)


def _unavailable(request: HttpRequest, provider_id: str, error: Exception) -> HttpResponse:
    logger.error("the identity provider %s cannot be used: %s", provider_id, error)
    context = {
        "status": 503,
        "message": "The identity provider does not answer.",
        "detail": "Try again in a few minutes, or log in with your password.",
    }
    return render(request, "error.html", context, status=503)
