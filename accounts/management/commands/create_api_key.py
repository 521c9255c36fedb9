"""`manage.py create_api_key ORG`."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Tier
from accounts.services import create_api_key, ensure_organization


class Command(BaseCommand):
    help = "Creates an API key, and the organization when it is missing. Prints only the key."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("organization", metavar="ORG", help="The organization's name.")
        parser.add_argument("--tier", metavar="NAME", help="The plan to put the organization on.")
        parser.add_argument("--name", metavar="TEXT", default="Command line", help="What the key is for.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            organization = ensure_organization(name=options["organization"], tier=options["tier"])
        except Tier.DoesNotExist:
            known = ", ".join(Tier.objects.values_list("name", flat=True))
            raise CommandError(
                f"There is no tier {options['tier']!r}; there are {known}.", returncode=2
            ) from None
        except ValueError as error:
            raise CommandError(str(error), returncode=2) from None
        _, key = create_api_key(organization=organization, name=options["name"])
        self.stdout.write(key)
