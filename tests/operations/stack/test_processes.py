"""Tests for `spawn`, which starts child processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import pytest

from operations.stack.processes import ENDING, spawn
from tests.operations.stack.processes import running_with


@pytest.fixture(params=ENDING, ids=lambda number: number.name)
def interrupting_signal(request: pytest.FixtureRequest) -> Iterator[signal.Signals]:
    """Signal whose handler raises KeyboardInterrupt."""

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(request.param, interrupt)
    yield request.param
    signal.signal(request.param, before)


def test_signal_during_spawn_leaves_no_process(
    interrupting_signal: signal.Signals, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    popen = subprocess.Popen
    started: list[int] = []

    def interrupted_spawn(*args: Any, **kwargs: Any) -> subprocess.Popen[bytes]:
        process = popen(*args, **kwargs)
        started.append(process.pid)
        os.kill(os.getpid(), interrupting_signal)
        return process

    monkeypatch.setattr(subprocess, "Popen", interrupted_spawn)
    handler = signal.getsignal(interrupting_signal)
    with pytest.raises(KeyboardInterrupt):
        spawn([sys.executable, "-c", "import time; time.sleep(60)", tmp_path], death_signal=signal.SIGTERM)
    assert len(started) == 1
    assert running_with(str(tmp_path)) == {}
    assert signal.getsignal(interrupting_signal) == handler


def test_spawn_starts_process_without_signal() -> None:
    process = spawn([sys.executable, "-c", "print('works')"], death_signal=signal.SIGTERM, stdout=subprocess.PIPE)
    assert process.communicate()[0] == b"works\n"
    assert process.returncode == 0
