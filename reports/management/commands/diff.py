"""The command `manage.py diff BEFORE AFTER`: compares reports of `manage.py scan --format full`."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reports.diff_json import diff_json_of
from website_scan.command.terminal import printable, show_what_can_be_shown
from website_scan.messages import counted
from website_scan.report.diff import Change, Diff, NotCompared, diff
from website_scan.report_json import ExportJson

EXIT_WORSE = 1
EXIT_USAGE = 2
NEEDED = frozenset({"catalogue_version", "categories", "grade", "id", "score", "skipped_checks", "type", "url"})


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
        show_what_can_be_shown()
        pairs, left_over = _pairs(_read(options["before"]), _read(options["after"]))
        if not pairs:
            raise CommandError("The files have no report of the same type and page in common.", returncode=EXIT_USAGE)
        for sentence in left_over:
            self.stderr.write(printable(sentence))
        try:
            found = [diff(before, after) for before, after in pairs]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise CommandError(
                "One of the files is not as `scan --format full` wrote it.", returncode=EXIT_USAGE
            ) from None
        for position, each in enumerate(found):
            if options["format"] == "json":
                self.stdout.write(json.dumps(diff_json_of(each), indent=2 if len(found) == 1 else None))
            else:
                self.stdout.write("\n".join(map(printable, [*([""] if position else []), *_text(each)])))
        if any(each.new or each.worse for each in found):
            sys.exit(EXIT_WORSE)


def _read(path: Path) -> list[ExportJson]:
    """Read the reports of a file: one, several in one document, or one per line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} can't be read: {error}", returncode=EXIT_USAGE) from None
    try:
        documents = [json.loads(text)]
    except ValueError:
        try:
            documents = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            documents = []
    if len(documents) == 1 and isinstance(documents[0], dict) and isinstance(documents[0].get("reports"), list):
        documents = documents[0]["reports"]
    for document in documents:
        if isinstance(document, dict) and "error" in document:
            raise CommandError(f"{path}: the scan of {document.get('url')} failed, so there is nothing to compare.",
                               returncode=EXIT_USAGE)  # fmt: skip
        if not isinstance(document, dict) or not document.keys() >= NEEDED:
            documents = []
            break
    if not documents:
        raise CommandError(f"{path} is no report: write it with `manage.py scan --format full`.", returncode=EXIT_USAGE)
    return documents


def _pairs(before: list[ExportJson], after: list[ExportJson]) -> tuple[list[tuple[ExportJson, ExportJson]], list[str]]:
    """Return pairs of reports of the same type and page, and sentences about the others.

    If each side has only one report, they may be of different pages, such as a site and its preview on another host.
    """
    if len(before) == len(after) == 1 and before[0]["type"] == after[0]["type"]:
        (was,), (now,) = before, after
        is_same = was["url"] == now["url"]
        return [(was, now)], [] if is_same else [f"Different pages are compared: {was['url']} and {now['url']}."]
    earlier = {(each["type"], each["url"]): each for each in before}
    newer = {(each["type"], each["url"]): each for each in after}
    alone = [
        f"Only one file has a report of {url} ({scan_type})."
        for scan_type, url in sorted(earlier.keys() ^ newer.keys())
    ]
    return [(earlier[key], newer[key]) for key in newer if key in earlier], alone


def _text(found: Diff[ExportJson]) -> Iterator[str]:
    was, now = found.before, found.after
    points = f" ({found.points:+d})" if found.points else ""
    yield f"{now['url']}  {now['type']}  {was['score']} {was['grade']} → {now['score']} {now['grade']}{points}"
    if not found.same_rules:
        yield "  The rules changed: the scores cannot be compared, and findings may come from the rules."
    if not found.same_browser:
        which = "first" if was.get("browser") else "second"
        yield f"  Only the {which} was judged in a browser: they see different things."
    groups: dict[str, tuple[Change, ...] | tuple[NotCompared, ...]] = {
        "New": found.new,
        "Worse": found.worse,
        "Fixed": found.fixed,
        "Better": found.better,
        "Cannot be compared": found.not_compared,
    }
    for title, group in groups.items():
        if group:
            yield f"  {title}"
        for each in group:
            yield from _lines(each)
    yield f"  {counted(found.same_count, 'finding is', 'findings are')} the same."


def _lines(each: Change | NotCompared) -> Iterator[str]:
    yield f"    {each.title} ({each.severity}){f': {each.said}' if each.said else ''}"
    if isinstance(each, Change):
        for sign, places in (("+", each.new_places), ("-", each.fixed_places)):
            for place in places:
                yield f"      {sign} {place.text}"
