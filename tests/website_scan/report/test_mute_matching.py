"""Tests for the matching of findings by mute rules."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest

from tests.reports.mutes.cast import NOW, URL, rule
from tests.results import check_of, elements, stored, stored_finding
from website_scan.findings import HIGH
from website_scan.fingerprints import fingerprint
from website_scan.places import MAX_STORED_PLACES
from website_scan.report.mute_matching import NO_MUTES, Mutes
from website_scan.report.places import describe_places
from website_scan.report_json import ExportedFinding, ExportJson

CHECK_FINGERPRINT = fingerprint("hsts")
OUTCOME = "faulty"  # All findings in these tests have this outcome.


def finding(id: str, *selectors: str, **columns: Any) -> ExportedFinding:
    return stored_finding(id, *elements(*selectors), url=URL, **columns)


@pytest.mark.parametrize(
    ("host", "path_prefix", "url", "muted"),
    [
        ("example.com", "", "https://example.com/", True),
        ("example.com", "", "http://example.com/any/where?x=1", True),
        ("example.com", "", "https://www.example.com/", False),
        ("example.com", "", "https://example.com.evil.com/", False),
        ("example.com", "", "https://example.com:8443/", False),
        ("example.com:8443", "", "https://example.com:8443/", True),
        ("example.com:8443", "", "https://example.com/", False),
        ("example.com", "/shop", "https://example.com/shop", True),
        ("example.com", "/shop", "https://example.com/shop?x=/y", True),
        ("example.com", "/shop", "https://example.com/shop/", True),
        ("example.com", "/shop", "https://example.com/shop/shoes", True),
        ("example.com", "/shop", "https://example.com/shopping", False),
        ("example.com", "/shop", "https://example.com/", False),
        ("example.com", "/shop", "https://example.com/de/shop", False),
        ("example.com", "/shop", "https://example.com/?to=/shop", False),
        ("[2001:db8::1]", "", "https://[2001:db8::1]/", True),
    ],
)
def test_rule_covers_whole_path_segments(host: str, path_prefix: str, url: str, muted: bool) -> None:
    mutes = Mutes([rule(host=host, path_prefix=path_prefix)])
    assert (mutes.of("hsts", OUTCOME, url, CHECK_FINGERPRINT) is not None) == muted
    assert bool(mutes.of_page(url)) == muted


def test_rule_mutes_only_its_own_check() -> None:
    assert Mutes([rule("hsts")]).of("csp", OUTCOME, URL, fingerprint("csp")) is None


def test_rule_for_a_place_mutes_no_other() -> None:
    one, other = describe_places(finding("image-alt", "#a", "#b"))
    mutes = Mutes([rule("image-alt", fingerprint=one)])
    assert mutes.of("image-alt", OUTCOME, URL, one) is not None
    assert mutes.of("image-alt", OUTCOME, URL, other) is None


def test_rule_for_an_outcome_mutes_no_other() -> None:
    mutes = Mutes([rule(outcome="short")])
    assert mutes.of("hsts", "short", URL, CHECK_FINGERPRINT) is not None
    assert mutes.of("hsts", "missing", URL, CHECK_FINGERPRINT) is None
    assert mutes.rule_for_host("hsts", "short", "example.com", CHECK_FINGERPRINT) is not None
    assert mutes.rule_for_host("hsts", "missing", "example.com", CHECK_FINGERPRINT) is None
    muted = mutes.muted_places(finding("hsts", outcome="short"), URL)
    assert muted is not None
    assert muted.is_whole
    assert mutes.muted_places(finding("hsts", outcome="missing"), URL) is None


def test_widest_mute_rule_wins() -> None:
    place = rule(fingerprint=CHECK_FINGERPRINT, reason="place")
    below = rule(path_prefix="/shop", reason="below", expires_at=NOW + timedelta(days=300))
    short = rule(reason="short", expires_at=NOW + timedelta(days=1))
    whole = rule(reason="whole")
    match = Mutes([place, below, short, whole]).of("hsts", OUTCOME, URL, CHECK_FINGERPRINT)
    assert match is not None
    assert match.reason == "whole"


def test_finding_is_muted_with_all_its_places() -> None:
    check = finding("image-alt", "#a", "#b")
    one, other = describe_places(check)
    part = Mutes([rule("image-alt", fingerprint=one)]).muted_places(check, URL)
    assert part is not None
    assert not part.is_whole
    assert list(part.rules) == [one]
    both = Mutes([rule("image-alt", fingerprint=place) for place in (one, other)]).muted_places(check, URL)
    assert both is not None
    assert both.is_whole
    # A new place is not muted.
    wider = Mutes([rule("image-alt", fingerprint=place) for place in (one, other)]).muted_places(
        finding("image-alt", "#a", "#b", "#new"), URL
    )
    assert wider is not None
    assert not wider.is_whole


def test_finding_without_places_is_muted() -> None:
    for mute in (rule(), rule(fingerprint=CHECK_FINGERPRINT)):
        muted = Mutes([mute]).muted_places(finding("hsts"), URL)
        assert muted is not None
        assert muted.is_whole


def test_finding_with_truncated_places_is_not_muted() -> None:
    check = finding("image-alt", *(f"#place-{chr(97 + n)}x" for n in range(MAX_STORED_PLACES)))
    places = [rule("image-alt", fingerprint=place) for place in describe_places(check)]
    muted_by_place_rules = Mutes(places).muted_places(check, URL)
    assert muted_by_place_rules is not None
    assert not muted_by_place_rules.is_whole
    muted_by_check_rule = Mutes([*places, rule("image-alt")]).muted_places(check, URL)
    assert muted_by_check_rule is not None
    assert muted_by_check_rule.is_whole


def test_muted_place_has_rule_that_expires_first() -> None:
    check = finding("image-alt", "#a", "#b")
    one, other = describe_places(check)
    soon = rule("image-alt", fingerprint=other, expires_at=NOW + timedelta(days=2))
    muted = Mutes([rule("image-alt", fingerprint=one), soon]).muted_places(check, URL)
    assert muted is not None
    assert muted.rule == soon


def test_passed_checks_are_never_muted() -> None:
    passed = stored(check_of("hsts", "HSTS", "HSTS", "pass", None, HIGH, "It is sent."), URL)
    part = {"url": URL, "categories": [{"checks": [passed, finding("csp")]}]}
    export = cast("ExportJson", part)  # The code under test reads only these keys.
    assert list(Mutes([rule("hsts"), rule("csp")]).findings(export)) == ["csp"]
    assert NO_MUTES.findings(export) == {}
