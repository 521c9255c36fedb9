"""Options for results by success criterion: `--standard`, `--level` and `--fail-on-level`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from website_scan.accessibility.standards import LEVELS, Standard
from website_scan.command.errors import WrongUsage
from website_scan.findings import ScanType

STANDARDS = tuple(standard.value for standard in Standard)
GATE_LEVELS = ("A", "AA")
# Output formats with results by success criterion.
FORMATS = ("conformance", "earl")


class ConformanceTarget(Struct, frozen=True):
    """Standard and level whose success criteria are judged."""

    standard: Standard = Standard.WCAG_22
    level: str = "AA"


DEFAULT_TARGET = ConformanceTarget()


def add_conformance_options(group: argparse._ArgumentGroup) -> None:
    """Add the options to the parser. The help mentions them in one line."""
    add = group.add_argument
    add("--standard", choices=STANDARDS, metavar="NAME", help=argparse.SUPPRESS)
    add("--level", choices=LEVELS, metavar="LEVEL", help=argparse.SUPPRESS)
    about = "A, AA: a criterion fails; also --standard, --level"
    add("--fail-on-level", choices=GATE_LEVELS, metavar="LEVEL", help=about)


def conformance_target(chosen: Mapping[str, Any]) -> ConformanceTarget:
    """Return the standard and the level of the output formats."""
    return ConformanceTarget(Standard(chosen.get("standard", Standard.WCAG_22)), chosen.get("level", "AA"))


def gate_target(chosen: Mapping[str, Any]) -> ConformanceTarget | None:
    """Return the standard and level of `--fail-on-level`. None if no criterion fails the gate."""
    if "fail_on_level" not in chosen or ScanType.ACCESSIBILITY not in chosen.get("type", ScanType):
        return None
    return ConformanceTarget(conformance_target(chosen).standard, chosen["fail_on_level"])


def refuse_useless_conformance_options(
    typed: Mapping[str, Any], file_options: Mapping[str, Any], formats: Iterable[str]
) -> None:
    """Raise WrongUsage for options about success criteria that have no effect.

    `typed` are the options on the command line, which may choose fewer types than the file has a level for. `formats`
    are those of the outputs.
    """
    used_formats = [name for name in formats if name in FORMATS]
    chosen = {**file_options, **typed}
    if ScanType.ACCESSIBILITY not in chosen.get("type", ScanType):
        options = typed if "type" in typed else chosen
        useless = [f"--format {name}" for name in used_formats]
        useless += [f"--{name}" for name in ("fail-on-level", "standard", "level") if name.replace("-", "_") in options]
        if useless:
            raise WrongUsage(
                f"{useless[0]} needs a scan of accessibility: add --type accessibility, or remove one of the options."
            )
    if used_formats:
        return
    if "level" in typed:
        raise WrongUsage(
            "--level works only with --format conformance or --format earl. For the gate, use --fail-on-level."
        )
    if "standard" in typed and "fail_on_level" not in chosen:
        raise WrongUsage("--standard works only with --fail-on-level, --format conformance or --format earl.")
