"""`manage.py scan URL …`: scans without server or database."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config import environment
from config.errors import Refusal
from config.ids import new_report_id, new_scan_id
from config.terminal import printable, show_what_can_be_shown
from reports.build import ended_scan
from reports.exports import sarif
from reports.judge import WORTH
from reports.serializers import ReportExportSerializer, ReportSerializer
from scans.browser import browser
from scans.engine.findings import ScanType
from scans.engine.redaction import redacted
from scans.engine.result import Budget, Progress, ScanError, ScanResult
from scans.engine.run import failed_result, scan
from scans.net.client import Network
from scans.net.credentials import OriginCredentials, parse
from scans.net.policy import Policy
from scans.net.targets import parse_target
from scans.policy import settings_policy

logger = logging.getLogger(__name__)

EXIT_BELOW = 1
EXIT_USAGE = 2
EXIT_FAILED = 3
VARIABLE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")
MARKS = {"pass": "✓", "warn": "!", "fail": "✗"}


class Command(BaseCommand):
    help = (
        "Scans public web pages. Exit status: 0, 1 when a score is below --fail-under, 2 for wrong usage, "
        "3 when a scan failed."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("urls", metavar="URL", nargs="+", help="starts with https:// or http://")
        parser.add_argument(
            "--type",
            required=True,
            action="append",
            choices=[str(each) for each in ScanType],
            help="may be given several times; a browser then loads the page once for all of them",
        )
        parser.add_argument(
            "--format",
            default="text",
            choices=["text", "json", "full", "sarif"],
            help="json is the API's report; full adds check IDs, evidence and what could not run",
        )
        parser.add_argument("--fail-under", type=_score, metavar="N", help="exit with 1 when a score is below N")
        for option, form in (
            ("--header", "NAME: VALUE"),
            ("--cookie", "NAME=VALUE"),
            ("--basic-auth", "USER:PASSWORD"),
        ):
            parser.add_argument(
                option,
                action="append",
                default=[],
                metavar=f"'{form}'",
                help="shown to the page's own origin alone; '@FILE' or '$VARIABLE' in its place says where it stands, "
                "one a line, and keeps it out of the list of processes",
            )
        parser.add_argument(
            "--allow-network",
            type=_network,
            action="append",
            default=[],
            metavar="CIDR",
            help="a network that is not public and may be scanned all the same; 10.0.0.5/32:8080: on that port alone",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        _refuse_wrong_settings()
        show_what_can_be_shown()
        policy = settings_policy(*options["allow_network"])
        statuses = set()
        given = _credentials(options, policy)
        types = [ScanType(each) for each in dict.fromkeys(options["type"])]
        results = (result for url in options["urls"] for result in self._visit(url, types, policy, given))
        is_single = len(options["urls"]) * len(types) == 1
        for position, result in enumerate(results):
            if options["format"] == "text":
                if position:
                    self.stdout.write("")
                self.stdout.write("\n".join(map(printable, _text(result))))
            else:
                document = _document(result, options["format"])
                # Several documents stand on a line each, so that a program can read them one by one. In ASCII no
                # character can be taken for a line's end, or for an order to the terminal.
                self.stdout.write(json.dumps(document, indent=2 if is_single else None))
            self.stdout.flush()
            if result.score is None:
                statuses.add(EXIT_FAILED)
            elif options["fail_under"] is not None and result.score < options["fail_under"]:
                statuses.add(EXIT_BELOW)
        if statuses:
            sys.exit(max(statuses))

    def _visit(
        self, url: str, types: list[ScanType], policy: Policy, given: OriginCredentials | None
    ) -> tuple[ScanResult, ...]:
        limit_s = settings.SCAN_TIME_LIMIT_S

        def tell(progress: Progress) -> None:
            checked = progress.checks.values()
            done = f"{sum(each.done for each in checked)}/{sum(each.total for each in checked)} checks"
            self.stderr.write(printable(f"{progress.percent:3d} %  {progress.phase:<10}  {done}  {url}"))

        started_at = datetime.now(UTC)
        try:
            target = parse_target(url, policy)
            with Network(policy, time_limit_s=limit_s, credentials=given) as network:
                results = scan(target, types, network, Budget(time_limit_s=limit_s), tell, browser())
            return tuple(redacted(each, given) for each in results)
        except Refusal as refusal:
            error = ScanError(refusal.code, str(refusal))
        except Exception:
            logger.exception("the scan failed")
            error = ScanError("INTERNAL_ERROR", "The scanner failed.")
        return tuple(failed_result(each, url, started_at, error) for each in types)


def _refuse_wrong_settings() -> None:
    """System checks do not run here, since most are about what a scan on the command line does not need."""
    problems = [problem for problem in environment.problems if problem.name.startswith("SCAN_")]
    if problems:
        sentences = [str(problem) for problem in problems]
        raise CommandError("\n".join(sentences), returncode=EXIT_USAGE)


def _credentials(options: Mapping[str, Any], policy: Policy) -> OriginCredentials | None:
    """What the options give, for the one origin of all URLs. Raises `CommandError`, whose text has no value in it."""
    cookies = _named(options["cookie"], "--cookie", "=")
    basic = _lines(options["basic_auth"], "--basic-auth")
    if len(basic) > 1 or any(":" not in each for each in basic):
        raise CommandError("--basic-auth takes one USER:PASSWORD.", returncode=EXIT_USAGE)
    request: dict[str, object] = {"headers": _named(options["header"], "--header", ":"), "cookies": cookies}
    if basic:
        request["basic_auth"] = dict(zip(("username", "password"), basic[0].split(":", 1), strict=True))
    try:
        credentials = parse(request)
        origins = {parse_target(url, policy).origin for url in options["urls"]} if credentials else set()
    except Refusal as refusal:
        raise CommandError(str(refusal), returncode=EXIT_USAGE) from None
    if credentials is None:
        return None
    if len(origins) > 1:
        raise CommandError("--header, --cookie and --basic-auth are for URLs of one origin.", returncode=EXIT_USAGE)
    return OriginCredentials(origins.pop(), credentials)


def _named(values: Sequence[str], option: str, separator: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for line in _lines(values, option):
        name, found, value = (part.strip() for part in line.partition(separator))
        if not found or name in pairs:
            raise CommandError(f"{option} takes NAME{separator}VALUE, each name once.", returncode=EXIT_USAGE)
        pairs[name] = value
    return pairs


def _lines(values: Sequence[str], option: str) -> list[str]:
    """Each value, or the lines of the file or variable that it names."""
    lines: list[str] = []
    for value in values:
        if value.startswith("@"):
            try:
                value = Path(value[1:]).read_text()
            except (OSError, UnicodeError) as error:
                raise CommandError(f"{option}: {error}", returncode=EXIT_USAGE) from None
        elif VARIABLE.fullmatch(value):
            if value[1:] not in os.environ:
                raise CommandError(f"{option}: {value} is not set.", returncode=EXIT_USAGE)
            value = os.environ[value[1:]]
        lines += filter(None, (line.strip() for line in value.splitlines()))
    return lines


def _document(result: ScanResult, output_format: str) -> dict[str, Any]:
    ended = ended_scan(
        result,
        scan_id=new_scan_id(),
        report_id=new_report_id(),
        created_at=result.started_at,
        completed_at=result.completed_at,
    )
    failure = {"status": result.status, "error": asdict(result.error)} if result.error else {}
    if output_format == "json":
        return ReportSerializer(ended).data | failure
    export = ReportExportSerializer(ended).data | failure
    return sarif(export) if output_format == "sarif" else export


def _text(result: ScanResult) -> Iterator[str]:
    if result.error is not None:
        yield f"{result.url}  {result.type}  failed: {result.error.code}: {result.error.message}"
        return
    yield f"{result.url}  {result.type}  {result.score}/100  {result.grade}"
    if "notice" in result.facts:
        yield f"  {result.facts['notice']}"
    if result.browser:
        yield f"  judged in {result.browser}"
    elif result.omitted_checks:
        yield f"  judged without a browser; {len(result.omitted_checks)} checks left out. {WORTH[result.type]}"
    for cap in result.caps:
        yield f"  at most {cap.limit}: {cap.reason}"
    for category in result.categories:
        yield ""
        yield f"  {category.name}  {category.score}"
        for check in category.checks:
            severity = f" ({check.severity})" if check.severity else ""
            yield f"    {MARKS[check.status]} {check.title}{severity}: {check.message}"
            if check.fix:
                yield f"        Fix: {check.fix}"
    if result.skipped_checks:
        yield ""
        yield "  Could not run"
        for skipped in result.skipped_checks:
            yield f"    ? {skipped.name}: {skipped.reason}"
    if result.omitted_checks:
        yield ""
        yield "  Left out without a browser"
        for omitted in result.omitted_checks:
            yield f"    - {omitted.name}"


def _score(raw: str) -> int:
    if not raw.isdecimal() or int(raw) > 100:
        raise ArgumentTypeError("a score lies between 0 and 100")
    return int(raw)


def _network(raw: str) -> environment.Exemption:
    try:
        return environment.exemption(raw)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
