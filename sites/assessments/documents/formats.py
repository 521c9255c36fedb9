"""Formats in which an assessment can be downloaded. The API, the pages and openapi.yaml use this table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from django.http import StreamingHttpResponse
from msgspec import Struct

from sites.assessments.documents.csv_table import assessment_csv
from sites.assessments.documents.earl import assessment_earl
from sites.assessments.documents.json_report import assessment_json
from sites.assessments.documents.openacr import openacr_yaml
from sites.assessments.documents.statement_text import statement_markdown
from sites.models import Assessment
from website_scan.report.spreadsheets import MEDIA_TYPE as CSV_TYPE


class DocumentFormat(Struct, frozen=True):
    """Format of a document about an assessment.

    `label` is for menus, `about` for openapi.yaml. `write` yields the document in pieces. If it `names_people`, it says
    which member tested each page, so that only members may download it.
    """

    name: str
    label: str
    about: str
    content_type: str
    ending: str
    write: Callable[[Assessment], Iterator[str]]
    names_people: bool = True

    def response(self, assessment: Assessment) -> StreamingHttpResponse:
        """Return the document as a download."""
        response = StreamingHttpResponse(map(str.encode, self.write(assessment)), content_type=self.content_type)
        response["Content-Disposition"] = f'attachment; filename="{assessment.id}{self.ending}"'
        return response


DOCUMENT_FORMATS: Mapping[str, DocumentFormat] = {
    one.name: one
    for one in (
        DocumentFormat(
            name="json",
            label="JSON",
            about="the whole assessment",
            content_type="application/json",
            ending=".json",
            write=assessment_json,
        ),
        DocumentFormat(
            name="openacr",
            label="OpenACR (VPAT)",
            about="the conformance report as OpenACR, the machine-readable VPAT, in YAML",
            content_type="application/yaml",
            ending="-openacr.yaml",
            write=openacr_yaml,
            names_people=False,
        ),
        DocumentFormat(
            name="earl",
            label="EARL (JSON-LD)",
            about="EARL 1.0 of the W3C as JSON-LD",
            content_type="application/ld+json",
            ending="-earl.jsonld",
            write=assessment_earl,
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
            names_people=False,
        ),
    )
}
PUBLIC_FORMATS: Mapping[str, DocumentFormat] = {
    name: one for name, one in DOCUMENT_FORMATS.items() if not one.names_people
}
