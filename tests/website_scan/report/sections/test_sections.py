"""Tests for the report page's sections besides the checks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html
from msgspec.structs import replace

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
from website_scan.report.sections.policies import JUDGED_DIRECTIVES
from website_scan.report.sections.sections import Sections, create_sections
from website_scan.report.sections.treemap import Area, squarify, weights
from website_scan.report_json import ExportedCheck, ExportJson
from website_scan.result import CheckStatus
from website_scan.security.certificates import CertificateRow
from website_scan.security.checks.csp import csp_syntax
from website_scan.stored_data import StoredExhibits, StoredWeight

EVIL = "<script>alert(1)</script>\"'&{}{0}"


def build_check(
    id: str, status: CheckStatus = "fail", *places: Place, details: Sequence[Place] = (), **columns: Any
) -> ExportedCheck:
    severity = None if status == "pass" else HIGH
    whole: dict[str, Any] = {"details": Rows.of(details), "summary": "It is so."} | columns
    return stored(check_of(id, id, f"{id} found", status, severity, HIGH, places=places, **whole))


def syntax_faults(policy: str) -> ExportedCheck:
    """Return the stored csp-syntax finding for a policy."""
    finding = csp_syntax(policies(page("", ("Content-Security-Policy", policy))))
    assert isinstance(finding, Warn)
    declared: Declaration = csp_syntax.__check__  # type: ignore[attr-defined]  # the decorator's mark
    return stored(check_result(declared, finding, None))


def export_of_findings(*checks: ExportedCheck, type: str = "security") -> dict[str, Any]:
    return {"type": type, "categories": [{"checks": list(checks)}]}


def sections(export: dict[str, Any], exhibits: dict[str, Any] | None, prefix: str = "") -> Sections:
    return create_sections(cast("ExportJson", export), cast("StoredExhibits | None", exhibits), prefix)


def markup(page_sections: Sections) -> html.HtmlElement:
    env = TEMPLATES
    parts = (
        env.get_template(f"report/{name}.html").render(sections=page_sections, prefix="r-", page={"title_id": ""})
        for name in ("previews", "sections")
    )
    return html.fromstring(f"<main>{''.join(parts)}</main>")


def test_judged_headers_have_check_ids() -> None:
    known = {check.id for check in checks(ScanType.SECURITY)}
    assert set(JUDGED) | set(JUDGED_DIRECTIVES) | {"csp-syntax", "csp-insecure-source"} <= known


def test_old_report_has_no_sections() -> None:
    result = sections(export_of_findings(build_check("hsts")), None)
    assert result == Sections()
    assert not markup(result).xpath("//section")


def test_headers_show_check_verdicts() -> None:
    export = export_of_findings(
        build_check("hsts", "warn"),
        build_check("x-content-type-options"),
        build_check("powered-by", "fail", Header("X-Generator", "x")),
        build_check("clickjacking", "fail", Header("Content-Security-Policy", "x")),
        build_check("cookie-secure", "pass"),
        build_check("cookie-httponly", "fail"),
        build_check("permissions-policy", "pass"),
        build_check("server-version", "fail"),
    )
    sent = [["x-generator", "cms"], ["Date", "today"], ["strict-transport-security", "max-age=1"],
            ["Content-Security-Policy", "img-src *"], ["X-Frame-Options", "DENY"], ["Set-Cookie", "a=•••"]]  # fmt: skip
    headers = sections(export, {"headers": sent}, "p-").headers
    assert [(header.name, header.value, [verdict.text for verdict in header.verdicts]) for header in headers] == [
        ("X-Content-Type-Options", None, ["x-content-type-options found"]),
        ("x-generator", "cms", ["powered-by found"]),
        ("Content-Security-Policy", "img-src *", ["clickjacking found"]),
        ("Set-Cookie", "a=•••", ["cookie-httponly found", "cookie-secure found"]),
        ("strict-transport-security", "max-age=1", ["hsts found"]),
        ("Date", "today", []),
        ("X-Frame-Options", "DENY", []),
    ]
    assert headers[0].verdicts[0].anchor == "p-check-x-content-type-options"


def test_policy_table_marks_weak_sources() -> None:
    text = "default-src 'self' 'unsafe-inline'; script-src 'unsafe-inline' a.b; foo-src x; base-uri 'none'; IMG-SRC *;"
    export = export_of_findings(
        build_check("csp-script-inline"),
        build_check("csp-style-inline", "warn"),
        syntax_faults(text),
        build_check("csp-object-base"),
        build_check("clickjacking"),
        build_check("csp-unsafe-eval", "pass"),
    )
    (policy,) = sections(export, {"policies": [{"way": "header", "text": text}]}).policies
    assert [
        (
            directive.name,
            [source.text for source in directive.sources if source.is_weak],
            [verdict.text for verdict in directive.verdicts],
        )
        for directive in policy.directives
    ] == [
        ("default-src", ["'unsafe-inline'"], ["csp-style-inline found"]),
        ("script-src", ["'unsafe-inline'"], ["csp-script-inline found"]),
        ("foo-src", ["x"], ["CSP has syntax errors"]),
        ("base-uri", [], []),
        ("img-src", [], []),
    ]


def test_missing_directive_is_listed() -> None:
    export = export_of_findings(build_check("csp-object-base"))
    stored = [{"way": "header", "text": "script-src 'self'"}, {"way": "report only", "text": "script-src 'self'"}]
    enforced, reported = sections(export, {"policies": stored}).policies
    assert [(directive.name, directive.is_set) for directive in enforced.directives] == [
        ("script-src", True),
        ("object-src", False),
        ("base-uri", False),
    ]
    assert [directive.name for directive in reported.directives] == ["script-src"]


def certificate(subject: str) -> CertificateRow:
    return CertificateRow(subject, "CN=CA", "2026-01-21T15:36:31Z", "2027-01-21T15:36:31Z", "RSA 2048", "sha256")


def test_redirects_and_certificates_are_tables() -> None:
    hops = [{"url": f"https://a.test/{number}", "status": 301 + number} for number in range(3)]
    chain = [certificate("CN=a.test"), certificate("CN=CA")]
    html_sections = markup(
        sections(export_of_findings(build_check("tls-cert-trusted", "pass", details=chain)), {"redirects": hops})
    )
    rows = html_sections.xpath("//section[.//h2='Redirects to the page']//tbody/tr")
    assert [[cell.text_content().strip() for cell in row] for row in rows] == [
        ["https://a.test/0", "301", "https://a.test/1"],
        ["https://a.test/1", "302", "https://a.test/2"],
    ]
    (chain_table,) = html_sections.xpath("//section[.//h2='Certificate chain']//table")
    assert "2027-01-21 15:36 UTC" in chain_table.text_content()


def test_previews_load_nothing_from_site() -> None:
    stored = {
        "search_result": {"title": "T", "description": "", "url": "https://a.test/%E2%80%AEshop/new%20shoes",
                          "site": ""},
        "shared_link": {"title": "", "description": "D", "url": "https://a.test/", "image": "https://a.test/i.png",
                        "site": "", "card": "summary_large_image"},
    }  # fmt: skip
    html_sections = markup(sections(export_of_findings(build_check("is-indexable"), type="seo"), stored))
    text = " ".join(html_sections.text_content().split())
    assert re.search(r"a.test . \[U\+202E\]shop . new shoes", text)
    assert "No description: search engines show an extract" in text
    assert "The page asks search engines not to show it." in text
    assert "The image is not loaded here: https://a.test/i.png" in text
    assert not html_sections.xpath("//img | //*[@src] | //a[not(starts-with(@href, '#'))]")
    assert html_sections.xpath("//div[contains(@class, 'is-large')]")


@given(st.lists(st.integers(min_value=1, max_value=10**9), min_size=1, max_size=41))
def test_treemap_areas_fill_the_drawing(values: list[int]) -> None:
    values.sort(reverse=True)
    places = squarify(values, 3.0, 1.0)
    for value, (x, y, width, height) in zip(values, places, strict=True):
        assert abs(width * height - 3 * value / sum(values)) < 1e-6
        assert x >= -1e-6
        assert y >= -1e-6
        assert x + width <= 3 + 1e-6
        assert y + height <= 1 + 1e-6


def test_transfer_sizes_are_summed() -> None:
    def row(host: str, kind: str, wire_bytes: int, *, foreign: bool = False) -> StoredWeight:
        return {"host": host, "kind": kind, "wire_bytes": wire_bytes, "requests": 2, "is_third_party": foreign}

    sums = weights([row("a.test", "image", 900), row("a.test", "script", 97), row("t.test", "script", 3, foreign=True)])
    assert sums is not None
    assert (sums.total, sums.requests, sums.third_party) == ("1.0 kB", 6, "3 B (0 %)")
    assert [(row_.name, row_.requests, row_.share) for row_ in sums.kinds] == [
        ("Image", 2, "90 %"),
        ("Script", 4, "10 %"),
    ]
    assert [(row_.name, row_.note, row_.share) for row_ in sums.hosts] == [
        ("a.test", "", "100 %"),
        ("t.test", "third party", "< 1 %"),
    ]
    many = weights([row(f"h{number}.test", "image", 100) for number in range(12)])
    assert many is not None
    assert [row_.name for row_ in many.hosts][-1] == "4 more"
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
def test_site_text_never_becomes_markup(stored: dict[str, Any]) -> None:
    html_sections = markup(
        sections(
            export_of_findings(
                syntax_faults(EVIL), build_check("tls-cert-trusted", "pass", details=[certificate(EVIL)])
            ),
            stored,
        )
    )
    assert not html_sections.xpath("//script | //img | //style | //iframe")
    assert {name for node in html_sections.iter() for name in node.keys()} <= {  # noqa: SIM118  # attributes
        *("class", "id", "aria-labelledby", "aria-label", "aria-hidden", "scope", "data-label", "href", "title"),
        *("viewbox", "x", "y", "width", "height", "d", "type", "data-copy", "hidden"),
    }
    assert all(href.startswith("#") for href in html_sections.xpath("//@href"))


def test_treemap_area_has_label_if_it_fits() -> None:
    area = Area("Document", "a.test", "16 kB", "document", 0, 0, 36, 100)
    assert area.fits_label
    assert area.fits_no_label_on_phone  # On a phone, 36 % of the drawing's width are about 100 pixels.
    assert not replace(area, width=13).fits_label
    assert not replace(area, label="Font", width=38).fits_no_label_on_phone


def test_table_of_contents_lists_sections() -> None:
    redirects = [{"url": "http://a/", "status": 301}, {"url": "https://a/", "status": 200}]
    result = sections(export_of_findings(), {"headers": [["Server", "a"]], "redirects": redirects})
    assert [entry.anchor for entry in result.contents] == ["headers", "redirects"]
    assert markup(result).xpath("//section/@aria-labelledby") == ["r-headers", "r-redirects"]


def test_file_is_listed_once_with_its_findings() -> None:
    script, image = "https://shop.test/a.js", "https://shop.test/b.png"
    export = export_of_findings(
        build_check("unused-js", "fail", UnusedCode(script, None, 5, 50), points=0.5),
        build_check("text-compressed", "fail", Resource(image), *[UncompressedText(script, 1500, 900)] * 2, points=1.0),
        build_check("cache-missing", "fail", LoadedFile(image, wire_bytes=20), points=3.0),
        build_check("js-minified", "pass", details=[Resource(script)]),
        build_check("http-version", "fail", ClosingOrigin("https://shop.test", 2), Resource("inline"), points=1.0),
        type="performance",
    )
    result = sections(export, None, "p-")
    assert [(file.address.whole, file.size, [verdict.text for verdict in file.verdicts]) for file in result.files] == [
        (image, "20 B", ["cache-missing found", "text-compressed found"]),
        (script, "1.5 kB", ["text-compressed found", "unused-js found"]),
    ]
    assert result.files[0].verdicts[0].anchor == "p-check-cache-missing"
    assert [entry.anchor for entry in result.contents] == ["files"]
    (table,) = markup(result).xpath("//section[@aria-labelledby='r-files']//table")
    assert [row.text_content().split() for row in table.xpath("./tbody/tr/th")] == [[image], [script]]


def test_files_with_one_finding_are_not_listed() -> None:
    alone = [
        build_check("unused-js", "fail", Resource("https://shop.test/a.js")),
        build_check("cache-missing", "fail", Resource(EVIL)),
    ]
    assert sections(export_of_findings(*alone, type="performance"), None).files == ()
    twice = [build_check(id, "fail", Resource("https://shop.test/" + EVIL)) for id in ("unused-js", "js-minified")]
    assert sections(export_of_findings(*twice, type="security"), None).files == ()
    (file,) = sections(export_of_findings(*twice, type="performance"), None).files
    assert not markup(Sections(files=(file,))).xpath("//script")


def test_files_with_most_findings_are_listed() -> None:
    files = [Resource(f"https://shop.test/{number}") for number in range(80)]
    files_by_check = {f"check-{start}": files[start : start + 20] for start in range(0, 80, 20)}
    export = export_of_findings(
        *(build_check(id, "fail", *places) for id, places in files_by_check.items()),
        build_check("js-minified", "fail", files[79]),
        type="performance",
    )
    file_sections = sections(export, None).files
    assert len(file_sections) == 50
    assert file_sections[0].address.whole == files[79].url
