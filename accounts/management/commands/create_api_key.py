"""Command `manage.py create_api_key ORG`, which prints a new API key."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import ProgrammingError, transaction
from django.utils import timezone

from accounts.keys.services import create_api_key
from accounts.models import Tier
from accounts.services import ensure_organization
from infrastructure.api.scopes import Scope

EXIT_UNAVAILABLE = 1
EXIT_USAGE = 2
MAX_NAME_LENGTH = 100
MAX_DAYS = 5 * 365


class Command(BaseCommand):
    help = "Creates an API key, and the organization when it is missing. Prints only the key."
    requires_system_checks = ["environment"]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("organization", metavar="ORG", type=_key_name, help="The organization's name.")
        parser.add_argument("--tier", metavar="NAME", type=_key_name, help="The plan to put the organization on.")
        parser.add_argument(
            "--name", metavar="TEXT", type=_key_name, default="Command line", help="What the key is for."
        )
        parser.add_argument(
            "--scope",
            type=Scope,
            choices=list(Scope),
            default=Scope.MANAGE,
            metavar="|".join(Scope),
            help="What the key may do; each scope includes those before it. Default: everything.",
        )
        parser.add_argument(
            "--expires",
            type=_lifetime_days,
            metavar="DAYS",
            help="After how many days the key ends. Without it, never.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with transaction.atomic():
                organization = ensure_organization(name=options["organization"], tier=options["tier"])
                _, key = create_api_key(
                    organization=organization,
                    name=options["name"],
                    scope=options["scope"],
                    expires_at=options["expires"],
                )
        except Tier.DoesNotExist:
            names = ", ".join(Tier.objects.values_list("name", flat=True))
            raise CommandError(
                f"There is no tier {options['tier']!r}; there are {names}.", returncode=EXIT_USAGE
            ) from None
        except ValueError as error:
            raise CommandError(str(error), returncode=EXIT_USAGE) from None
        except ProgrammingError:
            message = "The database has no tables of this version. Run `python manage.py migrate` first."
            raise CommandError(message, returncode=EXIT_UNAVAILABLE) from None
        self.stdout.write(key)


def _key_name(raw: str) -> str:
    if not raw.strip() or len(raw) > MAX_NAME_LENGTH or not raw.isprintable():
        raise ArgumentTypeError(f"a name has 1 to {MAX_NAME_LENGTH} printable characters")
    return raw.strip()


def _lifetime_days(raw: str) -> datetime:
    if not raw.isascii() or not raw.isdecimal() or not 1 <= int(raw[:9]) <= MAX_DAYS:
        raise ArgumentTypeError(f"a key ends after 1 to {MAX_DAYS} days")
    return timezone.now() + timedelta(days=int(raw))
