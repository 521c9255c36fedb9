"""Validate and normalize the URLs to scan.

Before the first scan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address, ip_network

from website_scan.command.errors import WrongUsage
from website_scan.net.addresses import loopback_addresses
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, Target, parse_target

# All addresses are allowed here, because only the syntax is validated.
EVERYTHING = (ip_network("0.0.0.0/0"), ip_network("::/0"))
SYNTAX = Policy(allowed_networks=EVERYTHING, typed_loopback=EVERYTHING)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def canonical_pages(urls: Iterable[str]) -> tuple[str, ...]:
    """Return the URLs in canonical form, without fragments and duplicates.

    A name without a scheme, such as example.com, gets `https://`, or `http://` on this machine and private networks.
    Paths in the folder of `--serve`, which begin with a slash, remain paths. Raises WrongUsage with all invalid URLs.
    """
    pages: dict[str, None] = {}
    problems: dict[str, None] = {}
    for url in urls:
        try:
            is_folder_path = url.startswith("/") and not url.startswith("//")
            target = parse_target(f"http://localhost{url}" if is_folder_path else url, SYNTAX)
            pages[target.path if is_folder_path else target.url] = None
        except Blocked:
            # The scan of a reserved host name fails and reports the error.
            pages[url.partition("#")[0]] = None
        except InvalidUrl as refusal:
            if bare := _add_scheme(url):
                pages[bare.url] = None
            else:
                problems[_problem(url, str(refusal))] = None
    if problems:
        raise WrongUsage("\n".join(problems))
    return tuple(pages)


def _problem(url: str, refusal: str) -> str:
    hint = " Use --basic-auth." if "password" in refusal else ""
    return f"{_hide_password(url)}: {refusal}{hint}"


def _hide_password(url: str) -> str:
    """Return the URL with `…` instead of a user name and password."""
    return f"…@{url.rpartition('@')[2]}" if "@" in url else url or "(empty)"


def _add_scheme(url: str) -> Target | None:
    """Return the target of a URL without scheme, or None if it is invalid.

    It is HTTP for a private address, otherwise HTTPS. A single word, such as a misspelt command, is invalid.
    """
    if _SCHEME.match(url) or "@" in url:
        return None
    try:
        target = parse_target(f"https://{url}", SYNTAX)
        if _is_private_host(target.host):
            return parse_target(f"http://{url}", SYNTAX)
    except (Blocked, InvalidUrl):
        return None
    return target if "." in target.host else None


def _is_private_host(host: str) -> bool:
    if loopback_addresses(host):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False
