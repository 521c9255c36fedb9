"""Secrets at rest: a ring of keys, of which the first encrypts and all decrypt."""

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
    """The stored secret in the clear. Raises `cryptography.fernet.InvalidToken` when no key fits."""
    return _ring().decrypt(bytes(stored)).decode()


def reencrypt(stored: bytes) -> bytes:
    """The same secret under the first key; as it was when it is already. Raises InvalidToken when no key fits."""
    token = bytes(stored)
    try:
        _fernet(_keys()[0]).decrypt(token)
    except InvalidToken:
        return _ring().rotate(token)
    return token


def fingerprints() -> list[str]:
    """By what one can tell the keys of the ring apart, in its order, without learning any."""
    return [
        HKDF(SHA256(), length=8, salt=None, info=b"fingerprint of a key").derive(key.encode()).hex() for key in _keys()
    ]


def _keys() -> tuple[str, ...]:
    """ENCRYPTION_KEYS, then those of Django: what was encrypted before there was a ring stays readable."""
    return (*settings.ENCRYPTION_KEYS, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


def _ring() -> MultiFernet:
    return MultiFernet([_fernet(key) for key in _keys()])


@functools.lru_cache(maxsize=32)
def _fernet(key: str) -> Fernet:
    derived = HKDF(SHA256(), length=32, salt=None, info=b"webhook secrets").derive(key.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
