"""`manage.py up`: run the whole service on one machine, without installation or configuration.

The command starts the database servers, reads the settings, and imports the whole service once. `prepare`, web, workers
and scheduler are forks of this process: they start at once and share its memory. The process itself sends no query to
the database.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import shlex
import signal
import socket
import sys
import time
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import django
import psycopg
import redis
from celery import current_app
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from msgspec.structs import replace
from redis.backoff import NoBackoff
from redis.retry import Retry

from infrastructure.loading import without_garbage_collection
from operations.stack import embedded, running
from operations.stack.demo import DemoLogin, demo_path, login_to_show, write_private
from operations.stack.forks import fork
from operations.stack.processes import ENDING, deferred_signals
from operations.stack.running import BASE_DIR, DATA_DIR
from operations.stack.supervisor import Program, Supervisor
from website_scan import catalogue, environment
from website_scan.findings import ScanType
from website_scan.net.http.connections import Trust, tls_context
from website_scan.written_urls import split_url

HOST = "127.0.0.1"
CONNECT_TIMEOUT_S = 5
PROBE_TIMEOUT_S = 1.0
REVIVE_EVERY_S = 1.0
WEB_FIRST_S = 10.0  # Maximum time for which the other programs wait until the web process answers.
# Time that requests in progress have to end when the service stops, before gunicorn kills its processes and exits. That
# takes seconds on a busy machine, so this time is shorter than the supervisor's STOP_TIMEOUT_S.
WEB_GRACE_S = 4
ORPHAN_TIMEOUT_S = 8.0  # Time to wait for the port of a killed service. Longer than WEB_GRACE_S.
NO_KEY = "<API key>"
REFUSED = 2  # Exit status if the user has to change something, such as a variable.
# Modules that the programs import when they start, in addition to those of the Django apps.
PROGRAM_MODULES = (
    "config.gunicorn",
    "gunicorn.app.wsgiapp",
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.prefork",
    "celery.concurrency.asynpool",
    "celery.concurrency.thread",
)
# Without this variable, macOS aborts forked processes if a library uses Objective-C. macOS reads the variable when a
# program starts.
FORKS_ON_MACOS = "OBJC_DISABLE_INITIALIZE_FORK_SAFETY"
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 -- gunicorn's heartbeat files here have no names.


class StartRefused(Exception):
    """Raised when the service cannot be started. The message is printed on the terminal."""


class Command(BaseCommand):
    help = "Runs the whole service on this machine until Ctrl-C: databases, web, worker, scheduler."
    requires_system_checks = []  # `prepare` runs the system checks, after the servers have started.

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--demo",
            action="store_true",
            help="make the demo organization, whose owner is a superuser, in the database of DATABASE_URL too",
        )

    def handle(self, *args: Any, demo: bool, **options: Any) -> None:
        if sys.platform == "darwin" and FORKS_ON_MACOS not in os.environ:
            os.environ[FORKS_ON_MACOS] = "YES"
            os.execv(sys.executable, sys.orig_argv)  # noqa: S606 -- Runs this command again, with the variable.
        try:
            with _interruptible():
                self._run(with_demo=demo)
        except (StartRefused, embedded.EmbeddedError) as error:
            self.stderr.write(str(error))
            sys.exit(REFUSED)
        except KeyboardInterrupt:
            pass
        self.stdout.write("Stopped.")

    def _run(self, *, with_demo: bool) -> None:
        port = _port()
        data_dir = DATA_DIR
        runs_embedded_database = not environment.is_set("DATABASE_URL")
        runs_embedded_redis = not environment.is_set("REDIS_URL")
        with embedded.locked(data_dir) as lock:
            _require_free(port, patience_s=ORPHAN_TIMEOUT_S if lock.after_kill else 0)
            with embedded.servers(lock, database=runs_embedded_database, redis=runs_embedded_redis) as stack:
                env = _environment(data_dir, port, stack)
                os.environ.update(env)
                _require_usable_environment()
                if not runs_embedded_database:
                    _require_database()
                if not runs_embedded_redis:
                    _require_redis()
                demo = demo_path(data_dir, env, embedded=runs_embedded_database, with_demo=with_demo)
                if not (data_dir / "static.stamp").exists():
                    self.stdout.write("First start: preparing the database and static files …")
                    self.stdout.flush()
                _import_programs()
                was_known = demo is not None and demo.exists()
                _prepare(env, demo)
                login = login_to_show(demo, was_known=was_known, on_terminal=self.stdout.isatty())
                variables = {
                    name: value for name in environment.defaults if (value := environment.read_variable_in(env, name))
                }
                with running.published(data_dir, variables):
                    self._supervise(data_dir, port, env, stack, login, demo)

    def _supervise(
        self,
        data_dir: Path,
        port: int,
        env: dict[str, str],
        stack: embedded.Stack,
        login: DemoLogin | None,
        login_file: Path | None,
    ) -> None:
        is_web_ready = False
        next_revival = 0.0
        started_at = time.monotonic()

        def must_wait_for_web() -> bool:
            return not is_web_ready and time.monotonic() < started_at + WEB_FIRST_S

        def on_tick() -> None:
            nonlocal is_web_ready, next_revival
            if not is_web_ready and _is_healthy(port):
                is_web_ready = True
                self.stdout.write(welcome(settings.BASE_URL, data_dir, login, login_file))
                self.stdout.flush()
            if time.monotonic() >= next_revival:
                next_revival = time.monotonic() + REVIVE_EVERY_S
                for name in stack.revive():
                    supervisor.print_message(f"{name} had died; it starts again")

        # The other programs start after the web process, so that the first page is available sooner.
        web, *others = programs(data_dir, port, env)
        waiting = [replace(program, waits=must_wait_for_web) for program in others]
        supervisor = Supervisor([web, *waiting], sys.stdout, on_tick=on_tick)
        supervisor.run()


def welcome(base_url: str, data_dir: Path, login: DemoLogin | None, login_file: Path | None) -> str:
    """Return the welcome message. It contains the service's address, the login, and a first request to copy.

    `login_file` is the file with the login.
    """
    # These modules read the settings when they are imported, so the import is not at the top.
    from infrastructure.web.mail import is_mail_logged
    from scans.browser import browser_program

    browser = browser_program() or "none, so scans have fewer checks; `make browser` installs one"
    who = "with the login below" if login else "for whom `make superuser` makes a login"
    lines = [
        "",
        "Website Scan Service is ready.",
        "",
        f"  Address   {base_url}",
        f"  Admin     {base_url}/admin/ {who}",
    ]
    if is_mail_logged():
        lines.append("  E-mail    is written to this log, links to sign up too; EMAIL_URL names a mail server")
    lines.append(f"  Browser   {browser}")
    key = login.api_key if login else None
    if login:
        location = f"in {login_file}"  # The output may be a log, so it names the file instead of the secrets.
        lines.append(f"  Login     {login.email}  password: {login.password or location}")
        lines.append(f"  API key   {key or location}")
    body = json.dumps({"url": "https://example.com/", "type": "security"})
    request = [f"curl -X POST {base_url}/v1/scan"]
    request.append(f"-H {shlex.quote(f'Authorization: Bearer {key or NO_KEY}')}")
    request.append("-H 'Content-Type: application/json'")
    request.append(f"-d {shlex.quote(body)}")
    lines += ["", "  Your first scan:", "", "  " + " ".join(request), ""]
    lines += [f"Data is stored in {data_dir}. Ctrl-C stops the service.", ""]
    return "\n".join(lines)


def programs(data_dir: Path, port: int, env: dict[str, str]) -> list[Program]:
    """Return the web, worker and scheduler programs. Their commands run separate processes, as in production."""
    cpus = os.cpu_count() or 1
    web = [sys.executable, "-m", "gunicorn", "config.wsgi:application", "--bind", f"{HOST}:{port}"]
    # One process runs for each core. More processes need memory but answer no more requests (`make bench ARGS=api`).
    web += ["--worker-class", "config.gunicorn.Worker", "--limit-request-line", "8190"]
    web += ["--workers", str(max(2, cpus)), "--threads", "8", "--keep-alive", "30", "--reuse-port"]
    web += ["--graceful-timeout", str(WEB_GRACE_S), "--log-level", "warning", "--no-control-socket"]
    web += ["--preload"]  # Import the application once for all processes.
    if os.access(SHARED_MEMORY, os.W_OK):
        web += ["--worker-tmp-dir", str(SHARED_MEMORY)]
    celery = [sys.executable, "-m", "celery", "--quiet", "--no-color", "-A", "config"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING"]
    worker = [*celery, "worker", "--queues", "scans,maintenance", "--autoscale", f"{max(6, 2 * cpus)},1"]
    # Each process runs a browser, which uses one core. More processes would only distort performance measurements.
    browser = [*celery, "worker", "--queues", "browser", "--autoscale", f"{max(2, cpus)},0", "--hostname", "browser@%h"]
    # One thread runs the delivery task, which starts many threads of its own. The other runs short tasks that wake it.
    webhooks = [*celery, "worker", "--queues", "webhooks", "--hostname", "webhooks@%h"]
    webhooks += ["--pool", "threads", "--concurrency", "2"]
    scheduler = [*celery, "beat", "--schedule", str(data_dir / "celerybeat-schedule")]
    scheduler += ["--pidfile", "", "--loglevel", "WARNING"]
    workers = {"worker": worker + quiet, "browser": browser + quiet, "webhooks": webhooks + quiet}
    commands = {"web": web, **workers, "scheduler": scheduler}
    return [Program(name, command, env, BASE_DIR) for name, command in commands.items()]


def _port() -> int:
    raw = os.environ.get("PORT", "").strip() or "8000"
    if not raw.isdecimal() or not 0 < int(raw) < 65536:
        raise StartRefused(f"PORT can't be used: {raw!r} is not between 1 and 65535. (environment.PORT)")
    return int(raw)


def _require_usable_environment() -> None:
    """Read the settings, and raise StartRefused if an environment variable is invalid."""
    _ = settings.BASE_URL  # The first access reads all settings.
    if environment.problems:
        raise StartRefused("\n".join(str(problem) for problem in environment.problems))


def _require_free(port: int, patience_s: float) -> None:
    """Raise StartRefused if the port is in use. Waits up to `patience_s` for a killed service's web process."""
    deadline = time.monotonic() + patience_s
    while (error := _bind_error(port)) and time.monotonic() < deadline:
        time.sleep(0.1)
    if error:
        raise StartRefused(
            f"Port {port} can't be used: {error.strerror}. Stop what uses it, or set PORT to another number."
        )


def _bind_error(port: int) -> OSError | None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            return error
    return None


def _require_database() -> None:
    database = settings.DATABASES["default"]
    parameters = {name: value for name, value in database.get("OPTIONS", {}).items() if name != "pool"}
    parameters |= {"dbname": database["NAME"], "connect_timeout": CONNECT_TIMEOUT_S}
    for option, name in (("HOST", "host"), ("PORT", "port"), ("USER", "user")):
        if database[option]:
            parameters[name] = database[option]
    if database["PASSWORD"]:
        parameters["password"] = database["PASSWORD"]
    try:
        psycopg.connect(**parameters).close()
    except psycopg.Error as error:
        raise StartRefused(f"DATABASE_URL can't be used: {_one_line(error)}") from error


def _require_redis() -> None:
    try:
        client = redis.Redis.from_url(
            settings.REDIS_URL,
            socket_connect_timeout=CONNECT_TIMEOUT_S,
            socket_timeout=CONNECT_TIMEOUT_S,
            retry=Retry(NoBackoff(), 0),
        )
        with contextlib.closing(client):
            client.ping()
    except (redis.RedisError, ValueError) as error:
        raise StartRefused(f"REDIS_URL can't be used: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _environment(data_dir: Path, port: int, stack: embedded.Stack) -> dict[str, str]:
    env = dict(os.environ) | stack.env
    env |= {"DATA_DIR": str(data_dir), "PORT": str(port), "PYTHONUNBUFFERED": "1"}
    env.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # Journeys may act on servers of this machine, which can be scanned only if SCAN_ALLOWED_NETWORKS contains them.
    env.setdefault("SCAN_JOURNEY_NETWORKS", "127.0.0.0/8,::1/128")
    if not environment.is_set("SECRET_KEY"):
        # The key itself is not passed, so that processes that scan pages do not have it in their environment.
        env |= {"SECRET_KEY": "", "SECRET_KEY_FILE": str(_with_secret_key(data_dir / "secret_key"))}
    return env


def _with_secret_key(path: Path) -> Path:
    """Create the file with the secret key if it does not exist. Return its path."""
    try:
        if not path.exists():
            write_private(path, secrets.token_urlsafe(48))
        path.read_bytes()
    except OSError as error:
        raise StartRefused(f"{path} can't be used: {error.strerror}.") from error
    return path


def _import_programs() -> None:
    """Import all programs' modules in this process, before forking them."""
    # Celery always warns root. In a container or on a newcomer's machine, root may be the only user.
    warnings.filterwarnings("ignore", "You're running the worker with superuser privileges")
    # Signals are deferred, because during imports Python ignores exceptions in callbacks such as signal handlers.
    with deferred_signals(ENDING), without_garbage_collection():
        django.setup()
        for name in (settings.ROOT_URLCONF, *PROGRAM_MODULES):
            import_module(name)
        current_app.loader.import_default_modules()  # Celery imports the modules with tasks.
        catalogue.probes()
        for scan_type in ScanType:
            catalogue.checks(scan_type)
        tls_context(settings.SCAN_CA_BUNDLE, Trust.STRICT)  # The forks share the 10 MiB of CA certificates.


def _prepare(env: dict[str, str], demo: Path | None) -> None:
    command = [sys.executable, str(BASE_DIR / "manage.py"), "prepare", *(["--demo", str(demo)] if demo else [])]
    process = fork("prepare", command, env=env, cwd="/")
    try:
        output = process.read().decode("utf-8", "replace").strip()
        process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    if process.returncode != 0:
        raise StartRefused(output or "The database could not be prepared.")
    if output:
        sys.stderr.write(output + "\n")


def _is_healthy(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=PROBE_TIMEOUT_S)
    try:
        connection.request("GET", "/healthz", headers={"Host": split_url(settings.BASE_URL).netloc})
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM and SIGHUP, so that these signals stop the service in order, like Ctrl-C."""

    def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    old_handlers = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in old_handlers.items():
            signal.signal(number, handler)
