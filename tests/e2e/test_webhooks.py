"""Tests that no webhook delivery is lost.

Workers are killed, Redis is emptied, and PostgreSQL restarts.

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
from webhooks.delivery.claims import MAX_ATTEMPTS_PER_RECEIVER

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("webhooks")]

# Recovery takes a lease of 20 s, the next sweep 15 s, and then a worker starts.
RECOVERY_TIMEOUT_S = 75
# The worker must be busy for several seconds while PostgreSQL restarts.
DELIVERIES = 800


class Deployment:
    """PostgreSQL, Redis and the workers that send webhook deliveries."""

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
        self._run_command("manage.py", "migrate", "--verbosity", "0")
        self._pending = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.pending"],
            cwd=BASE_DIR,
            env=self._env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """End the process that inserts deliveries."""
        self._pending.communicate()
        assert self._pending.returncode == 0

    def insert_deliveries(self, count: int, *urls: str) -> None:
        """Insert `count` due deliveries to each URL."""
        assert self._pending.stdin is not None
        assert self._pending.stdout is not None
        print(count, *urls, file=self._pending.stdin, flush=True)
        assert self._pending.stdout.readline() == "pending\n"

    @contextlib.contextmanager
    def run_processes(self, *names: str) -> Iterator[list[subprocess.Popen[bytes]]]:
        """Run the named processes.

        At the end, those that still run are killed.
        """
        read_log = (self._folder / "log").open("ab")
        chosen = [program for program in programs(self._folder, 0, self._env) if program.name in names]
        processes = [
            subprocess.Popen(program.command, cwd=BASE_DIR, env=self._env, stdout=read_log, stderr=read_log)
            for program in chosen
        ]
        try:
            yield processes
        finally:
            for process in processes:
                process.kill()
                process.wait()
            read_log.close()

    def connect(self) -> psycopg.Connection:
        database = environ.Env.db_url_config(self.stack.env["DATABASE_URL"])
        names = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER", "password": "PASSWORD"}
        return psycopg.connect(**{name: database[setting] for name, setting in names.items() if database[setting]})

    def count_rows(self, sql: str = "SELECT count(*) FROM webhooks_delivery WHERE status = 'delivered'") -> int:
        with self.connect() as connection:
            row = connection.execute(sql).fetchone()
        assert row
        return int(row[0])

    def restart_postgresql(self, number: signal.Signals) -> None:
        """Restart PostgreSQL after SIGINT or SIGQUIT.

        SIGINT is a fast shutdown, and SIGQUIT an immediate one, like a crash.
        """
        os.kill(int((self._folder / "postgres" / "postmaster.pid").read_text().split()[0]), number)
        wait_until(lambda: self.stack.revive() == ["PostgreSQL"], 30)
        wait_until(self._is_postgresql_ready, 30)

    def delete_data(self) -> None:
        """Delete all webhooks, events and deliveries, and empty Redis."""
        with self.connect() as connection:
            connection.execute("TRUNCATE webhooks_webhook, webhooks_event CASCADE")
        self.redis.flushall()

    def read_log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")

    def _is_postgresql_ready(self) -> bool:
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def _run_command(self, *arguments: str) -> None:
        ran = subprocess.run(
            [sys.executable, *arguments], cwd=BASE_DIR, env=self._env, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="module")
def shared_deployment() -> Iterator[Deployment]:
    folder = Path(tempfile.mkdtemp(prefix="wss-e2e-"))
    folder.chmod(0o755)
    try:
        with embedded.stack(folder) as stack, contextlib.closing(Deployment(folder, stack)) as deployment:
            yield deployment
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def deployment(shared_deployment: Deployment) -> Deployment:
    shared_deployment.delete_data()
    return shared_deployment


def count_arrivals(*sites: Site) -> Counter[str]:
    """Count the deliveries of events to the sites, by webhook-id."""
    return Counter(request.header("webhook-id") or "" for site in sites for request in site.requests)


def test_unfinished_delivery_is_repeated(deployment: Deployment) -> None:
    with Site({"/hook": Answer("ok")}) as site:
        with deployment.run_processes("webhooks") as (worker,), deployment.connect() as blocker:
            # The lock blocks an insert, so the worker waits right before its commit.
            blocker.execute("LOCK TABLE webhooks_attempt IN SHARE MODE")
            deployment.insert_deliveries(1, f"{site.url}/hook")
            wait_until(lambda: len(site.requests) == 1, 30)
            waiting = (
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO%'"
            )
            wait_until(lambda: deployment.count_rows(waiting) == 1, 10)
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()
        assert deployment.count_rows() == 0
        assert deployment.count_rows("SELECT count(*) FROM webhooks_attempt") == 0
        with deployment.run_processes("webhooks", "scheduler"):
            wait_until(lambda: deployment.count_rows() == 1, RECOVERY_TIMEOUT_S, poll_s=0.2)
        first, second = site.requests
    assert first.header("webhook-id") == second.header("webhook-id")
    assert first.body == second.body
    assert deployment.count_rows("SELECT count(*) FROM webhooks_attempt") == 1


def test_stopping_worker_finishes_its_deliveries(deployment: Deployment) -> None:
    with Site({"/hook": Answer("ok", delay_s=2)}) as site:
        with deployment.run_processes("webhooks") as (worker,):
            deployment.insert_deliveries(20, f"{site.url}/hook")
            wait_until(lambda: len(site.requests) == MAX_ATTEMPTS_PER_RECEIVER, 30)
            worker.terminate()
            assert worker.wait(15) == 0
        # The database has all deliveries that had begun, and no others.
        assert deployment.count_rows() == len(site.requests) == MAX_ATTEMPTS_PER_RECEIVER


def test_webhooks_survive_the_loss_of_redis_data(deployment: Deployment) -> None:
    with Site({"/hook": Answer("ok", delay_s=0.02)}) as first, Site({"/hook": Answer("ok")}) as second:
        deployment.insert_deliveries(150, f"{first.url}/hook", f"{second.url}/hook")
        deployment.redis.flushall()  # No worker has read the wake-up message yet.
        with deployment.run_processes("webhooks", "scheduler"):
            wait_until(lambda: deployment.count_rows() > 50, RECOVERY_TIMEOUT_S)
            deployment.redis.flushall()  # The worker is sending deliveries now.
            deployment.insert_deliveries(50, f"{second.url}/hook")
            deployment.redis.flushall()
            wait_until(lambda: deployment.count_rows() == 350, RECOVERY_TIMEOUT_S, poll_s=0.2)
        arrived = count_arrivals(first, second)
    assert len(arrived) == 350
    assert set(arrived.values()) == {1}


def test_webhooks_survive_a_postgresql_restart(deployment: Deployment) -> None:
    sites = [Site({"/hook": Answer("ok", delay_s=0.05)}) for _ in range(4)]

    def has_delivered_more_than(number: int) -> bool:
        return deployment.count_rows() > number

    with contextlib.ExitStack() as stack:
        for site in sites:
            stack.enter_context(site)
        deployment.insert_deliveries(DELIVERIES // len(sites), *(f"{site.url}/hook" for site in sites))
        with deployment.run_processes("webhooks", "scheduler"):
            for number, deliveries_before in (
                (signal.SIGINT, DELIVERIES // 20),
                (signal.SIGQUIT, DELIVERIES * 3 // 10),
            ):
                wait_until(partial(has_delivered_more_than, deliveries_before), RECOVERY_TIMEOUT_S)
                deployment.restart_postgresql(number)
                assert deployment.count_rows() < DELIVERIES, "it was not under load"
            wait_until(lambda: deployment.count_rows() == DELIVERIES, RECOVERY_TIMEOUT_S, poll_s=0.2)
        arrived = count_arrivals(*sites)
    assert len(arrived) == DELIVERIES
    # The worker kept results in memory during the outage, and wrote them later.
    assert sum(arrived.values()) - DELIVERIES < DELIVERIES // 10
    assert "PostgreSQL does not answer" in deployment.read_log()
