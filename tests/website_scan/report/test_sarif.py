"""Tests for SARIF logs."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from tests.reports.sarif import MAX_BYTES, assert_is_file, assert_sarif
from tests.website_scan.command.reports import check_result, judged_report
from website_scan import __version__
from website_scan.findings import ScanType, Severity
from website_scan.places import Element, RedirectHop, Rows
from website_scan.report import sarif, sarif_messages
from website_scan.report_json import ExportJson

PAGES = "https://scan.example.com/docs/checks/"
IMAGE = Element("main > img", "<img>")


def sarif_log(*exports: ExportJson, reasons: sarif.Reasons | None = None, pages: str = "") -> dict[str, Any]:
    log = sarif.log([sarif.run([(export, reasons or {}) for export in exports], "security", pages)])
    assert_sarif(log)
    return log


def results(*exports: ExportJson) -> list[dict[str, Any]]:
    return list(sarif_log(*exports)["runs"][0]["results"])


@pytest.mark.parametrize(
    ("url", "uri"),
    [
        ("https://example.com/", "example.com"),
        ("https://example.com/shop/", "example.com/shop"),
        ("https://example.com/shop/teas.html", "example.com/shop/teas.html"),
        ("https://xn--mnchen-3ya.de/stra%C3%9Fe", "xn--mnchen-3ya.de/stra%C3%9Fe"),
        ("http://localhost:8000/shop", "localhost_8000/shop"),
        ("http://[::1]:8000/", "__1_8000"),
        ("http://user:secret@example.com/", "example.com"),
        ("https://example.com/?page=2", "example.com/%3Fpage=2"),
        ("https://example.com/a?to=https://b.example//c", "example.com/a%3Fto=https:/b.example/c"),
        ("https://example.com/a#part", "example.com/a"),
        ("https://example.com//a/./../%2e%2E/b", "example.com/a/b"),
        ("https://example.com/100%", "example.com/100%25"),
        ('https://example.com/[x] \\<y>`|^{}"', "example.com/%5Bx%5D%20%5C%3Cy%3E%60%7C%5E%7B%7D%22"),
        ("https://example.com/a:b@c", "example.com/a:b@c"),
        ("https://example.com/\udc80\n", "example.com/%3F"),
    ],
)
def test_page_location_is_a_relative_path(url: str, uri: str) -> None:
    assert sarif_messages.relative_path(url) == uri
    assert_is_file(uri)
    jsonschema.validate(uri, {"format": "uri-reference"}, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)


@pytest.mark.parametrize(
    "uri", ["https://a.example/", "a.example:80/", "a.example%3A80/b", "a//b", "a/../b", "a/%2e%2e"]
)
def test_path_assertion_rejects_bad_paths(uri: str) -> None:
    with pytest.raises(AssertionError):
        assert_is_file(uri)


def test_message_contains_page_link() -> None:
    (result,) = results(
        judged_report(check_result("alt", "fail", Severity.HIGH, IMAGE), url="https://example.com/a").export
    )
    link = "[https://example.com/a](https://example.com/a)"
    assert result["message"]["text"] == f"alt is wrong: Seen: alt. At main > img. On {link}."


def test_site_text_cannot_create_a_link() -> None:
    text = r"[x](javascript:alert(1)) \["
    url = "https://example.com/(a)]b[c](d)"
    (result,) = results(
        judged_report(check_result("alt", "fail", Severity.HIGH, Element(text), summary=text), url=url).export
    )
    assert result["message"]["text"] == (
        r"alt is wrong: \[x\](javascript:alert(1)) \\\[ At \[x\](javascript:alert(1)) \\\[. "
        r"On [https://example.com/(a)\]b\[c\](d)](https://example.com/%28a%29]b[c]%28d%29)."
    )


def test_every_place_becomes_one_result() -> None:
    places = [Element(f"li:nth-child({number}) > img", "<img>") for number in (1, 2)]
    logo = Element("#logo", '<img id="logo">')
    finding = check_result("alt", "fail", Severity.HIGH, *places, logo)
    all_results = results(*(judged_report(finding, url=f"https://example.com/{page}").export for page in "ab"))
    assert len(all_results) == 6
    one, two, other = (result["partialFingerprints"] for result in all_results[:3])
    assert one["place/v1"] == two["place/v1"] != other["place/v1"]
    assert one["primaryLocationLineHash"].removesuffix(":1") == two["primaryLocationLineHash"].removesuffix(":2")
    assert other["primaryLocationLineHash"].endswith(":1")
    selectors = [result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] for result in all_results[:3]]
    assert selectors == ["li:nth-child(1) > img", "li:nth-child(2) > img", "#logo"]


def test_urls_with_one_path_have_different_hashes() -> None:
    urls = ("http://example.com/", "https://example.com/", "https://example.com/?")
    hashes = [
        result["partialFingerprints"]["primaryLocationLineHash"]
        for result in results(*(judged_report(check_result("hsts"), url=url).export for url in urls))
    ]
    assert len(set(hashes)) == 3


def test_finding_without_places_is_one_result() -> None:
    (result,) = results(
        judged_report(check_result("hsts", details=Rows.of([RedirectHop(1, "/a"), RedirectHop(2, "/b")]))).export
    )
    assert "logicalLocations" not in result["locations"][0]
    assert result["message"]["text"].startswith("hsts is wrong: Seen: hsts. On [")


def test_places_with_a_reason_are_suppressed() -> None:
    export = judged_report(check_result("alt", "fail", Severity.HIGH, IMAGE, Element("#b", "<b>"))).export
    place = results(export)[0]["partialFingerprints"]["place/v1"]
    (run,) = sarif_log(export, reasons={"alt": {place: ["Known."]}})["runs"]
    assert [result["suppressions"] for result in run["results"]] == [
        [{"kind": "external", "status": "accepted", "justification": "Known."}],
        [],
    ]


def test_driver_has_version() -> None:
    export = judged_report(check_result("hsts")).export
    (bare,), (served,) = (sarif_log(export, pages=pages)["runs"] for pages in ("", PAGES))
    driver = bare["tool"]["driver"]
    assert (driver["version"], driver["semanticVersion"]) == (__version__, __version__)
    assert "informationUri" not in driver
    assert served["tool"]["driver"]["informationUri"] == PAGES
    assert bare["properties"]["catalogue_version"] == export["catalogue_version"]


def sarif_rule(*exports: ExportJson) -> Mapping[str, Any]:
    (rule,) = sarif_log(*exports)["runs"][0]["tool"]["driver"]["rules"]
    return dict(rule)


def test_rule_has_level_of_worst_result() -> None:
    warned, failed, passed = (judged_report(check_result("csp", status)).export for status in ("warn", "fail", "pass"))
    assert sarif_rule(passed).keys().isdisjoint({"defaultConfiguration"})
    assert sarif_rule(passed, warned)["properties"]["security-severity"] == "5.5"
    rule = sarif_rule(warned, failed, passed)
    assert (rule["properties"]["security-severity"], rule["defaultConfiguration"]) == ("8.0", {"level": "error"})
    assert (rule["name"], rule["shortDescription"]["text"]) == ("csp is well", "csp is wrong")
    assert rule["help"]["text"] == "Mend csp."


def test_only_security_rules_have_security_severity() -> None:
    rule = sarif_rule(judged_report(check_result("lcp", "fail", Severity.LOW), type=ScanType.PERFORMANCE).export)
    assert rule["properties"] == {
        "tags": ["performance"],
        "references": ["CWE-693"],
        "problem.severity": "recommendation",
    }


def test_long_names_are_truncated() -> None:
    long = "x" * 3000
    rule = sarif_rule(judged_report(replace(check_result("hsts"), name=long, title=long)).export)
    assert (len(rule["name"]), len(rule["shortDescription"]["text"]), len(rule["fullDescription"]["text"])) == (
        255,
        1024,
        1024,
    )


def findings_with_places(count: int) -> ExportJson:
    checks = (
        check_result(f"check-{number}", "warn" if number % 2 else "fail", list(Severity)[number % 4])
        for number in range(count)
    )
    return judged_report(*checks).export


def test_results_beyond_number_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sarif.MAX_RESULTS_PER_RUN == 25_000
    monkeypatch.setattr(sarif, "MAX_RESULTS_PER_RUN", 3)
    (run,) = sarif_log(findings_with_places(12))["runs"]
    properties = [result["properties"] for result in run["results"]]
    assert [(result_properties["status"], result_properties["severity"]) for result_properties in properties] == [
        ("fail", "critical")
    ] * 3
    notifications = run["invocations"][0]["toolExecutionNotifications"]
    text = notifications[0]["message"]["text"]
    assert text == "Only the first 3 of 12 results are in this log: code scanning accepts no more."


def test_results_beyond_size_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sarif.MAX_LOG_BYTES < MAX_BYTES
    monkeypatch.setattr(sarif, "MAX_LOG_BYTES", 400_000)
    noise = (hashlib.sha512(bytes([number % 256, number // 256])).hexdigest() for number in range(2_000))
    export = judged_report(*(check_result(f"check-{number}", summary=text) for number, text in enumerate(noise))).export
    run = sarif.run([(export, {})], "security", runs=4)
    assert 100 < len(run["results"]) < 2_000
    assert len(gzip.compress(json.dumps(run["results"], indent=2).encode())) < 120_000
    assert "of 2,000 results are in this log" in json.dumps(run["invocations"])
