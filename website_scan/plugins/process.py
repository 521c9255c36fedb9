"""Start, use and kill the host process of a plug-in (`website_scan.plugins.host`)."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Variables that programs need. All others may have secrets.
VARIABLES = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
MAX_PRINTED_BYTES = 256 * 1024
READ_BYTES = 65_536
STOP_TIMEOUT_S = 5.0


class HostFailed(Exception):
    """Raised if the host did not answer. The host has been killed. The message is a clause."""


class HostProcess:
    """Running host. Used by one thread, except for `kill`.

    The kernel kills the host when the thread that started it ends.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            # -B: nothing is written beside the plug-in; -P: the working folder cannot replace modules.
            [sys.executable, "-B", "-P", "-m", "website_scan.plugins.host"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env=_environment(),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin, self._stdout, self._stderr = self._process.stdin, self._process.stdout, self._process.stderr
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        self._received = bytearray()
        self._printed_bytes = 0
        self._lock = threading.Lock()
        self._is_killed = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return not self._is_killed and self._process.poll() is None

    def ask(self, request: Mapping[str, Any], seconds: float, max_bytes: int) -> dict[str, Any]:
        """Send a request, and return the answer.

        Raises HostFailed if the host does not answer in time with a JSON object of at most `max_bytes`.
        """
        self._printed_bytes = 0
        ends = time.monotonic() + seconds
        try:
            self._send(json.dumps(request).encode() + b"\n", ends)
            return _parse(self._receive(ends, max_bytes))
        except HostFailed:
            self.kill()
            raise
        except OSError:
            self.kill()
            raise HostFailed("its process ended") from None

    def _send(self, data: bytes, ends: float) -> None:
        view = memoryview(data)
        self._selector.register(self._stdin, selectors.EVENT_WRITE)
        try:
            while view:
                if self._stdin in self._wait(ends):
                    view = view[os.write(self._stdin.fileno(), view[:READ_BYTES]) :]
        finally:
            self._selector.unregister(self._stdin)

    def _receive(self, ends: float, max_bytes: int) -> bytes:
        while b"\n" not in self._received[-READ_BYTES:]:
            if self._stdout not in self._wait(ends):
                continue
            part = os.read(self._stdout.fileno(), READ_BYTES)
            if not part:
                raise HostFailed("its process ended")
            self._received += part
            if len(self._received) > max_bytes:
                raise HostFailed(f"its process sent more than {max_bytes:,} bytes")
        line, _, rest = bytes(self._received).partition(b"\n")
        self._received[:] = rest
        return line

    def _wait(self, ends: float) -> set[object]:
        """Return the pipes that are ready, and discard what the plug-in prints. Raises HostFailed."""
        remaining_s = ends - time.monotonic()
        events = self._selector.select(remaining_s) if remaining_s > 0 else []
        ready: set[object] = {key.fileobj for key, _ in events}
        if not ready:
            raise HostFailed("it did not answer in time")
        if self._stderr in ready:
            printed = len(os.read(self._stderr.fileno(), READ_BYTES))
            self._printed_bytes += printed
            if not printed:
                self._selector.unregister(self._stderr)
            if self._printed_bytes > MAX_PRINTED_BYTES:
                raise HostFailed(f"it printed more than {MAX_PRINTED_BYTES:,} bytes")
        return ready

    def kill(self) -> None:
        """Kill the host and its children. The kernel kills the children of a dead host, too, except on macOS."""
        with self._lock:
            if self._is_killed:
                return
            self._is_killed = True
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_TIMEOUT_S)
        self._selector.close()
        for pipe in (self._stdin, self._stdout, self._stderr):
            with contextlib.suppress(OSError):
                pipe.close()


def _parse(line: bytes) -> dict[str, Any]:
    """Return the JSON object in a line. Raises HostFailed."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise HostFailed("its process sent no JSON object")
    return answer


def _environment() -> dict[str, str]:
    """Return the host's environment: a few variables, and the path of this process for imports."""
    variables = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    return variables | {"PYTHONPATH": os.pathsep.join(str(Path(folder).resolve()) for folder in sys.path)}
