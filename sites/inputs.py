"""Serializer fields and validation that monitors and lists have in common."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from accounts.models import Interval, Tier
from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Text
from infrastructure.web.time_zones import time_zones
from sites.models.monitor import MAX_NAME_LENGTH
from sites.schedule import PERIODS


def name_field(**options: Any) -> Text:
    """Return a serializer field for the name of a monitor or a list."""
    return Text(
        max_length=MAX_NAME_LENGTH,
        says=f"name must have 1 to {MAX_NAME_LENGTH} printable characters.",
        tidy=lambda name: " ".join(name.split()),
        accepts=str.isprintable,
        **options,
    )


def zone_field() -> Text:
    """Return a serializer field for the name of an IANA time zone."""
    return Text(
        required=False,
        help_text="Name in the IANA time zone database; default: UTC.",
        says="timezone must be a name of the IANA time zone database, such as Europe/Berlin.",
        accepts=lambda name: name in time_zones(),
    )


def refuse_shorter_than_tier(every: str, period: timedelta, tier: Tier) -> None:
    """Raise InvalidParams if the interval is shorter than the tier allows.

    `every` is the name of the interval, `period` its length.
    """
    shortest = Interval(tier.shortest_interval)
    if period < PERIODS[shortest]:
        raise InvalidParams(f"every is {every}; your plan allows {shortest.label} at most.", "every")
