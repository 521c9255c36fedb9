"""`make faults`: scans with a browser whose processes die or hang; searches for processes and files left behind.

A real Celery worker on the embedded stack takes the scans from the queue `browser`. The pages of the scanned site kill
the renderer, the browser or its driver in the middle of a load, or block their thread forever.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import psutil

from benchmarks.installation import install, servers
from benchmarks.soak import LOG_CHARACTERS, PATIENCE_S, Job, ends, scan_all, worker
from scanner.findings import ScanType
from tests.targets.server import Answer, Request, Site

CONCURRENCY = 2
TIME_LIMIT_S = 10
END_S = 10.0
HTML = {"Content-Type": "text/html; charset=utf-8"}
PAGE = (
    '<!doctype html><html lang="en"><head><title>A page</title>{}</head>'
    "<body><main><h1>Hello</h1><p>Some text to look at.</p></main></body></html>"
)
# Processes to kill, by a part of their command line.
SIGNS = {"renderer": "--type=renderer", "browser": "--remote-debugging-pipe", "driver": "run-driver"}
LOOP = "<script>while (true);</script>"
FAULT_SHARE = 0.4


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is left behind; return 1 if anything is, or if a scan did not end."""
    parser = argparse.ArgumentParser(prog="make faults", description="Scans with a browser that keeps dying.")
    parser.add_argument("--scans", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with ExitStack() as cleanup:
        folder, stack = cleanup.enter_context(servers(durable=False))
        temporary = folder / "tmp"
        temporary.mkdir()
        site = cleanup.enter_context(Site(_routes()))
        install(
            folder,
            stack,
            SCAN_ALLOWED_NETWORKS="127.0.0.0/8",
            SCAN_TIME_LIMIT=str(TIME_LIMIT_S),
            TMPDIR=str(temporary),
        )
        jobs = _jobs(site, options.scans, random.Random(options.seed))
        began = time.monotonic()
        with worker(folder, CONCURRENCY, "browser") as process:
            all_ended = _run(process, site, jobs)
            browsers = _count(process.children(recursive=True), SIGNS["browser"])
        faults = [] if all_ended else ["some scans did not come to an end"]
        if browsers > CONCURRENCY:
            faults.append(f"{browsers} browsers ran at the end for {CONCURRENCY} processes")
        faults += _left_behind(temporary)
        print(f"{len(jobs)} scans in {time.monotonic() - began:.0f} s: {ends()}")
        print(f"while the worker ran: {browsers} browsers for {CONCURRENCY} processes at the end")
        print("\n".join(faults) or "No process, no folder was left behind, and every scan came to an end.")
        if faults:
            print((folder / "worker.log").read_text(errors="replace")[-LOG_CHARACTERS:])
        return int(bool(faults))


def _routes() -> dict[str, Answer]:
    routes = {f"/{name}": Answer(PAGE.format(f'<script src="/kill/{name}"></script>'), headers=HTML) for name in SIGNS}
    return routes | {"/good": Answer(PAGE.format(""), headers=HTML), "/loop": Answer(PAGE.format(LOOP), headers=HTML)}


def _jobs(site: Site, count: int, dice: random.Random) -> list[Job]:
    types = [ScanType.ACCESSIBILITY, ScanType.PERFORMANCE, ScanType.SEO]
    faulty = [*SIGNS, "loop"]
    bad = round(count * FAULT_SHARE)
    paths = [faulty[number % len(faulty)] for number in range(bad)] + ["good"] * (count - bad)
    dice.shuffle(paths)
    return [Job(f"{site.url}/{path}", str(types[number % len(types)])) for number, path in enumerate(paths)]


def _run(process: psutil.Process, site: Site, jobs: list[Job]) -> bool:
    from accounts.services import ensure_organization

    def kill(request: Request) -> Answer:
        """Kill one process of the requested kind, of any scan."""
        sign = SIGNS[request.path.rpartition("/")[2]]
        for each in process.children(recursive=True):
            if _shows(each, sign):
                each.kill()
                break
        return Answer(b"", headers={"Content-Type": "text/javascript"})

    site.routes |= {f"/kill/{name}": kill for name in SIGNS}
    organization = ensure_organization(name="Faults")
    return scan_all(organization.id, jobs, process, [], time.monotonic() + PATIENCE_S)


def _left_behind(temporary: Path) -> list[str]:
    """Return the processes with this folder as TMPDIR and the files in it that are still there after END_S."""
    deadline = time.monotonic() + END_S
    while True:
        processes = [each for each in psutil.process_iter() if _uses(each, temporary)]
        folders = list(temporary.iterdir())
        if not processes and not folders:
            return []
        if time.monotonic() > deadline:
            left = [f"process {each.pid} ({each.name()})" for each in processes] + [each.name for each in folders]
            return [f"left behind: {each}" for each in left]
        time.sleep(0.2)


def _uses(process: psutil.Process, temporary: Path) -> bool:
    try:
        return process.pid != os.getpid() and process.environ().get("TMPDIR", "").startswith(str(temporary))
    except psutil.Error:
        return False


def _count(processes: Sequence[psutil.Process], sign: str) -> int:
    return sum(_shows(each, sign) for each in processes)


def _shows(process: psutil.Process, *signs: str) -> bool:
    try:
        line = " ".join(process.cmdline())
    except psutil.Error:
        return False
    return all(sign in line for sign in signs)


if __name__ == "__main__":
    sys.exit(main())
