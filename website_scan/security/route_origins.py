"""Route origins that the RPKI authorizes, and validation of announced routes (RFC 6811)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from msgspec import Struct

MAX_PAYLOADS = 2_000
MAX_AS_NUMBER = 2**32 - 1
IPNetwork = IPv4Network | IPv6Network
IPAddress = IPv4Address | IPv6Address


class Validity(StrEnum):
    """Status of a route (RFC 6811, section 2), or of an address whose route is not known.

    `COVERED`: an authorization covers the address.
    """

    VALID = "valid"
    INVALID = "invalid"
    NOT_FOUND = "not covered"
    COVERED = "covered"


class Payload(Struct, frozen=True):
    """Validated ROA payload: a network that an AS may announce, in parts of up to `max_length` bits."""

    prefix: IPNetwork
    max_length: int
    as_number: int


class Route(Struct, frozen=True):
    """Announced route: a network and the AS that announces it."""

    prefix: IPNetwork
    as_number: int


class AddressRoute(Struct, frozen=True):
    """Address with its purpose, the known routes to it, and their status."""

    purpose: str
    address: str
    validity: Validity
    routes: tuple[Route, ...] = ()


class Routes(Struct, frozen=True):
    """Routes to the domain's addresses. `error` is the reason if the validator gave no usable answer."""

    domain: str | None
    addresses: tuple[AddressRoute, ...] = ()
    error: str = ""


def read_payloads(body: bytes) -> tuple[Payload, ...]:
    """Parse Routinator's JSON format. Payloads that cannot be read are left out.

    Raises ValueError for a document that is no list of payloads.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("The response is not JSON.") from None
    match document:
        case {"roas": list(entries)}:
            payloads = (_read_payload(entry) for entry in entries[:MAX_PAYLOADS])
            return tuple(payload for payload in payloads if payload is not None)
        case _:
            raise ValueError("The response has no list “roas”.")


def _read_payload(entry: object) -> Payload | None:
    if not isinstance(entry, dict):
        return None
    as_number, prefix, max_length = (entry.get(name) for name in ("asn", "prefix", "maxLength"))
    if not isinstance(prefix, str) or type(max_length) is not int:
        return None
    try:
        network = ip_network(prefix)
        number = read_as_number(str(as_number))
    except ValueError:
        return None
    if not network.prefixlen <= max_length <= network.max_prefixlen:
        return None
    return Payload(network, max_length, number)


def read_as_number(text: str) -> int:
    """Parse an AS number such as `AS64496`. Raises ValueError."""
    digits = text.upper().removeprefix("AS")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 10) or int(digits) > MAX_AS_NUMBER:
        raise ValueError("no AS number")
    return int(digits)


def read_origins(records: Iterable[str], address: IPAddress) -> tuple[Route, ...]:
    """Parse TXT records `AS numbers | network | …`, of the most specific networks that have the address.

    A network with several origins has one route for each.
    """
    routes = []
    for record in records:
        numbers, *fields = (field.strip() for field in record.split("|"))
        try:
            network = ip_network(fields[0]) if fields else None
            origins = [read_as_number(number) for number in numbers.split()]
        except ValueError:
            continue
        if network is not None and network.version == address.version and address in network:
            routes += [Route(network, number) for number in origins]
    longest = max((route.prefix.prefixlen for route in routes), default=0)
    return tuple(route for route in routes if route.prefix.prefixlen == longest)


def validate_route(route: Route, payloads: Iterable[Payload]) -> Validity:
    """Return the status of a route. AS 0 authorizes nobody (RFC 6483, section 4)."""
    covering = [payload for payload in payloads if _contains(payload.prefix, route.prefix)]
    if not covering:
        return Validity.NOT_FOUND
    is_authorized = any(
        payload.as_number == route.as_number != 0 and route.prefix.prefixlen <= payload.max_length
        for payload in covering
    )
    return Validity.VALID if is_authorized else Validity.INVALID


def validate_address(address: str, routes: Iterable[Route], payloads: Iterable[Payload]) -> Validity:
    """Return the best status of the address's routes, or whether it is covered if no route is known."""
    statuses = {validate_route(route, payloads) for route in routes}
    if statuses:
        return next(status for status in (Validity.VALID, Validity.NOT_FOUND, Validity.INVALID) if status in statuses)
    parsed = ip_address(address)
    is_covered = any(parsed.version == payload.prefix.version and parsed in payload.prefix for payload in payloads)
    return Validity.COVERED if is_covered else Validity.NOT_FOUND


def _contains(network: IPNetwork, other: IPNetwork) -> bool:
    if isinstance(network, IPv4Network):
        return isinstance(other, IPv4Network) and other.subnet_of(network)
    return isinstance(other, IPv6Network) and other.subnet_of(network)
