"""django-allauth adapter for the identity providers (OpenID Connect) that operators configure."""

from __future__ import annotations

import logging
import time
from typing import Any, NoReturn

import requests
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.shortcuts import render

from accounts import access
from accounts.members import is_invited
from accounts.models import User
from accounts.services import AccountRefused, create_person
from infrastructure.environment import IdentityProvider, is_confidential

logger = logging.getLogger(__name__)

# Limits of a provider's response: seconds for the whole response, seconds for each read, and bytes.
RESPONSE_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 5.0
MAX_RESPONSE_BYTES = 1 << 20


class BoundedSession(requests.Session):
    """HTTP session for requests to an identity provider, limited in time and size.

    Raises requests.RequestException.

    Requests bypass the network guard, because an operator has configured the provider, which may be in a private
    network. The limits stop a provider that hangs or answers one byte a second. Every request, also after a redirect,
    must use https, because TLS replaces the verification of the ID token's signature (OpenID Connect Core, section
    3.1.3.7).
    """

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        if not is_confidential(request.url or ""):
            raise requests.exceptions.InvalidSchema("the identity provider names an address without https")
        deadline = time.monotonic() + RESPONSE_TIMEOUT_S
        response = super().send(request, **kwargs | {"stream": True, "timeout": READ_TIMEOUT_S})
        body = bytearray()
        while piece := response.raw.read1(65536, decode_content=True):
            body += piece
            if time.monotonic() > deadline or len(body) > MAX_RESPONSE_BYTES:
                response.close()
                raise requests.Timeout("the identity provider took too long, or its response was too large")
        response._content = bytes(body)  # noqa: SLF001 -- requests has no other way to set a body that was read in parts
        return response


class ProviderAdapter(DefaultSocialAccountAdapter):
    """Adapter that reads the identity providers from the settings.

    The database stores neither providers nor tokens.
    """

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[SocialApp]:
        return [
            _social_app(configured)
            for configured in settings.OIDC_PROVIDERS
            if provider in (None, "openid_connect", configured.id)
        ]

    def get_requests_session(self) -> requests.Session:
        return BoundedSession()

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: Any = None,
    ) -> None:
        """Show the error page for a login that was cancelled, or that began in another browser."""
        if exception is not None:
            logger.warning("the log-in with %s failed: %s", provider.id, exception)
        _raise_error_page(
            request, "You have not been logged in.", f"The log-in with {provider.name} was not completed. Try again."
        )

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Connect a provider's account on its first login, to an existing person or a new one.

        An existing person must have the same verified e-mail address.
        """
        data = sociallogin.account.extra_data
        claims, token = data.get("userinfo") or {}, data.get("id_token") or {}
        # OpenID Connect Core, section 5.3.2, requires this comparison.
        if claims and token and claims.get("sub") != token.get("sub"):
            _raise_error_page(request, "The identity provider sent contradictory responses.", "Try again.")
        if sociallogin.is_existing:
            return
        claims = claims or token
        email = _valid_email(claims.get("email"))
        provider = next(item for item in settings.OIDC_PROVIDERS if item.id == sociallogin.account.provider)
        # The string "false" is truthy, hence `is not True`.
        if not email or claims.get("email_verified") is not True or not provider.speaks_for(email):
            detail = f"{provider.name} has not confirmed an e-mail address of yours that it may speak for."
            _raise_error_page(request, "You cannot log in with this account.", detail)
        sociallogin.connect(request, access.find_person(email) or _create_person(request, email))


def _valid_email(claim: object) -> str:
    """Return the provider's `email` claim if it is a single valid address, otherwise an empty string."""
    email = claim.strip() if isinstance(claim, str) else ""
    try:
        User._meta.get_field("email").run_validators(email)
    except ValidationError:
        return ""
    return email


def _create_person(request: HttpRequest, email: str) -> User:
    if not settings.SIGN_UP_OPEN and not is_invited(email):
        _raise_error_page(request, "Sign-up is closed.", "Ask an admin of your organization for an invitation.")
    try:
        return create_person(email=email, password=None)
    except AccountRefused as error:
        _raise_error_page(request, "You cannot log in with this account.", str(error))


def _social_app(provider: IdentityProvider) -> SocialApp:
    app = SocialApp(provider="openid_connect", provider_id=provider.id, name=provider.name)
    app.client_id, app.secret = provider.client_id, provider.client_secret
    app.settings = {"server_url": provider.issuer, "oauth_pkce_enabled": True}
    return app


def _raise_error_page(request: HttpRequest, message: str, detail: str) -> NoReturn:
    context = {"status": 403, "message": message, "detail": detail}
    raise ImmediateHttpResponse(render(request, "error.html", context, status=403))
