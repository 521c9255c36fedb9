"""Generated names: recognize IDs, names, cookies and file names that frameworks and builds change each time."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

# Names that people write: words, also joined words such as heroBanner2, utf8mb4 or iPhoneApp.
WORDS = re.compile(r"[a-z]?(?:[A-Z]{0,3}+[a-z]{2,}+|[A-Z]{2,}+|\d{1,4}+)++")
HEXADECIMAL = re.compile(r"[0-9a-f]+|[0-9A-F]+")
UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)
# A hexadecimal string of at least this length is longer than any word, so it is a digest.
ALWAYS_A_DIGEST = 16
LEAST = 6
LONGEST = 200

# Patterns of frameworks: a fixed prefix, then a counter or hash.
FRAMEWORKS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(?:.*-)?(?::[rR][0-9a-z]*:|«[rR][0-9a-z]*»|_[rR]_[0-9a-z]*_).*", "react-*"),
        (
            r"(headlessui-[a-z-]*[a-z]|radix|react-select|react-aria|rc[-_][a-z]+|mui|mantine|chakra|downshift|tippy|select2"
            r"|ui-id|cdk-[a-z-]*[a-z]|mat-[a-z-]*[a-z]|el-id|v-menu|ext-gen|ember|tooltip|popover|__BVID__|yui"
            r"|wp-[a-z]+)[-_]?\d.*",
            r"\1-*",
        ),
        (r"mantine-[0-9a-z]{9}(-.*)?", r"mantine-*\1"),
        # IDs with the number of a piece of content in a CMS.
        (r"((?:.*[-_])?(?:post|page|comment|product|node|entry|article|item|element|block|term|cat|user)(?:-id)?)[-_]\d+",
         r"\1-*"),
    )
)  # fmt: skip


def is_generated(token: str, least: int = LEAST) -> bool:
    """Return True if a program made this part of a name (no separators); False if shorter than `least`."""
    if len(token) < least:
        return False
    turns = _count_turns(token)
    if HEXADECIMAL.fullmatch(token) and turns:
        digits = sum(character.isdigit() for character in token)
        if len(token) >= ALWAYS_A_DIGEST or (len(token) >= 8 and turns >= 2 and digits >= 2):
            return True
    has_digit = any(character.isdigit() for character in token)
    # A short token that seldom changes between lower case, upper case and digits may be a word.
    return turns >= min(3, least) and not WORDS.fullmatch(token) and (has_digit or len(token) >= 8 or least < LEAST)


@lru_cache(maxsize=8192)  # a page repeats its names many times
def without_generated(name: str) -> str:
    """Return an ID or the name of a field or cookie with `*` in place of generated parts.

    Short numbers remain, because step-1 and step-2 are different elements.
    """
    name = name[:LONGEST]
    for pattern, replacement in FRAMEWORKS:
        match = pattern.fullmatch(name)
        if match:
            return re.sub(r"\*+", "*", match.expand(replacement))
    name = re.sub(r"\d{4,}", "*", UUID.sub("*", name)) if not HEXADECIMAL.fullmatch(name) else name
    return re.sub(r"[0-9A-Za-z*]+", lambda match: _masked_part(match[0]), name)


def _masked_part(part: str) -> str:
    return "*" if is_generated(part.replace("*", "0000")) else part


def _count_turns(token: str) -> int:
    """Count the changes between lower case, upper case and digits."""
    kinds = ["a" if character.islower() else "A" if character.isupper() else "0" for character in token]
    return sum(one != other for one, other in pairwise(kinds))
