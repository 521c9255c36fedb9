"""Documents of reports, one for all that were asked for; each format loads when it is wanted."""

from __future__ import annotations

from importlib import import_module

from scanner.command.judged import Outcome

FORMATS = {
    "json": ("data", "reports_as_json"),
    "full": ("data", "exports_as_json"),
    "sarif": ("sarif", "sarif"),
    "csv": ("data", "csv_table"),
    "junit": ("junit", "junit"),
    "codequality": ("codequality", "codequality"),
    "markdown": ("markdown", "markdown"),
    "html": ("page", "page"),
}


def formatted(name: str, outcome: Outcome) -> str:
    """The document in one of FORMATS."""
    module, function = FORMATS[name]
    document: str = getattr(import_module(f"scanner.command.formats.{module}"), function)(outcome)
    return document
