"""Embedded PostgreSQL and Redis.

Python wheels contain the servers, which run as child processes.

This module does not import Django. `stack()` is the entry point. Only one process at a time may use a data folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from operations.stack.postgres import Postgres, socket_parent
from operations.stack.processes import EmbeddedError, Server, wait_all
from operations.stack.redis import Redis

__all__ = ["AlreadyRunning", "EmbeddedError", "Lock", "Stack", "locked", "servers", "stack"]

LOCK_NAME = "embedded.lock"
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 4.0
POLL_S = 0.01
SOCKET_FOLDER_PREFIX = "wss-"


class AlreadyRunning(EmbeddedError):
    """Raised when another process already runs servers on this data folder."""


class Stack:
    """Running servers. `env` maps environment variables to their URLs."""

    def __init__(self, servers: Sequence[Server]) -> None:
        self.env = {server.variable: server.url for server in servers}
        self._servers = servers

    def revive(self) -> list[str]:
        """Restart all servers that have died, and return their names.

        Does not wait until they are ready.
        """
        dead = [server for server in self._servers if server.has_died()]
        for server in dead:
            server.start()
        return [server.name for server in dead]


@contextlib.contextmanager
def stack(data_dir: Path, *, database: bool = True, redis: bool = True, durable: bool = True) -> Iterator[Stack]:
    """Run the requested servers on `data_dir` (created if missing) until the block ends.

    Yields when the servers answer. `env` has `DATABASE_URL` and `REDIS_URL`. With `durable=False`, the database is
    faster but may lose data if the machine crashes. Raises EmbeddedError or AlreadyRunning. Must be called from the
    main thread: the servers stop when their starting thread ends.
    """
    with locked(data_dir) as lock, servers(lock, database, redis, durable) as running:
        yield running


class Lock:
    """A data folder's lock.

    The lock file contains the holder's process ID and socket folder, one per line, and is emptied at an orderly end.
    `after_kill` is True if the previous holder was killed: then its child processes may still be stopping.
    """

    def __init__(self, data_dir: Path, file: TextIO, *, after_kill: bool) -> None:
        self.data_dir = data_dir
        self.after_kill = after_kill
        self._file = file

    def write_line(self, line: object) -> None:
        self._file.write(f"{line}\n")
        self._file.flush()


@contextlib.contextmanager
def locked(data_dir: Path) -> Iterator[Lock]:
    """Lock `data_dir` (created if missing) for this process.

    Raises EmbeddedError or AlreadyRunning.
    """
    data_dir = data_dir.absolute()
    try:
        # The permissions of an existing folder do not change, because they are the user's choice.
        if not data_dir.is_dir():
            data_dir.mkdir(parents=True, exist_ok=True)
            data_dir.chmod(0o700 if os.geteuid() else 0o711)  # For root, the database server runs as another user.
        file = _open_private(data_dir / LOCK_NAME)
    except OSError as error:
        raise EmbeddedError(f"DATA_DIR {data_dir} is not writable: {error.strerror}.") from error
    with file:
        file.seek(0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = file.readline().strip() or "unknown"
            raise AlreadyRunning(
                f"The service already runs on {data_dir} (process {holder}). Stop it first, or choose another DATA_DIR."
            ) from error
        old_lines = file.read().splitlines()
        for folder in old_lines[1:]:
            if Path(folder).name.startswith(SOCKET_FOLDER_PREFIX):
                shutil.rmtree(folder, ignore_errors=True)
        file.truncate(0)
        lock = Lock(data_dir, file, after_kill=bool(old_lines))
        lock.write_line(os.getpid())
        try:
            yield lock
        finally:
            file.truncate(0)


def _open_private(path: Path) -> TextIO:
    """Open the lock file with permissions for its owner only, because whoever can open the file can lock it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "a+", encoding="utf-8")


@contextlib.contextmanager
def servers(lock: Lock, database: bool = True, redis: bool = True, durable: bool = True) -> Iterator[Stack]:
    """Run the servers like `stack`.

    The caller has already locked the data folder.
    """
    with contextlib.ExitStack() as cleanup:
        sockets = cleanup.enter_context(_socket_folder(lock)) if database else None
        started: list[Server] = []
        cleanup.callback(_stop, started)
        if redis:
            started.append(Redis(lock.data_dir))
            started[-1].start()  # Redis starts while PostgreSQL's cluster is initialised.
        if sockets is not None:
            started.append(Postgres(lock.data_dir, sockets, durable=durable))
            started[-1].start()
        _await_ready(started)
        yield Stack(started)


@contextlib.contextmanager
def _socket_folder(lock: Lock) -> Iterator[Path]:
    """Create a private folder for sockets.

    Its path is written to the lock file, for cleanup by the next start.
    """
    folder = Path(tempfile.mkdtemp(prefix=SOCKET_FOLDER_PREFIX, dir=socket_parent()))
    try:
        lock.write_line(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _await_ready(servers: Sequence[Server]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    for server in servers:
        while not server.is_ready():
            if server.has_died() and not server.retry():
                raise EmbeddedError(f"{server.name} did not start: {server.last_error()}")
            if time.monotonic() > deadline:
                raise EmbeddedError(
                    f"{server.name} did not answer within {START_TIMEOUT_S:.0f} s: {server.last_error()}"
                )
            time.sleep(POLL_S)


def _stop(servers: Sequence[Server]) -> None:
    """Stop all servers in parallel.

    Send the orderly stop signal first, then the immediate one, then SIGKILL.
    """
    running = [server for server in servers if server.process is not None and not server.has_died()]
    for step, timeout_s in enumerate((STOP_TIMEOUT_S, 0.5)):
        for server in running:
            server.send(server.stop_signals[step])
        if wait_all((server.process for server in running if server.process is not None), timeout_s):
            return
    for server in running:
        server.send(signal.SIGKILL)
    wait_all((server.process for server in running if server.process is not None), 1.0)
