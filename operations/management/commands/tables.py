"""`manage.py tables`: generate the tables in docs/*.md between `<!-- generated: NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from documentation import criteria, figures, library_names
from infrastructure.telemetry.counters import PREFIX, Counter, Histogram
from infrastructure.telemetry.process_metrics import PROCESS_METRICS
from operations.metrics.families import Gauge
from operations.metrics.rows import ROW_METRICS
from operations.metrics.servers import SERVER_METRICS
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
    help = "Writes the tables of docs/*.md that are generated from the code."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing, and fail where anything would change")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        missing = set(TABLES)

        def generated(match: re.Match[str]) -> str:
            name, old_table = match.groups()
            missing.remove(name)
            return f"{name} -->\n{table(TABLES[name](old_table))}"

        for path in sorted((settings.BASE_DIR / "docs").glob("*.md")):
            text = path.read_text(encoding="utf-8")
            if (new_text := MARKED.sub(generated, text)) == text:
                continue
            if check:
                raise CommandError(f"docs/{path.name} is not up to date: run `make docs`")
            path.write_text(new_text, encoding="utf-8")
        if missing:
            raise CommandError(f"No document has a place for {', '.join(sorted(missing))}.")


def table(rows: Iterator[Row]) -> str:
    """Return rows as a Markdown table. The first row is the header."""
    header, *others = rows
    return "".join(f"{line}\n" for line in (_line(header), "|---" * len(header) + "|", *map(_line, others)))


def _line(cells: Row) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def variables(old_table: str) -> Iterator[Row]:
    """Yield environment variables and their defaults. Copies the meanings from the old table."""
    rows = [line.strip("| ").split(" | ", 2) for line in old_table.splitlines() if line.startswith("| `")]
    meanings = {name.strip("`"): meaning for name, _, meaning in rows}
    if missing := environment.defaults.keys() - meanings:
        raise CommandError(f"docs/operations.md: add a row that explains {', '.join(sorted(missing))} means.")
    yield "variable", "default", "meaning"
    for name, meaning in meanings.items():
        if name in environment.defaults:
            default = _as_text(environment.defaults[name])
            yield f"`{name}`", f"`{default}`" if default else "none", meaning


def _as_text(default: object) -> str:
    """Return a default value as text for an environment variable."""
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


def metrics(definitions: Sequence[Counter | Histogram | Gauge]) -> Callable[[str], Iterator[Row]]:
    def rows(_old_table: str) -> Iterator[Row]:
        yield "metric", "labels", "meaning"
        for metric in definitions:
            name = metric.name.removeprefix(PREFIX) + ("_total" if isinstance(metric, Counter) else "")
            meaning = metric.help[0].lower() + metric.help[1:].removesuffix(".")
            kind = "histogram: " if isinstance(metric, Histogram) else ""
            yield f"`{name}`", ", ".join(f"`{label}`" for label in metric.labels), kind + meaning

    return rows


def retries(_old_table: str) -> Iterator[Row]:
    yield "attempt", "after the one before", "after the event, about"
    yield "1", "", "at once"
    for number, pause in enumerate(PAUSES, 2):
        yield str(number), _duration(pause), _duration(sum(PAUSES[: number - 1], timedelta()))


def _duration(duration: timedelta) -> str:
    """Return a duration in hours and minutes, or in seconds if it is less than a minute."""
    hours, minutes = divmod(duration // timedelta(minutes=1), 60)
    parts = [f"{hours} h" if hours else "", f"{minutes} min" if minutes else ""]
    return " ".join(filter(None, parts)) or f"{duration.seconds} s"


def severities(_old_table: str) -> Iterator[Row]:
    yield "severity", "weighs"
    for severity, weight in SEVERITY_WEIGHT.items():
        yield severity, str(weight)


def levels(_old_table: str) -> Iterator[Row]:
    yield "finding", "severity that fails", "JUnit then", "text", "SARIF", "`security-severity`", "code quality"
    for (_, severity), level in LEVELS.items():
        lower = "" if severity is Severity.LOW else " or lower"
        gate = (f"`--fail-on {severity}`{lower}", "failure") if level.gated else ("nothing", "passed")
        formats = (level.mark, level.sarif, level.security_severity, level.code_quality)
        yield f"{level.word}, {severity}", *gate, *(f"`{value}`" for value in formats)


def grades(_old_table: str) -> Iterator[Row]:
    yield "grade", "from"
    for lowest_score, letter in (*GRADES, (0, "F")):
        yield letter, str(lowest_score)


def repeats(_old_table: str) -> Iterator[Row]:
    yield "check", "suppressed by", "only at the same places", "its fix and weight"
    for repeat in REPEATS:
        names = (repeat.check, repeat.told_by)
        check, reporting_check = (
            f"`{id}`" if repeat.is_within_type else f"`{id}` ({scan_type.label})" for scan_type, id in names
        )
        yield check, reporting_check, "yes" if repeat.same_places else "", "are added" if repeat.is_part else ""


def alerts(_old_table: str) -> Iterator[Row]:
    yield "alert", "default", "a message is sent when"
    for kind in KINDS:
        yield f"`{kind.name}`", f"`{json.dumps(kind.default)}`", kind.meaning


# Table generators by name. They get the table's current text.
TABLES: dict[str, Callable[[str], Iterator[Row]]] = {
    "environment": variables,
    "alerts": alerts,
    "metrics of rows": metrics(ROW_METRICS),
    "metrics of servers": metrics(SERVER_METRICS),
    "metrics of processes": metrics(PROCESS_METRICS),
    "retries": retries,
    "severities": severities,
    "grades": grades,
    "levels": levels,
    "repeats": repeats,
    "numbers of criteria": criteria.numbers,
    "criteria": criteria.criteria,
    "checks of criteria": criteria.checks,
    "functions of the library": library_names.functions,
    "classes of the library": library_names.classes,
    "benchmark runs": figures.runs,
    "missed goals": figures.misses,
    "growth": figures.growth,
    **{name: figures.section(*definition) for name, definition in figures.SECTIONS.items()},
}
