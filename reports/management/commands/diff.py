"""The command `manage.py diff BEFORE AFTER`, which compares reports from `manage.py scan --format full`."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reports.diff_json import diff_json_of
from website_scan.command.terminal import escape_unencodable, printable
from website_scan.messages import counted
from website_scan.report.diff import Change, Diff, NotCompared, diff
from website_scan.report_json import ExportJson

EXIT_WORSE = 1
EXIT_USAGE = 2
REQUIRED_KEYS = frozenset({"catalogue_version", "categories", "grade", "id", "score", "skipped_checks", "type", "url"})


class Command(BaseCommand):
    help = (
        "Compares reports that `scan --format full` has written. Exit status: 0 when nothing is new or worse, 1 when "
        "something is, 2 for wrong usage."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("before", metavar="BEFORE", type=Path, help="the earlier report or reports")
        parser.add_argument("after", metavar="AFTER", type=Path, help="the newer ones, of the same pages and types")
        parser.add_argument(
            "--format",
            default="text",
            choices=["text", "json"],
            help="json is the API's answer, one line for each pair",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        escape_unencodable()
        pairs, unpaired = _pair_reports(_read_reports(options["before"]), _read_reports(options["after"]))
        if not pairs:
            raise CommandError("The files have no report of the same type and page in common.", returncode=EXIT_USAGE)
        for sentence in unpaired:
            self.stderr.write(printable(sentence))
        try:
            diffs = [diff(before, after) for before, after in pairs]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise CommandError(
                "One of the files is not as `scan --format full` wrote it.", returncode=EXIT_USAGE
            ) from None
        for position, difference in enumerate(diffs):
            if options["format"] == "json":
                self.stdout.write(json.dumps(diff_json_of(difference), indent=2 if len(diffs) == 1 else None))
            else:
                self.stdout.write("\n".join(map(printable, [*([""] if position else []), *_diff_lines(difference)])))
        if any(difference.new or difference.worse for difference in diffs):
            sys.exit(EXIT_WORSE)


def _read_reports(path: Path) -> list[ExportJson]:
    """Return the reports in a JSON file, which has one object, one object with a list `reports`, or JSON Lines."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} can't be read: {error}", returncode=EXIT_USAGE) from None
    try:
        exports = [json.loads(text)]
    except ValueError:
        try:
            exports = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            exports = []
    if len(exports) == 1 and isinstance(exports[0], dict) and isinstance(exports[0].get("reports"), list):
        exports = exports[0]["reports"]
    for export in exports:
        if isinstance(export, dict) and "error" in export:
            raise CommandError(f"{path}: the scan of {export.get('url')} failed, so there is nothing to compare.",
                               returncode=EXIT_USAGE)  # fmt: skip
        if not isinstance(export, dict) or not export.keys() >= REQUIRED_KEYS:
            exports = []
            break
    if not exports:
        raise CommandError(
            f"{path} is not a report: write it with `manage.py scan --format full`.", returncode=EXIT_USAGE
        )
    return exports


def _pair_reports(
    before: list[ExportJson], after: list[ExportJson]
) -> tuple[list[tuple[ExportJson, ExportJson]], list[str]]:
    """Return pairs of reports for the same type and page, and a message about every unpaired report.

    If each file has only one report of the same type, the pages may differ, such as a site and its preview on another
    host.
    """
    if len(before) == len(after) == 1 and before[0]["type"] == after[0]["type"]:
        (first,), (second,) = before, after
        is_same = first["url"] == second["url"]
        return [(first, second)], [] if is_same else [
            f"Different pages are compared: {first['url']} and {second['url']}."
        ]
    before_by_key = {(report["type"], report["url"]): report for report in before}
    after_by_key = {(report["type"], report["url"]): report for report in after}
    unpaired = [
        f"Only one file has a report of {url} ({scan_type})."
        for scan_type, url in sorted(before_by_key.keys() ^ after_by_key.keys())
    ]
    return [(before_by_key[key], after_by_key[key]) for key in after_by_key if key in before_by_key], unpaired


def _diff_lines(comparison: Diff[ExportJson]) -> Iterator[str]:
    old, new = comparison.before, comparison.after
    points = f" ({comparison.points:+d})" if comparison.points else ""
    yield f"{new['url']}  {new['type']}  {old['score']} {old['grade']} → {new['score']} {new['grade']}{points}"
    if not comparison.same_rules:
        yield "  The rules changed: the scores cannot be compared, and findings may come from the rules."
    if not comparison.same_categories:
        yield "  Not the same categories were judged: the scores cannot be compared."
    if not comparison.same_browser:
        which = "first" if old.get("browser") else "second"
        yield f"  Only the {which} was judged in a browser: they see different things."
    groups: dict[str, tuple[Change, ...] | tuple[NotCompared, ...]] = {
        "New": comparison.new,
        "Worse": comparison.worse,
        "Fixed": comparison.fixed,
        "Better": comparison.better,
        "Cannot be compared": comparison.not_compared,
    }
    for title, group in groups.items():
        if group:
            yield f"  {title}"
        for change in group:
            yield from _finding_lines(change)
    yield f"  {counted(comparison.same_count, 'finding is', 'findings are')} the same."


def _finding_lines(change: Change | NotCompared) -> Iterator[str]:
    yield f"    {change.title} ({change.severity}){f': {change.said}' if change.said else ''}"
    if isinstance(change, Change):
        for sign, places in (("+", change.new_places), ("-", change.fixed_places)):
            for place in places:
                yield f"      {sign} {place.text}"
