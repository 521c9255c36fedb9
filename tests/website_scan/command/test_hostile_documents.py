"""Test that the output for a hostile page is valid and escaped."""

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
from rdflib import Graph
from selectolax.lexbor import LexborHTMLParser

from tests.generated import description
from tests.reports.sarif import assert_sarif
from tests.website_scan.command.hostile_page import PATH, hostile_site, reports_of
from tests.website_scan.command.test_formats import CODE_QUALITY, INTERPRETED
from website_scan.command.formats import WRITERS
from website_scan.command.formats.text import text
from website_scan.command.gate import CommandReport, CommandResult, Gate
from website_scan.command.output import formatted
from website_scan.findings import ScanType, Severity
from website_scan.report.spreadsheets import FORMULA_STARTS
from website_scan.report_json import checks_of

# HTML elements that the format itself adds to rendered Markdown.
ELEMENTS_OF_FORMAT = {"html", "head", "body", "h1", "h2", "p", "strong", "em", "code", "ul", "li", "a"} | {
    *("table", "thead", "tbody", "tr", "th", "td")
}


@pytest.fixture(scope="module")
def reports() -> Mapping[str, CommandReport]:
    with hostile_site() as site:
        return {report.type: report for report in reports_of(site, PATH)}


def check_text(content: str, judged: CommandReport) -> None:
    titles = [check["title"] for _, check in judged.findings()]
    assert all(f" {title} (" in content for title in titles)


def check_json(content: str, judged: CommandReport) -> None:
    _validate(content, "/v1/report/{scan_id}", judged)


def check_export(content: str, judged: CommandReport) -> None:
    _validate(content, "/v1/report/{scan_id}/export", judged)


def _validate(content: str, operation: str, judged: CommandReport) -> None:
    api = description()
    schema = api["paths"][operation]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    (report,) = json.loads(content)["reports"]
    jsonschema.validate(report, schema | {"components": api["components"]})
    assert report["url"] == judged.url


def check_sarif(content: str, judged: CommandReport) -> None:
    log = json.loads(content)
    assert_sarif(log)
    (run,) = log["runs"]
    assert {result["ruleId"] for result in run["results"]} == {check["id"] for _, check in judged.findings()}
    for result in run["results"]:
        # The only link is the format's own link to the page.
        (target,) = re.findall(r"(?<!\\)\]\(([^)]*)\)", result["message"]["text"])
        assert urlsplit(target)[:2] == urlsplit(judged.url)[:2]
        assert "evil.example" not in target or "evil.example" in judged.url


def check_csv(content: str, judged: CommandReport) -> None:
    rows = list(csv.reader(io.StringIO(content, newline=""), strict=True))
    assert len({len(row) for row in rows}) == 1
    judgements = [*checks_of(judged.export), *judged.export["skipped_checks"], *judged.export["omitted_checks"]]
    assert len(rows) == 1 + len(judgements)
    assert not [cell for row in rows for cell in row if cell.startswith(FORMULA_STARTS)]


def check_junit(content: str, judged: CommandReport) -> None:
    tree = etree.fromstring(content.encode())
    etree.XMLSchema(file=Path(__file__).with_name("junit.xsd")).assertValid(tree)
    assert {case.get("name") for case in tree.iter("testcase")} >= {check["name"] for _, check in judged.checks}


def check_code_quality(content: str, judged: CommandReport) -> None:
    entries = json.loads(content)
    jsonschema.validate(entries, CODE_QUALITY)
    assert len({entry["fingerprint"] for entry in entries}) == len(entries) >= len(judged.findings())


def check_markdown(content: str, judged: CommandReport) -> None:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("text_join")
    tokens = [part for token in parser.parse(content) for part in (token, *(token.children or ()))]
    assert not {"html_block", "html_inline", "image"} & {token.type for token in tokens}
    tree = LexborHTMLParser(parser.render(content))
    assert {node.tag for node in tree.css("*")} <= ELEMENTS_OF_FORMAT
    assert {urlsplit(node.attributes["href"] or "")[:2] for node in tree.css("a")} == {urlsplit(judged.url)[:2]}
    assert len(tree.css("h1")) == len(tree.css("h2")) == len(tree.css("tbody tr")) == 1
    # GitHub links bare URLs unless a character is escaped.
    linked = {after.content for link, after in pairwise(tokens) if link.type == "link_open"}
    texts = {token.content for token in tokens if token.type == "text"} - linked
    assert not [text for text in texts if re.search(r"://|www\.", text)]


def check_html(content: str, judged: CommandReport) -> None:
    tree = LexborHTMLParser(content)
    assert not tree.css("script, iframe, object, embed, link, base, form, [onerror], [onload], [srcset]")
    assert len(tree.css("meta[http-equiv]")) == 1
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(ids) == len(set(ids))
    links = [node.attributes["href"] or "" for node in tree.css("a[href]")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    schemes = {urlsplit(link).scheme for link in links if not link.startswith("#")}
    assert schemes <= {"http", "https"}
    assert not [link for link in links if "//evil.example" in link.partition("?")[0]]


def check_conformance(content: str, judged: CommandReport) -> None:
    if judged.type == ScanType.ACCESSIBILITY:
        assert content.startswith(f"{judged.url}  1 page  WCAG 2.2, level AA\n")
        assert "(image-alt)" in content


def check_earl(content: str, judged: CommandReport) -> None:
    Graph().parse(data=content, format="json-ld")
    subjects = [node["@id"] for node in json.loads(content)["@graph"] if node["@type"] == "earl:TestSubject"]
    page = judged.export["final_url"] or judged.url
    assert subjects == ([page] if judged.type == ScanType.ACCESSIBILITY else [])


VALIDATORS: Mapping[str, Callable[[str, CommandReport], None]] = {
    "text": check_text,
    "json": check_json,
    "full": check_export,
    "sarif": check_sarif,
    "csv": check_csv,
    "junit": check_junit,
    "codequality": check_code_quality,
    "markdown": check_markdown,
    "html": check_html,
    "conformance": check_conformance,
    "earl": check_earl,
}


# Values of different lengths would be wrapped differently.
UNWRAPPED = 1_000_000


def render_format(name: str, *reports: CommandReport) -> str:
    if name == "text":
        return "".join(f"{line}\n" for report in reports for line in text(report, width=UNWRAPPED))
    gate = Gate({"": 100}, Severity.LOW)
    complaints = [sentence for report in reports for sentence in gate.complaints(report)]
    return formatted(name, CommandResult(reports, complaints, len(reports) + 1, gate=gate))


def test_every_format_has_a_validator() -> None:
    assert VALIDATORS.keys() == {"text", *WRITERS}


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated")  # rdflib uses it itself
@pytest.mark.parametrize("name", VALIDATORS)
@pytest.mark.parametrize("scan_type", list(ScanType))
def test_output_for_a_hostile_page_is_valid(
    reports: Mapping[str, CommandReport], scan_type: ScanType, name: str
) -> None:
    judged = reports[scan_type]
    assert judged.error is None
    assert judged.findings()
    content = render_format(name, judged)
    VALIDATORS[name](content, judged)
    interpreted = {character for character in content if unicodedata.category(character) in INTERPRETED} - set("\r\n\t")
    # HTML is for browsers, so it may contain characters that terminals interpret.
    assert not interpreted or name == "html"
    assert not interpreted & set("\u202e\u2066\x1b\x07\x9b\x00")
    content.encode()  # encode() raises an error for lone surrogates.
    assert len(content) < 3_000_000


@pytest.mark.parametrize("name", [name for name in VALIDATORS if name != "text"])
def test_output_for_all_scan_types_is_valid(reports: Mapping[str, CommandReport], name: str) -> None:
    content = render_format(name, *reports.values())
    if name == "sarif":
        assert_sarif(json.loads(content))
    if name == "junit":
        tree = etree.fromstring(content.encode())
        etree.XMLSchema(file=Path(__file__).with_name("junit.xsd")).assertValid(tree)
    if name in ("json", "full"):
        assert [report["type"] for report in json.loads(content)["reports"]] == list(reports)
    if name == "codequality":
        jsonschema.validate(json.loads(content), CODE_QUALITY)
    assert not set(content) & set("\u202e\u2066\x1b\x07\x9b\x00")


def test_hostile_texts_appear_in_the_output(reports: Mapping[str, CommandReport]) -> None:
    """Otherwise, the other tests would not cover the hostile texts."""
    everything = "".join(render_format("full", report) for report in reports.values())
    for words in ("=1+1", "]]>", "-->", "</script>", "onerror=alert(1)", "javascript:alert(1)", "evil.example", "7*7"):
        assert words in everything, words
