"""Model mixin with a column for the widths and the colour scheme in which pages are judged."""

from __future__ import annotations

from django.db import models

from website_scan.viewing import StoredViewing, Viewing


def stored_viewing(viewing: Viewing | None) -> StoredViewing | None:
    """Return the value of the column."""
    return None if viewing is None else viewing.json


class WithViewing(models.Model):
    """Abstract model with optional widths and colour scheme."""

    viewing: models.JSONField[StoredViewing | None, StoredViewing | None] = models.JSONField(
        null=True, blank=True, help_text="Widths in pixels and colour scheme. Null: the usual ones."
    )

    class Meta:
        abstract = True

    @property
    def chosen_viewing(self) -> Viewing | None:
        """Return the chosen widths and colour scheme, or None if nobody has chosen any."""
        return None if self.viewing is None else Viewing.from_json(self.viewing)
