"""Formats of the command's outputs."""

from __future__ import annotations

# Module and function of each format except text. Modules are imported when needed.
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
