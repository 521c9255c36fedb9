"""`manage.py doctor`: say whether this installation works, and how to mend what does not."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand

from operations.health.diagnosis import diagnoses

SUBJECT_WIDTH = 18


class Command(BaseCommand):
    help = "Looks at settings, servers, workers, mail and address, and says how to mend what does not work."
    requires_system_checks = []  # they are a part of what it tells

    def handle(self, *args: Any, **options: Any) -> None:
        ill = 0
        for each in diagnoses():
            mark = "ok" if each.is_well else "!!"
            self.stdout.write(f"{mark}  {each.subject:{SUBJECT_WIDTH}}{each.state}")
            if not each.is_well:
                ill += 1
                self.stdout.write(f"    {'':{SUBJECT_WIDTH}}→ {each.remedy}")
            self.stdout.flush()
        if ill:
            self.stdout.write(f"\n{ill} problem{'s' if ill > 1 else ''}.")
            sys.exit(1)
        self.stdout.write("\nEverything works.")
