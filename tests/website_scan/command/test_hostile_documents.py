"""Documents of a hostile page: each format of each scan type is valid, and says nothing that a reader would obey."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import jsonschema
import pytest
from lxml import etree
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from tests.generated import description
from tests.reports.sarif import assert_sarif
from tests.website_scan.command.hostile_page import PATH, hostile_site, reports_of
from tests.website_scan.command.test_formats import CODE_QUALITY, OBEYED
from website_scan.command.formats import WRITERS
from website_scan.command.formats.text import text
from website_scan.command.judged import Gate, Judged, Outcome
from website_scan.command.output import formatted
from website_scan.findings import ScanType, Severity
from website_scan.report.spreadsheets import FORMULA_STARTS
from website_scan.report_json import checks_of

# Elements of rendered Markdown that the format itself makes.
OURS = {"html", "head", "body", "h1", "h2", "p", "strong", "em", "code", "ul", "li", "a"} | {
    *("table", "thead", "tbody", "tr", "th", "td")
}


@pytest.fixture(scope="module")
def reports() -> Mapping[str, Judged]:
    with hostile_site() as site:
        return {each.type: each for each in reports_of(site, PATH)}


def as_text(document: str, judged: Judged) -> None:
    findings = [check["title"] for _, check in judged.findings()]
    assert all(f" {each} (" in document for each in findings)


def as_json(document: str, judged: Judged) -> None:
    _valid(document, "/v1/report/{scan_id}", judged)


def as_export(document: str, judged: Judged) -> None:
    _valid(document, "/v1/report/{scan_id}/export", judged)


def _valid(document: str, operation: str, judged: Judged) -> None:
    api = description()
    schema = api["paths"][operation]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    (report,) = json.loads(document)["reports"]
    jsonschema.validate(report, schema | {"components": api["components"]})
    assert report["url"] == judged.url


def as_sarif(document: str, judged: Judged) -> None:
    log = json.loads(document)
    assert_sarif(log)
    (run,) = log["runs"]
    assert {each["ruleId"] for each in run["results"]} == {check["id"] for _, check in judged.findings()}
    for each in run["results"]:
        # The one link is ours.
        (target,) = re.findall(r"(?<!\\)\]\(([^)]*)\)", each["message"]["text"])
        assert urlsplit(target)[:2] == urlsplit(judged.url)[:2]
        assert "evil.example" not in target or "evil.example" in judged.url


def as_csv(document: str, judged: Judged) -> None:
    rows = list(csv.reader(io.StringIO(document, newline=""), strict=True))
    assert len({len(row) for row in rows}) == 1
    judgements = [*checks_of(judged.document), *judged.document["skipped_checks"], *judged.document["omitted_checks"]]
    assert len(rows) == 1 + len(judgements)
    assert not [cell for row in rows for cell in row if cell.startswith(FORMULA_STARTS)]


def as_junit(document: str, judged: Judged) -> None:
    tree = etree.fromstring(document.encode())
    etree.XMLSchema(file=Path(__file__).with_name("junit.xsd")).assertValid(tree)
    assert {each.get("name") for each in tree.iter("testcase")} >= {check["name"] for _, check in judged.checks}


def as_code_quality(document: str, judged: Judged) -> None:
    entries = json.loads(document)
    jsonschema.validate(entries, CODE_QUALITY)
    assert len({each["fingerprint"] for each in entries}) == len(entries) >= len(judged.findings())


def as_markdown(document: str, judged: Judged) -> None:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("text_join")
    tokens = [each for token in parser.parse(document) for each in (token, *(token.children or ()))]
    assert not {"html_block", "html_inline", "image"} & {each.type for each in tokens}
    tree = LexborHTMLParser(parser.render(document))
    assert {each.tag for each in tree.css("*")} <= OURS
    assert {urlsplit(each.attributes["href"] or "")[:2] for each in tree.css("a")} == {urlsplit(judged.url)[:2]}
    assert len(tree.css("h1")) == len(tree.css("h2")) == len(tree.css("tbody tr")) == 1
    # GitHub makes links of bare addresses, except where a character is escaped: then the text is in several tokens.
    linked = {after.content for link, after in pairwise(tokens) if link.type == "link_open"}
    texts = {each.content for each in tokens if each.type == "text"} - linked
    assert not [each for each in texts if re.search(r"://|www\.", each)]


def as_html(document: str, judged: Judged) -> None:
    tree = LexborHTMLParser(document)
    assert not tree.css("script, iframe, object, embed, link, base, form, [onerror], [onload], [srcset]")
    assert len(tree.css("meta[http-equiv]")) == 1
    ids = [each.attributes["id"] for each in tree.css("[id]")]
    assert len(ids) == len(set(ids))
    links = [each.attributes["href"] or "" for each in tree.css("a[href]")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    schemes = {urlsplit(link).scheme for link in links if not link.startswith("#")}
    assert schemes <= {"http", "https"}
    assert not [link for link in links if "//evil.example" in link.partition("?")[0]]


VALIDATORS: Mapping[str, Callable[[str, Judged], None]] = {
    "text": as_text,
    "json": as_json,
    "full": as_export,
    "sarif": as_sarif,
    "csv": as_csv,
    "junit": as_junit,
    "codequality": as_code_quality,
    "markdown": as_markdown,
    "html": as_html,
}


def document_of(name: str, *reports: Judged) -> str:
    if name == "text":
        return "".join(f"{line}\n" for each in reports for line in text(each))
    gate = Gate({"": 100}, Severity.LOW)
    complaints = [sentence for each in reports for sentence in gate.complaints(each)]
    return formatted(name, Outcome(reports, complaints, len(reports) + 1, gate=gate))


def test_every_format_is_validated() -> None:
    assert VALIDATORS.keys() == {"text", *WRITERS}


@pytest.mark.parametrize("name", VALIDATORS)
@pytest.mark.parametrize("scan_type", list(ScanType))
def test_a_document_of_a_hostile_page_is_valid(reports: Mapping[str, Judged], scan_type: ScanType, name: str) -> None:
    judged = reports[scan_type]
    assert judged.error is None
    assert judged.findings()
    document = document_of(name, judged)
    VALIDATORS[name](document, judged)
    obeyed = {each for each in document if unicodedata.category(each) in OBEYED} - set("\r\n\t")
    assert not obeyed or name == "html"  # which is for browsers
    assert not obeyed & set("\u202e\u2066\x1b\x07\x9b\x00")
    document.encode()  # has no lone surrogates
    assert len(document) < 3_000_000


@pytest.mark.parametrize("name", [each for each in VALIDATORS if each != "text"])
def test_a_document_of_all_types_is_valid(reports: Mapping[str, Judged], name: str) -> None:
    document = document_of(name, *reports.values())
    if name == "sarif":
        assert_sarif(json.loads(document))
    if name == "junit":
        tree = etree.fromstring(document.encode())
        etree.XMLSchema(file=Path(__file__).with_name("junit.xsd")).assertValid(tree)
    if name in ("json", "full"):
        assert [each["type"] for each in json.loads(document)["reports"]] == list(reports)
    if name == "codequality":
        jsonschema.validate(json.loads(document), CODE_QUALITY)
    assert not set(document) & set("\u202e\u2066\x1b\x07\x9b\x00")


def test_the_page_says_what_it_should(reports: Mapping[str, Judged]) -> None:
    """Otherwise these tests would test nothing: what the page says does reach the documents."""
    everything = "".join(document_of("full", each) for each in reports.values())
    for words in ("=1+1", "]]>", "-->", "</script>", "onerror=alert(1)", "javascript:alert(1)", "evil.example", "7*7"):
        assert words in everything, words
