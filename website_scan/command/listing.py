"""Catalogue of all checks as Markdown or JSON.

The command `manage.py checks` prints it.
"""

from __future__ import annotations

import json
import re
import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from website_scan import catalogue
from website_scan.catalogue import Check, caps, catalogue_version, checks, measured_checks
from website_scan.command.errors import EXIT_GATE
from website_scan.command.terminal import write_out
from website_scan.findings import ScanType
from website_scan.plan import judges_journeys_only, needs_browser
from website_scan.scoring import SEVERITY_WEIGHT
from website_scan.values import outline
from website_scan.wording import catalogue_fix

FORMATS = ("markdown", "json")
# File with readable names of evidence classes.
EVIDENCE = Path(catalogue.__file__).with_name("evidence.toml")
# `make examples` records an example message of each outcome in this file.
EXAMPLES = EVIDENCE.with_name("examples.json")


def list_checks(arguments: Sequence[str], program: str) -> int:
    """Print the catalogue of checks in the format of the option `--format`, or the installed plug-ins.

    Returns the exit status: 1 if a plug-in has an error or problems, otherwise 0.
    """
    parser = ArgumentParser(program, description="Prints the catalogue of checks.")
    parser.add_argument("--format", default=FORMATS[0], choices=FORMATS)
    parser.add_argument("--plugins", action="store_true", help="installed plug-ins with their checks and formats")
    options = parser.parse_args(arguments)
    if options.plugins:
        from website_scan.command.plug_in_listing import listed_plug_ins  # Starts the processes of plug-ins.

        text, has_problems = listed_plug_ins(options.format)
        write_out(f"{text}\n")
        return EXIT_GATE if has_problems else 0
    write_out(f"{listed(options.format)}\n")
    return 0


def listed(format: str) -> str:
    """Return the catalogue of checks as text.

    The text has a format of FORMATS, and no trailing newline.
    """
    if format == "markdown":
        return "\n".join(_markdown())
    names = tomllib.loads(EVIDENCE.read_text(encoding="utf-8"))
    examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    described = [_check_json(check, names, examples) for scan_type in ScanType for check in checks(scan_type)]
    versions = {scan_type: catalogue_version(scan_type) for scan_type in ScanType}
    return json.dumps({"versions": versions, "checks": described}, indent=1, ensure_ascii=False)


def _check_json(check: Check, names: Mapping[str, str], examples: Mapping[str, str]) -> dict[str, Any]:
    needs = [*check.needs, *(check.override.needs if check.override else ())]
    of_journeys = judges_journeys_only(check)
    scored_together = [member for member in checks(check.type) if of_journeys or not judges_journeys_only(member)]
    members = [member for member in scored_together if member.category == check.category]
    share = SEVERITY_WEIGHT[check.severity] / sum(SEVERITY_WEIGHT[member.severity] for member in members)
    return {
        "id": check.id,
        "name": check.name,
        "found": check.found,
        "outcomes": [_outcome(check, name, examples) for name in check.outcomes],
        "why": check.why,
        "judged": check.judged,
        "type": check.type,
        "category": check.category.name,
        "category_weight": check.category.weight,
        "category_weight_without_browser": check.category.static_weight,
        "weight_of_all": sum({member.category: member.category.weight for member in scored_together}.values()),
        "share_percent": round(100 * share, 1),
        "severity": check.severity,
        "evidence": list(dict.fromkeys(names[need.evidence.__name__] for need in needs)),
        "caps": [
            {"limit": cap.limit, "reason": cap.reason}
            for cap in caps(check.type)
            if cap.count and cap.severity in (None, check.severity) and (not cap.checks or check.id in cap.checks)
        ],
        "html_only": check.html,
        "error_pages": check.error_pages,
        "measured": check.id in measured_checks(check.type),
        "journeys_only": of_journeys,
        "needs_browser": needs_browser(check),
        "fix": catalogue_fix(check.own_fix),
        "how_to_fix": {
            "text": check.own_fix.text,
            "snippets": [{"label": label, "code": code} for label, code in check.own_fix.snippets_for(None).items()],
        },
        "references": list(check.references),
    }


def _outcome(check: Check, name: str, examples: Mapping[str, str]) -> dict[str, Any]:
    outcome = check.outcome(name)
    return {
        "name": name,
        "title": outcome.title,
        "severities": list(map(str, outcome.severities)),
        "consequence": outcome.consequence,
        "example": examples.get(f"{check.id}.{name}", ""),
    }


def _markdown() -> Iterator[str]:
    yield "# Checks"
    yield "\nGenerated by `python manage.py checks`. A check has one name; a finding has the title of its outcome."
    for scan_type in ScanType:
        yield f"\n## {scan_type.upper() if scan_type is ScanType.SEO else scan_type.capitalize()}"
        yield f"\nCatalogue version `{catalogue_version(scan_type)}`."
        for category, members in groupby(checks(scan_type), key=lambda check: check.category):
            static = f", {category.static_weight} without a browser" if category.static_weight is not None else ""
            yield f"\n### {category.name} (weight {category.weight}{static})\n"
            yield "| ID | Name | Outcomes | Severity | Fix | References |"
            yield "|---|---|---|---|---|---|"
            for check in members:
                needs = " (needs a browser)" if needs_browser(check) else ""
                name = f"{check.name}{' (in journeys only)' if judges_journeys_only(check) else needs}"
                outcomes = "<br>".join(
                    f"`{name}`: {_escape_cell(outline(check.outcome(name).title))}" for name in check.outcomes
                )
                fix, sources = catalogue_fix(check.own_fix), "; ".join(check.references)
                cells = (_escape_cell(name), outcomes, check.severity, _escape_cell(fix), _escape_cell(sources))
                yield f"| `{check.id}` | {' | '.join(cells)} |"


def _escape_cell(cell: str) -> str:
    """Escape a table cell for Markdown.

    HTML code in a fix is displayed as text.
    """
    return re.sub(r"[\\`*_\[\]<>&|~]", _escaped, cell)


def _escaped(special: re.Match[str]) -> str:
    return {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(special[0], f"\\{special[0]}")
