"""Command `manage.py remove_second_factor ADDRESS`, for a person who has lost all second factors."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts import access
from accounts.services import remove_second_factors


class Command(BaseCommand):
    help = "Removes the authenticator app, passkeys and recovery codes of a person, and ends their sessions."
    requires_system_checks = ["environment"]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="ADDRESS", help="The e-mail address of the account.")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        user = access.find_person(email)
        if user is None:
            raise CommandError("There is no account with this address.")
        count = remove_second_factors(user)
        if not count:
            raise CommandError("This account has no second factor.")
        self.stdout.write(f"Removed. {user.email} can log in with the password alone, and has been notified.")
