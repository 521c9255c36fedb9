"""Execute journeys in the browser of this process, and report each state as a page of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from website_scan.browser.devices import device_of_width
from website_scan.browser.journey.request import LIMITS, WalkRequest, site_addresses
from website_scan.browser.journey.result import Walk
from website_scan.browser.visit import BrowserFailed, Part
from website_scan.command import local
from website_scan.command.access import allow_option_hint, network_policy
from website_scan.command.additional_checks import additional_checks
from website_scan.command.arguments import Options
from website_scan.command.errors import WrongUsage
from website_scan.command.executed_journeys import ExecutedJourney, ExecutedJourneys, StepJson
from website_scan.command.failed_reports import failed_report
from website_scan.command.gate import CommandReport
from website_scan.command.journey_options import JourneyOptions
from website_scan.command.progress import ProgressLine
from website_scan.command.scanned_reports import scanned_report
from website_scan.command.terminal import write_err
from website_scan.errors import Refusal
from website_scan.findings import ScanType
from website_scan.journeys.journey import MAX_DURATION_S, Journey, Judge
from website_scan.journeys.passwords import ReadJourney
from website_scan.journeys.walk import StepResult, StepStatus
from website_scan.journeys.words import step_in_words
from website_scan.local_scans import reason_without_browser
from website_scan.net.client import Network
from website_scan.net.errors import Blocked
from website_scan.net.proxy import BrowserProxy
from website_scan.net.targets import parse_target
from website_scan.picture_types import picture_extension
from website_scan.redaction import redacted
from website_scan.report_json import ExportedError
from website_scan.result import StateOfJourney
from website_scan.states import judge_states
from website_scan.viewing import Viewing

JOURNEY_FAILED = "JOURNEY_FAILED"
ALL_PARTS = frozenset(Part)
# The network's time limit is longer than that of the journey, whose error message is clearer.
NETWORK_LIMIT_S = MAX_DURATION_S + 10


def prepare(journeys: JourneyOptions) -> None:
    """Raise WrongUsage if no journey can be executed, or the folder of the pictures cannot be written."""
    local.refuse_invalid_settings()
    if local.browser() is None:
        raise WrongUsage(f"--journey needs a browser. {reason_without_browser()}")
    if journeys.pictures is not None:
        try:
            journeys.pictures.mkdir(exist_ok=True)
        except OSError as error:
            raise WrongUsage(f"--pictures: {journeys.pictures} can't be written: {error.strerror}.") from None


def scan_journeys(
    options: Options, progress: ProgressLine, add_journeys: Callable[[ExecutedJourneys], None]
) -> Iterator[list[CommandReport]]:
    """Execute the journeys one by one, and yield the reports of all states of each journey.

    A step that fails is reported as a failed scan. `add_journeys` receives the executed journeys at the end.
    """
    assert options.journeys is not None
    executed: list[ExecutedJourney] = []
    names: set[str] = set()
    for read in options.journeys.read(options.preview_origin):
        progress.update(0, f"{'executing':<10}  {read.journey.title}")
        walk, reports = _scan(read.journey, options, progress)
        progress.clear()
        if walk is not None and options.journeys.pictures is not None:
            _write_pictures(walk, options.journeys.pictures, _file_name(read.journey.title, names))
        executed.append(_executed(read, walk, reports))
        if not options.is_quiet:
            write_err("\n".join([executed[-1].sentence, *(f"  {note}" for note in executed[-1].notes)]))
        yield reports
    add_journeys(ExecutedJourneys(tuple(executed)))


def _scan(journey: Journey, options: Options, progress: ProgressLine) -> tuple[Walk | None, list[CommandReport]]:
    """Execute a journey. Returns None in place of the walk if it could not begin, and the reports."""
    assert options.journeys is not None
    policy = network_policy(journey.start_url, options)
    page = options.urls[0] if options.journeys.base_url else journey.start_url
    credentials = local.credentials_by_url(options, {page: policy}).get(page)
    with Network(policy, limits=LIMITS, time_limit_s=NETWORK_LIMIT_S, credentials=credentials) as network:
        try:
            parse_target(journey.start_url, policy)
            walk = _walk(journey, options, network)
        except Refusal as refusal:
            progress.clear()
            if refusal.code == Blocked.code:
                write_err(allow_option_hint(journey.start_url, network))
            code = JOURNEY_FAILED if isinstance(refusal, BrowserFailed) else refusal.code
            return None, _failed(journey, options, 0, journey.start_url, {"code": code, "message": str(refusal)})
        if walk.problem and network.refused and not walk.states:
            progress.clear()
            write_err(allow_option_hint(journey.start_url, network))
    progress.update(80, f"{'checking':<10}  {journey.title}")
    return walk, _reports(journey, walk, options, network)


def _walk(journey: Journey, options: Options, network: Network) -> Walk:
    """Execute the steps of a journey. Raises `BrowserFailed` and JourneyRefused."""
    assert options.journeys is not None
    program = local.browser()
    if program is None:
        raise BrowserFailed("No browser is available.")
    with BrowserProxy(network, limits=LIMITS) as proxy:
        return program.walk(
            WalkRequest(
                journey=journey,
                proxy=proxy,
                user_agent=network.policy.user_agent,
                allowed=site_addresses(journey),
                secrets={name: options.journeys.secrets[name] for name in journey.secret_names},
                parts=ALL_PARTS if ScanType.ACCESSIBILITY in options.types else ALL_PARTS - {Part.AXE},
                axe_devices=tuple(map(device_of_width, options.journeys.widths)),
                color_scheme=(options.viewing or Viewing()).color_scheme,
                credentials=network.credentials,
                tests_log_out=ScanType.SECURITY in options.types,
                has_pictures=options.journeys.pictures is not None,
            )
        )


def _reports(journey: Journey, walk: Walk, options: Options, network: Network) -> list[CommandReport]:
    extension = additional_checks(options.requirements, uses_plug_ins=options.uses_plug_ins)
    judged = judge_states(journey, walk, options.types, network.policy, options.viewing, extension=extension)
    reports = [
        scanned_report(redacted(result, network.credentials), options.preview_origin)
        for state in judged
        for result in state.results
    ]
    if walk.problem:
        number, step = _failed_step(walk)
        url = next((one.url for one in reversed(walk.steps[: number + 1]) if one.url), journey.start_url)
        error: ExportedError = {"code": JOURNEY_FAILED, "message": _message(journey, walk, number, step)}
        picture = step.picture.data if step.picture else None
        reports += [replace(report, screenshot=picture) for report in _failed(journey, options, number, url, error)]
    elif not reports:
        message = f"None of its states can be judged for {', '.join(options.types)}."
        error = {"code": JOURNEY_FAILED, "message": message}
        reports = _failed(journey, options, len(walk.steps) - 1, walk.steps[-1].url or journey.start_url, error)
    return reports


def _failed(journey: Journey, options: Options, step: int, url: str, error: ExportedError) -> list[CommandReport]:
    """Return failed reports about a step, counted from 0."""
    state = StateOfJourney(journey.title, f"Step {step + 1}", step + 1)
    return [failed_report(url, scan_type, error, state=state) for scan_type in options.types]


def _failed_step(walk: Walk) -> tuple[int, StepResult]:
    """Return the position and result of the step at which a walk ended early."""
    for number, step in enumerate(walk.steps):
        if step.status is not StepStatus.DONE:
            return number, step
    return len(walk.steps) - 1, walk.steps[-1]


def _message(journey: Journey, walk: Walk, number: int, step: StepResult) -> str:
    """Return why a journey ended early, what resembles the missing element, and which states were not reached."""
    sentences = [walk.problem, f"The step: {step_in_words(journey.steps[number])}"]
    if step.near_matches:
        sentences.append(f"Similar on the page: {', '.join(step.near_matches)}.")
    unreached = [f"“{one.name}”" for one in journey.steps[number:] if isinstance(one, Judge)]
    if unreached:
        sentences.append(f"Not judged: {', '.join(unreached)}.")
    return " ".join(sentences)


def _executed(read: ReadJourney, walk: Walk | None, reports: Sequence[CommandReport]) -> ExecutedJourney:
    results = walk.steps if walk else (StepResult(StepStatus.NOT_REACHED),) * len(read.journey.steps)
    steps: list[StepJson] = [
        {
            "step": number,
            "text": step_in_words(step),
            "status": str(result.status),
            "url": result.url,
            "duration_s": round(result.duration_s, 3),
            "problem": result.problem,
            "near_matches": list(result.near_matches),
            "notes": list(result.notes),
        }
        for number, (step, result) in enumerate(zip(read.journey.steps, results, strict=True), 1)
    ]
    notes = [*read.notes, *(walk.notes if walk else ())]
    notes += [f"Step {step['step']}: {note}" for step in steps for note in step["notes"]]
    states = len({report.page for report in reports if report.error is None})
    return ExecutedJourney(read.journey.title, tuple(steps), states, tuple(notes))


def _write_pictures(walk: Walk, folder: Path, name: str) -> None:
    """Write the picture of each step, such as `log-in-03.jpg`. Raises WrongUsage."""
    for number, step in enumerate(walk.steps, 1):
        if step.picture is None:
            continue
        path = folder / f"{name}-{number:02}{picture_extension(step.picture.data)}"
        try:
            path.write_bytes(step.picture.data)
        except OSError as error:
            raise WrongUsage(f"{path} can't be written: {error.strerror}.") from None


def _file_name(title: str, taken: set[str]) -> str:
    """Return a name for the files of a journey that no other journey has, and add it to `taken`."""
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "journey"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}-{number}", number + 1
    taken.add(name)
    return name
