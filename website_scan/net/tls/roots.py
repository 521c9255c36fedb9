"""Roots of certifi, which are Mozilla's, and those of them that the system lacks.

A context takes 0.1 ms to load a root. The system has most of certifi's roots, so only the others are loaded besides.
"""

from __future__ import annotations

import binascii
import functools
import re
import ssl
from pathlib import Path

import certifi

PEM = re.compile(rb"-----BEGIN CERTIFICATE-----([^-]++)-----END CERTIFICATE-----")


def public_roots() -> frozenset[bytes]:
    """Return certifi's roots (DER)."""
    return _certificates(certifi.where())


def additional_roots() -> frozenset[bytes]:
    """Return the roots of certifi that the system's file does not have (DER)."""
    system = ssl.get_default_verify_paths().cafile
    try:
        return public_roots() - _certificates(system) if system else public_roots()
    except (OSError, ValueError):  # a file that OpenSSL can't read either
        return public_roots()


@functools.cache
def _certificates(path: str) -> frozenset[bytes]:
    return frozenset(map(binascii.a2b_base64, PEM.findall(Path(path).read_bytes())))
