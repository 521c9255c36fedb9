"""Recognize generated IDs, class names, cookie names and file names.

They change with each build or page load.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

# People write names such as heroBanner2, utf8mb4 or iPhoneApp.
WORDS = re.compile(r"[a-z]?(?:[A-Z]{0,3}+[a-z]{2,}+|[A-Z]{2,}+|\d{1,4}+)++")
HEXADECIMAL = re.compile(r"[0-9a-f]+|[0-9A-F]+")
UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)
# No word is so long, so the string is certainly a digest.
MIN_DIGEST_LENGTH = 16
MIN_TOKEN_LENGTH = 6
MAX_NAME_LENGTH = 200

# Frameworks generate IDs with a fixed prefix, then a counter or hash.
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
        # IDs that contain the database ID of a post, comment or product.
        (r"((?:.*[-_])?(?:post|page|comment|product|node|entry|article|item|element|block|term|cat|user)(?:-id)?)[-_]\d+",
         r"\1-*"),
    )
)  # fmt: skip


def is_generated(token: str, least: int = MIN_TOKEN_LENGTH) -> bool:
    """Return True if a part of a name looks generated.

    The part has no separators. Parts that are shorter than `least` do not.
    """
    if len(token) < least:
        return False
    switches = _count_switches(token)
    if HEXADECIMAL.fullmatch(token) and switches:
        digits = sum(character.isdigit() for character in token)
        if len(token) >= MIN_DIGEST_LENGTH or (len(token) >= 8 and switches >= 2 and digits >= 2):
            return True
    has_digit = any(character.isdigit() for character in token)
    # Short tokens with few kinds of characters may be words.
    return (
        switches >= min(3, least)
        and not WORDS.fullmatch(token)
        and (has_digit or len(token) >= 8 or least < MIN_TOKEN_LENGTH)
    )


@lru_cache(maxsize=8192)
def mask_generated_parts(name: str) -> str:
    """Return a name with `*` instead of generated parts.

    An ID, field name or cookie name. Short numbers remain, because step-1 and step-2 are different elements.
    """
    name = name[:MAX_NAME_LENGTH]
    for pattern, replacement in FRAMEWORKS:
        match = pattern.fullmatch(name)
        if match:
            return re.sub(r"\*+", "*", match.expand(replacement))
    name = re.sub(r"\d{4,}", "*", UUID.sub("*", name)) if not HEXADECIMAL.fullmatch(name) else name
    return re.sub(r"[0-9A-Za-z*]+", lambda match: _mask_if_generated(match[0]), name)


def _mask_if_generated(part: str) -> str:
    return "*" if is_generated(part.replace("*", "0000")) else part


def _count_switches(token: str) -> int:
    """Count the changes between kinds of characters in a token.

    The kinds are lower case, upper case and digits.
    """
    kinds = ["a" if character.islower() else "A" if character.isupper() else "0" for character in token]
    return sum(one != other for one, other in pairwise(kinds))
