"""The report's sections beside the checks: each shows what was found, and escapes everything from the site."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html

from tests.jinja_templates import TEMPLATES
from tests.results import check_of, stored
from tests.website_scan.cast import page
from tests.website_scan.security.cast import policies
from website_scan.catalogue import Declaration, checks
from website_scan.check_results import check_result
from website_scan.findings import HIGH, ScanType
from website_scan.outcomes import Warn
from website_scan.performance.checks.compression import UncompressedText, UnusedCode
from website_scan.performance.checks.network import ClosingOrigin
from website_scan.performance.places import LoadedFile
from website_scan.places import Header, Place, Resource, Rows
from website_scan.report.sections.headers import JUDGED
from website_scan.report.sections.policies import ABOUT
from website_scan.report.sections.sections import Sections, sections_of
from website_scan.report.sections.treemap import Area, squarified, weights
from website_scan.report_json import ExportedCheck, ExportJson
from website_scan.result import CheckStatus
from website_scan.security.certificates import CertificateRow
from website_scan.security.checks.csp import csp_syntax
from website_scan.stored_data import StoredExhibits, StoredWeight

EVIL = "<script>alert(1)</script>\"'&{}{0}"


def a_check(
    id: str, status: CheckStatus = "fail", *places: Place, details: Sequence[Place] = (), **columns: Any
) -> ExportedCheck:
    severity = None if status == "pass" else HIGH
    whole: dict[str, Any] = {"details": Rows.of(details), "summary": "It is so."} | columns
    return stored(check_of(id, id, f"{id} found", status, severity, HIGH, places=places, **whole))


def syntax_faults(policy: str) -> ExportedCheck:
    """Return the finding on the syntax of a policy as a report stores it."""
    finding = csp_syntax(policies(page("", ("Content-Security-Policy", policy))))
    assert isinstance(finding, Warn)
    declared: Declaration = csp_syntax.__check__  # type: ignore[attr-defined]  # the decorator's mark
    return stored(check_result(declared, finding, None))


def exported(*found: ExportedCheck, type: str = "security") -> dict[str, Any]:
    return {"type": type, "categories": [{"checks": list(found)}]}


def shown(document: dict[str, Any], exhibits: dict[str, Any] | None, prefix: str = "") -> Sections:
    return sections_of(cast("ExportJson", document), cast("StoredExhibits | None", exhibits), prefix)


def markup(found: Sections) -> html.HtmlElement:
    env = TEMPLATES
    parts = (
        env.get_template(f"report/{name}.html").render(sections=found, prefix="r-", page={"named_by": ""})
        for name in ("previews", "sections")
    )
    return html.fromstring(f"<main>{''.join(parts)}</main>")


def test_checks_that_are_named_exist() -> None:
    known = {check.id for check in checks(ScanType.SECURITY)}
    assert set(JUDGED) | set(ABOUT) | {"csp-syntax", "csp-insecure-source"} <= known


def test_old_reports_without_any_of_it_have_no_sections() -> None:
    found = shown(exported(a_check("hsts")), None)
    assert found == Sections()
    assert not markup(found).xpath("//section")


def test_headers_say_what_the_checks_say_of_them() -> None:
    document = exported(
        a_check("hsts", "warn"),
        a_check("x-content-type-options"),
        a_check("powered-by", "fail", Header("X-Generator", "x")),
        a_check("clickjacking", "fail", Header("Content-Security-Policy", "x")),
        a_check("cookie-secure", "pass"),
        a_check("cookie-httponly", "fail"),
        a_check("permissions-policy", "pass"),
        a_check("server-version", "fail"),
    )
    sent = [["x-generator", "cms"], ["Date", "today"], ["strict-transport-security", "max-age=1"],
            ["Content-Security-Policy", "img-src *"], ["X-Frame-Options", "DENY"], ["Set-Cookie", "a=•••"]]  # fmt: skip
    found = shown(document, {"headers": sent}, "p-").headers
    assert [(each.name, each.value, [verdict.text for verdict in each.verdicts]) for each in found] == [
        ("X-Content-Type-Options", None, ["x-content-type-options found"]),
        ("x-generator", "cms", ["powered-by found"]),
        ("Content-Security-Policy", "img-src *", ["clickjacking found"]),
        ("Set-Cookie", "a=•••", ["cookie-httponly found", "cookie-secure found"]),
        ("strict-transport-security", "max-age=1", ["hsts found"]),
        ("Date", "today", []),
        ("X-Frame-Options", "DENY", []),
    ]
    assert found[0].verdicts[0].anchor == "p-check-x-content-type-options"


def test_a_policy_is_a_table_that_marks_what_is_weak() -> None:
    text = "default-src 'self' 'unsafe-inline'; script-src 'unsafe-inline' a.b; foo-src x; base-uri 'none'; IMG-SRC *;"
    document = exported(
        a_check("csp-script-inline"),
        a_check("csp-style-inline", "warn"),
        syntax_faults(text),
        a_check("csp-object-base"),
        a_check("clickjacking"),
        a_check("csp-unsafe-eval", "pass"),
    )
    (policy,) = shown(document, {"policies": [{"way": "header", "text": text}]}).policies
    assert [
        (
            each.name,
            [source.text for source in each.sources if source.is_weak],
            [verdict.text for verdict in each.verdicts],
        )
        for each in policy.directives
    ] == [
        ("default-src", ["'unsafe-inline'"], ["csp-style-inline found"]),
        ("script-src", ["'unsafe-inline'"], ["csp-script-inline found"]),
        ("foo-src", ["x"], ["CSP has syntax errors"]),
        ("base-uri", [], []),
        ("img-src", [], []),
    ]


def test_a_directive_that_is_missing_is_told_and_a_policy_that_blocks_nothing_is_not_judged() -> None:
    document = exported(a_check("csp-object-base"))
    stored = [{"way": "header", "text": "script-src 'self'"}, {"way": "report only", "text": "script-src 'self'"}]
    enforced, reported = shown(document, {"policies": stored}).policies
    assert [(each.name, each.is_set) for each in enforced.directives] == [
        ("script-src", True),
        ("object-src", False),
        ("base-uri", False),
    ]
    assert [each.name for each in reported.directives] == ["script-src"]


def certificate(subject: str) -> CertificateRow:
    return CertificateRow(subject, "CN=CA", "2026-01-21T15:36:31Z", "2027-01-21T15:36:31Z", "RSA 2048", "sha256")


def test_redirects_and_certificates_are_tables() -> None:
    hops = [{"url": f"https://a.test/{number}", "status": 301 + number} for number in range(3)]
    chain = [certificate("CN=a.test"), certificate("CN=CA")]
    found = markup(shown(exported(a_check("tls-cert-trusted", "pass", details=chain)), {"redirects": hops}))
    rows = found.xpath("//section[.//h2='Redirects to the page']//tbody/tr")
    assert [[cell.text_content().strip() for cell in row] for row in rows] == [
        ["https://a.test/0", "301", "https://a.test/1"],
        ["https://a.test/1", "302", "https://a.test/2"],
    ]
    (chain_table,) = found.xpath("//section[.//h2='Certificate chain']//table")
    assert "2027-01-21 15:36 UTC" in chain_table.text_content()


def test_the_previews_load_nothing_from_the_site() -> None:
    stored = {
        "search_result": {"title": "T", "description": "", "url": "https://a.test/%E2%80%AEshop/new%20shoes",
                          "site": ""},
        "shared_link": {"title": "", "description": "D", "url": "https://a.test/", "image": "https://a.test/i.png",
                        "site": "", "card": "summary_large_image"},
    }  # fmt: skip
    found = markup(shown(exported(a_check("is-indexable"), type="seo"), stored))
    text = " ".join(found.text_content().split())
    assert re.search(r"a.test . \[U\+202E\]shop . new shoes", text)
    assert "No description: search engines show an extract" in text
    assert "The page asks search engines not to show it." in text
    assert "The image is not loaded here: https://a.test/i.png" in text
    assert not found.xpath("//img | //*[@src] | //a[not(starts-with(@href, '#'))]")
    assert found.xpath("//div[contains(@class, 'is-large')]")


@given(st.lists(st.integers(min_value=1, max_value=10**9), min_size=1, max_size=41))
def test_areas_are_as_the_values_and_fill_the_drawing(values: list[int]) -> None:
    values.sort(reverse=True)
    places = squarified(values, 3.0, 1.0)
    for value, (x, y, width, height) in zip(values, places, strict=True):
        assert abs(width * height - 3 * value / sum(values)) < 1e-6
        assert x >= -1e-6
        assert y >= -1e-6
        assert x + width <= 3 + 1e-6
        assert y + height <= 1 + 1e-6


def test_sums_are_by_type_and_by_host() -> None:
    def row(host: str, kind: str, wire_bytes: int, *, foreign: bool = False) -> StoredWeight:
        return {"host": host, "kind": kind, "wire_bytes": wire_bytes, "requests": 2, "is_third_party": foreign}

    found = weights(
        [row("a.test", "image", 900), row("a.test", "script", 97), row("t.test", "script", 3, foreign=True)]
    )
    assert found is not None
    assert (found.total, found.requests, found.third_party) == ("1.0 kB", 6, "3 B (0 %)")
    assert [(each.name, each.requests, each.share) for each in found.kinds] == [
        ("Image", 2, "90 %"),
        ("Script", 4, "10 %"),
    ]
    assert [(each.name, each.note, each.share) for each in found.hosts] == [
        ("a.test", "", "100 %"),
        ("t.test", "third party", "< 1 %"),
    ]
    many = weights([row(f"h{number}.test", "image", 100) for number in range(12)])
    assert many is not None
    assert [each.name for each in many.hosts][-1] == "4 more"
    assert weights([row("a.test", "image", 0)]) is None


TEXT = st.one_of(st.text(max_size=40), st.just(EVIL), st.just("https://[bad"))
NUMBERS = st.integers(min_value=0, max_value=10**9)


WEIGHT = {
    "host": TEXT,
    "kind": st.sampled_from(["image", "script"]),
    "wire_bytes": NUMBERS,
    "requests": NUMBERS,
    "is_third_party": st.booleans(),
}
POLICY = {"way": st.sampled_from(["header", "meta", "report only"]), "text": TEXT}
SHARED = ("title", "description", "url", "site", "image", "card")
STORED = {
    "headers": st.lists(st.lists(TEXT, min_size=2, max_size=2), max_size=4),
    "policies": st.lists(st.fixed_dictionaries(POLICY), max_size=2),
    "redirects": st.lists(st.fixed_dictionaries({"url": TEXT, "status": NUMBERS}), max_size=3),
    "weights": st.lists(st.fixed_dictionaries(WEIGHT), max_size=4),
    "search_result": st.fixed_dictionaries(dict.fromkeys(("title", "description", "url", "site"), TEXT)),
    "shared_link": st.fixed_dictionaries(dict.fromkeys(SHARED, TEXT)),
}


@settings(max_examples=50, deadline=None)
@given(st.fixed_dictionaries(STORED))
def test_nothing_that_a_site_sent_becomes_markup(stored: dict[str, Any]) -> None:
    found = markup(
        shown(
            exported(syntax_faults(EVIL), a_check("tls-cert-trusted", "pass", details=[certificate(EVIL)])),
            stored,
        )
    )
    assert not found.xpath("//script | //img | //style | //iframe")
    assert {name for each in found.iter() for name in each.keys()} <= {  # noqa: SIM118  # attributes
        *("class", "id", "aria-labelledby", "aria-label", "aria-hidden", "scope", "data-label", "href", "title"),
        *("viewbox", "x", "y", "width", "height", "d", "type", "data-copy", "hidden"),
    }
    assert all(each.startswith("#") for each in found.xpath("//@href"))


def test_an_area_has_words_only_where_they_have_room() -> None:
    area = Area("Document", "a.test", "16 kB", "document", 0, 0, 36, 100)
    assert area.has_words
    assert area.is_slim  # on a phone, where a third of the width is a hundred pixels
    assert not replace(area, width=13).has_words
    assert not replace(area, label="Font", width=38).is_slim


def test_the_contents_name_each_section_that_there_is() -> None:
    redirects = [{"url": "http://a/", "status": 301}, {"url": "https://a/", "status": 200}]
    found = shown(exported(), {"headers": [["Server", "a"]], "redirects": redirects})
    assert [entry.anchor for entry in found.contents] == ["headers", "redirects"]
    assert markup(found).xpath("//section/@aria-labelledby") == ["r-headers", "r-redirects"]


def test_a_file_stands_once_with_all_findings_that_name_it() -> None:
    script, image = "https://shop.test/a.js", "https://shop.test/b.png"
    document = exported(
        a_check("unused-js", "fail", UnusedCode(script, None, 5, 50), points=0.5),
        a_check("text-compressed", "fail", Resource(image), *[UncompressedText(script, 1500, 900)] * 2, points=1.0),
        a_check("cache-missing", "fail", LoadedFile(image, wire_bytes=20), points=3.0),
        a_check("js-minified", "pass", details=[Resource(script)]),
        a_check("http-version", "fail", ClosingOrigin("https://shop.test", 2), Resource("inline"), points=1.0),
        type="performance",
    )
    found = shown(document, None, "p-")
    assert [(each.address.whole, each.size, [verdict.text for verdict in each.verdicts]) for each in found.files] == [
        (image, "20 B", ["cache-missing found", "text-compressed found"]),
        (script, "1.5 kB", ["text-compressed found", "unused-js found"]),
    ]
    assert found.files[0].verdicts[0].anchor == "p-check-cache-missing"
    assert [entry.anchor for entry in found.contents] == ["files"]
    (table,) = markup(found).xpath("//section[@aria-labelledby='r-files']//table")
    assert [row.text_content().split() for row in table.xpath("./tbody/tr/th")] == [[image], [script]]


def test_files_with_one_finding_each_need_no_list_of_their_own() -> None:
    alone = [
        a_check("unused-js", "fail", Resource("https://shop.test/a.js")),
        a_check("cache-missing", "fail", Resource(EVIL)),
    ]
    assert shown(exported(*alone, type="performance"), None).files == ()
    twice = [a_check(id, "fail", Resource("https://shop.test/" + EVIL)) for id in ("unused-js", "js-minified")]
    assert shown(exported(*twice, type="security"), None).files == ()
    (file,) = shown(exported(*twice, type="performance"), None).files
    assert not markup(Sections(files=(file,))).xpath("//script")


def test_a_page_of_many_files_lists_the_worst() -> None:
    files = [Resource(f"https://shop.test/{number}") for number in range(80)]
    found_by = {f"check-{start}": files[start : start + 20] for start in range(0, 80, 20)}
    document = exported(
        *(a_check(id, "fail", *places) for id, places in found_by.items()),
        a_check("js-minified", "fail", files[79]),
        type="performance",
    )
    found = shown(document, None).files
    assert len(found) == 50
    assert found[0].address.whole == files[79].url
