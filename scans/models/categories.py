"""Model mixin with a column for the categories of security checks to which scans are limited."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from website_scan.security_categories import Categories, SecurityCategory, limitation


def stored_categories(categories: Categories | None) -> list[str] | None:
    """Return the value of the column."""
    return None if categories is None else list(map(str, categories))


class WithCategories(models.Model):
    """Abstract model with optional categories of security checks."""

    categories = ArrayField(
        models.CharField(max_length=16),
        null=True,
        blank=True,
        help_text="Categories of security checks that are judged. Null: all.",
    )

    class Meta:
        abstract = True

    @property
    def chosen_categories(self) -> Categories | None:
        """Return the chosen categories, or None for all."""
        return None if self.categories is None else tuple(map(SecurityCategory, self.categories))

    @property
    def limitation(self) -> str:
        """Return the sentences that name the chosen categories. Empty if all are judged."""
        return limitation(self.chosen_categories)
