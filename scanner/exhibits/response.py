"""Headers and policies of the page's answer, bounded and masked."""

from __future__ import annotations

from scanner.messages import MASK, excerpt
from scanner.net.http.response import Headers
from scanner.security.csp import Policies

MAX_HEADERS, HEADER_LENGTH = 60, 300
MAX_POLICIES, POLICY_LENGTH = 4, 4000


def headers_of(headers: Headers) -> list[list[str]]:
    """Names and values in the order received."""
    return [[excerpt(name, 80), _value(name, value)] for name, value in headers.items[:MAX_HEADERS]]


def _value(name: str, value: str) -> str:
    if name.lower() == "set-cookie":
        pair, semicolon, attributes = value.partition(";")
        cookie, equals, _ = pair.partition("=")
        return excerpt(f"{cookie if equals else ''}{equals}{MASK}{semicolon}{attributes}", HEADER_LENGTH)
    # With its name, which may say that the value is a secret.
    return excerpt(f"{name}: {value}", HEADER_LENGTH + len(name)).removeprefix(f"{name}:").strip()


def policies_of(policies: Policies) -> list[dict[str, str]]:
    each_way = (("header", policies.header), ("meta", policies.meta), ("report only", policies.report_only))
    found = [{"way": way, "text": excerpt(csp.text, POLICY_LENGTH)} for way, those in each_way for csp in those]
    return found[:MAX_POLICIES]
