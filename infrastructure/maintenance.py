"""Maintenance mode: the variable `MAINTENANCE_MODE`, or a switch in the database that works without a restart.

This module only reads the switch, and with SQL, because the API's errors import it before the models are loaded.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from django.conf import settings
from django.db import Error, InterfaceError, OperationalError

from infrastructure.postgresql.silence import log_failure
from infrastructure.postgresql.statements import fetch

logger = logging.getLogger(__name__)

# How long a process caches the switch, so that requests of the API don't each run a query for it.
REFRESH_S = 3.0
MESSAGE = "The service is under maintenance. Try again later."

SWITCH_QUERY = "SELECT is_on, message FROM infrastructure_maintenanceswitch ORDER BY id DESC LIMIT 1"


class _Switch:
    """Cached state of the switch. One thread at a time refreshes it, the others use the cached state."""

    def __init__(self, ask: Callable[[], str | None], next_ask: float = 0.0) -> None:
        self._ask = ask
        self._next_ask = next_ask
        self._message: str | None = None
        self._asking = threading.Lock()

    def message(self) -> str | None:
        """Return the message for clients; None while the switch is off."""
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


def _stored() -> str | None:
    for is_on, message in fetch(SWITCH_QUERY, {}):
        return (message or MESSAGE) if is_on else None
    return None


_switch = _Switch(_stored)


def maintenance_message() -> str | None:
    """Return the message for clients during maintenance, else None. It is at most `REFRESH_S` old."""
    return MESSAGE if settings.MAINTENANCE_MODE else _switch.message()
