"""The supervisor: programs that end restart, and a stop leaves no process behind."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from operations.stack.management.commands.up import programs
from operations.stack.supervisor import STOP_TIMEOUT_S, Program, Supervisor
from tests.operations.stack.processes import running_with, spawned, wait_until

BASE_DIR = Path(__file__).resolve().parents[3]
OUTLIVE = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", sys.argv[1], "child of", sys.argv[2]])
print("deaf", flush=True)
signal.pause()
"""
DEAF_CHILD = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()"
# Ends at SIGTERM, and leaves a child that holds a FIFO open.
LEAVE_CHILD = """
import signal, subprocess, sys
child = "import signal, sys; fifo = open(sys.argv[1], 'w'); signal.pause()"
subprocess.Popen([sys.executable, "-c", child, sys.argv[1]])
signal.pause()
"""
# After SIGTERM, waits for the end of the process that holds the FIFO open. A handler of SIGTERM could run before the
# program waits for the signal, so the signal is blocked.
AWAIT_END = """
import select, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
fifo = open(sys.argv[1])
print("reads", flush=True)
signal.sigwait([signal.SIGTERM])
readable, _, _ = select.select([fifo], [], [], 5)
print("the child has ended" if readable else "the child lives", flush=True)
"""
SUPERVISE = """
import os, pathlib, sys
from operations.stack.supervisor import Program, Supervisor
from tests.operations.stack.processes import spawned
sleeper = [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()", sys.argv[1]]
programs = [Program(name, sleeper, os.environ, pathlib.Path("/")) for name in ("web", "worker")]
Supervisor(programs, sys.stdout, start=spawned).run()
"""


class Clock:
    """Clock that a test advances."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def program(name: str, code: str, *arguments: str) -> Program:
    return Program(name, [sys.executable, "-c", code, *arguments], os.environ, Path("/"))


def test_output_of_all_programs_is_one_stream_of_named_lines() -> None:
    output = io.StringIO()
    programs = [
        program("web", r"import os, signal; os.write(1, b'one\ntwo'); signal.pause()"),
        program("worker", r"import sys; sys.stderr.buffer.write(b'\xff\n'); print('three')"),
    ]

    def stop_when_complete() -> None:
        if {"one", "three", "�"} <= {line.split("| ")[-1] for line in output.getvalue().split("\n")}:
            supervisor.stop()

    supervisor = Supervisor(programs, output, start=spawned, on_tick=stop_when_complete)
    supervisor.run()
    lines = [line.split(" ", 1)[1] for line in output.getvalue().splitlines()]
    assert "web    | one" in lines
    assert "web    | two" in lines  # although the line did not end with a newline
    assert "worker | three" in lines
    assert "worker | �" in lines


def test_a_program_waits_until_it_need_not() -> None:
    output = io.StringIO()
    asked: list[str] = []

    def waits() -> bool:
        asked.append(output.getvalue())
        return "web    | up" not in output.getvalue()

    def stop_when_complete() -> None:
        if "worker | up" in output.getvalue():
            supervisor.stop()

    up = "import signal; print('up', flush=True); signal.pause()"
    programs = [program("web", up), replace(program("worker", up), waits=waits)]
    supervisor = Supervisor(programs, output, start=spawned, on_tick=stop_when_complete)
    supervisor.run()
    assert len(asked) > 1
    assert "worker | up" not in asked[-1]  # `waits` is not called once the program runs


def test_a_program_that_dies_starts_again_after_growing_pauses(tmp_path: Path) -> None:
    clock, output = Clock(), io.StringIO()
    starts = tmp_path / "starts"
    log_start = "import sys; open(sys.argv[1], 'a').write('start\\n'); sys.exit(3)"
    expected = [1, 2, 4, 8, 16, 30, 30]

    def on_tick() -> None:
        said = len(output.getvalue().splitlines())
        if said == len(expected):
            supervisor.stop()
        elif said > len(waited):
            waited.append(said)
            clock.now += expected[said - 1]

    waited: list[int] = []
    supervisor = Supervisor(
        [program("worker", log_start, str(starts))], output, start=spawned, on_tick=on_tick, clock=clock
    )
    supervisor.run()
    assert [line.split("| ")[-1] for line in output.getvalue().splitlines()] == [
        f"worker ended with status 3; it starts again in {pause} s" for pause in expected
    ]
    assert len(starts.read_text().splitlines()) == len(expected)


def test_a_program_does_not_start_again_before_its_pause_is_over(tmp_path: Path) -> None:
    clock, output = Clock(), io.StringIO()
    ticks_after_death = 0

    def on_tick() -> None:
        nonlocal ticks_after_death
        if "ended with status" in output.getvalue():
            clock.now += 0.1
            ticks_after_death += 1
            if ticks_after_death == 9:
                supervisor.stop()

    supervisor = Supervisor([program("web", "exit(1)")], output, start=spawned, on_tick=on_tick, clock=clock)
    supervisor.run()
    assert output.getvalue().count("ended with status") == 1


def test_a_program_that_ran_for_a_minute_starts_again_at_once() -> None:
    clock, output = Clock(), io.StringIO()

    def on_tick() -> None:
        said = output.getvalue().count("starts again")
        if said == 3:
            supervisor.stop()
        clock.now += 61

    supervisor = Supervisor([program("web", "exit(1)")], output, start=spawned, on_tick=on_tick, clock=clock)
    supervisor.run()
    assert output.getvalue().count("in 1 s") == 3


def test_the_way_a_program_ended_is_said() -> None:
    output = io.StringIO()

    def on_tick() -> None:
        if output.getvalue():
            supervisor.stop()

    killed = program("worker", "import os; os.kill(os.getpid(), 9)")
    supervisor = Supervisor([killed], output, start=spawned, on_tick=on_tick)
    supervisor.run()
    assert "worker was ended by SIGKILL" in output.getvalue()


def test_what_a_dead_program_left_behind_is_killed_before_it_starts_again(tmp_path: Path) -> None:
    marker = str(tmp_path)
    leave = """
import subprocess, sys
child = "import signal; print('left', flush=True); signal.pause()"
left = subprocess.Popen([sys.executable, "-c", child, sys.argv[1]], stdout=subprocess.PIPE)
left.stdout.readline()
"""
    clock, output = Clock(), io.StringIO()

    def on_tick() -> None:
        if "starts again" in output.getvalue():
            supervisor.stop()

    supervisor = Supervisor([program("worker", leave, marker)], output, start=spawned, on_tick=on_tick, clock=clock)
    supervisor.run()
    wait_until(lambda: running_with(marker) == {}, timeout_s=2)


@pytest.mark.slow
def test_programs_that_ignore_the_signal_are_killed_with_their_children(tmp_path: Path) -> None:
    marker = str(tmp_path)
    output = io.StringIO()

    def on_tick() -> None:
        if "deaf" in output.getvalue() and len(running_with(marker)) == 2:
            supervisor.stop()

    supervisor = Supervisor([program("web", OUTLIVE, DEAF_CHILD, marker)], output, start=spawned, on_tick=on_tick)
    before = time.monotonic()
    supervisor.run()
    assert STOP_TIMEOUT_S <= time.monotonic() - before < 10
    assert "web does not stop, it is killed" in output.getvalue()
    wait_until(lambda: running_with(marker) == {}, timeout_s=2)


def test_children_of_a_stopped_program_are_killed_when_it_ends_not_when_all_have(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    output = io.StringIO()

    def on_tick() -> None:
        if "reads" in output.getvalue():
            supervisor.stop()

    programs = [program("quick", LEAVE_CHILD, str(fifo)), program("slow", AWAIT_END, str(fifo))]
    supervisor = Supervisor(programs, output, start=spawned, on_tick=on_tick)
    supervisor.run()
    assert "the child has ended" in output.getvalue()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_everything_with_status_0(number: signal.Signals, tmp_path: Path) -> None:
    with start_supervisor(tmp_path) as supervisor:
        supervisor.send_signal(number)
        assert supervisor.wait(10) == 0
    assert running_with(str(tmp_path)) == {}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of a parent's death")
def test_programs_do_not_outlive_a_killed_supervisor(tmp_path: Path) -> None:
    with start_supervisor(tmp_path) as supervisor:
        supervisor.kill()
    wait_until(lambda: running_with(str(tmp_path)) == {}, timeout_s=5)


def test_a_reader_that_goes_away_stops_everything(tmp_path: Path) -> None:
    with start_supervisor(tmp_path) as supervisor:
        assert supervisor.stdout is not None
        supervisor.stdout.close()
        # The supervisor reports the death of a program, but its output has no reader any more.
        sleepers = [pid for pid in running_with(str(tmp_path)) if pid != supervisor.pid]
        os.kill(sleepers[0], signal.SIGKILL)
        assert supervisor.wait(10) in (0, 120)  # 120: Python could not flush its own output
    assert running_with(str(tmp_path)) == {}


def start_supervisor(tmp_path: Path) -> subprocess.Popen[str]:
    """Start a process that supervises two sleepers whose command lines contain `tmp_path`."""
    supervisor = subprocess.Popen(
        [sys.executable, "-c", SUPERVISE, str(tmp_path)],
        cwd=BASE_DIR,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert supervisor.stdout is not None
    watchdog = threading.Timer(20, supervisor.kill)
    watchdog.start()
    for _ in range(2):
        assert supervisor.stdout.readline().endswith("| up\n")
    watchdog.cancel()
    return supervisor


def test_web_has_time_to_end_its_own_processes_before_it_is_killed() -> None:
    web = next(each.command for each in programs(BASE_DIR, 8000, {}) if each.name == "web")
    assert float(web[web.index("--graceful-timeout") + 1]) + 3 <= STOP_TIMEOUT_S
