"""Maintenance mode, set by the variable `MAINTENANCE_MODE` or by a database switch that needs no restart.

This module only reads the switch. It uses SQL, because `infrastructure.api.errors` imports it before models are loaded.
"""

from __future__ import annotations

import logging
import math
import re
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from django.conf import settings
from django.db import Error, InterfaceError, OperationalError
from msgspec import Struct

from infrastructure.postgresql.hang_detection import log_failure
from infrastructure.postgresql.statements import fetch

logger = logging.getLogger(__name__)

# A process caches the switch for this many seconds, so that not every API request runs a query.
REFRESH_S = 3.0
MESSAGE = "The service is under maintenance. Try again later."

SWITCH_QUERY = "SELECT is_on, message, created_at FROM infrastructure_maintenanceswitch ORDER BY id DESC LIMIT 1"
# Time of day in the operator's message. It becomes the Retry-After of responses.
END = re.compile(r"(?<![\d:])([01]?\d|2[0-3]):([0-5]\d) ?(?:UTC|GMT)\b")
# Retry-After if the message has no time of day, or if that time has passed.
RETRY_S = 60
T = TypeVar("T")


class Notice(Struct, frozen=True):
    """Maintenance message for clients.

    If it contains a time of day, maintenance ends then.
    """

    message: str
    ends_at: datetime | None = None


class _Switch(Generic[T]):
    """Cache for the maintenance switch.

    One thread at a time refreshes it, and the others read the cached state.
    """

    def __init__(self, ask: Callable[[], T | None], next_ask: float = 0.0) -> None:
        self._read = ask
        self._next_read = next_ask
        self._message: T | None = None
        self._refresh_lock = threading.Lock()

    def message(self) -> T | None:
        """Return the notice for clients, or None while the switch is off."""
        if time.monotonic() >= self._next_read and self._refresh_lock.acquire(blocking=False):
            try:
                self._message = self._read()
            except Error as error:
                # After a database error, the cached state remains valid.
                if isinstance(error, OperationalError | InterfaceError):
                    log_failure(error)
                else:
                    logger.error("the maintenance switch could not be read, it stays as it was: %s", error)
            finally:
                self._next_read = time.monotonic() + REFRESH_S
                self._refresh_lock.release()
        return self._message


def end_in(message: str, since: datetime) -> datetime | None:
    """Return when the message's time of day (UTC) next occurs after `since`.

    None if it contains no time.
    """
    match = END.search(message)
    if match is None:
        return None
    since = since.astimezone(UTC)
    end = since.replace(hour=int(match[1]), minute=int(match[2]), second=0, microsecond=0)
    return end if end > since else end + timedelta(days=1)


def _stored() -> Notice | None:
    for is_on, message, created_at in fetch(SWITCH_QUERY, {}):
        return Notice(message or MESSAGE, end_in(message, created_at)) if is_on else None
    return None


_switch = _Switch(_stored)


def maintenance_notice() -> Notice | None:
    """Return the notice for clients during maintenance, else None.

    A change takes effect after `REFRESH_S` at most.
    """
    return Notice(MESSAGE) if settings.MAINTENANCE_MODE else _switch.message()


def retry_after_s(notice: Notice) -> int:
    """Return the seconds until maintenance ends, at most a day.

    RETRY_S if the end is unknown or has passed.
    """
    remaining_s = (notice.ends_at - datetime.now(UTC)).total_seconds() if notice.ends_at else 0
    return math.ceil(remaining_s) if remaining_s > 0 else RETRY_S
