"""Matching of mute rules by host, path segments, outcome and place."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest

from tests.reports.mutes.cast import NOW, URL, rule
from tests.results import check_of, elements, stored, stored_finding
from website_scan.findings import HIGH
from website_scan.fingerprints import fingerprint
from website_scan.places import MOST_ROWS
from website_scan.report.mute_matching import NO_MUTES, Mutes
from website_scan.report.places import places_of
from website_scan.report_json import ExportedFinding, ExportJson

WITHOUT_PLACE = fingerprint("hsts")
OUTCOME = "faulty"  # outcome of all findings in these tests


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
def test_rule_covers_a_host_and_whole_path_segments(host: str, path_prefix: str, url: str, muted: bool) -> None:
    mutes = Mutes([rule(host=host, path_prefix=path_prefix)])
    assert (mutes.of("hsts", OUTCOME, url, WITHOUT_PLACE) is not None) == muted
    assert bool(mutes.of_page(url)) == muted


def test_rule_mutes_one_check() -> None:
    assert Mutes([rule("hsts")]).of("csp", OUTCOME, URL, fingerprint("csp")) is None


def test_rule_for_a_place_mutes_no_other_place() -> None:
    one, other = places_of(finding("image-alt", "#a", "#b"))
    mutes = Mutes([rule("image-alt", fingerprint=one)])
    assert mutes.of("image-alt", OUTCOME, URL, one) is not None
    assert mutes.of("image-alt", OUTCOME, URL, other) is None


def test_rule_for_an_outcome_mutes_no_other_outcome() -> None:
    mutes = Mutes([rule(outcome="short")])
    assert mutes.of("hsts", "short", URL, WITHOUT_PLACE) is not None
    assert mutes.of("hsts", "missing", URL, WITHOUT_PLACE) is None
    assert mutes.of_host("hsts", "short", "example.com", WITHOUT_PLACE) is not None
    assert mutes.of_host("hsts", "missing", "example.com", WITHOUT_PLACE) is None
    muted = mutes.muted_places(finding("hsts", outcome="short"), URL)
    assert muted is not None
    assert muted.is_whole
    assert mutes.muted_places(finding("hsts", outcome="missing"), URL) is None


def test_widest_and_then_longest_lasting_rule_matches() -> None:
    place = rule(fingerprint=WITHOUT_PLACE, reason="place")
    below = rule(path_prefix="/shop", reason="below", expires_at=NOW + timedelta(days=300))
    short = rule(reason="short", expires_at=NOW + timedelta(days=1))
    whole = rule(reason="whole")
    match = Mutes([place, below, short, whole]).of("hsts", OUTCOME, URL, WITHOUT_PLACE)
    assert match is not None
    assert match.reason == "whole"


def test_finding_is_muted_as_a_whole_if_all_places_are() -> None:
    check = finding("image-alt", "#a", "#b")
    one, other = places_of(check)
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


def test_finding_without_places_is_muted_by_a_rule_for_its_check() -> None:
    for mute in (rule(), rule(fingerprint=WITHOUT_PLACE)):
        muted = Mutes([mute]).muted_places(finding("hsts"), URL)
        assert muted is not None
        assert muted.is_whole


def test_finding_with_a_cut_list_is_not_muted_as_a_whole_by_its_places() -> None:
    check = finding("image-alt", *(f"#place-{chr(97 + n)}x" for n in range(MOST_ROWS)))
    places = [rule("image-alt", fingerprint=place) for place in places_of(check)]
    by_place = Mutes(places).muted_places(check, URL)
    assert by_place is not None
    assert not by_place.is_whole
    by_check = Mutes([*places, rule("image-alt")]).muted_places(check, URL)
    assert by_check is not None
    assert by_check.is_whole


def test_rule_of_muted_places_is_the_one_that_expires_first() -> None:
    check = finding("image-alt", "#a", "#b")
    one, other = places_of(check)
    soon = rule("image-alt", fingerprint=other, expires_at=NOW + timedelta(days=2))
    muted = Mutes([rule("image-alt", fingerprint=one), soon]).muted_places(check, URL)
    assert muted is not None
    assert muted.rule == soon


def test_passed_checks_are_never_muted() -> None:
    passed = stored(check_of("hsts", "HSTS", "HSTS", "pass", None, HIGH, "It is sent."), URL)
    part = {"url": URL, "categories": [{"checks": [passed, finding("csp")]}]}
    export = cast("ExportJson", part)  # only the keys that are read
    assert list(Mutes([rule("hsts"), rule("csp")]).findings(export)) == ["csp"]
    assert NO_MUTES.findings(export) == {}
