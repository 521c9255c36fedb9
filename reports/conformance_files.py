"""Files with the results of a page or site by success criterion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from django.http import HttpResponse

from website_scan.report.conformance import Conformance, conformance_csv
from website_scan.report.earl import earl
from website_scan.report.storage import compact_json


class File(NamedTuple):
    """Format of a file. `purpose` is for the menu of downloads."""

    label: str
    purpose: str
    ending: str
    media_type: str


FILES: Mapping[str, File] = {
    "json": File("JSON", "for programs", "json", "application/json"),
    "csv": File("CSV", "for spreadsheets", "csv", "text/csv; charset=utf-8"),
    "earl": File("EARL", "for test tools, by the W3C", "jsonld", "application/ld+json"),
}


def conformance_file(conformance: Conformance, file_format: str, id: str, url: str, completed_at: str) -> HttpResponse:
    """Return the results of the page or site `url` as a download. `id` is the ID of the scan or audit."""
    file = FILES[file_format]
    if file_format == "csv":
        content = conformance_csv(conformance)
    else:
        content = compact_json(earl(url, completed_at, conformance) if file_format == "earl" else conformance)
    response = HttpResponse(content, content_type=file.media_type)
    response["Content-Disposition"] = f'attachment; filename="{id}-{conformance["standard"]}.{file.ending}"'
    return response
