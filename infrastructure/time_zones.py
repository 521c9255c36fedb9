"""Names of time zones."""

from __future__ import annotations

from functools import lru_cache
from zoneinfo import available_timezones


@lru_cache(maxsize=1)
def time_zones() -> tuple[str, ...]:
    """Return the sorted names of all IANA time zones, without aliases for the local zone of the machine."""
    return tuple(sorted(zone for zone in available_timezones() if zone not in ("localtime", "Factory")))
