"""django-allauth's adapter for identity providers (OpenID Connect), which operators configure."""

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

# Limits of a provider's response: seconds until the last byte, seconds for each read, and bytes.
RESPONSE_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 5.0
MAX_RESPONSE_BYTES = 1 << 20


class BoundedSession(requests.Session):
    """HTTP session for calls to a provider, with limits of time and size; raises requests.RequestException.

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
                raise requests.Timeout("the identity provider took too long, or said too much")
        response._content = bytes(body)  # noqa: SLF001 -- requests has no other way to set a body that was read in parts
        return response


class ProviderAdapter(DefaultSocialAccountAdapter):
    """Adapter that reads providers from the settings only. The database stores neither providers nor their tokens."""

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[SocialApp]:
        return [
            _app(configured)
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
        """Refuse a log-in that the person or the provider has cancelled, or that began in another browser."""
        if exception is not None:
            logger.warning("the log-in with %s failed: %s", provider.id, exception)
        _refuse(
            request, "You have not been logged in.", f"The log-in with {provider.name} was not completed. Try again."
        )

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """On the first log-in, connect the account to the person with the verified address, or to a new person."""
        data = sociallogin.account.extra_data
        claims, token = data.get("userinfo") or {}, data.get("id_token") or {}
        if claims and token and claims.get("sub") != token.get("sub"):  # OpenID Connect Core, section 5.3.2
            _refuse(request, "The identity provider gave contradictory answers.", "Try again.")
        if sociallogin.is_existing:
            return
        claims = claims or token
        email = _valid_email(claims.get("email"))
        provider = next(item for item in settings.OIDC_PROVIDERS if item.id == sociallogin.account.provider)
        # `is not True`, because the string "false" is truthy.
        if not email or claims.get("email_verified") is not True or not provider.speaks_for(email):
            detail = f"{provider.name} has not confirmed an e-mail address of yours that it may speak for."
            _refuse(request, "You cannot log in with this account.", detail)
        sociallogin.connect(request, access.find_person(email) or _create_person(request, email))


def _valid_email(claim: object) -> str:
    """Return the claim if it is a valid e-mail address; otherwise an empty string, such as for two addresses."""
    email = claim.strip() if isinstance(claim, str) else ""
    try:
        User._meta.get_field("email").run_validators(email)
    except ValidationError:
        return ""
    return email


def _create_person(request: HttpRequest, email: str) -> User:
    if not settings.SIGN_UP_OPEN and not is_invited(email):
        _refuse(request, "Sign-up is closed.", "Ask an admin of your organization for an invitation.")
    try:
        return create_person(email=email, password=None)
    except AccountRefused as error:
        _refuse(request, "You cannot log in with this account.", str(error))


def _app(provider: IdentityProvider) -> SocialApp:
    app = SocialApp(provider="openid_connect", provider_id=provider.id, name=provider.name)
    app.client_id, app.secret = provider.client_id, provider.client_secret
    app.settings = {"server_url": provider.issuer, "oauth_pkce_enabled": True}
    return app


def _refuse(request: HttpRequest, message: str, detail: str) -> NoReturn:
    context = {"status": 403, "message": message, "detail": detail}
    raise ImmediateHttpResponse(render(request, "error.html", context, status=403))
