"""Facts about the machine that measures, and its speed."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import statistics
import subprocess
import time
from pathlib import Path
from typing import TypedDict

import psutil

from website_scan.net.browser import find_browser

CALIBRATION_ROUNDS = 7
MAX_LOAD_PER_CORE = 0.5
VERSION_TIMEOUT_S = 20


class Machine(TypedDict):
    """Facts on which figures depend. Figures of different machines are only comparable as ratios."""

    cores: int
    processor: str
    memory_gib: int
    python: str
    chromium: str


def machine() -> Machine:
    """Return the facts about this machine."""
    return {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "processor": _processor(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "python": platform.python_version(),
        "chromium": _chromium(),
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _chromium() -> str:
    if (program := find_browser("auto")) is None:
        return "none"
    command = [str(program), "--version", "--no-sandbox"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=VERSION_TIMEOUT_S, check=False)
    return next((word for word in answer.stdout.split() if word[0].isdigit()), "unknown")


def calibration_ms() -> float:
    """Return the processor time in milliseconds for a fixed piece of work: the median of several rounds.

    The work is like that of scans and pages: JSON, sorting, strings and hashes.
    """
    return statistics.median(_calibration_round_ms() for _ in range(CALIBRATION_ROUNDS))


def _calibration_round_ms() -> float:
    start = time.process_time()
    rows = [{"id": number, "name": f"name {number * 7919 % 10_007}"} for number in range(10_000)]
    for _ in range(3):
        rows = json.loads(json.dumps(sorted(rows, key=lambda row: str(row["name"]))))
        hashlib.sha256("".join(str(row["name"]) for row in rows).encode()).digest()
    return (time.process_time() - start) * 1000


def busy_sentence() -> str:
    """Return a sentence that warns about other load on this machine, or an empty string if it is quiet."""
    load = os.getloadavg()[0]
    if load <= MAX_LOAD_PER_CORE * (os.cpu_count() or 1):
        return ""
    return f"This machine is busy (load {load:.1f}), so figures are less exact and times are too high."
