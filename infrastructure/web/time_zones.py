"""The reader's time zone, in which pages and e-mails show times.

Django's current time zone is not used for it, because that would also change the API's timestamps, the meaning of
dates in forms, and how queries group by day.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError

from infrastructure.time_zones import time_zones

MINUTE = "%Y-%m-%d %H:%M"

_reader_zone: ContextVar[str] = ContextVar("reader_zone", default="")


def validate_time_zone(name: str) -> None:
    """Raise ValidationError if the IANA database has no such time zone."""
    if name not in time_zones():
        raise ValidationError("Choose a time zone from the list.")


def reader_zone() -> str:
    """Return the IANA name of the reader's time zone. Empty if the reader has not chosen one."""
    return _reader_zone.get()


def set_reader_zone(name: str) -> None:
    """Set the time zone of the request's reader. Empty means UTC."""
    _reader_zone.set(name if name in time_zones() else "")


@contextmanager
def reading_in(name: str) -> Iterator[None]:
    """Show times in this time zone within the `with` block."""
    former = _reader_zone.get()
    set_reader_zone(name)
    try:
        yield
    finally:
        _reader_zone.set(former)


def in_zone(moment: datetime, form: str = MINUTE) -> str:
    """Return a time in the reader's time zone, without the zone's name."""
    return _localize(moment).strftime(form)


def with_zone(moment: datetime, form: str = MINUTE) -> str:
    """Return a time in the reader's time zone with the zone's name, such as `2026-11-29 14:05 CET`."""
    local = _localize(moment)
    return f"{local.strftime(form)} {_zone_name(local)}"


def zone_name() -> str:
    """Return the short name of the reader's time zone at present, for headings of columns."""
    return _zone_name(_localize(datetime.now(UTC)))


def _localize(moment: datetime) -> datetime:
    zone = _reader_zone.get()
    return moment.astimezone(ZoneInfo(zone) if zone else UTC)


def _zone_name(local: datetime) -> str:
    """Return an abbreviation such as "CET". Zones without one get their offset, such as "UTC-03"."""
    name = local.tzname() or "UTC"
    return f"UTC{name}" if name[0] in "+-" else name
