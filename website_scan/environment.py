"""Reader of environment variables.

It records invalid values instead of raising errors. An invalid value is replaced by the default and becomes a
`Problem`. The command refuses to start then; the service turns the problem into a Django system check with an ID and a
hint, so that the operator learns the variable's name without reading a traceback.
"""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from website_scan.written_urls import split_url

T = TypeVar("T")
MIN_BROWSER_MEMORY_MIB = 500
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network
# Private network that scans may connect to, on all ports or on one port.
Exemption = IPNetwork | tuple[IPNetwork, int]
_NETWORK_AND_PORT = re.compile(r"(?:\[(?P<ipv6>[^\[\]]+)\]|(?P<ipv4>[^:\[\]]+)):(?P<port>[0-9]{1,5})")

_DOMAIN_NAME = re.compile(r"(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}")
# Names of addresses are added in front of the zone's name, and a name has at most 253 characters.
MAX_DOMAIN_CHARACTERS = 150
_PLUG_IN_AND_WEIGHT = re.compile(r"(?P<name>[a-z][a-z0-9]{1,31})(?:=(?P<weight>[0-9]{1,3}))?")


class Problem(Struct, frozen=True):
    """Environment variable with an invalid value.

    `hint` describes valid values.
    """

    name: str
    message: str
    hint: str

    def __str__(self) -> str:
        return f"{self.message} {self.hint} (environment.{self.name})"


# /proc/PID/environ must not contain secrets, so `_FILE` variables may name a file.
SECRETS = frozenset(
    (
        "SECRET_KEY", "SECRET_KEY_FALLBACKS", "ENCRYPTION_KEYS", "DATABASE_URL", "REDIS_URL", "EMAIL_URL", "SENTRY_DSN",
        "METRICS_TOKEN", "OIDC_PROVIDERS",
    )
)  # fmt: skip
problems: list[Problem] = []
# Default values of the variables that were read, and replacements for unset ones.
defaults: dict[str, object] = {}
instead: dict[str, str] = {}


def read_variable(name: str) -> str:
    """Return the value of an environment variable of this process.

    See `read_variable_in`.
    """
    return read_variable_in(os.environ, name)


def read_variable_in(variables: Mapping[str, str], name: str) -> str:
    """Return an environment variable's value, or a file's content.

    The file is named by `NAME_FILE`. Empty if both are unset. Raises ValueError if both are set, or if the file cannot
    be read.
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
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ValueError(f"{path}, which {name}_FILE names, can't be read ({reason}).") from None


def is_set(name: str) -> bool:
    """Return True if an environment variable is set and not empty.

    A replacement in `instead` counts.
    """
    try:
        return bool(_read_raw(name))
    except ValueError:
        return True


def _read_raw(name: str) -> str:
    return read_variable(name) or instead.get(name, "")


def read(name: str, parse: Callable[[str], T], default: T, hint: str) -> T:
    """Return the parsed value of an environment variable.

    The default if the variable is unset, empty or invalid.
    """
    defaults[name] = default
    try:
        raw = _read_raw(name)
        return parse(raw) if raw else default
    except ValueError as error:
        problems.append(Problem(name, f"{name} can't be used: {error}", hint))
        return default


def boolean(raw: str) -> bool:
    """Parse 1/0, true/false, yes/no or on/off.

    Raises ValueError.
    """
    values = {"1": True, "true": True, "yes": True, "on": True}
    values |= {"0": False, "false": False, "no": False, "off": False}
    if raw.lower() not in values:
        raise ValueError(f"{raw!r} is neither true nor false")
    return values[raw.lower()]


def words(raw: str) -> list[str]:
    return raw.replace(",", " ").split()


def networks(raw: str) -> tuple[IPNetwork, ...]:
    return tuple(ipaddress.ip_network(word) for word in words(raw))


def exemptions(raw: str) -> tuple[Exemption, ...]:
    """Parse a list of networks, with or without ports.

    Examples are `10.0.0.5/32:8080` and `[fd00::1/128]:8080`.
    """
    return tuple(map(exemption, words(raw)))


def exemption(word: str) -> Exemption:
    """Parse a network with or without a port, such as `10.0.0.5/32:8080`.

    Raises ValueError.
    """
    match = _NETWORK_AND_PORT.fullmatch(word)
    if match is None:
        return ipaddress.ip_network(word)
    if not 0 < int(match["port"]) < 65536:
        raise ValueError(f"{word!r}: ports lie between 1 and 65535")
    if match["ipv6"]:
        return ipaddress.IPv6Network(match["ipv6"]), int(match["port"])
    return ipaddress.IPv4Network(match["ipv4"]), int(match["port"])


def ip_addresses(raw: str) -> tuple[str, ...]:
    return tuple(str(ipaddress.ip_address(word)) for word in words(raw))


def ports(raw: str) -> frozenset[int]:
    numbers = frozenset(int(word) for word in words(raw))
    if not all(0 < number < 65536 for number in numbers):
        raise ValueError("ports lie between 1 and 65535")
    return numbers


def web_address(raw: str) -> str:
    """Parse an http or https URL without credentials, query or fragment. Returns the URL without a slash at its end.

    Raises ValueError.
    """
    parts = split_url(raw)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{raw!r} does not start with http:// or https:// and a host")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("the address must have no user name, password, query or fragment")
    parts.port  # noqa: B018  # raises ValueError for an invalid port
    return raw.rstrip("/")


def domain_name(raw: str) -> str:
    """Parse a DNS name of several labels. Raises ValueError."""
    name = raw.lower().strip(".")
    if len(name) > MAX_DOMAIN_CHARACTERS or not _DOMAIN_NAME.fullmatch(name):
        raise ValueError(f"{raw!r} is not a domain name")
    return name


def positive(raw: str) -> int:
    number = int(raw)
    if number <= 0:
        raise ValueError(f"{number} is not above zero")
    return number


def certificates(raw: str) -> Path:
    # The import of cryptography is slow, and few installations need it.
    from cryptography.x509 import load_pem_x509_certificates

    path = Path(raw).expanduser()
    try:
        load_pem_x509_certificates(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{raw} can't be read ({error.strerror})") from None
    except ValueError:
        raise ValueError(f"{raw} holds no PEM certificate that can be read") from None
    return path


def plug_ins(raw: str) -> dict[str, int] | None:
    """Parse names of plug-ins, with or without the weight of their categories, such as `acme=10`.

    Raises ValueError.
    """
    weights = {}
    for word in words(raw):
        match = _PLUG_IN_AND_WEIGHT.fullmatch(word)
        if match is None:
            raise ValueError(f"{word!r} is not a name such as acme, or acme=10")
        weights[match["name"]] = int(match["weight"] or 0)
    return weights


def browser(raw: str) -> str:
    """Validate `auto`, `off` or the path of an executable browser.

    Raises ValueError.
    """
    if raw not in ("auto", "off") and shutil.which(raw) is None:
        raise ValueError(f"{raw} is not a program that can be run")
    return raw


def browser_memory(raw: str) -> int:
    """Parse a memory limit in MiB.

    The minimum is 500, because a browser without a page uses 300. Raises ValueError.
    """
    number = int(raw)
    if number < MIN_BROWSER_MEMORY_MIB:
        raise ValueError(f"{number} is less than {MIN_BROWSER_MEMORY_MIB}")
    return number
