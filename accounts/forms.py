"""Forms for people."""

from __future__ import annotations

from django import forms
from django.contrib.auth.forms import AuthenticationForm


class LoginForm(AuthenticationForm):
    """E-mail address and password. The field is called `username`, as password managers know it."""

    username = forms.EmailField(
        label="E-mail address",
        max_length=254,
        widget=forms.EmailInput(attrs={"autofocus": True, "autocomplete": "username"}),
    )
    error_messages = {
        "invalid_login": "The e-mail address or the password is wrong.",
        "inactive": "This account has been closed.",
    }
