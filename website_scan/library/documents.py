"""Write results as documents, and read them again."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from website_scan.command.conformance_options import ConformanceTarget
from website_scan.command.errors import WrongUsage
from website_scan.command.formats import WRITERS
from website_scan.command.formats.text_document import text_document
from website_scan.command.gate import CommandResult, Gate
from website_scan.command.output import formatted
from website_scan.command.plug_ins import FormatNames
from website_scan.library.errors import InvalidDocument, InvalidOption
from website_scan.library.options import parse_standard
from website_scan.library.results import PageResult, page_results, sources
from website_scan.library.stored import read_reports

FORMATS: tuple[str, ...] = ("text", *WRITERS)
MAX_DOCUMENT_BYTES = 500_000_000


def document(
    results: PageResult | Iterable[PageResult], format: str, *, standard: str = "wcag22", level: str = "AA"
) -> str:
    """Return one document with the reports of one or more pages, as the command writes it with `--format`.

    `format` is one of FORMATS: text, json, full, sarif, csv, junit, codequality, markdown, html, conformance or earl;
    or the name of a format of an installed plug-in. `standard` and `level` choose the criteria of the formats
    conformance and earl. Raises InvalidOption.
    """
    if format not in (names := FormatNames(FORMATS)):
        raise InvalidOption(f"format must be one of {', '.join(iter(names))}.")
    target = ConformanceTarget(*parse_standard(standard, level))
    reports = sources(results)
    if not reports:
        raise InvalidOption("results must not be empty.")
    gate = Gate()
    complaints = [sentence for report in reports for sentence in gate.complaints(report)]
    result = CommandResult(reports, complaints, requested=len(reports), gate=gate, target=target)
    try:
        return text_document(result) if format == "text" else formatted(format, result)
    except WrongUsage as error:
        # Only formats of plug-ins fail.
        raise InvalidOption(str(error)) from None


def read(source: str | bytes | PathLike[str]) -> tuple[PageResult, ...]:
    """Read stored results: the text of a document, or a path to one.

    Documents are those of the format `full`, of this or an older version, and JSON exports of a service. HTML of read
    results has no pictures. Raises InvalidDocument, and OSError for a file that cannot be read.
    """
    if isinstance(source, PathLike):
        with Path(source).open("rb") as file:
            source = file.read(MAX_DOCUMENT_BYTES + 1)
    if len(source) > MAX_DOCUMENT_BYTES:
        raise InvalidDocument("The document is too large.")
    return page_results(read_reports(source))
