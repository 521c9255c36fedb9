"""Minimal load balancer and clients for tests of a rolling restart."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import socket
import socketserver
import threading
from collections import Counter
from collections.abc import Callable, Iterator

from tests.operations.stack.processes import wait_until

PROBE_INTERVAL_S = 0.1
TIMEOUT_S = 120


class Switch(socketserver.ThreadingTCPServer):
    """Load balancer that relays each connection to the next ready process.

    It does not retry refused connections.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Relay)
        self.port: int = self.server_address[1]
        self._ready: dict[int, bool] = {}
        self._open_connections: Counter[int] = Counter()
        self._turn = itertools.count()
        self._lock = threading.Lock()

    def add(self, port: int) -> None:
        """Add a process, and wait until it is ready."""
        self._ready[port] = False
        wait_until(lambda: self._ready[port], TIMEOUT_S)

    def remove(self, port: int) -> None:
        """Remove a process, and wait until its connections have ended."""
        with self._lock:
            del self._ready[port]
        wait_until(lambda: self._open_connections[port] == 0, TIMEOUT_S)

    @contextlib.contextmanager
    def next_port(self) -> Iterator[int | None]:
        """Yield the next ready process's port for one connection.

        The port is None if no process is ready.
        """
        with self._lock:
            ready = [port for port, is_ready in self._ready.items() if is_ready]
            port = ready[next(self._turn) % len(ready)] if ready else 0
            self._open_connections[port] += 1
        try:
            yield port or None
        finally:
            with self._lock:
                self._open_connections[port] -= 1

    def probe(self, ends: threading.Event) -> None:
        """Probe the processes repeatedly until `ends` is set.

        A process with status 200 is ready.
        """
        while not ends.wait(PROBE_INTERVAL_S):
            for port in list(self._ready):
                is_ready = status_of(port) == 200
                with self._lock:
                    if port in self._ready:
                        self._ready[port] = is_ready

    @contextlib.contextmanager
    def running(self) -> Iterator[Switch]:
        ends = threading.Event()
        threads = [threading.Thread(target=self.serve_forever), threading.Thread(target=self.probe, args=(ends,))]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            ends.set()
            self.shutdown()
            for thread in threads:
                thread.join(TIMEOUT_S)
            self.server_close()


class _Relay(socketserver.BaseRequestHandler):
    """Relay one connection in both directions until the process closes it.

    If no process is ready, the connection is closed immediately.
    """

    server: Switch

    def handle(self) -> None:
        with self.server.next_port() as port, contextlib.suppress(OSError):
            if port is None:
                return
            with socket.create_connection(("127.0.0.1", port), TIMEOUT_S) as process:
                threading.Thread(target=_copy, args=(self.request, process), daemon=True).start()
                _copy(process, self.request)


def status_of(port: int) -> int | None:
    """Return the `/readyz` status of a process.

    It is None if no process listens.
    """
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)) as connection:
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


class RepeatingClients:
    """Clients that repeat requests until the block ends.

    `responses` counts statuses by the name of the request.
    """

    def __init__(self) -> None:
        self.responses: Counter[tuple[str, int]] = Counter()
        self.failures: list[str] = []
        self.state = ""  # Current step of the restart, for failure messages.
        self._ends = threading.Event()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> RepeatingClients:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join(TIMEOUT_S)

    def add(self, name: str, request: Callable[[], int], pause_s: float) -> None:
        """Add a client that repeats a request with pauses.

        `request` returns the status code.
        """
        thread = threading.Thread(target=self._repeat, args=(name, request, pause_s))
        self._threads.append(thread)
        thread.start()

    def _repeat(self, name: str, request: Callable[[], int], pause_s: float) -> None:
        while not self._ends.wait(pause_s):
            try:
                status = request()
            except Exception as error:  # noqa: BLE001  # the test must report any error, and this thread must continue
                self.failures.append(f"{self.state}: {name}: {error!r}")
                continue
            self.responses[name, status] += 1
            if status >= 500:
                self.failures.append(f"{self.state}: {name}: {status}")

    def count(self, name: str) -> int:
        """Return the number of responses to all requests with this name."""
        return sum(count for (request_name, _), count in list(self.responses.items()) if request_name == name)
