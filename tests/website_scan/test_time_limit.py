from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import time
from typing import NoReturn

import pytest

from tests.website_scan.time_limit_stress import stress
from website_scan.time_limit import OutOfTime, limited


def run_forever() -> NoReturn:
    for _ in itertools.count():
        pass
    raise AssertionError


def test_function_over_time_limit_is_ended() -> None:
    with pytest.raises(OutOfTime):
        limited(run_forever, 0.05)


def test_cpu_limit_does_not_count_waiting() -> None:
    assert not limited(lambda: threading.Event().wait(0.2), 60, cpu_s=0.05)
    with pytest.raises(OutOfTime):
        limited(run_forever, 60, cpu_s=0.05)


def test_result_needs_no_extra_thread() -> None:
    limited(int, 60)
    before = threading.active_count()
    assert [limited(lambda: sum(range(1000)), 60) for _ in range(100)] == [499_500] * 100
    assert threading.active_count() <= before


def test_tracing_works_after_a_limit() -> None:
    """Python 3.11 never ends some traced calls.

    The cause is a check for an asynchronous exception that was cancelled.
    """
    script = (
        "import sys; from website_scan.time_limit import limited; limited(int, 60); sys.settrace(lambda *told: None); "
        "(lambda: None)(); print('ended')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "ended\n"


def test_exception_is_passed_on() -> None:
    def fail() -> NoReturn:
        raise ValueError("own")

    with pytest.raises(ValueError, match="own"):
        limited(fail, 60)


def test_nested_limit_keeps_outer_limit() -> None:
    def inner() -> None:
        with pytest.raises(OutOfTime):
            limited(run_forever, 0.02)
        run_forever()

    with pytest.raises(OutOfTime):
        limited(inner, 0.05)


def test_OutOfTime_stays_in_its_block() -> None:
    """The IDs of ended threads are reused immediately.

    Threads with and without limits reuse them.
    """
    counts = stress(3)
    assert counts["ended"]
    assert counts["interrupted"]
    assert (counts["strays"], counts["behind"], counts["hangs"]) == (0, 0, 0)


# Python 3.12 warns about forks of processes with threads.
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forked_process_enforces_time_limits() -> None:
    limited(int, 60)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            limited(run_forever, 0.05)
        except OutOfTime:
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_dropped_OutOfTime_is_raised_again() -> None:
    """Hostile code must not continue after a dropped exception.

    Python drops exceptions in finalizers.
    """

    class Slow:
        def __del__(self) -> None:
            ends = time.monotonic() + 0.4
            while time.monotonic() < ends:
                pass

    began = time.monotonic()

    def run_without_end() -> None:
        Slow()  # The object's finalizer runs when the limit is reached.
        while time.monotonic() < began + 30:
            pass

    dropped: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", lambda told: dropped.append(told.exc_type))
        with pytest.raises(OutOfTime):
            limited(run_without_end, 0.05)
    assert dropped == [OutOfTime]
    assert time.monotonic() < began + 20
