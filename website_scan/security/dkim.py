"""DKIM key records, and the selectors that mail services use.

RFC 6376, section 3.6.1.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection
from functools import cache
from pathlib import Path

from msgspec import Struct

from website_scan.security.tag_list import SPACE, read_tags

FILE = Path(__file__).with_name("dkim_selectors.toml")
MIN_RSA_BITS = 1024  # Receivers must not accept shorter keys (RFC 8301, section 3.2).
RECOMMENDED_RSA_BITS = 2048
ED25519_BYTES = 32


class DkimKey(Struct, frozen=True):
    """Key record of a selector.

    `fault` describes why receivers cannot use the key, empty if they can. `bits` is 0 for a key that is not RSA.
    """

    selector: str
    record: str
    type: str = "rsa"
    bits: int = 0
    fault: str = ""
    is_revoked: bool = False
    is_testing: bool = False
    has_only_sha1: bool = False


class MailService(Struct, frozen=True):
    """Service that sends mail for domains, as dkim_selectors.toml describes it."""

    name: str
    domains: tuple[str, ...]
    selectors: tuple[str, ...]
    source: str


@cache
def mail_services() -> tuple[MailService, ...]:
    """Return the services in the order of the file."""
    import tomllib  # Many scans need none of the services.

    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["service"]
    return tuple(
        MailService(entry["name"], tuple(entry["domains"]), tuple(entry["selectors"]), entry["source"])
        for entry in entries
    )


def usual_selectors(names: Collection[str]) -> list[str]:
    """Return the selectors of the mail services to which names belong, the first of each service first.

    `names` are those of mail servers and of included SPF records.
    """
    services = [
        service
        for service in mail_services()
        if any(name == domain or name.endswith(f".{domain}") for name in names for domain in service.domains)
    ]
    longest = max((len(service.selectors) for service in services), default=0)
    ordered = [
        service.selectors[index] for index in range(longest) for service in services if index < len(service.selectors)
    ]
    return list(dict.fromkeys(ordered))


def is_key_record(text: str) -> bool:
    """Return True for a TXT record that receivers take for a DKIM key."""
    tags = dict(read_tags(text))
    return "p" in tags and tags.get("v", "DKIM1") == "DKIM1"


def read_key(selector: str, record: str) -> DkimKey:
    """Read a key record."""
    pairs = read_tags(record)
    tags = dict(pairs)
    key_type = tags.get("k", "rsa").lower()
    flags = [flag.strip(SPACE).lower() for flag in tags.get("t", "").split(":")]
    hashes = [name.strip(SPACE).lower() for name in tags.get("h", "").split(":")]
    fault, bits = "", 0
    is_revoked = not tags.get("p")
    if len(tags) < len(pairs):
        fault = "a tag is repeated"
    elif "v" in tags and pairs[0][0] != "v":
        fault = "the version is not the first tag"
    elif key_type not in ("rsa", "ed25519"):
        fault = "the type of the key is unknown"
    elif not is_revoked:
        bits, fault = _read_public_key(key_type, tags["p"])
    return DkimKey(
        selector,
        record,
        key_type,
        bits,
        fault,
        is_revoked,
        is_testing="y" in flags,
        has_only_sha1="h" in tags and "sha1" in hashes and "sha256" not in hashes,
    )


def _read_public_key(key_type: str, text: str) -> tuple[int, str]:
    """Return the number of bits of an RSA key and the fault of the key."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return 0, "the key is not Base64"
    if key_type == "ed25519":
        # The record has the key itself (RFC 8463, section 4.2).
        return 0, "" if len(data) == ED25519_BYTES else "the key does not have 32 bytes"
    try:
        key = load_der_public_key(data)
    except (ValueError, UnsupportedAlgorithm):
        return 0, "the key is not readable"
    return (key.key_size, "") if isinstance(key, RSAPublicKey) else (0, "the key is not an RSA key")
