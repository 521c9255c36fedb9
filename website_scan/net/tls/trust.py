"""Result of a TLS handshake.

It has the server's certificates and the verdict on their chain.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from website_scan.net.tls.certificates import Certificate
from website_scan.net.tls.ciphers import TlsVersion

HANDSHAKE_TIMEOUT_S = 8.0


class Distrust(StrEnum):
    """Reason why a certificate chain is not trusted."""

    INCOMPLETE_CHAIN = "incomplete chain"
    SELF_SIGNED = "self-signed"
    UNKNOWN_ISSUER = "unknown issuer"
    OTHER = "not valid"


class Trust(Struct, frozen=True):
    """Trust in a certificate chain.

    `distrust` is None if the chain leads to a trusted root.

    The leaf's dates and names are not judged. `code` and `text` are OpenSSL's. `proven` is True if the chain was
    completed with certificates from the issuers' addresses, `is_public` if the root is one of Mozilla's.
    """

    distrust: Distrust | None = None
    code: int = 0
    text: str = ""
    depth: int = 0
    proven: bool = False
    is_public: bool = False


class Handshake(Struct, frozen=True):
    """Completed TLS handshake.

    `chain` is the chain that the server sent, leaf first; `path` is the verified chain.

    `last_linked` is the end of the part of `chain` that leads from the leaf from issuer to issuer. `strangers` are the
    certificates of `chain` that do not belong to this part.
    """

    version: TlsVersion
    cipher: str  # OpenSSL's name of the cipher suite.
    alpn: str
    chain: tuple[Certificate, ...]
    path: tuple[Certificate, ...]  # From leaf to root if trusted, otherwise the same as `chain`.
    trust: Trust
    last_linked: Certificate
    strangers: tuple[Certificate, ...] = ()

    @property
    def leaf(self) -> Certificate:
        """Return the server's certificate, the leaf of the chain."""
        return self.chain[0]

    @property
    def signed(self) -> tuple[Certificate, ...]:
        """Return the path without its roots.

        Roots are trusted by themselves, so their signatures do not matter.
        """
        return (self.path[0], *(issuer for issuer in self.path[1:] if not issuer.is_self_issued))
