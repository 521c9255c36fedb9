"""Parsers for environment variables that only the service reads.

They raise ValueError for invalid values.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from email.utils import parseaddr
from ipaddress import ip_address

from msgspec import Struct

from website_scan.environment import IPNetwork, Problem, is_set, networks, positive, problems, words
from website_scan.records import repr_without
from website_scan.written_urls import split_url

MIN_SECRET_KEY_LENGTH = 32
MAX_GAP_S = 300
MIN_REQUESTS = 100  # A page may load this many files from another site, so a lower limit would break scans.
KEY_INSTRUCTIONS = "A long random string; `manage.py up` creates one and stores it in DATA_DIR."
# Number of trusted proxies in front of the service, or their networks.
Proxies = int | tuple[IPNetwork, ...]
NO_PROXIES: Proxies = ()


def secret_key(raw: str) -> str:
    """Parse a secret key.

    Short keys are refused, because they could be guessed.
    """
    if len(raw) < MIN_SECRET_KEY_LENGTH:
        raise ValueError(f"it has fewer than {MIN_SECRET_KEY_LENGTH} characters.")
    return raw


def secret_keys(raw: str) -> list[str]:
    """Parse secret keys separated by commas or blanks.

    Short keys are refused, because they could be guessed.
    """
    keys = words(raw)
    if any(len(key) < MIN_SECRET_KEY_LENGTH for key in keys):
        raise ValueError(f"a key has fewer than {MIN_SECRET_KEY_LENGTH} characters")
    return keys


def mailbox(raw: str) -> str:
    """Parse the e-mail sender, which is an address with or without a display name."""
    name, _, host = parseaddr(raw)[1].rpartition("@")
    if not name or not host or "\n" in raw:
        raise ValueError(f"{raw!r} is not an e-mail address")
    return raw


def contact(raw: str) -> str:
    """Return the security contact, an e-mail or https address, as a URI (RFC 9116, section 2.5.3)."""
    if re.fullmatch(r"https://[^\s/]+(?:/\S*)?", raw):
        return raw
    address = raw.removeprefix("mailto:")
    if not re.fullmatch(r"[^\s@<>]+@[^\s@<>]+", address):
        raise ValueError(f"{raw!r} is neither an e-mail address nor an https address")
    return f"mailto:{address}"


def requests(raw: str) -> int:
    """Parse a limit for requests in ten minutes.

    Half of them may come at the same time.
    """
    number = int(raw)
    if number < MIN_REQUESTS:
        raise ValueError(f"{raw} is below {MIN_REQUESTS}")
    return number


def gap(raw: str) -> float:
    """Parse the pause between two visits to a site, in seconds."""
    seconds = float(raw)
    if not 0 <= seconds <= MAX_GAP_S:
        raise ValueError(f"{raw} is not between 0 and {MAX_GAP_S}")
    return seconds


def seconds(raw: str) -> int:
    """Parse a whole number of seconds, 0 or more."""
    number = int(raw)
    if number < 0:
        raise ValueError(f"{number} is below zero")
    return number


def base_url(raw: str) -> str:
    """Return an http or https URL without trailing slashes.

    A query or fragment is refused.
    """
    parts = split_url(raw)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{raw!r} is not an http or https address")
    return raw.rstrip("/")


def is_confidential(url: str) -> bool:
    """Return True if no third party can read or change requests to a URL: https, or http to this machine."""
    parts = split_url(url)
    host = parts.hostname or ""
    if parts.scheme == "https" or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def issuer_url(raw: str) -> str:
    """Parse an identity provider's URL, which must use https unless the provider is on this machine."""
    url = base_url(raw)
    if not is_confidential(url):
        raise ValueError(f"{raw!r} is not an https address; plain http is for providers on this machine")
    return url


class IdentityProvider(Struct, frozen=True):
    """OpenID Connect provider.

    It is trusted for e-mail addresses in `domains`, or for all if that is empty.
    """

    id: str
    name: str
    issuer: str
    client_id: str
    client_secret: str
    domains: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return repr_without(self, "client_secret")

    def speaks_for(self, email: str) -> bool:
        """Return True if the provider is trusted for this e-mail address."""
        return not self.domains or email.rpartition("@")[2].lower() in self.domains


def identity_providers(raw: str) -> list[IdentityProvider]:
    """Parse a JSON list of objects with the fields in `IdentityProvider`.

    Only `domains` is optional.
    """
    rows = json.loads(raw)
    providers = [_identity_provider(row) for row in (rows if isinstance(rows, list) else [None])]
    if len({provider.id for provider in providers}) < len(providers):
        raise ValueError("two providers have the same id")
    return providers


def _identity_provider(row: object) -> IdentityProvider:
    required = {"id", "name", "issuer", "client_id", "client_secret"}
    if not isinstance(row, dict) or not required <= row.keys() <= required | {"domains"}:
        raise ValueError(f"each provider has {', '.join(sorted(required))} and may have domains")
    if not all(isinstance(row[name], str) and row[name] for name in required):
        raise ValueError("a provider's fields are texts that are not empty")
    if not re.fullmatch(r"[a-z0-9-]{1,40}", row["id"]):
        raise ValueError("a provider's id has up to 40 small letters, digits and hyphens")
    domains = row.get("domains", [])
    if not isinstance(domains, list) or not all(isinstance(domain, str) and domain for domain in domains):
        raise ValueError("domains is a list of texts")
    texts = {name: row[name] for name in required}
    return IdentityProvider(
        **texts | {"issuer": issuer_url(row["issuer"])}, domains=tuple(domain.lower() for domain in domains)
    )


def one_of(*choices: str) -> Callable[[str], str]:
    """Return a parser that accepts only these words."""

    def parse(raw: str) -> str:
        if raw not in choices:
            raise ValueError(f"{raw!r} is not one of {', '.join(choices)}")
        return raw

    return parse


def trusted_proxies(raw: str) -> Proxies:
    """Parse the number of proxies between clients and the service, or the proxies' networks in CIDR notation."""
    return positive(raw) if raw.isdecimal() else networks(raw)


def url_with_scheme(*schemes: str) -> Callable[[str], str]:
    """Return a parser that accepts only URLs with these schemes."""

    def parse(raw: str) -> str:
        scheme = raw.partition("://")[0]
        if "://" not in raw or scheme not in schemes:
            raise ValueError(f"it must start with one of {', '.join(f'{scheme}://' for scheme in schemes)}")
        return raw

    return parse


def collector(raw: str) -> str:
    """Parse the OpenTelemetry collector's URL. Raises ValueError if the extra `otel` is not installed."""
    if importlib.util.find_spec("opentelemetry") is None:
        raise ValueError("the packages of the extra `otel` are not installed")
    return url_with_scheme("http", "https")(raw)


def database_url(raw: str) -> str:
    """Parse a PostgreSQL URL. A port must be a number."""
    url_with_scheme("postgres", "postgresql")(raw)
    _ = split_url(raw).port  # Raises ValueError if the port is not a number.
    return raw


def refuse_problems() -> None:
    """Exit with one line per invalid environment variable.

    This is for processes that don't run Django's system checks.

    A missing SECRET_KEY is a problem as well: without the key, processes would start and fail at every request.
    """
    all_problems = list(problems)
    if not any(problem.name == "SECRET_KEY" for problem in all_problems) and not is_set("SECRET_KEY"):
        all_problems.append(Problem("SECRET_KEY", "SECRET_KEY is not set.", KEY_INSTRUCTIONS))
    if all_problems:
        raise SystemExit("\n".join(str(problem) for problem in all_problems))
