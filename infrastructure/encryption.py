"""Fernet encryption for secrets in the database.

The first key in the key ring encrypts, and all keys decrypt.
"""

from __future__ import annotations

import base64
import functools

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


def encrypt(secret: str) -> bytes:
    return _ring().encrypt(secret.encode())


def decrypt(stored: bytes) -> str:
    """Decrypt a stored secret.

    Raises `cryptography.fernet.InvalidToken` if no key in the ring decrypts it.
    """
    return _ring().decrypt(bytes(stored)).decode()


def reencrypt(stored: bytes) -> bytes:
    """Return the secret encrypted with the ring's first key.

    Raises InvalidToken if no key decrypts it.

    A secret that is already encrypted with the first key is returned unchanged.
    """
    token = bytes(stored)
    try:
        _fernet(_keys()[0]).decrypt(token)
    except InvalidToken:
        return _ring().rotate(token)
    return token


def fingerprints() -> list[str]:
    """Return the keys' fingerprints in the ring's order.

    A fingerprint identifies a key without revealing it.
    """
    return [
        HKDF(SHA256(), length=8, salt=None, info=b"fingerprint of a key").derive(key.encode()).hex() for key in _keys()
    ]


def _keys() -> tuple[str, ...]:
    """Return ENCRYPTION_KEYS and Django's secret keys, which encrypted secrets before ENCRYPTION_KEYS existed."""
    return (*settings.ENCRYPTION_KEYS, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


def _ring() -> MultiFernet:
    return MultiFernet([_fernet(key) for key in _keys()])


@functools.lru_cache(maxsize=32)
def _fernet(key: str) -> Fernet:
    derived = HKDF(SHA256(), length=32, salt=None, info=b"webhook secrets").derive(key.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
