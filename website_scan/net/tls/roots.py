"""Root certificates of certifi and of the system.

certifi has the roots of Mozilla.

Loading a root takes 0.1 ms. The system has most of certifi's roots, so only the other roots are loaded in addition.
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
    """Return certifi's root certificates in DER."""
    return _read_certificates(certifi.where())


def additional_roots() -> frozenset[bytes]:
    """Return the root certificates of certifi that the system lacks, in DER."""
    system = ssl.get_default_verify_paths().cafile
    try:
        return public_roots() - _read_certificates(system) if system else public_roots()
    except (OSError, ValueError):  # OpenSSL cannot read such a file, either.
        return public_roots()


@functools.cache
def _read_certificates(path: str) -> frozenset[bytes]:
    return frozenset(map(binascii.a2b_base64, PEM.findall(Path(path).read_bytes())))
