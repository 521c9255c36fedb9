"""Actions on the rows that a user has selected in a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from infrastructure.api.errors import NotFound
from website_scan.errors import Refusal

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Number of rows on which the action succeeded, and the refusal that ended it, if any."""

    done: int
    refusal: Refusal | None


def apply_to_each(rows: Iterable[T], action: Callable[[T], bool]) -> Outcome:
    """Apply an action to the rows until one is refused. Rows that no longer exist are skipped.

    The action returns False if there was nothing to do.
    """
    done = 0
    for row in rows:
        try:
            done += action(row)
        except NotFound:
            continue
        except Refusal as refusal:
            return Outcome(done, refusal)
    return Outcome(done, None)
