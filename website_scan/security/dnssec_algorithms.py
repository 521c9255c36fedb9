"""Algorithms of DNSSEC, and whether zones may be signed with them (RFC 9904, RFC 9905)."""

from __future__ import annotations

NAMES = {
    1: "RSA/MD5",
    3: "DSA/SHA-1",
    5: "RSA/SHA-1",
    6: "DSA/SHA-1",
    7: "RSA/SHA-1",
    8: "RSA/SHA-256",
    10: "RSA/SHA-512",
    12: "GOST R 34.10-2001",
    13: "ECDSA P-256",
    14: "ECDSA P-384",
    15: "Ed25519",
    16: "Ed448",
}
SHA1_ALGORITHMS = frozenset({5, 7})
# Validating resolvers ignore these algorithms, so that the domain counts as unsigned.
OBSOLETE_ALGORITHMS = frozenset({1, 3, 6, 12})
SHA1_DIGEST = 1
MIN_RSA_BITS = 2048


def algorithm_name(number: int) -> str:
    """Return the name of an algorithm, or its number if it has no name."""
    return NAMES.get(number, f"algorithm {number}")
