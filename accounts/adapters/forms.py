"""django-allauth's forms with other labels and additional validation."""

from __future__ import annotations

import hashlib
from typing import Any

from allauth.account import forms as account_forms
from allauth.account.models import EmailAddress
from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as mfa_forms
from allauth.mfa.totp import forms as totp_forms
from allauth.mfa.webauthn import forms as webauthn_forms
from django import forms
from django.core.cache import cache

# A code of an authenticator app is valid for 90 seconds: its own period of 30 seconds, the previous and the next one.
CODE_LIFETIME_S = 90
MAX_NAME_LENGTH = 60
CODE = {"autocomplete": "one-time-code", "inputmode": "numeric", "maxlength": "20", "autofocus": True}


class LoginForm(account_forms.LoginForm):
    """Login form with e-mail address and password.

    It sets the `autocomplete` values that password managers need.
    """

    remember = forms.BooleanField(
        label="Stay logged in", required=False, help_text="For two weeks. Do not use this on a shared computer."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"] = forms.EmailField(
            label="E-mail address",
            max_length=254,
            widget=forms.EmailInput(attrs={"autofocus": True, "autocomplete": "username"}),
        )
        self.fields["password"] = _password_field()
        self.order_fields(("login", "password", "remember"))


class ReauthenticateForm(account_forms.ReauthenticateForm):
    """Form to reauthenticate with the password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"] = _password_field(autofocus=True)

    def clean_password(self) -> str:
        """Check the logged-in user's password. django-allauth would look up the address in its own table."""
        password: str = self.cleaned_data["password"]
        if not self.user.check_password(password):
            raise forms.ValidationError("The password is wrong.")
        return password


class AddEmailForm(account_forms.AddEmailForm):
    """Form for the account's new e-mail address."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"] = forms.EmailField(
            label="New e-mail address", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
        )

    def clean_email(self) -> str:
        """Delete an unconfirmed request for the same address, so that the person can request the link again."""
        unconfirmed = EmailAddress.objects.filter(user=self.user, verified=False)
        unconfirmed.filter(email=self.cleaned_data["email"].lower()).delete()
        email: str = super().clean_email()
        return email


class _SingleUseCode:
    """Form mixin that accepts an authentication code only once."""

    def clean_code(self) -> str:
        code: str = super().clean_code()  # type: ignore[misc]
        digest = hashlib.sha256(normalize_user_code(code).encode()).hexdigest()
        if not cache.add(f"second-factor:{self.user.pk}:{digest}", 1, CODE_LIFETIME_S):  # type: ignore[attr-defined]
            raise get_adapter().validation_error("incorrect_code")
        return code


class AuthenticateForm(_SingleUseCode, mfa_forms.AuthenticateForm):
    code = forms.CharField(
        label="Code",
        max_length=20,
        help_text="The six digits that your authenticator app shows, or one of your recovery codes.",
        widget=forms.TextInput(attrs=CODE),
    )


class ReauthenticateCodeForm(_SingleUseCode, mfa_forms.ReauthenticateForm):
    code = AuthenticateForm.base_fields["code"]


class ActivateTOTPForm(totp_forms.ActivateTOTPForm):
    code = forms.CharField(
        label="Code",
        max_length=20,
        help_text="The six digits that your app shows now.",
        widget=forms.TextInput(attrs=CODE),
    )


class AddPasskeyForm(webauthn_forms.AddWebAuthnForm):
    """Form for a new passkey.

    `credential` is the browser's response to the page's challenge.
    """

    name = forms.CharField(
        label="Name",
        required=False,
        max_length=MAX_NAME_LENGTH,
        help_text="To distinguish it from others, such as “Phone”.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    passwordless = forms.BooleanField(
        label="Log in with it without a password",
        required=False,
        initial=True,
        help_text="Your device then prompts you for your fingerprint, face or PIN.",
    )


class EditPasskeyForm(webauthn_forms.EditWebAuthnForm):
    name = forms.CharField(
        label="Name", max_length=MAX_NAME_LENGTH, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )


def _password_field(**attrs: Any) -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": "current-password"} | attrs)
    return forms.CharField(label="Password", strip=False, widget=widget)
