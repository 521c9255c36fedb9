"""`manage.py tables`: generate the tables of docs/*.md between `<!-- generated: … -->` and `<!-- end -->`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from infrastructure.telemetry.counters import PREFIX, Counter, Histogram
from infrastructure.telemetry.process_metrics import OF_PROCESSES
from operations.metrics.families import Gauge
from operations.metrics.rows import OF_ROWS
from operations.metrics.servers import OF_SERVERS
from sites.monitors.alerts import KINDS
from webhooks.delivery.schedule import PAUSES
from website_scan import environment
from website_scan.findings import Severity
from website_scan.repeats import REPEATS
from website_scan.report.levels import LEVELS
from website_scan.scoring import GRADES, SEVERITY_WEIGHT

MARKED = re.compile(r"(?<=^<!-- generated: )([\w ]+) -->\n(.*?)(?=^<!-- end -->$)", re.MULTILINE | re.DOTALL)

Row = tuple[str, ...]


class Command(BaseCommand):
    help = "Writes those tables of docs/*.md that the code tells."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing, and fail where anything would change")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        left = set(TABLES)

        def written(found: re.Match[str]) -> str:
            name, before = found.groups()
            left.remove(name)
            return f"{name} -->\n{table(TABLES[name](before))}"

        for path in sorted((settings.BASE_DIR / "docs").glob("*.md")):
            text = path.read_text(encoding="utf-8")
            if (now := MARKED.sub(written, text)) == text:
                continue
            if check:
                raise CommandError(f"docs/{path.name} is not up to date: run `make docs`")
            path.write_text(now, encoding="utf-8")
        if left:
            raise CommandError(f"No document has a place for {', '.join(sorted(left))}.")


def table(rows: Iterator[Row]) -> str:
    """Return rows as a Markdown table; the first row is the header."""
    head, *others = rows
    return "".join(f"{line}\n" for line in (_line(head), "|---" * len(head) + "|", *map(_line, others)))


def _line(cells: Row) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def variables(before: str) -> Iterator[Row]:
    """Yield the settings with their defaults. Only the table holds their meanings, so those are kept."""
    rows = [line.strip("| ").split(" | ", 2) for line in before.splitlines() if line.startswith("| `")]
    meanings = {name.strip("`"): meaning for name, _, meaning in rows}
    if missing := environment.defaults.keys() - meanings:
        raise CommandError(f"docs/operations.md: add a row that says what {', '.join(sorted(missing))} means.")
    yield "variable", "default", "meaning"
    for name, meaning in meanings.items():
        if name in environment.defaults:
            default = _as_text(environment.defaults[name])
            yield f"`{name}`", f"`{default}`" if default else "none", meaning


def _as_text(default: object) -> str:
    """Return a default in the form in which the variable is set."""
    match default:
        case None:
            return ""
        case bool():
            return str(int(default))
        case Path():
            return str(default.relative_to(settings.BASE_DIR))
        case frozenset():
            return ",".join(map(str, sorted(default)))
        case list() | tuple():
            return ",".join(map(str, default))
    return str(default)


def metrics(of: Sequence[Counter | Histogram | Gauge]) -> Callable[[str], Iterator[Row]]:
    def rows(_before: str) -> Iterator[Row]:
        yield "metric", "labels", "meaning"
        for each in of:
            name = each.name.removeprefix(PREFIX) + ("_total" if isinstance(each, Counter) else "")
            meaning = each.help[0].lower() + each.help[1:].removesuffix(".")
            kind = "histogram: " if isinstance(each, Histogram) else ""
            yield f"`{name}`", ", ".join(f"`{label}`" for label in each.labels), kind + meaning

    return rows


def retries(_before: str) -> Iterator[Row]:
    yield "attempt", "after the one before", "after the event, about"
    yield "1", "", "at once"
    for number, pause in enumerate(PAUSES, 2):
        yield str(number), _duration(pause), _duration(sum(PAUSES[: number - 1], timedelta()))


def _duration(of: timedelta) -> str:
    """Return a duration in hours and minutes, or in seconds if it is less than a minute."""
    hours, minutes = divmod(of // timedelta(minutes=1), 60)
    parts = [f"{hours} h" if hours else "", f"{minutes} min" if minutes else ""]
    return " ".join(filter(None, parts)) or f"{of.seconds} s"


def severities(_before: str) -> Iterator[Row]:
    yield "severity", "weighs"
    for severity, weight in SEVERITY_WEIGHT.items():
        yield severity, str(weight)


def levels(_before: str) -> Iterator[Row]:
    yield "finding", "severity that fails", "JUnit then", "text", "SARIF", "`security-severity`", "code quality"
    for (_, severity), level in LEVELS.items():
        lower = "" if severity is Severity.LOW else " or lower"
        gate = (f"`--fail-on {severity}`{lower}", "failure") if level.gated else ("nothing", "passed")
        shown = (level.mark, level.sarif, level.security_severity, level.code_quality)
        yield f"{level.word}, {severity}", *gate, *(f"`{each}`" for each in shown)


def grades(_before: str) -> Iterator[Row]:
    yield "grade", "from"
    for least, letter in (*GRADES, (0, "F")):
        yield letter, str(least)


def repeats(_before: str) -> Iterator[Row]:
    yield "check", "silent beside", "of the same places", "its fix and weight"
    for each in REPEATS:
        names = (each.check, each.told_by)
        check, told_by = (f"`{id}`" if each.is_within_type else f"`{id}` ({kind.label})" for kind, id in names)
        yield check, told_by, "only" if each.same_places else "", "are added" if each.is_part else ""


def alerts(_before: str) -> Iterator[Row]:
    yield "alert", "default", "a message is sent when"
    for kind in KINDS:
        yield f"`{kind.name}`", f"`{json.dumps(kind.default)}`", kind.meaning


# Generators of the tables, by the name in the mark; each gets the table's present text.
TABLES: dict[str, Callable[[str], Iterator[Row]]] = {
    "environment": variables,
    "alerts": alerts,
    "metrics of rows": metrics(OF_ROWS),
    "metrics of servers": metrics(OF_SERVERS),
    "metrics of processes": metrics(OF_PROCESSES),
    "retries": retries,
    "severities": severities,
    "grades": grades,
    "levels": levels,
    "repeats": repeats,
}
