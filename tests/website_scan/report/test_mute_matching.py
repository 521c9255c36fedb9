"""Matching of mute rules: whole hosts, path segments, places, and nothing else."""

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

ALONE = fingerprint("hsts")
OUTCOME = "faulty"  # of all findings here


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
def test_a_rule_is_about_a_host_and_whole_segments_of_a_path(
    host: str, path_prefix: str, url: str, muted: bool
) -> None:
    mutes = Mutes([rule(host=host, path_prefix=path_prefix)])
    assert (mutes.of("hsts", OUTCOME, url, ALONE) is not None) == muted
    assert bool(mutes.of_page(url)) == muted


def test_a_rule_is_about_one_check() -> None:
    assert Mutes([rule("hsts")]).of("csp", OUTCOME, URL, fingerprint("csp")) is None


def test_a_rule_for_a_place_leaves_all_others() -> None:
    one, other = places_of(finding("image-alt", "#a", "#b"))
    mutes = Mutes([rule("image-alt", fingerprint=one)])
    assert mutes.of("image-alt", OUTCOME, URL, one) is not None
    assert mutes.of("image-alt", OUTCOME, URL, other) is None


def test_a_rule_for_an_outcome_leaves_all_others() -> None:
    mutes = Mutes([rule(outcome="short")])
    assert mutes.of("hsts", "short", URL, ALONE) is not None
    assert mutes.of("hsts", "missing", URL, ALONE) is None
    assert mutes.of_host("hsts", "short", "example.com", ALONE) is not None
    assert mutes.of_host("hsts", "missing", "example.com", ALONE) is None
    covered = mutes.covering(finding("hsts", outcome="short"), URL)
    assert covered is not None
    assert covered.is_whole
    assert mutes.covering(finding("hsts", outcome="missing"), URL) is None


def test_the_widest_rule_is_the_reason_that_is_given_and_then_the_longest() -> None:
    place = rule(fingerprint=ALONE, reason="place")
    below = rule(path_prefix="/shop", reason="below", expires_at=NOW + timedelta(days=300))
    short = rule(reason="short", expires_at=NOW + timedelta(days=1))
    whole = rule(reason="whole")
    found = Mutes([place, below, short, whole]).of("hsts", OUTCOME, URL, ALONE)
    assert found is not None
    assert found.reason == "whole"


def test_a_finding_is_covered_when_all_of_its_places_are() -> None:
    check = finding("image-alt", "#a", "#b")
    one, other = places_of(check)
    part = Mutes([rule("image-alt", fingerprint=one)]).covering(check, URL)
    assert part is not None
    assert not part.is_whole
    assert list(part.rules) == [one]
    both = Mutes([rule("image-alt", fingerprint=each) for each in (one, other)]).covering(check, URL)
    assert both is not None
    assert both.is_whole
    # Nobody has muted a new place.
    wider = Mutes([rule("image-alt", fingerprint=each) for each in (one, other)]).covering(
        finding("image-alt", "#a", "#b", "#new"), URL
    )
    assert wider is not None
    assert not wider.is_whole


def test_a_finding_without_places_is_covered_by_its_check() -> None:
    for each in (rule(), rule(fingerprint=ALONE)):
        covered = Mutes([each]).covering(finding("hsts"), URL)
        assert covered is not None
        assert covered.is_whole


def test_places_that_a_report_cut_are_not_covered_by_those_that_it_names() -> None:
    check = finding("image-alt", *(f"#place-{chr(97 + n)}x" for n in range(MOST_ROWS)))
    places = [rule("image-alt", fingerprint=each) for each in places_of(check)]
    by_place = Mutes(places).covering(check, URL)
    assert by_place is not None
    assert not by_place.is_whole
    by_check = Mutes([*places, rule("image-alt")]).covering(check, URL)
    assert by_check is not None
    assert by_check.is_whole


def test_what_ends_first_is_told() -> None:
    check = finding("image-alt", "#a", "#b")
    one, other = places_of(check)
    soon = rule("image-alt", fingerprint=other, expires_at=NOW + timedelta(days=2))
    covered = Mutes([rule("image-alt", fingerprint=one), soon]).covering(check, URL)
    assert covered is not None
    assert covered.rule == soon


def test_passes_are_never_muted() -> None:
    passed = stored(check_of("hsts", "HSTS", "HSTS", "pass", None, HIGH, "It is sent."), URL)
    found = {"url": URL, "categories": [{"checks": [passed, finding("csp")]}]}
    document = cast("ExportJson", found)  # as much of it as is read
    assert list(Mutes([rule("hsts"), rule("csp")]).findings(document)) == ["csp"]
    assert NO_MUTES.findings(document) == {}
