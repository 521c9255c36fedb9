"""Strict-Transport-Security parser (RFC 6797, section 6.1)."""

from __future__ import annotations

import re

from msgspec import Struct

from website_scan.net.http.response import Headers

HEADER = "Strict-Transport-Security"
YEAR_S = 31_536_000

NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
DIRECTIVE = re.compile(rf"""[ \t]*(?:({NAME})[ \t]*(?:=[ \t]*({NAME}|"(?:[^"\\]|\\.)*")[ \t]*)?)?""")

# Registries do not withdraw preloaded top-level domains (Chromium, transport_security_state_static.json, 2025-01).
PRELOADED_SUFFIXES = frozenset(
    {
        *("amazon", "android", "app", "audible", "azure", "bank", "bing", "boo", "channel", "chrome", "dad", "day"),
        *("dev", "eat", "esq", "fire", "fly", "foo", "fujitsu", "gle", "gmail", "google", "hangout", "hotmail"),
        *("imdb", "ing", "insurance", "kindle", "meet", "meme", "microsoft", "mov", "new", "nexus", "office", "page"),
        *("phd", "play", "prime", "prof", "rsvp", "search", "silk", "skype", "windows", "xbox", "youtube", "zappos"),
        *("zip", "xn--cckwcxetd", "xn--jlq480n2rg"),
    }
)


class InvalidHsts(ValueError):
    """Raised for an HSTS header with invalid syntax.

    Browsers ignore the whole header.
    """


class Hsts(Struct, frozen=True):
    """Parsed HSTS header with valid syntax."""

    max_age_s: int
    include_subdomains: bool = False
    preload: bool = False


def parse_hsts(value: str) -> Hsts:
    """Parse an HSTS header.

    Raise `InvalidHsts` for invalid syntax.

    Raises `InvalidHsts` with the fault as a clause.
    """
    directives = _parse_directives(value)
    if "max-age" not in directives:
        raise InvalidHsts("it has no max-age")
    max_age = directives["max-age"]
    if max_age is None or not re.fullmatch(r"[0-9]+", max_age):
        raise InvalidHsts("its max-age is not a number of seconds")
    if directives.get("includesubdomains") is not None:
        raise InvalidHsts("includeSubDomains takes no value")
    # Python refuses to parse very long numbers, and 18 digits of seconds are practically forever.
    return Hsts(int(max_age.lstrip("0")[:18] or "0"), "includesubdomains" in directives, "preload" in directives)


def is_on_preload_list(host: str) -> bool:
    """Return True if the host's top-level domain is preloaded for HSTS."""
    return host.rpartition(".")[2] in PRELOADED_SUFFIXES


def find_preload_faults(policy: Hsts) -> list[str]:
    """Return the reasons why the HSTS preload list rejects the policy.

    They are clauses (hstspreload.org).
    """
    faults = [] if policy.include_subdomains else ["includeSubDomains is missing"]
    if policy.max_age_s < YEAR_S:
        faults.append(f"max-age is {policy.max_age_s}, below a year ({YEAR_S} s)")
    return faults


def read_valid_policy(headers: Headers) -> Hsts | None:
    """Return the valid HSTS policy of a response, or None.

    Only the first HSTS header counts (RFC 6797, section 8.1).
    """
    values = headers.all(HEADER)
    try:
        return parse_hsts(values[0]) if values else None
    except InvalidHsts:
        return None


def _parse_directives(value: str) -> dict[str, str | None]:
    directives: dict[str, str | None] = {}
    position = 0
    while True:
        match = DIRECTIVE.match(value, position)
        assert match is not None
        end = match.end()
        if end < len(value) and value[end] != ";":
            raise InvalidHsts(f"it cannot be read after “{value[:end].strip()}”")
        name, argument = match[1], match[2]
        if name is not None:
            if name.lower() in directives:
                raise InvalidHsts(f"it names {name} twice")
            if argument is not None and argument.startswith('"'):
                argument = re.sub(r"\\(.)", r"\1", argument[1:-1])
            directives[name.lower()] = argument
        if end == len(value):
            return directives
        position = end + 1
