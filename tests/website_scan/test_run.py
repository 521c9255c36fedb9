from __future__ import annotations

import itertools
import logging
import re
import threading
import time
import types
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import pytest
from msgspec import Struct

from tests.targets.server import Answer, Site
from tests.website_scan.cast import NOW, target
from tests.website_scan.net.loopback import loopback_network
from website_scan import catalogue
from website_scan.catalogue import Category, Probe, check, probe
from website_scan.evidence_cache import Kept
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable, ScanType
from website_scan.judging import BUSY
from website_scan.net.client import Network
from website_scan.net.errors import NotReachable, TimedOut
from website_scan.net.http.response import Headers, Response
from website_scan.net.policy import Policy
from website_scan.net.targets import Target, parse_target
from website_scan.outcomes import Fail, Pass, Verdict, Warn, outcome
from website_scan.page.evidence import Clock, Page
from website_scan.places import MAX_STORED_PLACES, Element
from website_scan.plan import OUT_OF_TIME, TOO_SLOW
from website_scan.report.serialization import export_json
from website_scan.result import Budget, HowToFix, Progress, ScanFailed, ScanResult
from website_scan.run import scan
from website_scan.scoring import Cap
from website_scan.values import Excerpt, Word
from website_scan.wording import message

TARGET = target("https://site.example.com/")
MAX_WAIT_S = 10.0


class Ground(Struct, frozen=True):
    value: str


class Wall(Struct, frozen=True):
    value: str


class Roof(Struct, frozen=True):
    value: str


class FakeNetwork:
    """Fake network with the attributes that the scanner uses."""

    policy = Policy()

    def __init__(self) -> None:
        self.closed = threading.Event()

    def close(self) -> None:
        self.closed.set()


Plant = Callable[..., None]


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Iterator[Plant]:
    """Return a function that installs a fake catalogue.

    Every list of checks is a category. All probes share a module.
    """

    def plant(*categories: list[Any], probes: list[Any] = (), caps: tuple[Cap, ...] = ()) -> None:  # type: ignore[assignment]
        modules = [
            _module(f"category{number}", functions, CATEGORY=Category(f"Category {number}", 10))
            for number, functions in enumerate(categories, 1)
        ]
        monkeypatch.setattr(catalogue, "_modules", {"website_scan.security.checks": modules}.__getitem__)
        monkeypatch.setattr(catalogue, "_probe_modules", lambda: [_module("probes", probes)])
        monkeypatch.setattr("website_scan.judging.caps", lambda _: caps)
        _forget_modules()

    yield plant
    monkeypatch.undo()
    _forget_modules()


def _module(name: str, functions: list[Any], **more: object) -> types.ModuleType:
    module = types.ModuleType(f"planted.{name}")
    for function in functions:
        function.__module__ = module.__name__
        setattr(module, function.__name__, function)
    vars(module).update(more)
    return module


def _forget_modules() -> None:
    catalogue.checks.cache_clear()
    catalogue.probes.cache_clear()
    catalogue.catalogue_version.cache_clear()


def run(
    network: FakeNetwork | None = None,
    time_limit_s: float = MAX_WAIT_S,
    workers: int = 8,
    progress: Callable[[Progress], None] = lambda _: None,
) -> ScanResult:
    fake_network = cast(Network, network or FakeNetwork())
    return scan(TARGET, [ScanType.SECURITY], fake_network, Budget(time_limit_s, workers), progress)[0]


@probe()
def ground(target: Target) -> Ground:
    return Ground(target.host)


@probe()
def wall(ground: Ground) -> Wall:
    return Wall(f"wall on {ground.value}")


@probe()
def roof(wall: Wall, ground: Ground) -> Roof:
    return Roof(f"roof on {wall.value}")


@check("has-ground", name="Ground", outcomes={"missing": "No Ground"}, severity=LOW, fix="Dig.")
def ground_check(ground: Ground) -> Verdict:
    return Pass("{ground}", ground=Word(ground.value))


@check("has-wall", name="Wall", outcomes={"missing": "No Wall"}, severity=MEDIUM, fix="Build.", references=("CWE-1",))
def wall_check(wall: Wall) -> Verdict:
    return Fail("missing", "{wall}", places=[Element("#wall")], wall=Word(wall.value))


@check("has-roof", name="Roof", outcomes={"missing": outcome("No Roof", HIGH, LOW)}, severity=HIGH, fix="Cover.")
def roof_check(roof: Roof) -> Verdict:
    return Warn("missing", "{roof}", severity=LOW, fix="Cover it well.", roof=Word(roof.value))


def test_probes_run_after_needed_probes(plant: Plant) -> None:
    plant([roof_check], probes=[roof, wall, ground])
    result = run()
    assert result.status == "completed"
    assert result.checks[0].summary == "roof on wall on site.example.com"


def test_bidi_characters_are_named(plant: Plant) -> None:
    @check("turned", name="Turned", outcomes={"missing": "Turned"}, severity=LOW, fix="Turn it back.")
    def text_with_bidi_characters(target: Target) -> Verdict:
        """Return text of a site with characters that change its direction."""
        return Fail("missing", "It says {text}.", places=[Element("#\u200fx")], text=Excerpt("\u202etxt.exe\u2069"))

    plant([text_with_bidi_characters])
    (check_result,) = run().checks
    assert check_result.summary == "It says [U+202E]txt.exe[U+2069]."
    assert check_result.places.kept == (Element("#[U+200F]x"),)


TURNED = "\u202etxt.exe\u2066\u200f"
PAGE_WITH_BIDI_CHARACTERS = f"""<!doctype html><html lang="en"><head><title>A {TURNED} page</title>
<meta name="description" content="About {TURNED}"><meta property="og:title" content="{TURNED}">
<meta property="og:site_name" content="{TURNED}"><meta property="og:image" content="/{TURNED}.png">
<meta http-equiv="Content-Security-Policy" content="script-src {TURNED}"><meta name="robots" content="{TURNED}">
<link rel="canonical" href="/{TURNED}"><link rel="alternate" hreflang="{TURNED}" href="/{TURNED}">
<script type="application/ld+json">{{"@type": "{TURNED}", "name": "{TURNED}"}}</script>
<script src="/{TURNED}.js?v={TURNED}"></script><link rel="stylesheet" href="/{TURNED}.css"></head>
<body><h1>{TURNED}</h1><h4 id="{TURNED}">{TURNED}</h4><img src="/{TURNED}.png"><a href="/{TURNED}">here</a>
<a href="{TURNED}:x">{TURNED}</a><input name="{TURNED}" role="{TURNED}"><p lang="{TURNED}" aria-{TURNED}="x">Words</p>
</body></html>"""


def test_result_has_no_bidi_characters() -> None:
    header_value = TURNED.encode().decode("latin-1")  # HTTP headers are decoded as Latin-1.
    sent = {
        "Content-Type": "text/html",
        "Server": header_value,
        "X-Powered-By": header_value,
        "Set-Cookie": f"{header_value}=1",
    }
    robots = Answer(f"{TURNED}\nSitemap: /{TURNED}\nDisallow: /{TURNED}", headers={"Content-Type": "text/plain"})
    with (
        Site({"/": Answer(PAGE_WITH_BIDI_CHARACTERS, headers=sent), "/robots.txt": robots}) as site,
        loopback_network() as network,
    ):
        results = scan(parse_target(site.url + "/", network.policy), list(ScanType), network, Budget())
    assert "[U+202E]" in repr(results)
    # repr() escapes these characters.
    assert not re.search(r"\\u(?:061c|200[ef]|202[a-e]|206[6-9])", repr(results))


def test_unencodable_characters_are_replaced(plant: Plant) -> None:
    """Scripts can give an element an ID that no database can store."""

    @check("odd", name="Odd", outcomes={"missing": "Odd found"}, severity=LOW, fix="-")
    def odd_check(ground: Ground) -> Verdict:
        return Fail("missing", "{id}", places=[Element("c\x00d\udfff")], id=Excerpt("#a\ud800b"))

    @probe()
    def refused_wall(ground: Ground) -> Wall:
        raise NotReachable("x\ud800")

    plant([odd_check, wall_check], probes=[ground, refused_wall])
    result = run()
    assert result.checks[0].summary == "#a\ufffdb"
    assert result.checks[0].places.kept == (Element("c\ufffdd\ufffd"),)
    assert result.skipped_checks[0].reason == "x\ufffd"


def test_independent_probes_run_concurrently(plant: Plant) -> None:
    both = threading.Barrier(2, timeout=MAX_WAIT_S)

    @probe()
    def slow_ground(target: Target) -> Ground:
        both.wait()
        return Ground("g")

    @probe()
    def slow_wall(target: Target) -> Wall:
        both.wait()
        return Wall("w")

    plant([ground_check, wall_check], probes=[slow_ground, slow_wall])
    assert run().status == "completed"


def test_single_worker_can_run_any_plan(plant: Plant) -> None:
    plant([ground_check, wall_check, roof_check], probes=[ground, wall, roof])
    assert run(workers=1).status == "completed"


def test_only_needed_probes_run(plant: Plant) -> None:
    calls: list[str] = []

    @probe()
    def counted_ground(target: Target) -> Ground:
        calls.append("ground")
        return Ground("g")

    @probe()
    def needless_roof(target: Target) -> Roof:
        calls.append("roof")
        return Roof("r")

    plant([ground_check, wall_check], probes=[counted_ground, wall, needless_roof])
    run()
    assert calls == ["ground"]


def test_check_may_need_existing_evidence(plant: Plant) -> None:
    @check("given", name="Given", outcomes={"missing": "No Given"}, severity=LOW, fix="-")
    def given_evidence(target: Target, clock: Clock) -> Verdict:
        return Pass("{host} {zone}", host=Word(target.host), zone=Word(str(clock.now.tzinfo)))

    plant([given_evidence])
    assert run().checks[0].summary == "site.example.com UTC"


def test_verdicts_become_check_results(plant: Plant) -> None:
    plant([ground_check, wall_check, roof_check], probes=[ground, wall, roof])
    passed, failed, warned = run().checks
    assert (passed.status, passed.severity, passed.how_to_fix, passed.points) == ("pass", None, None, 0.0)
    assert (failed.status, failed.severity, failed.how_to_fix) == ("fail", MEDIUM, HowToFix("Build."))
    assert failed.places.kept == (Element("#wall"),)
    assert failed.references == ("CWE-1",)
    assert (warned.status, warned.severity, warned.how_to_fix) == ("warn", LOW, HowToFix("Cover it well."))
    assert warned.declared_severity is HIGH
    # A check has one name, but its outcomes have different titles.
    assert [(check_result.name, check_result.title) for check_result in (passed, failed, warned)] == [
        ("Ground", "Ground"),
        ("Wall", "No Wall"),
        ("Roof", "No Roof"),
    ]


def test_outcome_determines_finding_title(plant: Plant) -> None:
    outcomes = {"weak": "Header is weak", "missing": "No Header"}

    @check("header", name="Header", outcomes=outcomes, why="Anybody can read it.", severity=MEDIUM, fix="-")
    def header(target: Target) -> Verdict:
        return Fail("missing", "The page sends no Header.")

    @check("other", name="Other", outcomes={"missing": "Other is weak"}, why="It costs time.", severity=MEDIUM, fix="-")
    def other_check(target: Target) -> Verdict:
        return Pass("Other is strong.")

    plant([header, other_check])
    failed, passed = run().checks
    assert (failed.outcome, failed.title) == ("missing", "No Header")
    assert message(failed) == "The page sends no Header. Anybody can read it."
    assert failed.why == "Anybody can read it."
    assert (passed.title, message(passed), passed.why) == ("Other", "Other is strong.", "")


def test_warning_is_never_critical(plant: Plant) -> None:
    either = {"found": outcome("Found", CRITICAL, LOW)}

    @check("own", name="Own", outcomes={"missing": "Own"}, severity=CRITICAL, fix="-")
    def own_severity_check(target: Target) -> Verdict:
        return Warn("missing", "Perhaps.")

    @check("said", name="Said", outcomes=either, severity=LOW, fix="-")
    def said_severity_check(target: Target) -> Verdict:
        return Warn("found", "Perhaps.", severity=CRITICAL)

    @check("less", name="Less", outcomes={"less": outcome("Less", CRITICAL, LOW)}, severity=CRITICAL, fix="-")
    def lower_severity_check(target: Target) -> Verdict:
        return Warn("less", "Perhaps.", severity=LOW)

    @check("failed", name="Failed", outcomes={"missing": "Failed"}, severity=CRITICAL, fix="-")
    def failed(target: Target) -> Verdict:
        return Fail("missing", "Surely.")

    plant([own_severity_check, said_severity_check, lower_severity_check, failed])
    result = run()
    assert [(check.id, check.severity) for check in result.checks] == [
        ("own", HIGH),
        ("said", HIGH),
        ("less", LOW),
        ("failed", CRITICAL),
    ]
    document = export_json(result, scan_id="", report_id="", created_at=NOW, completed_at=NOW)
    summary = document["summary"]
    assert (summary["critical"], summary["high"], summary["warnings"]) == (1, 2, 3)


def test_only_first_places_are_stored(plant: Plant) -> None:
    @check("much", name="Much", outcomes={"missing": "Too much"}, severity=LOW, fix="-")
    def check_with_many_places(target: Target) -> Verdict:
        return Fail("missing", "A hundred.", places=[Element(f"#{number}") for number in range(100)])

    plant([check_with_many_places])
    (result_of_check,) = run().checks
    assert result_of_check.places.kept == tuple(Element(f"#{number}") for number in range(MAX_STORED_PLACES))
    assert result_of_check.places.total == 100


@pytest.mark.parametrize(
    ("media_type", "status", "judged"),
    [
        ("text/html", 200, ["any", "html", "good"]),
        ("application/pdf", 200, ["any", "good"]),
        ("text/html", 403, ["any", "html"]),
    ],
)
def test_check_applies_to_its_kind_of_page(plant: Plant, media_type: str, status: int, judged: list[str]) -> None:
    """Test that the runner decides whether checks apply.

    Some apply only to HTML pages or to pages without an error status.
    """

    @probe()
    def page(target: Target) -> Page:
        headers = Headers((("Content-Type", media_type),))
        return Page(target, target, (Response(url=target.url, status=status, headers=headers, body=b""),))

    def judge(page: Page) -> Verdict:
        return Pass("Judged.")

    def copy_of_page_check(id: str, **options: Any) -> Any:
        function = types.FunctionType(judge.__code__, judge.__globals__, f"check_{id}")
        function.__annotations__ = dict(judge.__annotations__)
        return check(id, name=id, outcomes={"missing": f"no {id}"}, severity=LOW, fix="-", **options)(function)

    plant(
        [
            copy_of_page_check("any"),
            copy_of_page_check("html", html=True),
            copy_of_page_check("good", error_pages=False),
        ],
        probes=[page],
    )
    assert [check.id for check in run().checks] == judged


def test_results_are_scored_by_category(plant: Plant) -> None:
    cap = Cap(10, "The wall failed.", severity=MEDIUM)
    plant([ground_check], [wall_check], probes=[ground, wall], caps=(cap,))
    result = run()
    assert [(category.id, category.name, category.score) for category in result.categories] == [
        ("category1", "Category 1", 100),
        ("category2", "Category 2", 0),
    ]
    assert (result.score, result.grade) == (10, "F")
    assert [(cap.limit, cap.reason) for cap in result.caps] == [(10, "The wall failed.")]


def test_inapplicable_check_is_left_out(plant: Plant) -> None:
    @check("idle", name="Idle", outcomes={"missing": "No Idle"}, severity=LOW, fix="-")
    def inapplicable_check(ground: Ground) -> Verdict:
        return NotApplicable("No.")

    plant([ground_check, inapplicable_check], probes=[ground])
    result = run()
    assert result.status == "completed"
    assert [check.id for check in result.checks] == ["has-ground"]
    assert result.skipped_checks == ()


def test_refused_probe_skips_its_checks(plant: Plant) -> None:
    @probe()
    def refused_wall(ground: Ground) -> Wall:
        raise TimedOut("The wall took too long.")

    plant([ground_check, wall_check, roof_check], probes=[ground, refused_wall, roof])
    result = run()
    assert result.status == "partial"
    assert [check.id for check in result.checks] == ["has-ground"]
    assert [(skipped.id, skipped.name, skipped.reason, skipped.code) for skipped in result.skipped_checks] == [
        ("has-wall", "Wall", "The wall took too long.", "timeout"),
        # This check needs the refused evidence through another probe.
        ("has-roof", "Roof", "The wall took too long.", "timeout"),
    ]
    assert result.score == 100


def test_crashed_probe_is_logged(plant: Plant, caplog: pytest.LogCaptureFixture) -> None:
    @probe()
    def crashing_wall(ground: Ground) -> Wall:
        raise KeyError("a detail")

    plant([ground_check, wall_check], probes=[ground, crashing_wall])
    with caplog.at_level(logging.ERROR):
        result = run()
    assert result.status == "partial"
    assert "a detail" not in result.skipped_checks[0].reason
    assert result.skipped_checks[0].code == "internal-error"
    assert "crashing_wall" in caplog.text


def test_crashed_check_is_skipped(plant: Plant, caplog: pytest.LogCaptureFixture) -> None:
    @check("crash", name="Crash", outcomes={"missing": "No Crash"}, severity=LOW, fix="-")
    def crashing_check(ground: Ground) -> Verdict:
        raise ZeroDivisionError

    plant([ground_check, crashing_check], probes=[ground])
    with caplog.at_level(logging.ERROR):
        result = run()
    assert result.status == "partial"
    assert [check.id for check in result.checks] == ["has-ground"]
    assert [skipped.id for skipped in result.skipped_checks] == ["crash"]
    assert "check crash failed" in caplog.text


def test_missing_optional_evidence_is_None(plant: Plant) -> None:
    @probe()
    def refused_wall(ground: Ground) -> Wall:
        raise TimedOut("No wall.")

    @check("maybe", name="Maybe", outcomes={"missing": "No Maybe"}, severity=LOW, fix="-")
    def optional_evidence_check(wall: Wall | None) -> Verdict:
        return Pass(str(wall))

    plant([optional_evidence_check], probes=[ground, refused_wall])
    result = run()
    assert result.status == "completed"
    assert result.checks[0].summary == "None"


class NothingThere(ScanFailed):
    code = "NOTHING_THERE"


def test_refused_essential_probe_fails_the_scan(plant: Plant) -> None:
    @probe(essential=True)
    def essential_ground(target: Target) -> Ground:
        raise NothingThere("There is nothing.")

    plant([ground_check, wall_check], probes=[essential_ground, wall])
    result = run()
    assert result.status == "failed"
    assert result.error is not None
    assert (result.error.code, result.error.message) == ("NOTHING_THERE", "There is nothing.")
    assert (result.score, result.grade, result.categories, result.skipped_checks) == (None, None, (), ())


def test_crashed_essential_probe_fails_the_scan(plant: Plant, caplog: pytest.LogCaptureFixture) -> None:
    @probe(essential=True)
    def crashing_ground(target: Target) -> Ground:
        raise KeyError("a detail")

    plant([ground_check], probes=[crashing_ground])
    with caplog.at_level(logging.ERROR):
        result = run()
    assert result.error is not None
    assert result.error.code == "INTERNAL_ERROR"
    assert "a detail" not in result.error.message


def test_scan_fails_if_no_check_ran(plant: Plant) -> None:
    @probe()
    def refused_ground(target: Target) -> Ground:
        raise TimedOut("No ground.")

    plant([ground_check], probes=[refused_ground])
    result = run()
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.code == "NO_CHECK_RAN"
    assert "No ground." in result.error.message


def test_time_limit_closes_the_network(plant: Plant) -> None:
    network = FakeNetwork()

    @probe()
    def endless_wall(ground: Ground) -> Wall:
        network.closed.wait(MAX_WAIT_S)
        raise TimedOut("closed")

    @check("timeless", name="Timeless", outcomes={"missing": "No Timeless"}, severity=LOW, fix="-")
    def check_after_timeout(ground: Ground) -> Verdict:
        return Pass("seen")

    plant([check_after_timeout, wall_check], probes=[ground, endless_wall])
    result = run(network, time_limit_s=1)
    assert network.closed.is_set()
    assert result.status == "partial"
    assert [check.id for check in result.checks] == ["timeless"]
    assert [(skipped.id, skipped.reason) for skipped in result.skipped_checks] == [("has-wall", OUT_OF_TIME.reason)]
    assert (result.completed_at - result.started_at).total_seconds() < MAX_WAIT_S / 2


def test_slow_check_is_ended(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    # The check uses the CPU all the time, as on an idle machine.
    monkeypatch.setattr(time, "thread_time", time.monotonic)

    @check("endless", name="Endless", outcomes={"missing": "No Endless"}, severity=LOW, fix="-")
    def endless(ground: Ground) -> Verdict:
        for _ in itertools.count():
            try:
                list(range(100))
            except Exception:  # noqa: BLE001 -- not even this keeps it
                continue
        return Pass("never")

    plant([endless, ground_check], probes=[ground])
    result = run(time_limit_s=1)
    assert [check.id for check in result.checks] == ["has-ground"]
    assert [(skipped.id, skipped.reason) for skipped in result.skipped_checks] == [("endless", TOO_SLOW.reason)]
    assert (result.completed_at - result.started_at).total_seconds() < MAX_WAIT_S / 2


def test_busy_machine_is_blamed_for_skipped_check(plant: Plant) -> None:
    @check("starved", name="Starved", outcomes={"missing": "Not starved"}, severity=LOW, fix="-")
    def starved_check(ground: Ground) -> Verdict:
        for _ in itertools.count():
            threading.Event().wait(0.01)  # The check waits without using CPU time.
        return Pass("never")

    plant([starved_check, ground_check], probes=[ground])
    result = run(time_limit_s=1)
    assert [(skipped.id, skipped.reason) for skipped in result.skipped_checks] == [("starved", BUSY.reason)]


def test_notice_names_page_that_is_not_HTML(plant: Plant) -> None:
    @probe()
    def page(target: Target) -> Page:
        headers = Headers((("Content-Type", "application/pdf"),))
        return Page(target, target, (Response(url=target.url, status=200, headers=headers, body=b"%PDF"),))

    def judge(page: Page) -> Verdict:
        return Pass("Judged.")

    html_check = types.FunctionType(judge.__code__, judge.__globals__, "of_html")
    html_check.__annotations__ = dict(judge.__annotations__)
    checks = [
        check("any", name="Any", outcomes={"missing": "No any"}, severity=LOW, fix="-")(judge),
        check("html", name="HTML", outcomes={"missing": "No HTML"}, severity=LOW, fix="-", html=True)(html_check),
    ]
    plant(checks, probes=[page])
    assert run().facts["notice"] == "The page is not HTML but application/pdf, so the checks of HTML do not apply."
    plant(checks[:1], probes=[page])
    assert "notice" not in run().facts


def test_slow_page_fails_with_TIMEOUT(plant: Plant) -> None:
    network = FakeNetwork()

    @probe(essential=True)
    def endless_ground(target: Target) -> Ground:
        network.closed.wait(MAX_WAIT_S)
        return Ground("late")

    plant([ground_check], probes=[endless_ground])
    result = run(network, time_limit_s=0.1)
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.code == "TIMEOUT"


def test_progress_never_decreases(plant: Plant) -> None:
    seen: list[Progress] = []
    plant([ground_check, wall_check, roof_check], probes=[ground, wall, roof])
    run(progress=seen.append)
    assert all(a.percent <= b.percent for a, b in itertools.pairwise(seen))
    checked = [progress.checks[ScanType.SECURITY] for progress in seen]
    assert all(0 <= type_progress.done <= type_progress.total == 3 for type_progress in checked)
    assert list(dict.fromkeys(progress.phase for progress in seen)) == [
        "connecting",
        "collecting",
        "checking",
        "done",
    ]
    assert (seen[-1].percent, checked[-1].done) == (100, 3)


def test_result_contains_times(plant: Plant) -> None:
    plant([ground_check], probes=[ground])
    result = run()
    assert result.started_at <= result.completed_at
    assert result.started_at.tzinfo is not None
    assert result.catalogue_version == catalogue.catalogue_version(ScanType.SECURITY)
    assert result.facts["duration_s"] >= 0
    assert result.url == TARGET.url


def test_evidence_of_origin_is_cached(plant: Plant) -> None:
    examined_hosts: list[str] = []

    @probe(of_origin=True)
    def ground_of_origin(target: Target, network: Network) -> Ground:
        examined_hosts.append(target.host)
        return Ground("of the origin")

    class Memory:
        def __init__(self) -> None:
            self.stored: dict[tuple[str, str], Kept] = {}

        def find(self, origin: str, probe: Probe) -> Kept | None:
            return self.stored.get((origin, probe.name))

        def keep(self, origin: str, probe: Probe, evidence: object) -> None:
            self.stored[origin, probe.name] = Kept(evidence, datetime(2026, 11, 22, 9, tzinfo=UTC))

    plant([ground_check], probes=[ground_of_origin])
    cache = Memory()
    first, second = (
        scan(TARGET, [ScanType.SECURITY], cast(Network, FakeNetwork()), Budget(), shared=cache)[0] for _ in range(2)
    )
    assert examined_hosts == [TARGET.host]
    assert list(cache.stored) == [(TARGET.origin, "ground_of_origin")]
    assert [check.summary for check in first.checks] == [check.summary for check in second.checks]
    assert "site_evidence_at" not in first.facts
    assert second.facts["site_evidence_at"] == "2026-11-22T09:00:00Z"


def test_missing_origin_evidence_is_gathered(plant: Plant) -> None:
    examined_hosts: list[str] = []

    @probe(of_origin=True)
    def ground_of_origin(target: Target) -> Ground:
        examined_hosts.append(target.host)
        raise NotReachable("Nobody is there.")

    class Nothing:
        def find(self, origin: str, probe: Probe) -> Kept | None:
            return None

        def keep(self, origin: str, probe: Probe, evidence: object) -> None:
            pytest.fail("a failure is no evidence")

    @check("has-name", name="Name", outcomes={"missing": "No name"}, severity=LOW, fix="Name it.")
    def has_name(target: Target) -> Verdict:
        return Pass("{host}", host=Word(target.host))

    plant([ground_check, has_name], probes=[ground_of_origin])
    for _ in range(2):
        (result,) = scan(TARGET, [ScanType.SECURITY], cast(Network, FakeNetwork()), Budget(), shared=Nothing())
        assert [skipped.reason for skipped in result.skipped_checks] == ["Nobody is there."]
    assert len(examined_hosts) == 2


Gathered = TypeVar("Gathered")


def test_measuring_probe_runs_alone(plant: Plant) -> None:
    running_requests: list[str] = []
    seen: list[list[str]] = []

    def send_request(name: str, evidence: Gathered) -> Gathered:
        running_requests.append(name)
        seen.append(list(running_requests))
        running_requests.remove(name)
        return evidence

    @probe()
    def ground_with_request(target: Target, network: Network) -> Ground:
        return send_request("ground", Ground("asked"))

    @probe(measures=True)
    def measuring_wall(ground: Ground, network: Network) -> Wall:
        return send_request("wall", Wall("measured"))

    @probe()
    def roof_with_request(target: Target, network: Network) -> Roof:
        return send_request("roof", Roof("asked"))

    plant([ground_check, wall_check, roof_check], probes=[ground_with_request, measuring_wall, roof_with_request])
    run()
    assert [names for names in seen if "wall" in names] == [["wall"]]
    assert [names[-1] for names in seen] == ["ground", "wall", "roof"]
