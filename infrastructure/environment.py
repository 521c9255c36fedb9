"""Parsers of environment variables that only the service reads. Each raises ValueError for an invalid value."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parseaddr
from ipaddress import ip_address

from website_scan.environment import IPNetwork, Problem, is_set, networks, positive, problems, words
from website_scan.written_urls import split_url

MIN_SECRET_KEY_LENGTH = 32
LONGEST_GAP_S = 300
FEWEST_REQUESTS = 100  # a page may need as many files of another site
HOW_TO_MAKE_A_KEY = "A long random string; `manage.py up` makes one and keeps it in DATA_DIR."
# The number of proxies in front of the service, or the networks they are in.
Proxies = int | tuple[IPNetwork, ...]
NO_PROXIES: Proxies = ()


def secret_key(raw: str) -> str:
    """Parse a secret key; a short one could be guessed."""
    if len(raw) < MIN_SECRET_KEY_LENGTH:
        raise ValueError(f"it has fewer than {MIN_SECRET_KEY_LENGTH} characters.")
    return raw


def secret_keys(raw: str) -> list[str]:
    """Parse secret keys separated by commas or blanks; a short one could be guessed."""
    keys = words(raw)
    if any(len(key) < MIN_SECRET_KEY_LENGTH for key in keys):
        raise ValueError(f"a key has fewer than {MIN_SECRET_KEY_LENGTH} characters")
    return keys


def mailbox(raw: str) -> str:
    """Parse a sender: an e-mail address, with or without a display name."""
    name, _, host = parseaddr(raw)[1].rpartition("@")
    if not name or not host or "\n" in raw:
        raise ValueError(f"{raw!r} is no e-mail address")
    return raw


def contact(raw: str) -> str:
    """Parse the security contact, an e-mail or https address, and return it as a URI (RFC 9116, section 2.5.3)."""
    if re.fullmatch(r"https://[^\s/]+(?:/\S*)?", raw):
        return raw
    address = raw.removeprefix("mailto:")
    if not re.fullmatch(r"[^\s@<>]+@[^\s@<>]+", address):
        raise ValueError(f"{raw!r} is neither an e-mail address nor an https address")
    return f"mailto:{address}"


def requests(raw: str) -> int:
    """Parse a number of requests in ten minutes; half of them may come at once."""
    number = int(raw)
    if number < FEWEST_REQUESTS:
        raise ValueError(f"{raw} is below {FEWEST_REQUESTS}")
    return number


def gap(raw: str) -> float:
    """Parse the seconds between two visits of a site."""
    seconds = float(raw)
    if not 0 <= seconds <= LONGEST_GAP_S:
        raise ValueError(f"{raw} is not between 0 and {LONGEST_GAP_S}")
    return seconds


def seconds(raw: str) -> int:
    """Parse a whole number of seconds, 0 or more."""
    number = int(raw)
    if number < 0:
        raise ValueError(f"{number} is below zero")
    return number


def base_url(raw: str) -> str:
    """Parse an http(s) URL without query and fragment, and strip trailing slashes."""
    parts = split_url(raw)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{raw!r} is not an http or https address")
    return raw.rstrip("/")


def is_confidential(url: str) -> bool:
    """Return True for https, and for plain http to this machine, which nobody on the way can read or change."""
    parts = split_url(url)
    host = parts.hostname or ""
    if parts.scheme == "https" or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def issuer_url(raw: str) -> str:
    """Parse the URL of an identity provider: a base URL that is confidential."""
    url = base_url(raw)
    if not is_confidential(url):
        raise ValueError(f"{raw!r} is not an https address; plain http is for providers on this machine")
    return url


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """OpenID Connect provider. It is trusted for e-mail addresses of `domains` only; if empty, for all."""

    id: str
    name: str
    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    domains: tuple[str, ...] = ()

    def speaks_for(self, email: str) -> bool:
        """Return True if the provider is trusted for this e-mail address."""
        return not self.domains or email.rpartition("@")[2].lower() in self.domains


def identity_providers(raw: str) -> list[IdentityProvider]:
    """Parse a JSON list of objects with the fields of `IdentityProvider`; all but `domains` are required."""
    rows = json.loads(raw)
    found = [_identity_provider(row) for row in (rows if isinstance(rows, list) else [None])]
    if len({provider.id for provider in found}) < len(found):
        raise ValueError("two providers have the same id")
    return found


def _identity_provider(row: object) -> IdentityProvider:
    needed = {"id", "name", "issuer", "client_id", "client_secret"}
    if not isinstance(row, dict) or not needed <= row.keys() <= needed | {"domains"}:
        raise ValueError(f"each provider has {', '.join(sorted(needed))} and may have domains")
    if not all(isinstance(row[name], str) and row[name] for name in needed):
        raise ValueError("a provider's fields are texts that are not empty")
    if not re.fullmatch(r"[a-z0-9-]{1,40}", row["id"]):
        raise ValueError("a provider's id has up to 40 small letters, digits and hyphens")
    domains = row.get("domains", [])
    if not isinstance(domains, list) or not all(isinstance(each, str) and each for each in domains):
        raise ValueError("domains is a list of texts")
    texts = {name: row[name] for name in needed}
    return IdentityProvider(
        **texts | {"issuer": issuer_url(row["issuer"])}, domains=tuple(each.lower() for each in domains)
    )


def one_of(*known: str) -> Callable[[str], str]:
    """Return a parser that accepts only these words."""

    def parse(raw: str) -> str:
        if raw not in known:
            raise ValueError(f"{raw!r} is not one of {', '.join(known)}")
        return raw

    return parse


def trusted_proxies(raw: str) -> Proxies:
    """Parse the number of proxies between clients and the service, or the CIDRs they are in."""
    return positive(raw) if raw.isdecimal() else networks(raw)


def url_with_scheme(*schemes: str) -> Callable[[str], str]:
    """Return a parser that accepts only URLs of these schemes."""

    def parse(raw: str) -> str:
        scheme = raw.partition("://")[0]
        if "://" not in raw or scheme not in schemes:
            raise ValueError(f"it must start with one of {', '.join(f'{each}://' for each in schemes)}")
        return raw

    return parse


def collector(raw: str) -> str:
    """Parse the URL of the OpenTelemetry collector; needs the extra `otel`."""
    if importlib.util.find_spec("opentelemetry") is None:
        raise ValueError("the packages of the extra `otel` are not installed")
    return url_with_scheme("http", "https")(raw)


def database_url(raw: str) -> str:
    """Parse a PostgreSQL URL; its port, if any, must be a number."""
    url_with_scheme("postgres", "postgresql")(raw)
    _ = split_url(raw).port  # raises ValueError if it is no number
    return raw


def refuse_problems() -> None:
    """Exit with one line for each invalid variable. For processes that don't run Django's system checks.

    They need SECRET_KEY too: without it they would start, and fail at every request.
    """
    found = list(problems)
    if not any(problem.name == "SECRET_KEY" for problem in found) and not is_set("SECRET_KEY"):
        found.append(Problem("SECRET_KEY", "SECRET_KEY is not set.", HOW_TO_MAKE_A_KEY))
    if found:
        raise SystemExit("\n".join(str(each) for each in found))
