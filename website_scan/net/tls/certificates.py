"""Fields and weaknesses of X.509 certificates.

The module also matches host names.
"""

from __future__ import annotations

import ipaddress
from datetime import datetime

from msgspec import Struct

from website_scan.net.errors import TlsFailed

# Minimum length of public keys (RFC 9325, section 4.5).
MIN_KEY_BITS = {"RSA": 2048, "DSA": 2048, "EC": 256}

# Hash functions that signatures must no longer use.
BROKEN_HASHES = frozenset({"md2", "md5", "sha1"})


class BadCertificate(TlsFailed):
    """Raised when a server certificate can't be parsed."""


class CertificateDigests(Struct, frozen=True):
    """Digests of a certificate and of its public key (SubjectPublicKeyInfo) in DER, in hexadecimal."""

    certificate_sha256: str
    certificate_sha512: str
    key_sha256: str
    key_sha512: str


class Certificate(Struct, frozen=True):
    """Fields of an X.509 certificate.

    Names are RFC 4514 strings, times are aware and in UTC.
    """

    subject: str
    issuer: str
    not_before: datetime
    not_after: datetime
    key_type: str  # Public key type, such as "RSA", "EC", "DSA" or "Ed25519".
    key_bits: int  # 0 if the key type has a fixed length.
    signature_hash: str  # Hash of the signature, such as "sha256"; empty if the algorithm has a fixed hash.
    dns_names: tuple[str, ...] = ()  # The names in subjectAltName, as written.
    ip_addresses: tuple[str, ...] = ()
    common_name: str = ""
    ca_issuers: tuple[str, ...] = ()  # URLs of the issuer's certificate.
    has_readable_names: bool = True  # False if the subjectAltName extension is malformed.
    digests: CertificateDigests | None = None

    @property
    def is_self_issued(self) -> bool:
        """Return True if subject and issuer have the same name.

        Root certificates do.
        """
        return self.subject == self.issuer

    @property
    def has_broken_signature(self) -> bool:
        """Return True if the signature has a broken hash function.

        Root certificates do not count.
        """
        return self.signature_hash in BROKEN_HASHES and not self.is_self_issued

    @property
    def weakness_reason(self) -> str | None:
        """Return why the key or signature is too weak.

        None if both are strong enough.
        """
        least = MIN_KEY_BITS.get(self.key_type, 0)
        if self.key_bits < least:
            return f"a key of {self.key_bits} bits ({self.key_type}, {least} needed)"
        if self.has_broken_signature:
            return f"a signature with {self.signature_hash.upper().replace('SHA', 'SHA-')}"
        return None

    def matches(self, host: str) -> bool:
        """Return True if a subjectAltName matches a host.

        The host is an A-label name or an address (RFC 9525, section 6).

        The common name does not count. A wildcard must be the whole leftmost label, matches exactly one label, and must
        be followed by at least two labels.
        """
        try:
            address = ipaddress.ip_address(host.strip("[]"))
        except ValueError:
            name = host.rstrip(".").lower()
            return any(_pattern_matches_name(pattern, name) for pattern in self.dns_names)
        return str(address) in self.ip_addresses


def _pattern_matches_name(pattern: str, name: str) -> bool:
    pattern = pattern.rstrip(".").lower()
    if not pattern.startswith("*."):
        return pattern == name and "*" not in pattern
    parent = pattern[2:]
    label, _, rest = name.partition(".")
    return bool(label) and rest == parent and "." in parent and "*" not in parent
