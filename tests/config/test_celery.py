"""Tests that tasks reuse a worker's database connection.

A broken connection is replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import pytest
from celery.fixups.django import DjangoFixup
from celery.signals import task_prerun
from django.db import connection

from config.celery import app
from infrastructure.postgresql.statements import fetch

BACKEND = "SELECT pg_backend_pid()"


def run_task() -> int:
    """Run Celery's signals around a task.

    Returns the PostgreSQL process ID of the task's connection.
    """
    fixup, task = DjangoFixup(app).worker_fixup, mock.Mock()
    task.request.is_eager = False
    fixup.on_task_prerun(task)
    task_prerun.send(task)
    ((backend,),) = fetch(BACKEND, {})
    fixup.on_task_postrun(task)
    return int(backend)


@pytest.fixture
def process(db: None) -> Iterator[ThreadPoolExecutor]:
    """Executor with one thread and its own database connection.

    It stands for a worker process.
    """
    with ThreadPoolExecutor(1) as thread:
        yield thread
        thread.submit(lambda: connection.close()).result()


def test_tasks_share_a_database_connection(process: ThreadPoolExecutor) -> None:
    assert process.submit(run_task).result() == process.submit(run_task).result()


def test_broken_connection_is_replaced(process: ThreadPoolExecutor) -> None:
    backend = process.submit(run_task).result()
    fetch("SELECT pg_terminate_backend(%(backend)s, 10000)", {"backend": backend})
    assert process.submit(run_task).result() != backend
