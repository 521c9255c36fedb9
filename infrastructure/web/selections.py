"""Actions on the rows that a user has selected in a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from msgspec import Struct

from infrastructure.api.errors import NotFound, ServiceUnavailable
from website_scan.errors import Refusal

T = TypeVar("T")
# A request with an action on thousands of rows stops after this time, so that it does not occupy its process for long.
MAX_BATCHES_S = 10.0


class Outcome(Struct, frozen=True):
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


def apply_in_batches(ids: Sequence[str], size: int, action: Callable[[Sequence[str]], int]) -> Outcome:
    """Apply an action to batches of rows until one is refused, or until it has taken MAX_BATCHES_S.

    The action returns the number of rows that it has changed.
    """
    done = 0
    deadline = time.monotonic() + MAX_BATCHES_S
    for begin in range(0, len(ids), size):
        if time.monotonic() > deadline:
            return Outcome(done, ServiceUnavailable("There are too many of them for one request. Repeat the action."))
        try:
            done += action(ids[begin : begin + size])
        except Refusal as refusal:
            return Outcome(done, refusal)
    return Outcome(done, None)
