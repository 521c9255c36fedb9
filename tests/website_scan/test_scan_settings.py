"""Test the readers of addresses and names in settings of scans."""

from __future__ import annotations

import pytest

from website_scan.environment import domain_name, web_address


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("http://localhost:8323", "http://localhost:8323"),
        ("https://routinator.example.com/", "https://routinator.example.com"),
        ("http://routinator:8323/rpki/", "http://routinator:8323/rpki"),
        ("http://[::1]:8323", "http://[::1]:8323"),
    ],
)
def test_address_of_a_service_has_no_slash_at_its_end(raw: str, expected: str) -> None:
    assert web_address(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        "localhost:8323",
        "ftp://localhost",
        "http://",
        "http://user:secret@localhost",
        "http://localhost/?a=1",
        "http://localhost/#a",
        "http://localhost:99999",
    ],
)
def test_other_addresses_are_refused(raw: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        web_address(raw)


@pytest.mark.parametrize(
    ("raw", "expected"), [("asn.cymru.com", "asn.cymru.com"), ("ASN.example.NET.", "asn.example.net")]
)
def test_zone_is_normalized(raw: str, expected: str) -> None:
    assert domain_name(raw) == expected


@pytest.mark.parametrize("raw", ["com", "a b.com", "https://asn.cymru.com", "a..com", f"{'a.' * 90}com", "ä.com"])
def test_other_names_are_refused(raw: str) -> None:
    with pytest.raises(ValueError, match="is not a domain name"):
        domain_name(raw)
