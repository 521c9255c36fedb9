"""Parser of the Strict-Transport-Security header field (RFC 6797, section 6.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from website_scan.net.http.response import Headers

HEADER = "Strict-Transport-Security"
YEAR_S = 31_536_000

NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
DIRECTIVE = re.compile(rf"""[ \t]*(?:({NAME})[ \t]*(?:=[ \t]*({NAME}|"(?:[^"\\]|\\.)*")[ \t]*)?)?""")

# Top-level domains on browsers' HSTS preload list, whose sites need no header. From Chromium's
# transport_security_state_static.json, January 2025; registries do not withdraw such an entry.
PRELOADED_SUFFIXES = frozenset(
    {
        *("amazon", "android", "app", "audible", "azure", "bank", "bing", "boo", "channel", "chrome", "dad", "day"),
        *("dev", "eat", "esq", "fire", "fly", "foo", "fujitsu", "gle", "gmail", "google", "hangout", "hotmail"),
        *("imdb", "ing", "insurance", "kindle", "meet", "meme", "microsoft", "mov", "new", "nexus", "office", "page"),
        *("phd", "play", "prime", "prof", "rsvp", "search", "silk", "skype", "windows", "xbox", "youtube", "zappos"),
        *("zip", "xn--cckwcxetd", "xn--jlq480n2rg"),
    }
)


class BadHsts(ValueError):
    """Raised for an HSTS field line with invalid syntax, which browsers ignore as a whole."""


@dataclass(frozen=True, slots=True)
class Hsts:
    """Valid HSTS policy."""

    max_age_s: int
    include_subdomains: bool = False
    preload: bool = False


def parse_hsts(value: str) -> Hsts:
    """Parse one HSTS field line. Names ignore case, values may be quoted, unknown directives are ignored.

    Raises `BadHsts` with the fault as a clause.
    """
    directives = _directives(value)
    if "max-age" not in directives:
        raise BadHsts("it has no max-age")
    max_age = directives["max-age"]
    if max_age is None or not re.fullmatch(r"[0-9]+", max_age):
        raise BadHsts("its max-age is not a number of seconds")
    if directives.get("includesubdomains") is not None:
        raise BadHsts("includeSubDomains takes no value")
    # 18 digits of seconds are practically forever, and Python refuses to parse very long numbers.
    return Hsts(int(max_age.lstrip("0")[:18] or "0"), "includesubdomains" in directives, "preload" in directives)


def is_preloaded(host: str) -> bool:
    """Return True if the host's top-level domain is on browsers' HSTS preload list."""
    return host.rpartition(".")[2] in PRELOADED_SUFFIXES


def preload_faults(policy: Hsts) -> list[str]:
    """Return the reasons, as clauses, why the preload list (hstspreload.org) rejects the policy."""
    faults = [] if policy.include_subdomains else ["includeSubDomains is missing"]
    if policy.max_age_s < YEAR_S:
        faults.append(f"max-age is {policy.max_age_s}, below a year ({YEAR_S} s)")
    return faults


def valid_policy(headers: Headers) -> Hsts | None:
    """Return the HSTS policy of a response, or None. Only the first of several field lines counts (section 8.1)."""
    values = headers.all(HEADER)
    try:
        return parse_hsts(values[0]) if values else None
    except BadHsts:
        return None


def _directives(value: str) -> dict[str, str | None]:
    directives: dict[str, str | None] = {}
    position = 0
    while True:
        match = DIRECTIVE.match(value, position)
        assert match is not None  # every part of the pattern is optional
        end = match.end()
        if end < len(value) and value[end] != ";":
            raise BadHsts(f"it cannot be read after “{value[:end].strip()}”")
        name, argument = match[1], match[2]
        if name is not None:
            if name.lower() in directives:
                raise BadHsts(f"it names {name} twice")
            if argument is not None and argument.startswith('"'):
                argument = re.sub(r"\\(.)", r"\1", argument[1:-1])
            directives[name.lower()] = argument
        if end == len(value):
            return directives
        position = end + 1
