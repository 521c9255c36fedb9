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

# Policy for the syntax of a URL alone. The policy of each visit, here or on a server, decides about addresses.
EVERYTHING = (ip_network("0.0.0.0/0"), ip_network("::/0"))
SYNTAX = Policy(allowed_networks=EVERYTHING, typed_loopback=EVERYTHING)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def canonical_pages(urls: Iterable[str]) -> tuple[str, ...]:
    """Return each page once, in canonical form and without fragment. Raises WrongUsage with all invalid URLs.

    Paths in the folder of `--serve`, which begin with a slash, stay paths.
    """
    pages: dict[str, None] = {}
    problems: dict[str, None] = {}
    for url in urls:
        try:
            is_path = url.startswith("/") and not url.startswith("//")
            target = parse_target(f"http://localhost{url}" if is_path else url, SYNTAX)
            pages[target.path if is_path else target.url] = None
        except Blocked:
            pages[url.partition("#")[0]] = None  # a reserved name: the scan of the page fails
        except InvalidUrl as refusal:
            problems[_problem(url, str(refusal))] = None
    if problems:
        raise WrongUsage("\n".join(problems))
    return tuple(pages)


def _problem(url: str, refusal: str) -> str:
    suggestion = _with_scheme(url)
    if suggestion:
        return f"{_without_password(url)} is not a URL: did you mean {suggestion.url}?"
    hint = " Use --basic-auth." if "password" in refusal else ""
    return f"{_without_password(url)}: {refusal}{hint}"


def _without_password(url: str) -> str:
    """Return the URL without a user name and password."""
    return f"…@{url.rpartition('@')[2]}" if "@" in url else url or "(empty)"


def _with_scheme(url: str) -> Target | None:
    """Return the target of a URL whose scheme the user forgot: with HTTPS, or HTTP for an address of a preview."""
    if _SCHEME.match(url) or "@" in url:
        return None
    try:
        target = parse_target(f"https://{url}", SYNTAX)
        return parse_target(f"http://{url}", SYNTAX) if _is_preview(target.host) else target
    except (Blocked, InvalidUrl):
        return None


def _is_preview(host: str) -> bool:
    if loopback_addresses(host):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False
