"""Recovery of pending deliveries: a killed worker, an emptied Redis or a restarted PostgreSQL loses none.

Runs the real worker and scheduler, as `manage.py up` does, on separate servers.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import environ
import psycopg
import pytest
from redis import Redis

from operations.stack import embedded
from operations.stack.management.commands.up import programs
from tests.e2e.service import BASE_DIR
from tests.operations.stack.processes import wait_until
from tests.targets.server import Answer, Site
from webhooks.delivery.claims import PER_RECEIVER

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("webhooks")]

# Covers a lease of 20 s, a sweep every 15 s and the start of a worker, on a busy machine.
RECOVERY_S = 75
# Deliveries of the test with restarts: enough for seconds of work.
ALL = 800


class Deployment:
    """Deployment of PostgreSQL, Redis, and the processes that send deliveries."""

    def __init__(self, folder: Path, stack: embedded.Stack) -> None:
        self.stack = stack
        self._folder = folder
        self._env = {
            name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")
        } | stack.env
        self._env |= {
            "DATA_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "SCAN_ALLOWED_NETWORKS": "127.0.0.0/8",
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges",
        }
        self.redis = Redis.from_url(stack.env["REDIS_URL"])
        self._run("manage.py", "migrate", "--verbosity", "0")
        self._pending = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.pending"],
            cwd=BASE_DIR,
            env=self._env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """End the process that writes deliveries."""
        self._pending.communicate()
        assert self._pending.returncode == 0

    def pend(self, count: int, *urls: str) -> None:
        """Write `count` deliveries to each URL, due now."""
        assert self._pending.stdin is not None
        assert self._pending.stdout is not None
        print(count, *urls, file=self._pending.stdin, flush=True)
        assert self._pending.stdout.readline() == "pending\n"

    @contextlib.contextmanager
    def running(self, *names: str) -> Iterator[list[subprocess.Popen[bytes]]]:
        """Run the named processes; kill them at the end, if they still run."""
        log = (self._folder / "log").open("ab")
        chosen = [each for each in programs(self._folder, 0, self._env) if each.name in names]
        processes = [
            subprocess.Popen(each.command, cwd=BASE_DIR, env=self._env, stdout=log, stderr=log) for each in chosen
        ]
        try:
            yield processes
        finally:
            for each in processes:
                each.kill()
                each.wait()
            log.close()

    def connect(self) -> psycopg.Connection:
        database = environ.Env.db_url_config(self.stack.env["DATABASE_URL"])
        names = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER", "password": "PASSWORD"}
        return psycopg.connect(**{name: database[setting] for name, setting in names.items() if database[setting]})

    def count(self, sql: str = "SELECT count(*) FROM webhooks_delivery WHERE status = 'delivered'") -> int:
        with self.connect() as connection:
            row = connection.execute(sql).fetchone()
        assert row
        return int(row[0])

    def restart_postgresql(self, number: signal.Signals) -> None:
        """Restart PostgreSQL after SIGINT (a fast shutdown) or SIGQUIT (an immediate one, like a crash)."""
        os.kill(int((self._folder / "postgres" / "postmaster.pid").read_text().split()[0]), number)
        wait_until(lambda: self.stack.revive() == ["PostgreSQL"], 30)
        wait_until(self._answers, 30)

    def forget(self) -> None:
        """Delete all webhooks, events and deliveries, and empty Redis."""
        with self.connect() as connection:
            connection.execute("TRUNCATE webhooks_webhook, webhooks_event CASCADE")
        self.redis.flushall()

    def log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")

    def _answers(self) -> bool:
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, *arguments: str) -> None:
        ran = subprocess.run(
            [sys.executable, *arguments], cwd=BASE_DIR, env=self._env, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="module")
def started() -> Iterator[Deployment]:
    folder = Path(tempfile.mkdtemp(prefix="wss-e2e-"))
    folder.chmod(0o755)
    try:
        with embedded.stack(folder) as stack, contextlib.closing(Deployment(folder, stack)) as deployment:
            yield deployment
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def deployment(started: Deployment) -> Deployment:
    started.forget()
    return started


def arrivals(*sites: Site) -> Counter[str]:
    """Count the arrivals of every event."""
    return Counter(request.header("webhook-id") or "" for site in sites for request in site.requests)


def test_worker_killed_before_the_commit_of_a_delivery_delivers_again(deployment: Deployment) -> None:
    with Site({"/hook": Answer("ok")}) as site:
        with deployment.running("webhooks") as (worker,), deployment.connect() as blocker:
            # The lock blocks the insert of an attempt, so the worker waits right before its commit.
            blocker.execute("LOCK TABLE webhooks_attempt IN SHARE MODE")
            deployment.pend(1, f"{site.url}/hook")
            wait_until(lambda: len(site.requests) == 1, 30)
            waiting = (
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO%'"
            )
            wait_until(lambda: deployment.count(waiting) == 1, 10)
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()
        assert deployment.count() == 0
        assert deployment.count("SELECT count(*) FROM webhooks_attempt") == 0
        with deployment.running("webhooks", "scheduler"):
            wait_until(lambda: deployment.count() == 1, RECOVERY_S, poll_s=0.2)
        first, second = site.requests
    assert first.header("webhook-id") == second.header("webhook-id")
    assert first.body == second.body
    assert deployment.count("SELECT count(*) FROM webhooks_attempt") == 1


def test_stopping_worker_finishes_its_deliveries(deployment: Deployment) -> None:
    with Site({"/hook": Answer("ok", delay_s=2)}) as site:
        with deployment.running("webhooks") as (worker,):
            deployment.pend(20, f"{site.url}/hook")
            wait_until(lambda: len(site.requests) == PER_RECEIVER, 30)
            worker.terminate()
            assert worker.wait(15) == 0
        # All deliveries that had begun were recorded, and no others.
        assert deployment.count() == len(site.requests) == PER_RECEIVER


def test_webhooks_survive_the_loss_of_all_redis_data(deployment: Deployment) -> None:
    with Site({"/hook": Answer("ok", delay_s=0.02)}) as first, Site({"/hook": Answer("ok")}) as second:
        deployment.pend(150, f"{first.url}/hook", f"{second.url}/hook")
        deployment.redis.flushall()  # before any worker has read the wake-up message
        with deployment.running("webhooks", "scheduler"):
            wait_until(lambda: deployment.count() > 50, RECOVERY_S)
            deployment.redis.flushall()  # while they are sent
            deployment.pend(50, f"{second.url}/hook")
            deployment.redis.flushall()
            wait_until(lambda: deployment.count() == 350, RECOVERY_S, poll_s=0.2)
        arrived = arrivals(first, second)
    assert len(arrived) == 350
    assert set(arrived.values()) == {1}


def test_webhooks_survive_a_restart_of_postgresql(deployment: Deployment) -> None:
    sites = [Site({"/hook": Answer("ok", delay_s=0.05)}) for _ in range(4)]

    def has_sent_more(number: int) -> bool:
        return deployment.count() > number

    with contextlib.ExitStack() as stack:
        for site in sites:
            stack.enter_context(site)
        deployment.pend(ALL // len(sites), *(f"{site.url}/hook" for site in sites))
        with deployment.running("webhooks", "scheduler"):
            for number, so_far in ((signal.SIGINT, ALL // 20), (signal.SIGQUIT, ALL * 3 // 10)):
                wait_until(partial(has_sent_more, so_far), RECOVERY_S)
                deployment.restart_postgresql(number)
                assert deployment.count() < ALL, "it was not under load"
            wait_until(lambda: deployment.count() == ALL, RECOVERY_S, poll_s=0.2)
        arrived = arrivals(*sites)
    assert len(arrived) == ALL
    # The worker kept the results of finished attempts during the outage, and wrote them afterwards.
    assert sum(arrived.values()) - ALL < ALL // 10
    assert "PostgreSQL does not answer" in deployment.log()
