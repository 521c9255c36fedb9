"""Output formats of the command `website-scan`."""

from __future__ import annotations

# Modules of formats are imported only if they are used.
WRITERS = {
    "json": ("data", "reports_as_json"),
    "full": ("data", "exports_as_json"),
    "sarif": ("sarif", "sarif"),
    "csv": ("data", "csv_table"),
    "junit": ("junit", "junit"),
    "codequality": ("codequality", "codequality"),
    "markdown": ("markdown", "markdown"),
    "html": ("page", "page"),
    "conformance": ("conformance", "conformance"),
    "earl": ("conformance", "earl_document"),
}
# Formats that show pictures of pages. Without such an output, the browser takes none.
WITH_PICTURES = frozenset({"html"})
