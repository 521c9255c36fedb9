"""Previews: a server on this machine during the scan, for a folder (`--serve`) or by a command (`--start`)."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from website_scan.command.access import hint_to_allow, policy_of
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
PATIENCE_S = 120.0
POLL_S = 0.2
RESPONSE_S = 10.0
END_S = 30.0
# Limits for the server's output in error messages: its last lines, and bytes of a line.
MAX_LINES = 20
MAX_LINE_BYTES = 1000
NOT_FOUND = 404
SERVER_ERROR = 500


def preview(options: Options, progress: ProgressLine) -> AbstractContextManager[Options]:
    """Return a context with the options of the scan, in which a server for the options' URLs runs.

    Raises WrongUsage, or ServerRefused if the server does not start.
    """
    if options.start:
        return _started(options, options.start, progress)
    if options.serve and any(url.startswith("/") for url in options.urls):
        return _served(options, options.serve)
    return nullcontext(options)


@contextmanager
def _served(options: Options, folder: Path) -> Iterator[Options]:
    with serve_folder(folder) as origin:
        urls = canonical_pages(f"{origin}{url}" if url.startswith("/") else url for url in options.urls)
        yield replace(options, urls=urls, typed=(*options.typed, origin), served_at=origin)


@contextmanager
def _started(options: Options, command: str, progress: ProgressLine) -> Iterator[Options]:
    (url,) = canonical_pages([options.wait_for or options.urls[0]])
    if _status(url, options) is not None:
        raise WrongUsage(f"{url} responds before --start: another program uses its port. End it, or omit --start.")
    progress.update(0, f"{'starting':<10}  {command}")
    server = _Server(command)
    try:
        _wait(url, options, server)
        yield options
    finally:
        server.end()


def _wait(url: str, options: Options, server: _Server) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        status = _status(url, options)
        if server.has_ended(POLL_S):
            raise ServerRefused(server.with_output("--start: the command ended."))
        if status is not None and status < SERVER_ERROR and status != NOT_FOUND:
            return
        if time.monotonic() > deadline:
            last = "did not respond" if status is None else f"responded with status {status}"
            raise ServerRefused(server.with_output(f"--start: {url} {last} for {PATIENCE_S:g} seconds."))


def _status(url: str, options: Options) -> int | None:
    """Return the status of the URL's response, None without a response. Raises WrongUsage for a refused address."""
    with Network(policy_of(url, options), time_limit_s=RESPONSE_S) as network:
        try:
            return network.fetch(Request(url, max_bytes=1, verify=False)).status
        except (Blocked, InvalidUrl) as refusal:
            raise WrongUsage(f"--wait-for: {hint_to_allow(url, network) or refusal}") from None
        except NetError:
            return None


class _Server:
    """Server that a shell command has started under a supervisor, and the last lines of its output."""

    def __init__(self, command: str) -> None:
        self._lines: deque[bytes] = deque(maxlen=MAX_LINES)
        self._supervisor = subprocess.Popen(
            [sys.executable, "-P", str(SUPERVISOR), command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C ends the scanner, which ends the supervisor
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        output = self._supervisor.stdout
        assert output is not None
        for line in iter(lambda: output.readline(MAX_LINE_BYTES), b""):
            self._lines.append(line)

    def has_ended(self, timeout_s: float) -> bool:
        """Wait a while for the end of the command. Returns True if it has ended."""
        try:
            self._supervisor.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        self._listener.join(END_S)
        return True

    def with_output(self, sentence: str) -> str:
        """Return the sentence with the last lines of the command's output."""
        lines = [line.decode(errors="replace").rstrip() for line in self._lines]
        return "\n".join([sentence, *(f"  {line}" for line in lines)])

    def end(self) -> None:
        """End the command and all processes that it has started."""
        assert self._supervisor.stdin is not None
        self._supervisor.stdin.close()
        try:
            self._supervisor.wait(END_S)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
        self._listener.join(END_S)
        assert self._supervisor.stdout is not None
        self._supervisor.stdout.close()
