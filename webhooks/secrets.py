"""Secrets at rest: encrypted with keys derived from SECRET_KEY, readable with the fallback keys too."""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


def encrypt(secret: str) -> bytes:
    """The secret as it is stored."""
    return _ring().encrypt(secret.encode())


def decrypt(stored: bytes) -> str:
    """The stored secret in the clear. Raises `cryptography.fernet.InvalidToken` when no key fits."""
    return _ring().decrypt(bytes(stored)).decode()


def _ring() -> MultiFernet:
    return MultiFernet([_key(each) for each in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _key(secret_key: str) -> Fernet:
    derived = HKDF(SHA256(), length=32, salt=None, info=b"webhook secrets").derive(secret_key.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
