"""Cost of scans with and without a browser: processor time of all processes, memory, and variation of the score.

The site and the process that watches the memory run separately and do not count.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import statistics
import time
import zlib
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from random import Random

import psutil

from scanner.browser.visit import Browser, Visit
from scanner.browser.warm import WarmBrowser
from scanner.findings import ScanType
from scanner.memory import give_back, use_one_heap
from scanner.net.browser import find_browser
from scanner.net.client import Network
from scanner.net.policy import Policy
from scanner.net.proxy import BrowserProxy
from scanner.net.targets import parse_target
from scanner.result import Budget, ScanResult
from scanner.run import scan
from tests.scanner.net.loopback import NETWORKS
from tests.targets.server import Answer, Site

MIB = 1024 * 1024
ROUNDS = 5
REPEATED = 10
TIME_LIMIT_S = 60.0
POLICY = Policy(allowed_networks=NETWORKS)
SAMPLE_EVERY_S = 0.1

STATIC_CPU_S, STATIC_MIB = 0.5, 60
LOAD_CPU_S, LOAD_S = 1.5, 2.2
FOUR_CPU_S, FOUR_MIB = 3.0, 400
SPREAD = 2


def main() -> int:
    """Print the table; return 1 if a goal was missed."""
    use_one_heap()  # like workers
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    site = context.Process(target=_serve, args=(theirs,), daemon=True)
    site.start()
    url = f"{ours.recv()}/"
    missed = _static(url)
    with WarmBrowser(program) as browser:
        missed |= _one_load(url, browser)
        missed |= _four(url, browser)
        missed |= _spread(url, browser)
    ours.send("end")
    site.join()
    return int(missed)


def _static(url: str) -> bool:
    _scan(url, ScanType.PERFORMANCE, None)  # work that a process does only once does not count
    give_back()
    before_mib = _memory_mib()
    with _watched() as peak:
        cpu_s, _ = _median_cost(lambda: _scan(url, ScanType.PERFORMANCE, None))
    missed = _tell("static performance scan", cpu_s, "CPU-s", STATIC_CPU_S)
    return _tell("  memory beyond the idle worker", peak() - before_mib, "MiB", STATIC_MIB) or missed


def _one_load(url: str, browser: WarmBrowser) -> bool:
    def load() -> None:
        with Network(POLICY, time_limit_s=TIME_LIMIT_S) as network, BrowserProxy(network) as proxy:
            seen = browser.load(Visit(url, proxy, POLICY.user_agent, TIME_LIMIT_S))
        assert not seen.problems, seen.problems

    load()
    cpu_s, seconds = _median_cost(load)
    missed = _tell("warm load with everything", cpu_s, "CPU-s", LOAD_CPU_S)
    return _tell("  from start to end", seconds, "s", LOAD_S) or missed


def _four(url: str, browser: WarmBrowser) -> bool:
    def four() -> None:
        for result in _visit(url, tuple(ScanType), browser):
            assert result.status == "completed", (result.type, result.skipped_checks)

    four()
    with _watched() as peak:
        cpu_s, seconds = _median_cost(four)
    missed = _tell("all four types, one visit", cpu_s, "CPU-s", FOUR_CPU_S)
    missed |= _tell("  memory of all processes", peak(), "MiB", FOUR_MIB)
    _tell("  from start to end", seconds, "s")
    return missed


def _spread(url: str, browser: WarmBrowser) -> bool:
    missed = False
    for name, used, goal in (("with the browser", browser, SPREAD), ("without", None, 0)):
        scores = [_scan(url, ScanType.PERFORMANCE, used).score or 0 for _ in range(REPEATED)]
        missed |= _tell(f"spread of {REPEATED} scores {name}", max(scores) - min(scores), "points", goal)
        print(f"  {scores}")
    return missed


def _scan(url: str, scan_type: ScanType, browser: Browser | None) -> ScanResult:
    (result,) = _visit(url, (scan_type,), browser)
    return result


def _visit(url: str, types: tuple[ScanType, ...], browser: Browser | None) -> tuple[ScanResult, ...]:
    with Network(POLICY, time_limit_s=TIME_LIMIT_S) as network:
        results = scan(parse_target(url, POLICY), types, network, Budget(TIME_LIMIT_S), browser=browser)
    for each in results:
        assert each.score is not None, each.error
    give_back()
    return results


def _median_cost(work: Callable[[], object]) -> tuple[float, float]:
    """Return the medians over the rounds of the processor seconds of this process and its children, and of seconds."""
    costs = []
    for _ in range(ROUNDS):
        began, before = time.monotonic(), cpu_s()
        work()
        costs.append((cpu_s() - before, time.monotonic() - began))
    return statistics.median(cpu for cpu, _ in costs), statistics.median(seconds for _, seconds in costs)


def cpu_s() -> float:
    """Return the processor seconds of this process and its running and ended children, without the site."""
    total = 0.0
    for each in _processes(psutil.Process()):
        with contextlib.suppress(psutil.Error):
            times = each.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def _memory_mib() -> float:
    return _held(psutil.Process()) / MIB


def _held(root: psutil.Process) -> int:
    """Return the proportional set size (PSS) of the processes in bytes: shared memory counts once."""
    total = 0
    for each in _processes(root):
        with contextlib.suppress(psutil.Error):
            total += each.memory_full_info().pss
    return total


def _processes(root: psutil.Process) -> Iterator[psutil.Process]:
    yield root
    for each in root.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "multiprocessing" not in " ".join(each.cmdline()):  # the site and the watcher
                yield each


@contextlib.contextmanager
def _watched() -> Iterator[Callable[[], float]]:
    """Watch the memory; yield a function that returns the peak in MiB so far."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    watcher = context.Process(target=_watch, args=(os.getpid(), theirs), daemon=True)
    watcher.start()
    ours.recv()
    ended: list[float] = []

    def peak() -> float:
        if not ended:
            ours.send("end")
            ended.append(ours.recv())
            watcher.join()
        return ended[0]

    yield peak
    peak()


def _watch(pid: int, pipe: Connection) -> None:
    root, most = psutil.Process(pid), 0
    pipe.send("ready")
    while not pipe.poll(SAMPLE_EVERY_S):
        most = max(most, _held(root))
    pipe.send(most / MIB)


def _tell(what: str, value: float, unit: str, goal: float | None = None) -> bool:
    verdict = "" if goal is None else f"  goal {goal:g}: {'met' if value <= goal else 'MISSED'}"
    print(f"{what:38}{value:8.2f} {unit:7}{verdict}", flush=True)
    return goal is not None and value > goal


def _serve(pipe: Connection) -> None:
    with Site(_routes()) as site:
        pipe.send(site.url)
        pipe.recv()


def _routes() -> dict[str, Answer]:
    """Return the routes of a page like a shop's, with some 40 sub-resources and 500 kB."""
    dice = Random(1)
    keep = {"Cache-Control": "public, max-age=31536000, immutable"}
    words = ["bread", "rolls", "cake", "fresh", "from", "the", "oven", "every", "morning"]
    routes = {}
    for number in range(24):
        routes[f"/images/{number}.png"] = Answer(_png(dice, 64, 64), headers={"Content-Type": "image/png", **keep})
    for number in range(10):
        lines = [f"export function f{at}(a) {{ return a * {at} + {dice.random()}; }}" for at in range(140)]
        loop = "for (let i = 0; i < 20000; i += 1) f1(i);"
        script = "\n".join([*lines, loop]).replace("export ", "")
        routes[f"/js/{number}.js"] = Answer(script, headers={"Content-Type": "text/javascript", **keep})
    for number in range(5):
        sheet = "\n".join(
            f".c{number}-{at} {{ color: #{dice.randrange(0x555555):06x}; margin: {at}px }}" for at in range(180)
        )
        routes[f"/css/{number}.css"] = Answer(sheet, headers={"Content-Type": "text/css", **keep})
    parts = "".join(
        f'<section><h2>Offer {at}</h2><p class="c{at % 5}-{at}">{" ".join(dice.choice(words) for _ in range(60))}</p>'
        f'<img src="/images/{at}.png" alt="Offer {at}" width="120" height="120">'
        f'<p><a href="/offer/{at}">Offer {at}</a></p></section>'
        for at in range(24)
    )
    head = "".join(f'<link rel="stylesheet" href="/css/{at}.css">' for at in range(5))
    head += "".join(f'<script src="/js/{at}.js" defer></script>' for at in range(10))
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A bakery in the old town</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{head}</head><body><main><h1>Fresh from the oven</h1>{parts}</main></body></html>"
    )
    return routes | {"/": Answer(page, headers={"Content-Type": "text/html; charset=utf-8"})}


def _png(dice: Random, width: int, height: int) -> bytes:
    """Return a PNG image of noise, which does not compress."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    rows = b"".join(b"\0" + dice.randbytes(width * 3) for _ in range(height))
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
