"""List of the installed plug-ins, with their checks, formats and problems."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from website_scan import settings as scanning
from website_scan.command.terminal import printable
from website_scan.plugins.installed import installed_plug_ins
from website_scan.plugins.registry import UsedPlugIn, used_plug_ins


def listed_plug_ins(format: str) -> tuple[str, bool]:
    """Return all installed plug-ins, and those that SCAN_PLUGINS names, as JSON or as text for terminals.

    The second value is True if one has an error or problems.
    """
    selection = scanning.SCAN_PLUGINS
    weights = dict.fromkeys(installed_plug_ins(), 0) | (selection or {})
    plug_ins = used_plug_ins(dict(sorted(weights.items())))
    has_problems = any(plug_in.error or plug_in.description.problems for plug_in in plug_ins)
    if format == "json":
        return json.dumps([_json(plug_in) for plug_in in plug_ins], indent=1), has_problems
    return "\n".join(map(printable, _lines(plug_ins))) or "No plug-in is installed.", has_problems


def _is_selected(plug_in: UsedPlugIn) -> bool:
    return scanning.SCAN_PLUGINS is None or plug_in.name in scanning.SCAN_PLUGINS


def _json(plug_in: UsedPlugIn) -> dict[str, object]:
    return {
        "name": plug_in.name,
        "version": plug_in.installed.version,
        "distribution": plug_in.installed.distribution,
        "weight": plug_in.weight,
        "selected": _is_selected(plug_in),
        "checks": [
            {
                "id": check.id,
                "name": check.declaration.name,
                "type": check.type,
                "category": check.category.name,
                "severity": None if check.problem else check.declaration.severity,
                "problem": check.problem,
            }
            for check in plug_in.description.checks
        ],
        "formats": list(plug_in.description.formats),
        "error": plug_in.error,
        "problems": list(plug_in.description.problems),
    }


def _lines(plug_ins: Sequence[UsedPlugIn]) -> Iterator[str]:
    for plug_in in plug_ins:
        installed = plug_in.installed
        source = f" (distribution {installed.distribution})" if installed.distribution else ""
        unused = "" if _is_selected(plug_in) else ", not in SCAN_PLUGINS"
        yield f"{plug_in.name} {installed.version}{source}, weight {plug_in.weight}{unused}"
        if plug_in.error:
            yield f"  Error: {plug_in.error}"
        for check in plug_in.description.checks:
            if check.problem:
                # Its declaration may be wrong.
                yield f"  check {check.id} ({check.type}) cannot run"
            else:
                yield f"  check {check.id} ({check.type}, {check.declaration.severity}): {check.declaration.name}"
        for name in plug_in.description.formats:
            yield f"  format {name}"
        for problem in plug_in.description.problems:
            yield f"  Problem: {problem}"
