"""`manage.py maintenance`: switch maintenance mode on or off from a shell or script."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from infrastructure.maintenance import MESSAGE
from infrastructure.models import MaintenanceSwitch, switch_maintenance


class Command(BaseCommand):
    help = "Switches maintenance on or off, or prints its state. Takes effect within seconds, without a restart."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("state", nargs="?", choices=["on", "off"])
        limit = MaintenanceSwitch._meta.get_field("message").max_length
        parser.add_argument("--message", default="", help=f"message for clients, up to {limit} characters")

    def handle(self, *args: Any, state: str | None, message: str, **options: Any) -> None:
        if state is None:
            current = MaintenanceSwitch.objects.first()
        else:
            current = switch_maintenance(is_on=state == "on", message=message)
        if current is not None and current.is_on:
            self.stdout.write(f"Maintenance is on: {current.message or MESSAGE}")
        else:
            self.stdout.write("Maintenance is off.")
