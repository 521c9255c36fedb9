"""Retention: deletion of expired rows every night, with one entry for each kind of row.

Each app lists its entries as `RETENTION` in its `retention.py`. An entry deletes in small transactions while it has
time, and returns True when it has finished.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from itertools import chain

from django.apps import apps
from django.utils.module_loading import module_has_submodule

logger = logging.getLogger(__name__)

# Seconds for which one task deletes, because other tasks wait for its process.
LIMIT_S = 45.0

HasTime = Callable[[], bool]


def always() -> bool:
    """Return True: deletion without a time limit."""
    return True


@dataclass(frozen=True, slots=True)
class Retention:
    """An entry of the table: the name of the kind of rows, and its deletion, which returns False when time ran out."""

    name: str
    delete: Callable[[HasTime], bool]


def table() -> tuple[Retention, ...]:
    """Return all entries, the later apps of INSTALLED_APPS first, so that audits are deleted before their scans."""
    configs = [each for each in apps.get_app_configs() if module_has_submodule(each.module, "retention")]
    modules = (import_module(f"{each.name}.retention") for each in reversed(configs))
    return tuple(chain.from_iterable(getattr(module, "RETENTION", ()) for module in modules))


def delete_from(name: str = "", limit_s: float = LIMIT_S) -> str | None:
    """Run the entries, from the one called `name` on, for about `limit_s` seconds.

    Returns the name of the entry to continue with, None after the last. If an entry raises, the exception is logged
    and its rows are left for the next night.
    """
    entries = table()
    ends_at = time.monotonic() + limit_s
    begin = next((place for place, each in enumerate(entries) if each.name == name), 0)
    for entry in entries[begin:]:
        if time.monotonic() >= ends_at:
            return entry.name
        try:
            if not entry.delete(lambda: time.monotonic() < ends_at):
                return entry.name
        except Exception:
            logger.exception("%s that are kept no longer could not be deleted", entry.name)
    return None
