"""API keys as strings: mint, recognise, digest. No database here.

A key is `wss_` + 32 random base62 characters (190 bits) + 6 base62 characters of CRC-32 over all before.
The checksum tells a typing error or a cut-off paste from an unknown key without asking the database, and lets
secret scanners recognise a leaked key. Stored are the prefix, to tell keys apart, and the SHA-256 digest:
a slow hash adds nothing where the secret has 190 random bits.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from dataclasses import dataclass

from scanner.ids import BASE62, random_base62

SECRET_DIGITS = 32
CHECKSUM_DIGITS = 6  # 62**6 > 2**32
PREFIX_LENGTH = len("wss_") + 8

_FORM = re.compile(rf"wss_[0-9A-Za-z]{{{SECRET_DIGITS + CHECKSUM_DIGITS}}}")


@dataclass(frozen=True, slots=True)
class MintedKey:
    """A fresh key. `plaintext` is shown once and stored nowhere."""

    plaintext: str
    prefix: str
    digest: str


def mint() -> MintedKey:
    """A fresh key with what is stored of it."""
    body = "wss_" + random_base62(SECRET_DIGITS)
    plaintext = body + _checksum(body)
    return MintedKey(plaintext, plaintext[:PREFIX_LENGTH], digest(plaintext))


def is_well_formed(key: str) -> bool:
    """Whether `key` has the form and the checksum of a key, so that a database may be asked for it."""
    if not _FORM.fullmatch(key):
        return False
    return _checksum(key[:-CHECKSUM_DIGITS]) == key[-CHECKSUM_DIGITS:]


def digest(key: str) -> str:
    """SHA-256 in hex, the form in which keys are stored and looked up."""
    return hashlib.sha256(key.encode()).hexdigest()


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = ""
    for _ in range(CHECKSUM_DIGITS):
        number, index = divmod(number, 62)
        digits = BASE62[index] + digits
    return digits
