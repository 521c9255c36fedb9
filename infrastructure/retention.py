"""Delete expired rows every night. Every row type has an entry.

Each app lists its entries as `RETENTION` in its `retention.py`. An entry deletes rows in small transactions until its
time limit, and returns True if no expired rows remain.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from importlib import import_module
from itertools import chain

from django.apps import apps
from django.utils.module_loading import module_has_submodule
from msgspec import Struct

logger = logging.getLogger(__name__)

# Time limit for a task in seconds, because other tasks wait for the same worker process.
LIMIT_S = 45.0

HasTime = Callable[[], bool]


def always() -> bool:
    """Return True.

    As an argument `has_time`, this function disables the time limit.
    """
    return True


class Retention(Struct, frozen=True):
    """A type of row that expires, and its delete function.

    The function returns False if time ran out.
    """

    name: str
    delete: Callable[[HasTime], bool]


def table() -> tuple[Retention, ...]:
    """Return all entries, in the reverse order of INSTALLED_APPS, so that audits are deleted before their scans."""
    configs = [config for config in apps.get_app_configs() if module_has_submodule(config.module, "retention")]
    modules = (import_module(f"{config.name}.retention") for config in reversed(configs))
    return tuple(chain.from_iterable(getattr(module, "RETENTION", ()) for module in modules))


def delete_from(name: str = "", limit_s: float = LIMIT_S) -> str | None:
    """Delete expired rows for about `limit_s` seconds, starting at the entry called `name`.

    Returns the name of the entry to continue with, or None after the last entry. If an entry raises an exception, the
    exception is logged, and the rows remain until the next night.
    """
    entries = table()
    ends_at = time.monotonic() + limit_s
    first = next((index for index, entry in enumerate(entries) if entry.name == name), 0)
    for entry in entries[first:]:
        if time.monotonic() >= ends_at:
            return entry.name
        try:
            if not entry.delete(lambda: time.monotonic() < ends_at):
                return entry.name
        except Exception:
            logger.exception("%s that are kept no longer could not be deleted", entry.name)
    return None
