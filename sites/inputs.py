"""Fields and rules that requests for monitors and requests for lists share."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from accounts.models import Interval, Tier
from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Text
from sites.models.monitor import NAME_LENGTH
from sites.schedule import PERIODS, time_zones


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
    """Return the field for an IANA time zone."""
    return Text(
        required=False,
        help_text="Of the IANA time zone database; else UTC.",
        says="timezone must be a name of the IANA time zone database, such as Europe/Berlin.",
        accepts=lambda name: name in time_zones(),
    )


def refuse_shorter_than_tier(every: str, period: timedelta, tier: Tier) -> None:
    """Raise InvalidParams if the interval `every`, of length `period`, is shorter than the tier allows."""
    shortest = Interval(tier.shortest_interval)
    if period < PERIODS[shortest]:
        raise InvalidParams(f"every is {every}; your plan allows {shortest.label} at most.", "every")
