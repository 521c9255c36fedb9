"""Comparison of TLSA records with a server's certificates (RFC 6698, RFC 7671)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from msgspec import Struct

from website_scan.net.tls.certificates import Certificate

# Usages (RFC 7218): PKIX-TA and DANE-TA name an issuer, PKIX-EE and DANE-EE the server's certificate.
PKIX_TA, PKIX_EE, DANE_TA, DANE_EE = range(4)
FULL_CERTIFICATE, PUBLIC_KEY = 0, 1
EXACT, SHA_256, SHA_512 = range(3)
DIGEST_BYTES = {SHA_256: 32, SHA_512: 64}


class TlsaRecord(Struct, frozen=True):
    """TLSA record, with its data in hexadecimal."""

    text: str
    usage: int
    selector: int
    matching: int
    data: str

    @property
    def is_usable(self) -> bool:
        """Return True if clients understand the record, others of which they ignore (RFC 6698, section 4.1)."""
        is_known = self.usage <= DANE_EE and self.selector <= PUBLIC_KEY and self.matching <= SHA_512
        return is_known and len(self.data) // 2 == DIGEST_BYTES.get(self.matching, len(self.data) // 2)

    def matches(self, chain: Sequence[Certificate]) -> bool:
        """Return True if the record matches the chain that the server sent, leaf first."""
        candidates = chain[1:] if self.usage in (PKIX_TA, DANE_TA) else chain[:1]
        return any(self._matches(certificate) for certificate in candidates)

    def _matches(self, certificate: Certificate) -> bool:
        digests = certificate.digests
        if digests is None:
            return False
        is_key = self.selector == PUBLIC_KEY
        if self.matching == SHA_512:
            return self.data == (digests.key_sha512 if is_key else digests.certificate_sha512)
        digest = self.data if self.matching == SHA_256 else sha256(bytes.fromhex(self.data)).hexdigest()
        return digest == (digests.key_sha256 if is_key else digests.certificate_sha256)


def read_tlsa(records: Sequence[str]) -> tuple[TlsaRecord, ...]:
    """Parse TLSA records in the syntax of zone files. Records that cannot be read are left out."""
    found = []
    for text in records:
        try:
            usage, selector, matching, *data = text.split()
            octets = bytes.fromhex("".join(data))
            found.append(TlsaRecord(text, int(usage), int(selector), int(matching), octets.hex()))
        except ValueError:
            continue
    return tuple(found)
