"""Maintenance mode: the variable `MAINTENANCE_MODE`, or a switch in the database that works without a restart.

This module only reads the switch, and with SQL, because the API's errors import it before the models are loaded.
"""

from __future__ import annotations

import logging
import math
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from django.conf import settings
from django.db import Error, InterfaceError, OperationalError

from infrastructure.postgresql.silence import log_failure
from infrastructure.postgresql.statements import fetch

logger = logging.getLogger(__name__)

# How long a process caches the switch, so that requests of the API don't each run a query for it.
REFRESH_S = 3.0
MESSAGE = "The service is under maintenance. Try again later."

SWITCH_QUERY = "SELECT is_on, message, created_at FROM infrastructure_maintenanceswitch ORDER BY id DESC LIMIT 1"
# A time of day in the message is the end of the maintenance: clients wait until then.
END = re.compile(r"(?<![\d:])([01]?\d|2[0-3]):([0-5]\d) ?(?:UTC|GMT)\b")
# Without a time, or after it has passed.
RETRY_S = 60
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Notice:
    """Message for clients, and the end of the maintenance if the message names it."""

    message: str
    ends_at: datetime | None = None


class _Switch(Generic[T]):
    """Cached state of the switch. One thread at a time refreshes it, the others use the cached state."""

    def __init__(self, ask: Callable[[], T | None], next_ask: float = 0.0) -> None:
        self._ask = ask
        self._next_ask = next_ask
        self._message: T | None = None
        self._asking = threading.Lock()

    def message(self) -> T | None:
        """Return the notice for clients; None while the switch is off."""
        if time.monotonic() >= self._next_ask and self._asking.acquire(blocking=False):
            try:
                self._message = self._ask()
            except Error as error:
                # The cached state stays.
                if isinstance(error, OperationalError | InterfaceError):
                    log_failure(error)
                else:
                    logger.error("the maintenance switch could not be read, it stays as it was: %s", error)
            finally:
                self._next_ask = time.monotonic() + REFRESH_S
                self._asking.release()
        return self._message


def end_in(message: str, since: datetime) -> datetime | None:
    """Return the first moment after `since` with the time of day in UTC that the message names; None without one."""
    found = END.search(message)
    if found is None:
        return None
    since = since.astimezone(UTC)
    end = since.replace(hour=int(found[1]), minute=int(found[2]), second=0, microsecond=0)
    return end if end > since else end + timedelta(days=1)


def _stored() -> Notice | None:
    for is_on, message, created_at in fetch(SWITCH_QUERY, {}):
        return Notice(message or MESSAGE, end_in(message, created_at)) if is_on else None
    return None


_switch = _Switch(_stored)


def maintenance_notice() -> Notice | None:
    """Return the notice for clients during maintenance, else None. It is at most `REFRESH_S` old."""
    return Notice(MESSAGE) if settings.MAINTENANCE_MODE else _switch.message()


def retry_after_s(notice: Notice) -> int:
    """Return the seconds until the end that the notice names, which is within a day; a minute without one."""
    left = (notice.ends_at - datetime.now(UTC)).total_seconds() if notice.ends_at else 0
    return math.ceil(left) if left > 0 else RETRY_S
