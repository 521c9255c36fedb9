from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.website_scan.cast import CLOCK, message, outcome, page, rows, verdict
from tests.website_scan.performance.cast import HERE, OTHER, labels, resource, resources_of
from website_scan.page.references import ResourceKind
from website_scan.performance.caching import cache_hit_probability
from website_scan.performance.checks import caching as checks
from website_scan.performance.evidence import Resource, StaticFiles
from website_scan.performance.probes.static_files import static_files

Kind = ResourceKind
KIB = 1024
HASHED = f"{HERE}/app.3f2a91bc.js"
YEAR = 31_536_000


def file(
    cache_control: str | None, url: str = f"{HERE}/a.js", kind: Kind = Kind.SCRIPT, *, size: int = 1_000
) -> Resource:
    headers = () if cache_control is None else (("Cache-Control", cache_control),)
    return resource(url, kind, b"a", *headers, wire=size)


def files(*items: Resource) -> StaticFiles:
    return static_files(page(), resources_of(*items), CLOCK)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((), "n/a"),
        ((file("max-age=60"),), "pass"),
        ((file(None),), "warn"),
        (tuple(file(None, f"{HERE}/{n}") for n in range(5)), "warn"),
        (tuple(file(None, f"{HERE}/{n}") for n in range(6)), "fail"),
        ((file("public"),), "warn"),
        ((file("no-cache"),), "pass"),
        ((file("no-store"),), "pass"),
        # A file whose URL has no host does not belong to the site.
        ((resource("u", Kind.SCRIPT, b"a", ("Expires", "0")),), "n/a"),
        ((resource(f"{HERE}/a", Kind.SCRIPT, b"a", ("Expires", "0")),), "pass"),
        ((file(None, "https://static.example.com/a.js"),), "warn"),  # A file on a subdomain belongs to the same site.
        ((file(None, f"{OTHER}/a.js"),), "n/a"),
        ((file(None, f"{OTHER}/a.js"), file("max-age=9")), "pass"),
        ((file(None, kind=Kind.OTHER),), "n/a"),  # A data file may change at any time.
        ((file(None, kind=Kind.MEDIA),), "n/a"),
        ((replace(file(None), status=404),), "n/a"),
        ((replace(file(None), final_url=f"{OTHER}/a.js"),), "n/a"),  # The file was redirected to another site.
    ],
)
def test_cache_missing_check_verdict(items: tuple[Resource, ...], expected: str) -> None:
    finding = checks.cache_missing(files(*items))
    assert verdict(finding) == expected
    assert outcome(finding) == ("no-lifetime" if expected in ("warn", "fail") else expected)


def size_with_waste(waste: int) -> int:
    """Return the file size that causes this waste with an hour of caching."""
    return round(waste / (1 - cache_hit_probability(3600)))


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((file("max-age=3600", size=size_with_waste(20 * KIB)),), "pass"),
        ((file("max-age=3600", size=size_with_waste(20 * KIB) + 1),), "warn"),
        ((file("max-age=3600", size=size_with_waste(128 * KIB)),), "warn"),
        ((file("max-age=3600", size=size_with_waste(128 * KIB) + 1),), "fail"),
        ((file("max-age=2592000", size=10_000_000),), "pass"),
        ((file("max-age=2591999", size=10_000_000),), "fail"),
        ((file(None, size=10_000_000),), "n/a"),  # The check cache-missing reports this file instead.
        ((file("max-age=0", size=10_000_000),), "n/a"),
        ((file("no-cache", size=10_000_000),), "n/a"),
        ((file("max-age=60, must-revalidate", size=10_000_000),), "n/a"),
        ((file("max-age=60, private", size=10_000_000),), "n/a"),
        ((file("max-age=60, stale-while-revalidate=60", size=10_000_000),), "n/a"),
        ((file("max-age=60", f"{OTHER}/a.js", size=10_000_000),), "n/a"),
        ((file("max-age=60", f"{OTHER}/a.js", size=10_000_000), file("max-age=9999999")), "pass"),
    ],
)
def test_cache_short_check_verdict(items: tuple[Resource, ...], expected: str) -> None:
    finding = checks.cache_short(files(*items))
    assert verdict(finding) == expected
    assert outcome(finding) == ("short-lived" if expected in ("warn", "fail") else expected)


def test_message_states_expected_waste() -> None:
    finding = checks.cache_short(files(file("max-age=3600", size=100 * KIB), file("max-age=60", f"{OTHER}/b.js")))
    assert message(finding) == (
        "1 static file may be kept for less than 30 days, so a later visit is expected to load 82 kB again, not "
        "counting files of other sites (up to 20 kB is good)."
    )
    assert labels(finding) == [
        f"{HERE}/a.js (kept for 60 minutes)",
        f"{OTHER}/b.js (kept for 60 seconds, another site's)",
    ]
    assert rows(finding) == [
        {
            "url": f"{HERE}/a.js",
            "cache_control": "max-age=3600",
            "lifetime_s": 3600,
            "wire_bytes": 102_400,
            "expected_waste_bytes": 81_920,
        },
        {
            "url": f"{OTHER}/b.js",
            "cache_control": "max-age=60",
            "lifetime_s": 60,
            "wire_bytes": 1_000,
            "expected_waste_bytes": 992,
            "other_site": True,
        },
    ]


def test_message_counts_files_without_lifetime() -> None:
    finding = checks.cache_missing(files(file(None), file("max-age=9", f"{HERE}/b.js")))
    assert message(finding) == "1 of 2 static files (1.0 kB) has no cache lifetime."
    assert rows(finding) == [{"url": f"{HERE}/a.js", "wire_bytes": 1_000, "expected_waste_bytes": 1_000}]


def test_short_lifetimes_of_other_sites_pass() -> None:
    static = files(file("max-age=9999999"), file("max-age=60", f"{OTHER}/b.js"))
    assert "1 file of other sites may be kept for less" in message(checks.cache_short(static))


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((file(f"max-age={YEAR}, immutable", HASHED),), "pass"),
        ((file(f"max-age={YEAR}", HASHED),), "warn"),
        ((file(f"max-age={YEAR - 1}, immutable", HASHED),), "warn"),
        ((file(None, HASHED),), "warn"),
        ((file(None, f"{HERE}/app.js"),), "n/a"),
        ((file(None, f"{OTHER}/app.3f2a91bc.js"),), "n/a"),
        # Digits in a file name may be a database ID.
        ((file(None, f"{HERE}/photo-3f2a91bc.jpg", Kind.IMAGE),), "n/a"),
        ((file(None, f"{HERE}/app.js?v=3f2a91bc"),), "n/a"),
    ],
)
def test_cache_immutable_check_verdict(items: tuple[Resource, ...], expected: str) -> None:
    finding = checks.cache_immutable(files(*items))
    assert verdict(finding) == expected
    assert outcome(finding) == ("not-immutable" if expected in ("warn", "fail") else expected)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((file("private, max-age=60"),), "warn"),
        ((file("private"),), "warn"),
        ((file("private, no-store"),), "pass"),
        ((file('private="set-cookie", max-age=60'),), "pass"),
        ((file("public, max-age=60"),), "pass"),
        ((file("private", f"{OTHER}/a.js"),), "n/a"),
        ((), "n/a"),
    ],
)
def test_private_static_check_verdict(items: tuple[Resource, ...], expected: str) -> None:
    finding = checks.private_static(page(), files(*items))
    assert verdict(finding) == expected
    assert outcome(finding) == ("private" if expected in ("warn", "fail") else expected)


def test_private_files_are_allowed_with_credentials() -> None:
    """Regression test: private files were reported as public.

    The scan with credentials could access them.
    """
    keyed = replace(page(), has_credentials=True)
    assert verdict(checks.private_static(keyed, files(file("private, max-age=60")))) == "n/a"
