"""Tests for the setting SCAN_ALLOWED_NETWORKS."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from website_scan.environment import Exemption, exemptions


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("10.20.0.0/16", (ip_network("10.20.0.0/16"),)),
        ("10.0.0.5/32:8080", ((ip_network("10.0.0.5/32"), 8080),)),
        ("10.0.0.5:8080", ((ip_network("10.0.0.5/32"), 8080),)),
        ("[fd00::1/128]:8080", ((ip_network("fd00::1/128"), 8080),)),
        ("[fd00::1]:8080", ((ip_network("fd00::1/128"), 8080),)),
        # The value is an address, because an IPv6 port needs brackets.
        ("fd00::1:8080", (ip_network("fd00::1:8080/128"),)),
        (
            "10.0.0.5:80, fd00::/8 [::1]:443",
            ((ip_network("10.0.0.5"), 80), ip_network("fd00::/8"), (ip_network("::1"), 443)),
        ),
    ],
)
def test_exemption_is_a_network(raw: str, expected: tuple[Exemption, ...]) -> None:
    assert exemptions(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        "10.0.0.5/8:80",
        "10.0.0.0/8:0",
        "10.0.0.0/8:65536",
        "10.0.0.0/8:http",
        "10.0.0.0/8:",
        "10.0.0.0/8:80:81",
        "[10.0.0.5]:80",
        "[fd00::1]",
        "[fd00::1/128]:",
        "fd00::1/128:8080",
        "app.internal:8080",
        ":8080",
    ],
)
def test_invalid_exemption_is_refused(raw: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        exemptions(raw)
