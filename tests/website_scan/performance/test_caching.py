from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.net.http.response import Headers
from website_scan.performance.caching import (
    DAY_S,
    MAX_LIFETIME_S,
    YEAR_S,
    cache_hit_probability,
    cache_policy,
    has_hashed_name,
)

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "lifetime_s", "is_missing"),
    [
        ((), None, True),
        ((("Cache-Control", "max-age=60"),), 60, False),
        ((("cache-control", "PUBLIC, MAX-AGE=60"),), 60, False),
        ((("Cache-Control", 'max-age="60"'),), 60, False),
        ((("Cache-Control", "public"),), None, True),
        ((("Cache-Control", "public"), ("Cache-Control", "max-age=60")), 60, False),
        ((("Cache-Control", "max-age=60, max-age=90"),), 60, False),
        ((("Cache-Control", "s-maxage=60"),), None, True),  # The directive s-maxage applies only to shared caches.
        ((("Cache-Control", "max-age=soon"),), 0, False),
        ((("Cache-Control", "max-age=-1"),), 0, False),
        ((("Cache-Control", "max-age=" + "9" * 30),), MAX_LIFETIME_S, False),
        ((("Cache-Control", "max-age=" + "9" * 5000),), 0, False),
        ((("Cache-Control", 'private="set-cookie, max-age=1", max-age=60'),), 60, False),
        ((("Cache-Control", "no-cache"),), None, False),
        ((("Cache-Control", "no-store"),), None, False),
        # Directives for stale responses set no lifetime.
        ((("Cache-Control", "must-revalidate"),), None, True),
        ((("Cache-Control", 'no-cache="set-cookie"'),), None, True),
        ((("Pragma", "no-cache"),), None, False),
        ((("Pragma", "no-cache"), ("Cache-Control", "public")), None, True),
        ((("Expires", "Sun, 22 Nov 2026 12:00:00 GMT"),), DAY_S, False),
        ((("Expires", "Sunday, 22-Nov-26 12:00:00 GMT"),), DAY_S, False),
        ((("Expires", "Sun Nov 22 12:00:00 2026"),), DAY_S, False),
        (
            (("Date", "Sun, 22 Nov 2026 11:00:00 GMT"), ("Expires", "Sun, 22 Nov 2026 12:00:00 GMT")),
            3600,
            False,
        ),  # Both dates come from the same wrong clock, so their difference is correct.
        ((("Expires", "0"),), 0, False),
        ((("Expires", "-1"),), 0, False),
        ((("Expires", "Thu, 01 Jan 1970 00:00:00 GMT"),), 0, False),
        ((("Expires", "Sun, 22 Nov 2026 12:00:00 GMT"), ("Cache-Control", "max-age=60")), 60, False),
        ((("Last-Modified", "Sun, 22 Nov 2020 12:00:00 GMT"), ("ETag", '"a"')), None, True),
    ],
)
def test_cache_lifetime_is_read_from_headers(
    headers: tuple[tuple[str, str], ...], lifetime_s: int | None, is_missing: bool
) -> None:
    policy = cache_policy(Headers(headers), NOW)
    assert (policy.lifetime_s, policy.is_missing) == (lifetime_s, is_missing)


def test_private_is_a_deliberate_directive() -> None:
    policy = cache_policy(Headers((("Cache-Control", "max-age=9,private, must-revalidate,immutable"),)), NOW)
    assert policy.deliberate == {"private", "must-revalidate"}
    assert policy.is_immutable


@given(st.text(max_size=200), st.text(max_size=80))
def test_cache_lifetime_is_limited(cache_control: str, expires: str) -> None:
    for headers in (("Cache-Control", cache_control),), (("Expires", expires), ("Date", expires)):
        lifetime_s = cache_policy(Headers(headers), NOW).lifetime_s
        assert lifetime_s is None or 0 <= lifetime_s <= MAX_LIFETIME_S


@pytest.mark.parametrize(
    ("hours", "expected"),
    [(0, 0.0), (0.1, 0.05), (0.2, 0.1), (1, 0.2), (24, 0.6), (720, 0.9064), (8760, 1.0), (90_000, 1.0)],
)
def test_hit_probability_follows_lighthouse(hours: float, expected: float) -> None:
    assert cache_hit_probability(int(hours * 3600)) == pytest.approx(expected, abs=0.0001)


@given(st.integers(0, 2 * YEAR_S), st.integers(0, DAY_S))
def test_hit_probability_grows_with_lifetime(lifetime_s: int, more_s: int) -> None:
    assert 0.0 <= cache_hit_probability(lifetime_s) <= cache_hit_probability(lifetime_s + more_s) <= 1.0


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/static/js/main.3f2a91bc.js", True),
        ("/static/js/main-3f2a91bc.min.js", True),
        ("/_next/static/chunks/framework-2c79e2a64abdb08b.js", True),
        ("/assets/index-B4yQkq2d.js", True),
        ("/assets/index.DkR-c0_x.css", True),
        ("/css/d41d8cd98f00b204e9800998ecf8427e.css", True),
        ("/static/admin/css/base.523eb49842a7.css", True),
        ("/js/jquery-3.6.0.min.js", False),
        ("/js/report-20260101.js", False),  # A date is not a content digest.
        ("/js/app.12345678.js", False),  # A number is not a content digest.
        ("/js/feedface.js", False),  # A hexadecimal word is not a content digest.
        ("/js/some-deadbeef.js", False),
        ("/js/bootstrap.bundle.min.js", False),
        ("/js/my-Settings.js", False),
        ("/3f2a91bc/app.js", False),  # A folder name has the content digest.
        ("/u/550e8400-e29b-41d4-a716-446655440000.js", False),
        ("/js/app.js", False),
        ("/", False),
    ],
)
def test_file_name_digests_are_recognized(path: str, expected: bool) -> None:
    assert has_hashed_name(path) is expected
