"""Django app configuration that connects signals for logins and second factors."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in


class AccountsConfig(AppConfig):
    """Accounts app configuration.

    Connects receivers for logins and second factor changes.
    """

    name = "accounts"

    def ready(self) -> None:
        from allauth.mfa import signals

        from accounts import sessions  # Django can import models only after it has loaded all apps.
        from accounts.adapters import mfa

        user_logged_in.connect(sessions.create_login_session, dispatch_uid="accounts.sessions")
        signals.authenticator_added.connect(mfa.record_added_factor, dispatch_uid="accounts.mfa.added")
        signals.authenticator_removed.connect(mfa.record_removed_factor, dispatch_uid="accounts.mfa.removed")
        signals.authenticator_reset.connect(mfa.record_new_recovery_codes, dispatch_uid="accounts.mfa.reset")
        signals.authenticator_used.connect(mfa.notify_of_used_recovery_code, dispatch_uid="accounts.mfa.used")
        signals.authentication_failed.connect(mfa.record_failed_factor, dispatch_uid="accounts.mfa.failed")
