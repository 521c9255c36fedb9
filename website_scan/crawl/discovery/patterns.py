"""Include and exclude patterns for pages, with `*`, matched against path and query."""

from __future__ import annotations

from collections.abc import Sequence

from website_scan.crawl.robots import matches, normalised_pattern

MAX_PATTERNS = 50
MAX_PATTERN_LENGTH = 500  # characters


def pattern_fault(pattern: str) -> str | None:
    """Return why this is no valid pattern, as a sentence; None if it is valid."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"A pattern may have at most {MAX_PATTERN_LENGTH} characters."
    if not pattern.startswith(("/", "*")):
        return "A pattern must start with / or *, for example /docs/* or *?page=*."
    if any(ord(each) < 0x20 or 0x7F <= ord(each) < 0xA0 or 0xD800 <= ord(each) < 0xE000 for each in pattern):
        return "A pattern must not contain control characters."
    return None


class Patterns:
    """Pages to include (all without patterns) and to exclude, which wins. A pattern must match all of path and query.

    Matching takes time linear in the path, regardless of the number of `*`. Raises ValueError for more patterns than
    `MAX_PATTERNS`, or for an invalid one.
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = _normalised(include)
        self._exclude = _normalised(exclude)

    def admit(self, path: str) -> bool:
        """Return True if a page is wanted. Its path with query must be in the form of `normalised_path`."""
        if any(matches(each, path) for each in self._exclude):
            return False
        return not self._include or any(matches(each, path) for each in self._include)


def _normalised(patterns: Sequence[str]) -> tuple[str, ...]:
    if len(patterns) > MAX_PATTERNS:
        raise ValueError(f"There may be at most {MAX_PATTERNS} patterns.")
    for each in patterns:
        if fault := pattern_fault(each):
            raise ValueError(fault)
    # Here a dollar sign is literal, and every pattern ends where the path does.
    return tuple(normalised_pattern(each.replace("$", "%24").encode() + b"$") for each in patterns)
