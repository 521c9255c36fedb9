"""Formats of the documents that the command writes."""

from __future__ import annotations

# The module and function of each format but text. Modules are imported when needed.
WRITERS = {
    "json": ("data", "reports_as_json"),
    "full": ("data", "exports_as_json"),
    "sarif": ("sarif", "sarif"),
    "csv": ("data", "csv_table"),
    "junit": ("junit", "junit"),
    "codequality": ("codequality", "codequality"),
    "markdown": ("markdown", "markdown"),
    "html": ("page", "page"),
}
