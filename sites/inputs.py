"""Fields that requests for monitors and for lists share."""

from __future__ import annotations

from typing import Any

from infrastructure.api.inputs import Text
from sites.models.monitor import NAME_LENGTH
from sites.schedule import time_zones


def name_field(**options: Any) -> Text:
    """Return the field for the name of a monitor or a list."""
    return Text(
        max_length=NAME_LENGTH,
        says=f"name must have 1 to {NAME_LENGTH} printable characters.",
        tidy=lambda name: " ".join(name.split()),
        accepts=str.isprintable,
        **options,
    )


def zone_field() -> Text:
    """Return the field for a time zone."""
    return Text(
        required=False,
        help_text="Of the IANA time zone database; else UTC.",
        says="timezone must be a name of the IANA time zone database, such as Europe/Berlin.",
        accepts=lambda name: name in time_zones(),
    )
