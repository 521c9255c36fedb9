"""Rows are handed to the workers by the names of tasks, and never lost with the queue."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from config.celery import enqueue


@pytest.mark.parametrize(("task", "queue"), [("scans.tasks.run_scan", "scans"), ("webhooks.tasks.deliver", "webhooks")])
def test_a_row_waits_in_the_queue_of_its_task(task: str, queue: str) -> None:
    redis = Redis.from_url(settings.REDIS_URL)
    redis.delete(queue)
    enqueue(task, "row_1")
    (message,) = (json.loads(each) for each in redis.lrange(queue, 0, -1))
    assert message["headers"]["task"] == task
    arguments, _, _ = json.loads(base64.b64decode(message["body"]))
    assert arguments == ["row_1"]


def test_a_queue_that_takes_nothing_is_told_of_and_left_to_the_sweeper(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def down(*_: object, **__: object) -> None:
        raise RedisConnectionError("nobody there")

    monkeypatch.setattr("redis.Redis.execute_command", down)
    enqueue("scans.tasks.run_scan", "row_1")
    assert "scans.tasks.run_scan(row_1) could not be enqueued" in caplog.text


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "celery", "-A", "config", "worker", "--pool", "solo"],
        ["-m", "celery", "-A", "config", "beat"],
        ["-c", "import config.wsgi"],
    ],
    ids=["worker", "scheduler", "web"],
)
def test_no_process_starts_on_a_setting_that_cannot_be_used(command: list[str], tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, *command],
        env={name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
        | {"SCAN_TIME_LIMIT": "soon", "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        cwd=tmp_path,  # where the scheduler leaves its file
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode != 0
    assert "environment.SCAN_TIME_LIMIT" in ended.stderr + ended.stdout
    assert "Traceback" not in ended.stderr
