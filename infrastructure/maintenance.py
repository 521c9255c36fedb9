"""Maintenance: the environment's `MAINTENANCE_MODE`, and a switch in the database that holds without a restart.

Only read here, without models: the API's errors need it before the apps are loaded.
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

# How long a process believes what it has read: no request of the API pays for a query of its own.
REFRESH_S = 3.0
MESSAGE = "The service is under maintenance. Try again later."

SWITCH_QUERY = "SELECT is_on, message FROM infrastructure_maintenanceswitch ORDER BY id DESC LIMIT 1"


class _Switch:
    """What this process knows of the switch. One thread asks, the others go on with what is known."""

    def __init__(self, ask: Callable[[], str | None], next_ask: float = 0.0) -> None:
        self._ask = ask
        self._next_ask = next_ask
        self._message: str | None = None
        self._asking = threading.Lock()

    def message(self) -> str | None:
        """What to tell clients; None while it is off."""
        if time.monotonic() >= self._next_ask and self._asking.acquire(blocking=False):
            try:
                self._message = self._ask()
            except Error as error:
                # The switch stays as it was.
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
    """What to tell clients while there is maintenance, else None; at most `REFRESH_S` old."""
    return MESSAGE if settings.MAINTENANCE_MODE else _switch.message()
