"""Addresses that lead nowhere for visitors: to their own machine, a private network, or a file on a disk."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass

import ada_url
from selectolax.lexbor import LexborNode

from scans.engine.evidence import Document
from scans.engine.markup import attribute, live, resolve
from scans.engine.references import CANDIDATE

# RFC 6761, RFC 6762, RFC 8375, ICANN's “internal”, and a custom of routers.
SUFFIXES = ("localhost", "local", "test", "internal", "lan", "home.arpa")
NETWORKS = tuple(
    ipaddress.ip_network(each)
    for each in (
        *("127.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"),
        *("::1/128", "::/128", "fc00::/7", "fe80::/10"),
    )
)
# Whatever else a reference is, it leads to the host of the document's base.
ELSEWHERE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:|[/\\]{2})", re.IGNORECASE)
ATTRIBUTES = ("href", "xlink:href", "src", "action", "formaction", "data", "poster", "content", "srcset")
HOLDERS = ", ".join(f"[{name}]" for name in ATTRIBUTES if name not in ("content", "xlink:href")) + ", use, image, meta"
CARDS = ("og:", "twitter:")


@dataclass(frozen=True, slots=True)
class LocalAddress:
    """One reference to such an address, as it is written, and the tag and attribute that it stands in."""

    tag: str
    attribute: str
    reference: str


def is_local_host(host: str) -> bool:
    """Whether a host is the visitor's own machine or one of a private network."""
    host = host.strip("[].").lower()
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return any(host == suffix or host.endswith(f".{suffix}") for suffix in SUFFIXES)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return any(address in network for network in NETWORKS if network.version == address.version)


def local_addresses(document: Document) -> Iterator[LocalAddress]:
    """What the markup links, loads or sends to such addresses.

    A link whose text shows the host is meant for the reader: “Open http://localhost:3000”.
    """
    base_is_local = is_local_host(document.base.host)
    for node in live(document, HOLDERS):
        written = node.attributes
        for name in ATTRIBUTES:
            value = written.get(name)
            if not value or (name == "content" and not _is_card(node)) or (name == "data" and node.tag != "object"):
                continue
            for reference in _candidates(value) if name == "srcset" else (value,):
                if not base_is_local and not ELSEWHERE.match(reference):
                    continue
                url = resolve(document, reference)
                if url is not None and _is_local(url) and not _is_shown(node, url):
                    yield LocalAddress(node.tag or "", name, reference)


def _is_local(url: ada_url.URL) -> bool:
    if url.protocol == "file:" or len(url.protocol) == len("c:"):  # a drive of Windows
        return True
    return url.protocol in ("http:", "https:", "ws:", "wss:", "ftp:") and is_local_host(url.hostname)


def _is_shown(node: LexborNode, url: ada_url.URL) -> bool:
    return node.tag == "a" and url.hostname != "" and url.hostname in node.text().lower()


def _is_card(node: LexborNode) -> bool:
    """Whether a meta element names an address for sharing."""
    name = attribute(node, "property") or attribute(node, "name") or ""
    return name.strip().lower().startswith(CARDS) and "://" in (attribute(node, "content") or "")[:10]


def _candidates(source_set: str) -> Iterator[str]:
    position = 0
    while (found := CANDIDATE.match(source_set, position)) is not None:
        position = found.end()
        yield found["url"].rstrip(",")
