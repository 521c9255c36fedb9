"""Audits are deleted when the last report of their scans is."""

from __future__ import annotations

from collections.abc import Callable

from config.postgresql.deletion import delete_with_what_refers
from scans.models import Audit


class _OutOfTime(Exception):
    pass


def delete_expired(has_time: Callable[[], bool]) -> bool:
    """Delete the audits that have expired, with pages and findings; False when there was no time for all.

    The rows of their scans stay, as those of all scans do.
    """

    def check() -> None:
        if not has_time():
            raise _OutOfTime

    try:
        delete_with_what_refers(Audit.objects.expired(), check)
    except _OutOfTime:
        return False
    return True
