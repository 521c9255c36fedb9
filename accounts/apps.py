"""What is connected when the service starts."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in


class AccountsConfig(AppConfig):
    """Every login is a session that its person can see and end."""

    name = "accounts"

    def ready(self) -> None:
        from accounts import sessions  # models can't be imported before all apps are there

        user_logged_in.connect(sessions.begin, dispatch_uid="accounts.sessions")
