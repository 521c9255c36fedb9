"""Include and exclude patterns for pages.

Patterns with `*` are matched against path and query.
"""

from __future__ import annotations

from collections.abc import Sequence

from website_scan.crawl.robots import normalised_pattern, pattern_matches

MAX_PATTERNS = 50
MAX_PATTERN_LENGTH = 500  # Maximum number of characters of a pattern.


def pattern_fault(pattern: str) -> str | None:
    """Return a sentence on why the pattern is invalid.

    None if the pattern is valid.
    """
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"A pattern may have at most {MAX_PATTERN_LENGTH} characters."
    if not pattern.startswith(("/", "*")):
        return "A pattern must start with / or *, for example /docs/* or *?page=*."
    if any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000 for char in pattern):
        return "A pattern must not contain control characters."
    return None


class Patterns:
    """Patterns of pages to include and exclude.

    Excluding wins. A pattern must match the whole path and query. Without `include`, all pages are included. Matching
    takes time linear in the path, regardless of the number of `*`. Raises ValueError for more patterns than
    `MAX_PATTERNS`, or for an invalid pattern.
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = _normalise_patterns(include)
        self._exclude = _normalise_patterns(exclude)

    def admit(self, path: str) -> bool:
        """Return True if the patterns include a page.

        The path with query must be normalised with `normalised_path`.
        """
        if any(pattern_matches(pattern, path) for pattern in self._exclude):
            return False
        return not self._include or any(pattern_matches(pattern, path) for pattern in self._include)


def _normalise_patterns(patterns: Sequence[str]) -> tuple[str, ...]:
    if len(patterns) > MAX_PATTERNS:
        raise ValueError(f"There may be at most {MAX_PATTERNS} patterns.")
    for pattern in patterns:
        if fault := pattern_fault(pattern):
            raise ValueError(fault)
    # A dollar sign is literal here, and every pattern matches the whole path.
    return tuple(normalised_pattern(pattern.replace("$", "%24").encode() + b"$") for pattern in patterns)
