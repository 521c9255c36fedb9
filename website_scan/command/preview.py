"""Run a local web server during a scan.

It serves a folder (`--serve`), or a command starts it (`--start`).
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from msgspec.structs import replace

from website_scan.command.access import allow_option_hint, network_policy
from website_scan.command.arguments import Options
from website_scan.command.errors import ServerRefused, WrongUsage
from website_scan.command.folder_server import serve_folder
from website_scan.command.pages import canonical_pages
from website_scan.command.progress import ProgressLine
from website_scan.net.client import Network
from website_scan.net.errors import Blocked, NetError
from website_scan.net.http.request import Request
from website_scan.net.targets import InvalidUrl

SUPERVISOR = Path(__file__).with_name("supervisor.py")
START_TIMEOUT_S = 120.0
POLL_INTERVAL_S = 0.2
RESPONSE_TIMEOUT_S = 10.0
END_TIMEOUT_S = 30.0
# An error message quotes this much of the server's output.
MAX_OUTPUT_LINES = 20
MAX_LINE_BYTES = 1000
NOT_FOUND = 404
SERVER_ERROR = 500


def preview(options: Options, progress: ProgressLine) -> AbstractContextManager[Options]:
    """Return a context manager that runs the preview's server.

    The server of `--serve` or `--start`. Yields the options of the scan. Raises WrongUsage, or ServerRefused if the
    server does not start.
    """
    if options.start:
        return _start_server(options, options.start, progress)
    if options.serve and any(url.startswith("/") for url in options.urls):
        return _serve_folder(options, options.serve)
    return nullcontext(options)


@contextmanager
def _serve_folder(options: Options, folder: Path) -> Iterator[Options]:
    with serve_folder(folder) as origin:
        urls = canonical_pages(f"{origin}{url}" if url.startswith("/") else url for url in options.urls)
        yield replace(options, urls=urls, typed=(*options.typed, origin), preview_origin=origin)


@contextmanager
def _start_server(options: Options, command: str, progress: ProgressLine) -> Iterator[Options]:
    (url,) = canonical_pages([options.wait_for or options.urls[0]])
    if _response_status(url, options) is not None:
        raise WrongUsage(f"{url} responds before --start: another program uses its port. End it, or omit --start.")
    progress.update(0, f"{'starting':<10}  {command}")
    server = _StartedServer(command)
    try:
        _wait(url, options, server)
        yield options
    finally:
        server.end()


def _wait(url: str, options: Options, server: _StartedServer) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        status = _response_status(url, options)
        if server.has_ended(POLL_INTERVAL_S):
            raise ServerRefused(server.append_output("--start: the command ended."))
        if status is not None and status < SERVER_ERROR and status != NOT_FOUND:
            return
        if time.monotonic() > deadline:
            last = "did not respond" if status is None else f"responded with status {status}"
            raise ServerRefused(server.append_output(f"--start: {url} {last} for {START_TIMEOUT_S:g} seconds."))


def _response_status(url: str, options: Options) -> int | None:
    """Request the URL and return the HTTP status.

    None without a response. Raises WrongUsage if the address is refused.
    """
    with Network(network_policy(url, options), time_limit_s=RESPONSE_TIMEOUT_S) as network:
        try:
            return network.fetch(Request(url, max_bytes=1, verify=False)).status
        except (Blocked, InvalidUrl) as refusal:
            raise WrongUsage(f"--wait-for: {allow_option_hint(url, network) or refusal}") from None
        except NetError:
            return None


class _StartedServer:
    """Web server that a shell command starts.

    It runs under a supervisor process. Contains the last lines of its output.
    """

    def __init__(self, command: str) -> None:
        self._lines: deque[bytes] = deque(maxlen=MAX_OUTPUT_LINES)
        self._supervisor = subprocess.Popen(
            [sys.executable, "-P", str(SUPERVISOR), command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Ctrl-C must end the scanner only, which then ends the supervisor.
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._collect_output, daemon=True)
        self._listener.start()

    def _collect_output(self) -> None:
        output = self._supervisor.stdout
        assert output is not None
        for line in iter(lambda: output.readline(MAX_LINE_BYTES), b""):
            self._lines.append(line)

    def has_ended(self, timeout_s: float) -> bool:
        """Wait at most `timeout_s` seconds for the end of the command.

        Returns True if the command has ended.
        """
        try:
            self._supervisor.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        self._listener.join(END_TIMEOUT_S)
        return True

    def append_output(self, sentence: str) -> str:
        """Append the last lines of the command's output to an error message."""
        lines = [line.decode(errors="replace").rstrip() for line in self._lines]
        return "\n".join([sentence, *(f"  {line}" for line in lines)])

    def end(self) -> None:
        """End the command and all its child processes."""
        assert self._supervisor.stdin is not None
        self._supervisor.stdin.close()
        try:
            self._supervisor.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
        self._listener.join(END_TIMEOUT_S)
        assert self._supervisor.stdout is not None
        self._supervisor.stdout.close()
