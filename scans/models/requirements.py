"""Model mixin with a column for own requirements of the pages."""

from __future__ import annotations

from django.db import models

from website_scan.requirements.model import Requirements, RequirementsJson
from website_scan.requirements.reading import read_requirements


def stored_requirements(requirements: Requirements | None) -> RequirementsJson | None:
    """Return the value of the column."""
    return None if requirements is None else requirements.json()


class WithRequirements(models.Model):
    """Abstract model with optional own requirements."""

    requirements: models.JSONField[RequirementsJson | None, RequirementsJson | None] = models.JSONField(
        null=True, blank=True, help_text="Own requirements of the pages. Null: none."
    )

    class Meta:
        abstract = True

    @property
    def own_requirements(self) -> Requirements | None:
        """Return the own requirements, or None if there are none.

        Raises ValueError if a later version refuses stored ones.
        """
        return None if self.requirements is None else read_requirements(self.requirements)
