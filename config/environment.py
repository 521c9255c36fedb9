"""Reads the process environment once, and remembers what was wrong instead of crashing half-way.

A value that can't be used falls back to its default and becomes a `Problem`, which `config.system_checks` turns
into a Django system check with an ID and a hint: nothing starts on a wrong setting, and nobody reads a
traceback to learn which one.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parseaddr
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")

MIN_SECRET_KEY_LENGTH = 32
MIN_BROWSER_MIB = 500
LONGEST_GAP_S = 300
HOW_TO_MAKE_A_KEY = "A long random string; `manage.py up` makes one and keeps it in DATA_DIR."

IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network
# A network on every port, or on one.
Exemption = IPNetwork | tuple[IPNetwork, int]
# How many there are, or where.
Proxies = int | tuple[IPNetwork, ...]
NO_PROXIES: Proxies = ()
_NETWORK_AND_PORT = re.compile(r"(?:\[(?P<ipv6>[^\[\]]+)\]|(?P<ipv4>[^:\[\]]+)):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class Problem:
    """A variable whose value can't be used, and what would be."""

    name: str
    message: str
    hint: str

    def __str__(self) -> str:
        return f"{self.message} {self.hint} (environment.{self.name})"


# What nobody should find in /proc/PID/environ of a process that other people's pages are loaded in may stand in a file
# instead, whose name is in a variable with `_FILE` behind.
SECRETS = frozenset(
    (
        *("SECRET_KEY", "SECRET_KEY_FALLBACKS", "ENCRYPTION_KEYS", "DATABASE_URL", "REDIS_URL", "EMAIL_URL"),
        *("SENTRY_DSN", "OIDC_PROVIDERS"),
    )
)

problems: list[Problem] = []
# Every variable that was read, and what stands for those that are unset.
names: list[str] = []
instead: dict[str, str] = {}


def given(name: str) -> str:
    """What the variable is set to; as `given_in`."""
    return given_in(os.environ, name)


def given_in(variables: Mapping[str, str], name: str) -> str:
    """What a variable is set to there, or the file holds that stands for it; empty where it is unset.

    Raises ValueError when there are both, or the file cannot be read.
    """
    value = variables.get(name, "").strip()
    path = variables.get(f"{name}_FILE", "").strip() if name in SECRETS else ""
    if not path:
        return value
    if value:
        raise ValueError(f"{name}_FILE is set as well.")
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise ValueError(f"{path}, which {name}_FILE names, can't be read ({reason}).") from None


def is_set(name: str) -> bool:
    """Whether the variable is set, here or for the service that runs on the same data folder; to whatever it is."""
    try:
        return bool(_raw(name))
    except ValueError:
        return True


def _raw(name: str) -> str:
    return given(name) or instead.get(name, "")


def read(name: str, parse: Callable[[str], T], default: T, hint: str) -> T:
    """The variable's parsed value; the default when it is unset, empty, or `parse` raises ValueError."""
    names.append(name)
    try:
        raw = _raw(name)
        return parse(raw) if raw else default
    except ValueError as error:
        problems.append(Problem(name, f"{name} can't be used: {error}", hint))
        return default


def boolean(raw: str) -> bool:
    """1/0, true/false, yes/no, on/off."""
    values = {"1": True, "true": True, "yes": True, "on": True}
    values |= {"0": False, "false": False, "no": False, "off": False}
    if raw.lower() not in values:
        raise ValueError(f"{raw!r} is neither true nor false")
    return values[raw.lower()]


def words(raw: str) -> list[str]:
    return raw.replace(",", " ").split()


def secret_key(raw: str) -> str:
    """What signs, encrypts or opens: a short one would be guessed."""
    if len(raw) < MIN_SECRET_KEY_LENGTH:
        raise ValueError(f"it has fewer than {MIN_SECRET_KEY_LENGTH} characters.")
    return raw


def secret_keys(raw: str) -> list[str]:
    """Random strings separated by commas or blanks; a short one would be guessed."""
    keys = words(raw)
    if any(len(key) < MIN_SECRET_KEY_LENGTH for key in keys):
        raise ValueError(f"a key has fewer than {MIN_SECRET_KEY_LENGTH} characters")
    return keys


def mailbox(raw: str) -> str:
    """A sender: an e-mail address, with or without a name before it."""
    name, _, host = parseaddr(raw)[1].rpartition("@")
    if not name or not host or "\n" in raw:
        raise ValueError(f"{raw!r} is no e-mail address")
    return raw


def contact(raw: str) -> str:
    """Whom to tell of a hole: an e-mail address, or the https address of a page; as a URI (RFC 9116, section 2.5.3)."""
    if re.fullmatch(r"https://[^\s/]+(?:/\S*)?", raw):
        return raw
    address = raw.removeprefix("mailto:")
    if not re.fullmatch(r"[^\s@<>]+@[^\s@<>]+", address):
        raise ValueError(f"{raw!r} is neither an e-mail address nor an https address")
    return f"mailto:{address}"


def networks(raw: str) -> tuple[IPNetwork, ...]:
    return tuple(ipaddress.ip_network(word) for word in words(raw))


def exemptions(raw: str) -> tuple[Exemption, ...]:
    """Networks, each with or without a port: `10.0.0.5/32:8080`, `[fd00::1/128]:8080`."""
    return tuple(map(exemption, words(raw)))


def exemption(word: str) -> Exemption:
    """A network, on one port or on all."""
    matched = _NETWORK_AND_PORT.fullmatch(word)
    if matched is None:
        return ipaddress.ip_network(word)
    if not 0 < int(matched["port"]) < 65536:
        raise ValueError(f"{word!r}: ports lie between 1 and 65535")
    if matched["ipv6"]:
        return ipaddress.IPv6Network(matched["ipv6"]), int(matched["port"])
    return ipaddress.IPv4Network(matched["ipv4"]), int(matched["port"])


def ip_addresses(raw: str) -> tuple[str, ...]:
    return tuple(str(ipaddress.ip_address(word)) for word in words(raw))


def ports(raw: str) -> frozenset[int]:
    numbers = frozenset(int(word) for word in words(raw))
    if not all(0 < number < 65536 for number in numbers):
        raise ValueError("ports lie between 1 and 65535")
    return numbers


def positive(raw: str) -> int:
    number = int(raw)
    if number <= 0:
        raise ValueError(f"{number} is not above zero")
    return number


def gap(raw: str) -> float:
    """Seconds between two visits of a site."""
    seconds = float(raw)
    if not 0 <= seconds <= LONGEST_GAP_S:
        raise ValueError(f"{raw} is not between 0 and {LONGEST_GAP_S}")
    return seconds


def seconds(raw: str) -> int:
    """A whole number of them, or none."""
    number = int(raw)
    if number < 0:
        raise ValueError(f"{number} is below zero")
    return number


def base_url(raw: str) -> str:
    """An http(s) origin, without a trailing slash."""
    parts = urlsplit(raw)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{raw!r} is not an http or https address")
    return raw.rstrip("/")


def certificates(raw: str) -> Path:
    from cryptography.x509 import load_pem_x509_certificates  # loaded by those only who set such a variable

    path = Path(raw).expanduser()
    try:
        load_pem_x509_certificates(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{raw} can't be read ({error.strerror})") from None
    except ValueError:
        raise ValueError(f"{raw} holds no PEM certificate that can be read") from None
    return path


def browser(raw: str) -> str:
    """`auto`, `off`, or a program that can be run."""
    if raw not in ("auto", "off") and shutil.which(raw) is None:
        raise ValueError(f"{raw} is no program that can be run")
    return raw


def browser_memory(raw: str) -> int:
    """MiB. A browser holds 300 before it has loaded anything."""
    number = int(raw)
    if number < MIN_BROWSER_MIB:
        raise ValueError(f"{number} is less than {MIN_BROWSER_MIB}")
    return number


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """With whom people may log in by OpenID Connect. `domains` are those whose addresses it speaks for; empty: all."""

    id: str
    name: str
    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    domains: tuple[str, ...] = ()

    def speaks_for(self, email: str) -> bool:
        """Whether what it says of this address is believed."""
        return not self.domains or email.rpartition("@")[2].lower() in self.domains


def identity_providers(raw: str) -> list[IdentityProvider]:
    """A JSON list of objects with the fields of `IdentityProvider`; all but `domains` are needed."""
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
        **texts | {"issuer": base_url(row["issuer"])}, domains=tuple(each.lower() for each in domains)
    )


def one_of(*known: str) -> Callable[[str], str]:
    """A parser for one of these words."""

    def parse(raw: str) -> str:
        if raw not in known:
            raise ValueError(f"{raw!r} is not one of {', '.join(known)}")
        return raw

    return parse


def trusted_proxies(raw: str) -> Proxies:
    """A number of proxies between clients and the service, or the CIDRs they are in."""
    return positive(raw) if raw.isdecimal() else networks(raw)


def url_with_scheme(*schemes: str) -> Callable[[str], str]:
    """A parser for URLs of these schemes."""

    def parse(raw: str) -> str:
        scheme = raw.partition("://")[0]
        if "://" not in raw or scheme not in schemes:
            raise ValueError(f"it must start with one of {', '.join(f'{each}://' for each in schemes)}")
        return raw

    return parse


def collector(raw: str) -> str:
    """The address of what takes spans."""
    if importlib.util.find_spec("opentelemetry") is None:
        raise ValueError("the packages of the extra `otel` are not installed")
    return url_with_scheme("http", "https")(raw)


def database_url(raw: str) -> str:
    """A PostgreSQL URL whose port, if any, is a number."""
    url_with_scheme("postgres", "postgresql")(raw)
    _ = urlsplit(raw).port  # raises ValueError itself
    return raw


def refuse_problems() -> None:
    """End the process with one line for each value that can't be used; for processes that run no system checks.

    They need a key too: without one they would start, and fail with every request.
    """
    found = list(problems)
    if not any(problem.name == "SECRET_KEY" for problem in found) and not _raw("SECRET_KEY"):
        found.append(Problem("SECRET_KEY", "SECRET_KEY is not set.", HOW_TO_MAKE_A_KEY))
    if found:
        raise SystemExit("\n".join(str(each) for each in found))
