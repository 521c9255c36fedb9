"""X.509 certificates as plain values, and matching of host names."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import datetime

from website_scan.net.errors import TlsFailed

# RFC 9325, section 4.5.
LEAST_KEY_BITS = {"RSA": 2048, "DSA": 2048, "EC": 256}

# Names of hashes that no signature may use any more.
BROKEN_HASHES = frozenset({"md2", "md5", "sha1"})


class BadCertificate(TlsFailed):
    """The server's certificate can't be parsed."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """The fields of a certificate that the checks need. Names are RFC 4514 strings, times aware and UTC."""

    subject: str
    issuer: str
    not_before: datetime
    not_after: datetime
    key_type: str  # "RSA", "EC", "DSA", or the class of another key, e.g. "Ed25519"
    key_bits: int  # 0 where the type fixes the strength
    signature_hash: str  # "sha256", "sha1", …; empty where the algorithm fixes it
    dns_names: tuple[str, ...] = ()  # subjectAltName, as written
    ip_addresses: tuple[str, ...] = ()
    common_name: str = ""
    ca_issuers: tuple[str, ...] = ()  # where the issuer's certificate can be fetched
    names_readable: bool = True  # False: the subjectAltName extension breaks its format

    @property
    def self_issued(self) -> bool:
        """Return True if subject and issuer are the same name, as in every root."""
        return self.subject == self.issuer

    @property
    def has_broken_signature(self) -> bool:
        """Return True if the hash of the signature is broken. A root's signature does not count."""
        return self.signature_hash in BROKEN_HASHES and not self.self_issued

    @property
    def weak_point(self) -> str | None:
        """Return why the key or signature is too weak; None if neither is."""
        least = LEAST_KEY_BITS.get(self.key_type, 0)
        if self.key_bits < least:
            return f"a key of {self.key_bits} bits ({self.key_type}, {least} needed)"
        if self.has_broken_signature:
            return f"a signature with {self.signature_hash.upper().replace('SHA', 'SHA-')}"
        return None

    def matches(self, host: str) -> bool:
        """Return True if a subjectAltName matches `host`, an A-label name or an address (RFC 9525, section 6).

        The common name does not count. A wildcard must be the whole leftmost label, matches exactly one label, and must
        be followed by at least two labels.
        """
        try:
            address = ipaddress.ip_address(host.strip("[]"))
        except ValueError:
            name = host.rstrip(".").lower()
            return any(_name_matches(pattern, name) for pattern in self.dns_names)
        return str(address) in self.ip_addresses


def _name_matches(pattern: str, name: str) -> bool:
    pattern = pattern.rstrip(".").lower()
    if not pattern.startswith("*."):
        return pattern == name and "*" not in pattern
    parent = pattern[2:]
    label, _, rest = name.partition(".")
    return bool(label) and rest == parent and "." in parent and "*" not in parent
