"""`manage.py doctor`: report whether every part of this installation works, with remedies for those that do not."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand

from operations.health.diagnosis import diagnoses

SUBJECT_WIDTH = 18


class Command(BaseCommand):
    help = "Checks settings, servers, workers, mail and address, and explains how to fix what does not work."
    requires_system_checks = []  # The diagnoses include the system checks.

    def handle(self, *args: Any, **options: Any) -> None:
        problems = 0
        for diagnosis in diagnoses():
            mark = "ok" if diagnosis.is_well else "!!"
            self.stdout.write(f"{mark}  {diagnosis.subject:{SUBJECT_WIDTH}}{diagnosis.state}")
            if not diagnosis.is_well:
                problems += 1
                self.stdout.write(f"    {'':{SUBJECT_WIDTH}}→ {diagnosis.remedy}")
            self.stdout.flush()
        if problems:
            self.stdout.write(f"\n{problems} problem{'s' if problems > 1 else ''}.")
            sys.exit(1)
        self.stdout.write("\nEverything works.")
