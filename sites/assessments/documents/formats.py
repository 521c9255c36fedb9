"""Formats in which an assessment can be downloaded. The API, the pages and openapi.yaml use this table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sites.assessments.documents.csv_table import assessment_csv
from sites.assessments.documents.earl import assessment_earl
from sites.assessments.documents.openacr import openacr_yaml
from sites.assessments.documents.statement_text import statement_markdown
from sites.assessments.schemas import AssessmentReport
from website_scan.report.spreadsheets import MEDIA_TYPE as CSV_TYPE
from website_scan.report.storage import compact_json


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """Format of a document about an assessment.

    `label` is for menus, `about` for openapi.yaml. `write` returns the document.
    """

    name: str
    label: str
    about: str
    content_type: str
    ending: str
    write: Callable[[AssessmentReport], str]

    def file_name(self, report: AssessmentReport) -> str:
        return f"{report['assessment']['id']}{self.ending}"


DOCUMENT_FORMATS: Mapping[str, DocumentFormat] = {
    one.name: one
    for one in (
        DocumentFormat(
            name="json",
            label="JSON",
            about="the whole assessment",
            content_type="application/json",
            ending=".json",
            write=compact_json,
        ),
        DocumentFormat(
            name="openacr",
            label="OpenACR (VPAT)",
            about="the conformance report as OpenACR, the machine-readable VPAT, in YAML",
            content_type="application/yaml",
            ending="-openacr.yaml",
            write=openacr_yaml,
        ),
        DocumentFormat(
            name="earl",
            label="EARL (JSON-LD)",
            about="EARL 1.0 of the W3C as JSON-LD",
            content_type="application/ld+json",
            ending="-earl.jsonld",
            write=lambda report: compact_json(assessment_earl(report)),
        ),
        DocumentFormat(
            name="csv",
            label="CSV",
            about="a table for spreadsheets with a row for each criterion on each page",
            content_type=CSV_TYPE,
            ending=".csv",
            write=assessment_csv,
        ),
        DocumentFormat(
            name="statement",
            label="Accessibility statement (Markdown)",
            about="the draft of an accessibility statement by Implementing Decision (EU) 2018/1523 as Markdown",
            content_type="text/markdown; charset=utf-8",
            ending="-statement.md",
            write=statement_markdown,
        ),
    )
}
