"""Tests for the task queue."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from config.celery import app
from infrastructure.logging import Outage
from infrastructure.queue import enqueue
from tests.operations.stack.processes import wait_until
from tests.website_scan.net.tls_servers import self_signed, tls_server


@pytest.mark.parametrize(("task", "queue"), [("scans.tasks.run_scan", "scans"), ("webhooks.tasks.deliver", "webhooks")])
def test_enqueue_sends_message_to_queue_of_task(task: str, queue: str) -> None:
    redis = Redis.from_url(settings.REDIS_URL)
    redis.delete(queue)
    enqueue(task, "row_1")
    (message,) = (json.loads(raw) for raw in redis.lrange(queue, 0, -1))
    assert message["headers"]["task"] == task
    arguments, _, _ = json.loads(base64.b64decode(message["body"]))
    assert arguments == ["row_1"]


def test_enqueue_during_redis_outage_logs_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def down(*_: object, **__: object) -> None:
        raise RedisConnectionError("nobody there")

    monkeypatch.setattr("redis.Redis.execute_command", down)
    monkeypatch.setattr("infrastructure.queue.outage", Outage("Redis"))
    enqueue("scans.tasks.run_scan", "row_1")
    assert "scans.tasks.run_scan(row_1) could not be enqueued" in caplog.text
    enqueue("scans.tasks.run_scan", "row_2")
    assert "row_2" not in caplog.text  # An outage is logged only once.


PROCESSES = pytest.mark.parametrize(
    "command",
    [
        ["-m", "celery", "-A", "config", "worker", "--pool", "solo"],
        ["-m", "celery", "-A", "config", "beat"],
        ["-c", "import config.wsgi"],
    ],
    ids=["worker", "scheduler", "web"],
)


def output_of_failed_start(command: list[str], folder: Path, **environment: str) -> str:
    """Return the output of a process that refuses to start."""
    process = subprocess.run(
        [sys.executable, *command],
        env={name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
        | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        | environment,
        cwd=folder,  # The scheduler writes a file to its working directory.
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert process.returncode != 0
    assert "Traceback" not in process.stderr
    return process.stderr + process.stdout


@PROCESSES
def test_invalid_environment_is_reported(command: list[str], tmp_path: Path) -> None:
    output = output_of_failed_start(command, tmp_path, SCAN_TIME_LIMIT="soon", SECRET_KEY="changeme")
    assert "environment.SCAN_TIME_LIMIT" in output
    assert "SECRET_KEY can't be used: it has fewer than 32 characters." in output


@PROCESSES
def test_missing_SECRET_KEY_is_reported(command: list[str], tmp_path: Path) -> None:
    assert "SECRET_KEY is not set." in output_of_failed_start(command, tmp_path, SECRET_KEY="")


def test_worker_touches_heartbeat_file(tmp_path: Path) -> None:
    file = tmp_path / "heartbeat"
    command = ["-m", "celery", "-A", "config", "worker", "--queues", f"nobody-{os.getpid()}", "--concurrency", "1"]
    worker = subprocess.Popen(
        [sys.executable, *command, "--without-gossip", "--without-mingle", "--loglevel", "WARNING"],
        env=os.environ | {"WORKER_HEARTBEAT_FILE": str(file), "REDIS_URL": settings.REDIS_URL},
        cwd=Path(__file__).resolve().parents[2],
    )
    try:
        wait_until(file.exists, 60)
        os.utime(file, (0, 0))
        wait_until(lambda: file.stat().st_mtime > 0, 60)
    finally:
        worker.terminate()
        worker.wait(60)


CONNECT = """
from config.celery import app
try:
    app.connection_for_write().ensure_connection(max_retries=1, timeout=5)
except Exception as error:
    raise SystemExit(f"{error!r} {error.__cause__!r}")
"""


def test_untrusted_redis_certificate_is_refused(tmp_path: Path) -> None:
    with tls_server(tmp_path, self_signed("localhost"), respond=b"+PONG\r\n") as port:
        url = f"rediss://:password@localhost:{port}/0"
        output = output_of_failed_start(["-c", CONNECT], tmp_path, REDIS_URL=url)
    assert "CERTIFICATE_VERIFY_FAILED" in output


def test_closing_a_channel_reports_a_lost_connection() -> None:
    """Celery handles connection errors.

    Any other exception would end the worker.
    """
    enqueue("scans.tasks.run_scan", "row_1")
    connection = app.connection_for_read()
    channel: Any = connection.channel()  # kombu's Redis transport has no type stubs.
    # A message is not acknowledged while its task is running.
    assert channel.basic_get("scans") is not None
    connection.transport.client = None  # kombu sets this attribute when it closes a lost connection.
    channel._pool = None
    with pytest.raises(connection.connection_errors):
        channel.close()
    Redis.from_url(settings.REDIS_URL).flushdb()


def test_closing_a_channel_requeues_the_message() -> None:
    redis = Redis.from_url(settings.REDIS_URL)
    redis.delete("scans")
    for messages in (0, 1):
        connection = app.connection_for_read()
        channel: Any = connection.channel()  # kombu's Redis transport has no type stubs.
        channel.basic_consume("scans", no_ack=False, callback=lambda message: None, consumer_tag="tried")
        transport: Any = connection.transport
        transport.cycle._register_BRPOP(channel)
        assert channel._in_poll
        if messages:
            enqueue("scans.tasks.run_scan", "row_1")
            wait_until(lambda: redis.llen("scans") == 0, 10)
        began = time.monotonic()
        channel.close()
        assert time.monotonic() - began < 5, "kombu would wait for the rest of `brpop_timeout`"
        connection.close()
        assert redis.llen("scans") == messages
    redis.flushdb()
