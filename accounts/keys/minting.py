"""Generate API keys, check their format and hash them, without database access.

A key is `wss_` + 32 random base62 characters (190 bits) + 6 base62 characters of a CRC-32 over everything before.
The checksum detects a typing error or an incomplete paste without a query, and lets secret scanners recognise a leaked
key. The database stores the prefix, by which people recognise a key, and the SHA-256 digest. A slow hash would not be
more secure, because the secret has 190 random bits.
"""

from __future__ import annotations

import hashlib
import re
import zlib

from msgspec import Struct

from website_scan.ids import BASE62, random_base62

SECRET_LENGTH = 32
CHECKSUM_LENGTH = 6  # Six base62 digits can represent any CRC-32, because 62**6 > 2**32.
PREFIX_LENGTH = len("wss_") + 8

_FORMAT = re.compile(rf"wss_[0-9A-Za-z]{{{SECRET_LENGTH + CHECKSUM_LENGTH}}}")


class MintedKey(Struct, frozen=True):
    """New API key. `plaintext` is displayed once and stored nowhere."""

    plaintext: str
    prefix: str
    digest: str


def mint() -> MintedKey:
    """Generate an API key with its prefix and digest."""
    body = "wss_" + random_base62(SECRET_LENGTH)
    plaintext = body + _checksum(body)
    return MintedKey(plaintext, plaintext[:PREFIX_LENGTH], digest(plaintext))


def is_well_formed(key: str) -> bool:
    """Return True if `key` has the format and the checksum of an API key.

    Other strings need no database query.
    """
    if not _FORMAT.fullmatch(key):
        return False
    return _checksum(key[:-CHECKSUM_LENGTH]) == key[-CHECKSUM_LENGTH:]


def digest(key: str) -> str:
    """Return an API key's SHA-256 digest in hexadecimal.

    The database stores it instead of the key.
    """
    return hashlib.sha256(key.encode()).hexdigest()


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = ""
    for _ in range(CHECKSUM_LENGTH):
        number, index = divmod(number, 62)
        digits = BASE62[index] + digits
    return digits
