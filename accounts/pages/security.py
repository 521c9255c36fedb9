"""Pages for second factors and passkeys.

They extend django-allauth's views with limits and templates.
"""

from __future__ import annotations

from typing import Any, cast

from allauth.account import views as account_views
from allauth.account.models import Login
from allauth.account.utils import get_next_redirect_url
from allauth.mfa.base import views as base
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as webauthn
from allauth.mfa.webauthn.internal.flows import perform_passwordless_login
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe
from django.views.generic import View
from qrcode import QRCode

from accounts import access, limits, roles
from accounts.identity import devices
from accounts.identity.factors import factors_of_user
from accounts.identity.freshness import reauthenticates_itself, require_fresh_login, session_suffices
from accounts.limits import Limit
from accounts.models import User
from accounts.pages.login import MAX_ATTEMPTS_PER_ADDRESS, MAX_ATTEMPTS_PER_NETWORK

# Three of the one million six-digit codes are valid at a time, so guessing for an hour succeeds with a probability of
# 1:10,000.
MAX_AUTHENTICATIONS_PER_MINUTE = 10
MAX_AUTHENTICATIONS_PER_HOUR = 30
MAX_PASSKEYS = 20
INDEX = reverse_lazy("mfa_index")


def limit_authentications(request: HttpRequest, user: User) -> HttpResponse | None:
    """Count an attempt to authenticate with a code or password.

    Returns an error page if there were too many.

    A browser with a device cookie has its own limit, so that a thief with the password cannot lock the person out.
    """
    device = devices.read_device_id(request, user.email)
    subject = f"device {device}" if device else str(user.pk)
    return limits.refusal(request, "code", [Limit(subject, MAX_AUTHENTICATIONS_PER_MINUTE)]) or limits.refusal(
        request, "codes", [Limit(subject, MAX_AUTHENTICATIONS_PER_HOUR)], window_s=limits.HOUR_S
    )


class PersonalPage(View):
    """Mixin for a logged-in user's uncached pages.

    If `limited` is True, POST requests have a rate limit.
    """

    limited = False

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        refusal = None
        if self.limited and request.method == "POST" and request.user.is_authenticated:
            refusal = limit_authentications(request, request.user)
        view = cast("roles.View", super().dispatch)
        response = refusal or roles.require_login(view)(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response


@require_safe
@roles.require_login
def index(request: HttpRequest) -> HttpResponse:
    """List the user's second factors and passkeys."""
    factors = factors_of_user(cast("User", request.user))
    second_factors = [factor for factor in factors if factor.type != Authenticator.Type.RECOVERY_CODES]
    requiring = access.organizations_of_user(request.user).filter(second_factor_required=True).order_by("name")
    recovery = next((factor for factor in factors if factor.type == Authenticator.Type.RECOVERY_CODES), None)
    context = {
        "required_by": [] if second_factors else list(requiring[:10]),
        "app": next((factor for factor in factors if factor.type == Authenticator.Type.TOTP), None),
        "most_passkeys": MAX_PASSKEYS,
        "passkeys": [factor for factor in factors if factor.type == Authenticator.Type.WEBAUTHN],
        "recovery": recovery,
        "codes_left": len(recovery.wrap().get_unused_codes()) if recovery else 0,
    }
    return render(request, "accounts/security/index.html", context)


@session_suffices("proves the identity itself")
class SecondFactorView(base.AuthenticateView):
    """Page that asks for the second factor during a login."""

    template_name = "accounts/security/second_factor.html"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        user = self.stage.login.user
        response: HttpResponse = limit_authentications(request, user) or super().post(request, *args, **kwargs)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | _factor_context(self.stage.login.user)


@session_suffices("proves the identity itself")
class PasskeyLoginView(webauthn.LoginWebAuthnView):
    """Page for logging in with a passkey instead of an e-mail address, password and second factor."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Send a WebAuthn challenge.

        Challenges have a rate limit, because a session stores every one.
        """
        response: HttpResponse = self._limit_attempts("challenge") or super().get(request, *args, **kwargs)
        return response

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = self._limit_attempts("login") or super().post(request, *args, **kwargs)
        return response

    def _limit_attempts(self, group: str) -> HttpResponse | None:
        attempts = [
            Limit(limits.client(self.request), MAX_ATTEMPTS_PER_ADDRESS),
            Limit(f"network {limits.network(self.request)}", MAX_ATTEMPTS_PER_NETWORK),
        ]
        return limits.refusal(self.request, group, attempts)

    def form_valid(self, form: Any) -> HttpResponse:
        """Redirect to `next` after the login, which django-allauth does not do."""
        authenticator = form.cleaned_data["credential"]
        login = Login(user=authenticator.user, redirect_url=get_next_redirect_url(self.request))
        return perform_passwordless_login(self.request, authenticator, login)


@reauthenticates_itself
class AppAddView(PersonalPage, totp.ActivateTOTPView):
    template_name = "accounts/security/app_add.html"
    limited = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        code = QRCode(border=4)
        code.add_data(context["totp_url"])
        rows = code.get_matrix()
        dots = [(x, y) for y, row in enumerate(rows) for x, dark in enumerate(row) if dark]
        secret = context["form"].secret
        groups = " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))
        return context | {"size": len(rows), "dots": dots, "groups": groups}


@reauthenticates_itself
class AppRemoveView(PersonalPage, totp.DeactivateTOTPView):
    template_name = "accounts/security/app_remove.html"


@reauthenticates_itself
class PasskeyAddView(PersonalPage, webauthn.AddWebAuthnView):
    template_name = "accounts/security/passkey_add.html"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        factors = factors_of_user(cast("User", request.user))
        if sum(factor.type == Authenticator.Type.WEBAUTHN for factor in factors) >= MAX_PASSKEYS:
            messages.error(request, f"You have {MAX_PASSKEYS} passkeys, which is the maximum. Remove one first.")
            return redirect(INDEX)
        response: HttpResponse = super().post(request, *args, **kwargs)
        return response


@reauthenticates_itself
class PasskeyEditView(PersonalPage, webauthn.EditWebAuthnView):
    template_name = "accounts/security/passkey_edit.html"
    success_url = INDEX


@reauthenticates_itself
class PasskeyRemoveView(PersonalPage, webauthn.RemoveWebAuthnView):
    template_name = "accounts/security/passkey_remove.html"
    success_url = INDEX


class CodesView(PersonalPage, codes.ViewRecoveryCodesView):
    template_name = "accounts/security/codes.html"


@reauthenticates_itself
class CodesNewView(PersonalPage, codes.GenerateRecoveryCodesView):
    template_name = "accounts/security/codes_new.html"


@reauthenticates_itself
class CodesDownloadView(PersonalPage, codes.DownloadRecoveryCodesView):
    template_name = "accounts/security/codes.txt"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        view = require_fresh_login(back=lambda _: reverse("mfa_view_recovery_codes"))(super().dispatch)
        return roles.require_login(view)(request, *args, **kwargs)


@session_suffices("proves the identity itself")
class PasswordReauthenticationView(PersonalPage, account_views.ReauthenticateView):
    template_name = "accounts/security/password_again.html"
    limited = True


@session_suffices("proves the identity itself")
class CodeReauthenticationView(PersonalPage, base.ReauthenticateView):
    template_name = "accounts/security/code_again.html"
    limited = True


@session_suffices("proves the identity itself")
class PasskeyReauthenticationView(PersonalPage, webauthn.ReauthenticateWebAuthnView):
    template_name = "accounts/security/passkey_again.html"

    def form_invalid(self, form: Any) -> HttpResponse:
        return redirect(reverse("mfa_reauthenticate_webauthn"))


def _factor_context(user: User) -> dict[str, bool]:
    types = {factor.type for factor in factors_of_user(user)}
    return {"has_passkey": Authenticator.Type.WEBAUTHN in types, "has_codes": types != {Authenticator.Type.WEBAUTHN}}
