"""Test that only loose origin comparisons accept a similar origin."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.website_scan.cast import POLICY
from website_scan.net.targets import parse_target
from website_scan.page.registrable_domain import site_of
from website_scan.security.foreign_origins import similar_origins

Comparison = Callable[[str], bool]


def matches(pattern: str) -> Comparison:
    return lambda origin: re.search(pattern, origin) is not None


# These are wrong origin comparisons for https://www.tides.net/. Sources: CWE-942; OWASP, "Testing Cross Origin
# Resource Sharing"; PortSwigger, "Exploiting CORS misconfigurations"; corben.io, "Advanced CORS exploitation".
LOOSE: dict[str, Comparison] = {
    "ends with the domain": lambda origin: origin.endswith("tides.net"),
    "begins with the origin": lambda origin: origin.startswith("https://www.tides.net"),
    "begins with the domain's origin": lambda origin: origin.startswith("https://tides.net"),
    "contains the host": lambda origin: "www.tides.net" in origin,
    "contains the domain": lambda origin: "tides.net" in origin,
    "pattern without end": matches(r"^https://www\.tides\.net"),
    "pattern without end, any subdomain": matches(r"^https://(.*\.)?tides\.net"),
    "pattern without beginning": matches(r"tides\.net$"),
    "dot as any character": matches(r"^https://www.tides\.net$"),
    "dot of any subdomain as any character": matches(r"^https://.*.tides\.net$"),
    "optional subdomain without its dot": matches(r"^https://([a-z0-9-]+)?tides\.net$"),
    "end only at letters, dots and hyphens": matches(r"^https://([\w-]+\.)?tides\.net([^a-z0-9.-].*)?$"),
    "any scheme": matches(r"^https?://(www\.)?tides\.net$"),
    "host without scheme": lambda origin: origin.partition("://")[2] == "www.tides.net",
}
# These comparisons accept only the site itself.
EXACT: dict[str, Comparison] = {
    "list": lambda origin: origin in ("https://www.tides.net", "https://tides.net", "https://app.tides.net"),
    "ends with the domain after a dot": lambda origin: origin.startswith("https://") and origin.endswith(".tides.net"),
    "pattern": matches(r"\Ahttps://([a-z0-9-]+\.)*tides\.net\Z"),
    "same site": lambda origin: origin.startswith("https://") and site_of(origin.partition("://")[2]) == "tides.net",
    "nothing": lambda _: False,
}


def origins_of(url: str, *, asks_plain_http: bool = True) -> list[str]:
    target = parse_target(url, POLICY)
    return similar_origins(target, asks_plain_http=asks_plain_http)


@pytest.mark.parametrize("comparison", LOOSE.values(), ids=LOOSE)
def test_loose_comparison_accepts_similar_origin(comparison: Comparison) -> None:
    assert any(map(comparison, origins_of("https://www.tides.net/")))


@pytest.mark.parametrize("comparison", EXACT.values(), ids=EXACT)
def test_exact_comparison_refuses_similar_origins(comparison: Comparison) -> None:
    assert not any(map(comparison, origins_of("https://www.tides.net/")))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://tides.net/", ["https://tides.net.STRANGER", "https://tides.net_.STRANGER", "https://wwwxtides.net"]),
        ("https://a.b.tides.co.uk/", [
            "https://a.b.tides.co.uk.STRANGER", "https://a.b.tides.co.uk_.STRANGER", "https://tides.co.uk.STRANGER",
            "https://a.bxtides.co.uk",
        ]),
        ("https://tides.github.io/", [
            "https://tides.github.io.STRANGER", "https://tides.github.io_.STRANGER", "https://wwwxtides.github.io",
        ]),
        ("http://localhost:8000/", [
            "http://localhost.STRANGER", "http://localhost_.STRANGER", "http://wwwxlocalhost:8000",
        ]),
        ("http://127.0.0.1/", ["http://127.0.0.1.STRANGER", "http://127.0.0.1_.STRANGER"]),
        ("https://[2606:4700::1]/", []),
    ],
)  # fmt: skip
def test_similar_origins_fit_the_host(url: str, expected: list[str]) -> None:
    origins = origins_of(url, asks_plain_http=False)
    assert [re.sub(r"[0-9a-f]{8}\.example", "STRANGER", origin) for origin in origins] == expected


def test_plain_http_origin_needs_https_site() -> None:
    assert origins_of("https://tides.net/")[-1] == "http://tides.net"
    assert "http://tides.net" not in origins_of("https://tides.net/", asks_plain_http=False)
    assert "http://tides.net" not in origins_of("http://tides.net/")


@pytest.mark.parametrize("url", ["https://tides.net/", "https://a.b.tides.co.uk/", "https://tides.github.io/"])
def test_similar_origins_are_other_sites(url: str) -> None:
    own = parse_target(url, POLICY).host
    hosts = [origin.partition("://")[2] for origin in origins_of(url, asks_plain_http=False)]
    assert all(site_of(host) != site_of(own) for host in hosts)
