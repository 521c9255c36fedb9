"""Validation of check and outcome names in requests.

Errors suggest the nearest known names.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Collection

from infrastructure.api.errors import InvalidParams
from scans.check_catalogue import entries, is_check_id, outcomes_of_check

MAX_NAME_LENGTH = 160
MAX_NEAREST = 3


def check_of(name: str, value: str, other_checks: Collection[str] = ()) -> str:
    """Return the check ID `value` if it is valid.

    The catalogue's checks, those of own requirements and `other_checks` are valid. Raises InvalidParams with the
    nearest IDs.
    """
    if is_check_id(value):
        return value
    return _known(name, value, "the ID of a check", [*entries(), *other_checks])


def outcome_of(name: str, value: str) -> str:
    """Return `value` if it is an outcome such as `hsts.short`.

    Raises InvalidParams with the nearest outcomes.
    """
    check_id, _, name_of_outcome = value.partition(".")
    if is_check_id(check_id) and name_of_outcome in outcomes_of_check(check_id):
        return value
    return _known(name, value, "an outcome of a check", outcomes())


@functools.cache
def outcomes() -> tuple[str, ...]:
    """Return all outcomes of the catalogue, such as `hsts.short`."""
    return tuple(f"{entry.id}.{outcome.name}" for entry in entries().values() for outcome in entry.outcomes)


def _known(name: str, value: str, noun: str, known: Collection[str]) -> str:
    value = value.strip()
    if value in known:
        return value
    if not value or len(value) > MAX_NAME_LENGTH or not value.isprintable():
        raise InvalidParams(f"{name} must be {noun}.", name)
    near = difflib.get_close_matches(value.casefold(), known, n=MAX_NEAREST, cutoff=0.5)
    near = near or sorted(each for each in known if value.casefold() in each)[:MAX_NEAREST]
    advice = f" The nearest are {', '.join(near)}." if near else " The documentation of checks lists them all."
    raise InvalidParams(f"{name} is {value!a:.60}, which is not {noun}.{advice}", name)
