"""App configuration: connects the signals of log-ins and second factors."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in


class AccountsConfig(AppConfig):
    """Every login gets a LoginSession row, and changes of second factors are recorded."""

    name = "accounts"

    def ready(self) -> None:
        from allauth.mfa import signals

        from accounts import sessions  # models can't be imported before all apps are there
        from accounts.adapters import mfa

        user_logged_in.connect(sessions.begin, dispatch_uid="accounts.sessions")
        signals.authenticator_added.connect(mfa.note_added, dispatch_uid="accounts.mfa.added")
        signals.authenticator_removed.connect(mfa.note_removed, dispatch_uid="accounts.mfa.removed")
        signals.authenticator_reset.connect(mfa.note_reset, dispatch_uid="accounts.mfa.reset")
        signals.authenticator_used.connect(mfa.note_use, dispatch_uid="accounts.mfa.used")
        signals.authentication_failed.connect(mfa.note_failure, dispatch_uid="accounts.mfa.failed")
