from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import message, outcome, rows, severity_of
from website_scan.findings import LOW, MEDIUM
from website_scan.security.checks import routes as checks
from website_scan.security.route_origins import (
    AddressRoute,
    Payload,
    Route,
    Routes,
    Validity,
    read_as_number,
    read_origins,
    read_payloads,
    validate_address,
    validate_route,
)

DOMAIN, ADDRESS = "example.com", "93.184.215.14"
NETWORK = ip_network("93.184.215.0/24")
ROUTE = Route(NETWORK, 64500)


def routes(*statuses: Validity, **others: object) -> Routes:
    known = tuple(
        AddressRoute("site", f"93.184.215.{number}", status, (ROUTE,)) for number, status in enumerate(statuses)
    )
    return Routes(DOMAIN, known, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (routes(Validity.VALID, Validity.COVERED), "pass"),
        (routes(Validity.VALID, Validity.NOT_FOUND), "missing"),
        (routes(Validity.NOT_FOUND, Validity.INVALID), "invalid"),
        (routes(), "n/a"),
        (routes(error="The response is not JSON."), "n/a"),
        (Routes(None), "n/a"),
    ],
)
def test_route_origin(evidence: Routes, expected: str) -> None:
    assert outcome(checks.route_origin(evidence)) == expected


def test_only_an_invalid_route_keeps_visitors_out() -> None:
    missing = checks.route_origin(routes(Validity.NOT_FOUND))
    invalid = checks.route_origin(routes(Validity.INVALID))
    assert severity_of(checks.route_origin, missing) is LOW
    assert severity_of(checks.route_origin, invalid) is MEDIUM
    assert "93.184.215.0" in message(invalid)
    assert rows(invalid) == [
        {
            "address": "93.184.215.0",
            "purpose": "site",
            "route": "93.184.215.0/24 AS64500",
            "status": "invalid",
        }
    ]


def payload(prefix: str, max_length: int, as_number: int) -> Payload:
    return Payload(ip_network(prefix), max_length, as_number)


@pytest.mark.parametrize(
    ("payloads", "expected"),
    [
        # The examples follow RFC 6811, section 2.
        ([payload("93.184.215.0/24", 24, 64500)], Validity.VALID),
        ([payload("93.184.208.0/20", 24, 64500)], Validity.VALID),
        ([payload("93.184.208.0/20", 23, 64500)], Validity.INVALID),
        ([payload("93.184.215.0/24", 24, 64501)], Validity.INVALID),
        ([payload("93.184.215.0/24", 24, 64501), payload("93.184.208.0/20", 24, 64500)], Validity.VALID),
        # A payload of a part of the route does not cover it.
        ([payload("93.184.215.0/25", 25, 64500)], Validity.NOT_FOUND),
        ([payload("93.185.0.0/16", 24, 64500), payload("2606:2800::/32", 48, 64500)], Validity.NOT_FOUND),
        ([], Validity.NOT_FOUND),
        # AS 0 says that nobody may announce the network (RFC 6483, section 4).
        ([payload("93.184.215.0/24", 24, 0)], Validity.INVALID),
    ],
)
def test_route_is_validated_as_in_RFC_6811(payloads: list[Payload], expected: Validity) -> None:
    assert validate_route(ROUTE, payloads) is expected


def test_route_of_AS_0_is_never_valid() -> None:
    assert validate_route(Route(NETWORK, 0), [payload("93.184.215.0/24", 24, 0)]) is Validity.INVALID


def test_address_without_known_route_is_covered_or_not() -> None:
    payloads = [payload("93.184.208.0/20", 20, 64500)]
    assert validate_address(ADDRESS, (), payloads) is Validity.COVERED
    assert validate_address("93.184.1.1", (), payloads) is Validity.NOT_FOUND
    assert validate_address("2606:2800::1", (), payloads) is Validity.NOT_FOUND


def test_one_valid_route_of_several_origins_is_enough() -> None:
    payloads = [payload("93.184.215.0/24", 24, 64500)]
    assert validate_address(ADDRESS, (Route(NETWORK, 64501), ROUTE), payloads) is Validity.VALID


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            b'{"metadata": {}, "roas": [{"asn": "AS64500", "prefix": "93.184.215.0/24", "maxLength": 24, "ta": "x"}]}',
            (payload("93.184.215.0/24", 24, 64500),),
        ),
        (b'{"roas": []}', ()),
        # Entries that no validator sends are left out.
        (b'{"roas": [1, null, "x", {}, {"asn": "AS1", "prefix": 7, "maxLength": 24}]}', ()),
        (b'{"roas": [{"asn": "AS1", "prefix": "93.184.215.1/24", "maxLength": 24}]}', ()),
        (b'{"roas": [{"asn": "AS1", "prefix": "93.184.215.0/24", "maxLength": 33}]}', ()),
        (b'{"roas": [{"asn": "AS1", "prefix": "93.184.215.0/24", "maxLength": 20}]}', ()),
        (b'{"roas": [{"asn": "AS1", "prefix": "93.184.215.0/24", "maxLength": true}]}', ()),
        (b'{"roas": [{"asn": "AS4294967296", "prefix": "93.184.215.0/24", "maxLength": 24}]}', ()),
        (b'{"roas": [{"asn": "ASx", "prefix": "93.184.215.0/24", "maxLength": 24}]}', ()),
    ],
)
def test_response_of_routinator_is_parsed(body: bytes, expected: tuple[Payload, ...]) -> None:
    assert read_payloads(body) == expected


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"roas": {}}', b'{"roas": [', b"[" * 100_000, b"\xff"])
def test_other_responses_are_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="The response"):
        read_payloads(body)


def test_many_payloads_are_cut() -> None:
    entry = b'{"asn": "AS1", "prefix": "93.184.215.0/24", "maxLength": 24}'
    assert len(read_payloads(b'{"roas": [' + b",".join([entry] * 5_000) + b"]}")) == 2_000


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (["64500 | 93.184.215.0/24 | US | arin | 2008-06-02"], [ROUTE]),
        (["64500 64501 | 93.184.215.0/24"], [ROUTE, Route(NETWORK, 64501)]),
        # Routers follow the most specific route.
        (["64500 | 93.184.215.0/24 | US", "64999 | 93.184.0.0/16 | US"], [ROUTE]),
        (["64500 | 10.0.0.0/8 | US"], []),
        (["64500 | 2606:2800::/32 | US"], []),
        (["hello", "", "|", "x | y", "64500 | 93.184.215.0/24x"], []),
    ],
)
def test_origins_of_an_address_are_parsed(records: list[str], expected: list[Route]) -> None:
    assert list(read_origins(records, ip_address(ADDRESS))) == expected


@given(st.lists(st.text(max_size=60), max_size=5))
def test_any_text_is_no_crash(records: list[str]) -> None:
    for route in read_origins(records, ip_address(ADDRESS)):
        assert ip_address(ADDRESS) in route.prefix


@given(st.text(max_size=12))
def test_AS_number_has_32_bits(text: str) -> None:
    try:
        number = read_as_number(text)
    except ValueError:
        return
    assert 0 <= number < 2**32
