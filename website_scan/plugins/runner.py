"""Run a plug-in's code in its host process, with limits for time and size."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from msgspec import Struct

from website_scan.outcomes import Verdict
from website_scan.plugins.installed import InstalledPlugIn
from website_scan.plugins.json_checking import CONTROL, WrongData, one_line
from website_scan.plugins.process import HostFailed, HostProcess
from website_scan.plugins.verdicts import read_verdict

T = TypeVar("T")

LOAD_TIMEOUT_S = 10.0
CHECK_TIMEOUT_S = 5.0
CHECK_CPU_S = 2
# A check whose probes use the network waits for the site.
NETWORK_CHECK_TIMEOUT_S = 12.0
FORMAT_TIMEOUT_S = 20.0
FORMAT_CPU_S = 15
# The host itself ends a child at the limit, and needs a moment for it.
GRACE_S = 2.0
IDLE_S = 60.0
MAX_DESCRIPTION_BYTES = 2 * 1024 * 1024
MAX_VERDICT_BYTES = 256 * 1024
MAX_FORMAT_BYTES = 20 * 1024 * 1024
MAX_REASON = 450

Reply = Callable[[Mapping[str, Any], float], dict[str, Any]]


class PlugInFailed(Exception):
    """Raised if a plug-in could not be loaded, or if its format failed. The message is a clause."""


class CheckToRun(Struct, frozen=True):
    """Check of a plug-in, and if its probes use the network."""

    id: str
    uses_network: bool


class Job(Struct):
    """Work for the host. A cancelled job does not run its further checks."""

    work: Callable[[Job], Any]
    future: Future[Any]
    is_cancelled: bool = False


class Runner:
    """Thread that owns the host process of one plug-in.

    The host is started for the first job, and ends when it has been idle. Thread-safe.
    """

    def __init__(self, plug_in: InstalledPlugIn) -> None:
        self.plug_in = plug_in
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._host: HostProcess | None = None
        self._description: object = None

    @property
    def pid(self) -> int | None:
        """Return the process ID of the host, or None if it is not running."""
        host = self._host
        return host.pid if host is not None and host.is_running else None

    def describe(self) -> object:
        """Return the plug-in's description as JSON that nobody has validated. Raises PlugInFailed."""

        def work(_: Job) -> object:
            self._require_host(LOAD_TIMEOUT_S)
            return self._description

        return self._run(work, LOAD_TIMEOUT_S + GRACE_S)

    def run_checks(
        self, checks: Sequence[CheckToRun], page: Mapping[str, Any], reply: Reply, ends: float
    ) -> dict[str, Verdict | str]:
        """Return the verdicts of checks on a page, or the reason why a check could not run, by ID.

        `page` is the request with the evidence. `reply` answers network requests. `ends` is on the monotonic clock.
        """

        def work(job: Job) -> dict[str, Verdict | str]:
            results: dict[str, Verdict | str] = {}
            loaded: HostProcess | None = None
            for check in checks:
                if job.is_cancelled or time.monotonic() >= ends:
                    results[check.id] = "the time for the plug-in's checks of a page was used up"
                    continue
                try:
                    host = self._require_host(min(LOAD_TIMEOUT_S, ends - time.monotonic()))
                    if host is not loaded:
                        host.ask(page, self._limit_s(LOAD_TIMEOUT_S, ends), MAX_VERDICT_BYTES)
                        loaded = host
                    limit_s = NETWORK_CHECK_TIMEOUT_S if check.uses_network else CHECK_TIMEOUT_S
                    results[check.id] = _check(host, check.id, self._limit_s(limit_s, ends), reply)
                except (HostFailed, PlugInFailed) as failed:
                    results[check.id] = _clause(str(failed))
            if loaded is not None and loaded.is_running:
                self._forget_page(loaded)
            return results

        return self._run(work, max(0.0, ends - time.monotonic()) + GRACE_S)

    def render(self, name: str, exports: Sequence[Mapping[str, object]]) -> str:
        """Return the text that a format makes of exported reports. Raises PlugInFailed."""

        def work(_: Job) -> str:
            host = self._require_host(LOAD_TIMEOUT_S)
            limits = {"seconds": FORMAT_TIMEOUT_S, "cpu_s": FORMAT_CPU_S, "bytes": MAX_FORMAT_BYTES}
            request = {"do": "format", "name": name, "exports": exports, **limits}
            answer = host.ask(request, FORMAT_TIMEOUT_S + GRACE_S, 2 * MAX_FORMAT_BYTES)
            result = _result(answer)
            if not isinstance(text := result.get("text"), str):
                raise PlugInFailed(_clause(str(result.get("error", "it returned no text"))))
            return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))

        return self._run(work, LOAD_TIMEOUT_S + FORMAT_TIMEOUT_S + 2 * GRACE_S)

    def close(self) -> None:
        """Kill the host. The next job starts a new one."""
        if (host := self._host) is not None:
            host.kill()

    def _run(self, work: Callable[[Job], T], timeout_s: float) -> T:
        job = Job(work, Future())
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name=f"plug-in {self.plug_in.name}", daemon=True)
                self._thread.start()
        self._jobs.put(job)
        try:
            result: T = job.future.result(timeout_s)
        except TimeoutError:
            raise PlugInFailed("it did not answer in time") from None
        except HostFailed as failed:
            raise PlugInFailed(_clause(str(failed))) from None
        finally:
            job.is_cancelled = True
        return result

    def _serve(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=IDLE_S if self.pid else None)
            except queue.Empty:
                self.close()
                continue
            if job.is_cancelled:
                continue
            try:
                job.future.set_result(job.work(job))
            except Exception as error:  # noqa: BLE001 -- the waiting thread raises it again
                self.close()
                job.future.set_exception(error)

    def _require_host(self, timeout_s: float) -> HostProcess:
        """Return the running host, or start it and load the plug-in. Raises HostFailed or PlugInFailed."""
        if self._host is not None and self._host.is_running:
            return self._host
        if self._host is not None:
            self._host.kill()
        self._host = host = HostProcess()
        names = {"checks": dict(self.plug_in.checks), "formats": dict(self.plug_in.formats)}
        answer = host.ask({"do": "load", **names}, timeout_s, MAX_DESCRIPTION_BYTES)
        if "error" in answer:
            host.kill()
            raise PlugInFailed(_clause(str(answer["error"])))
        self._description = answer.get("description")
        return host

    @staticmethod
    def _limit_s(limit_s: float, ends: float) -> float:
        return max(0.1, min(limit_s, ends - time.monotonic()))

    @staticmethod
    def _forget_page(host: HostProcess) -> None:
        try:
            host.ask({"do": "page", "page": None}, GRACE_S, MAX_VERDICT_BYTES)
        except HostFailed:
            # The next job starts a new host.
            return


def _check(host: HostProcess, check_id: str, seconds: float, reply: Reply) -> Verdict | str:
    """Return the verdict of a check, or a clause on why it could not run. Raises HostFailed."""
    ends = time.monotonic() + seconds
    request: Mapping[str, Any] = {
        "do": "check", "id": check_id, "seconds": seconds, "cpu_s": CHECK_CPU_S, "bytes": MAX_VERDICT_BYTES
    }  # fmt: skip
    while True:
        answer = host.ask(request, max(0.1, ends - time.monotonic()) + GRACE_S, 2 * MAX_VERDICT_BYTES)
        if "request" not in answer:
            break
        try:
            wanted = json.loads(str(answer["request"]))
        except (ValueError, RecursionError):
            wanted = None
        request = reply(wanted, ends) if isinstance(wanted, dict) else {"error": "Wrong request.", "code": "INVALID"}
    result = _result(answer)
    if "error" in result:
        return _clause(str(result["error"]))
    try:
        return read_verdict(result.get("verdict"))
    except WrongData as wrong:
        return _clause(str(wrong))


def _result(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the result of a child in the answer of its host, or an object with the key `error`."""
    if "result" not in answer:
        return {"error": answer.get("error", "its process sent no result")}
    try:
        result = json.loads(str(answer["result"]))
    except (ValueError, RecursionError):
        result = None
    return result if isinstance(result, dict) else {"error": "its process sent no result"}


def _clause(message: str) -> str:
    """Return a message of a plug-in as one line for readers, without a full stop."""
    return one_line(message, MAX_REASON).rstrip(".")
