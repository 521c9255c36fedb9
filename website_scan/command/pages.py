"""Pages to scan: URLs in canonical form, checked before anything is scanned."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address, ip_network

from website_scan.command.errors import WrongUsage
from website_scan.net.addresses import loopback_addresses
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, Target, parse_target

# Judges only how a URL is written. Who may be contacted is decided for each visit, here or by a server.
EVERYTHING = (ip_network("0.0.0.0/0"), ip_network("::/0"))
SYNTAX = Policy(allowed_networks=EVERYTHING, typed_loopback=EVERYTHING)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def canonical(urls: Iterable[str]) -> tuple[str, ...]:
    """Return each page once, in canonical form and without fragment. Raises WrongUsage that names all bad URLs.

    The paths of `--serve`, which begin with a slash, stay paths.
    """
    pages: dict[str, None] = {}
    troubles: dict[str, None] = {}
    for url in urls:
        try:
            is_path = url.startswith("/") and not url.startswith("//")
            target = parse_target(f"http://localhost{url}" if is_path else url, SYNTAX)
            pages[target.path if is_path else target.url] = None
        except Blocked:
            pages[url.partition("#")[0]] = None  # a reserved name: the scan of this page fails
        except InvalidUrl as refusal:
            troubles[_trouble(url, str(refusal))] = None
    if troubles:
        raise WrongUsage("\n".join(troubles))
    return tuple(pages)


def _trouble(url: str, refusal: str) -> str:
    meant = _meant(url)
    if meant:
        return f"{_shown(url)} is no URL: did you mean {meant.url}?"
    hint = " Use --basic-auth." if "password" in refusal else ""
    return f"{_shown(url)}: {refusal}{hint}"


def _shown(url: str) -> str:
    """Return the URL without what may be a password."""
    return f"…@{url.rpartition('@')[2]}" if "@" in url else url or "(empty)"


def _meant(url: str) -> Target | None:
    """Return the page that a URL without a scheme means: over HTTPS, or HTTP for an address of a preview."""
    if _SCHEME.match(url) or "@" in url:
        return None
    try:
        found = parse_target(f"https://{url}", SYNTAX)
        return parse_target(f"http://{url}", SYNTAX) if _is_preview(found.host) else found
    except (Blocked, InvalidUrl):
        return None


def _is_preview(host: str) -> bool:
    if loopback_addresses(host):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False
