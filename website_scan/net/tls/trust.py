"""Result of a TLS handshake: the server's certificates and the verdict on their chain."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from website_scan.net.tls.certificates import Certificate
from website_scan.net.tls.ciphers import TlsVersion

HANDSHAKE_TIMEOUT_S = 8.0


class Distrust(StrEnum):
    """Reason why a chain does not lead to a trusted root."""

    INCOMPLETE_CHAIN = "incomplete chain"
    SELF_SIGNED = "self-signed"
    UNKNOWN_ISSUER = "unknown issuer"
    OTHER = "not valid"


@dataclass(frozen=True, slots=True)
class Trust:
    """The verdict on a chain. `distrust` is None if it leads to a trusted root.

    The leaf's own dates and names are not judged. `code` and `text` are OpenSSL's; `proven` says that the chain was
    completed with certificates from the issuers' addresses, `is_public` that the root is one of Mozilla's.
    """

    distrust: Distrust | None = None
    code: int = 0
    text: str = ""
    depth: int = 0
    proven: bool = False
    is_public: bool = False


@dataclass(frozen=True, slots=True)
class Handshake:
    """A completed handshake. `chain` is the chain that the server sent, leaf first; `path` the verified one."""

    version: TlsVersion
    cipher: str  # OpenSSL's name
    alpn: str
    chain: tuple[Certificate, ...]
    path: tuple[Certificate, ...]  # leaf to root when trusted, otherwise the same as `chain`
    trust: Trust

    @property
    def leaf(self) -> Certificate:
        """Return the server's own certificate."""
        return self.chain[0]

    @property
    def signed(self) -> tuple[Certificate, ...]:
        """Return the path without roots: a root is trusted because it is in the store, whatever its signature."""
        return (self.path[0], *(each for each in self.path[1:] if not each.self_issued))
