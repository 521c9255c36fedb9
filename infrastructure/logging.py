"""Logging configuration for text and JSON. Both formats contain the request ID and the ID of the job."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

logger = logging.getLogger(__name__)

NO_ID = "-"
# ID of the HTTP request that this thread answers, or that created the job this thread runs.
current_id: ContextVar[str] = ContextVar("current_id", default=NO_ID)
# ID of the scan, audit or delivery that this thread runs.
current_job: ContextVar[str] = ContextVar("current_job", default=NO_ID)


@contextlib.contextmanager
def job_log_context(job: str, request_id: str) -> Iterator[None]:
    """Add a job's ID to all log lines in the block, and the ID of the request that created it (or "")."""
    tokens = current_job.set(job), current_id.set(request_id or NO_ID)
    try:
        yield
    finally:
        current_job.reset(tokens[0])
        current_id.reset(tokens[1])


def request_id() -> str:
    """Return the current request's ID, which is stored with jobs that it creates. "" outside requests."""
    id = current_id.get()
    return "" if id == NO_ID else id


class Outage:
    """Outage of a dependency.

    Logs one line when it begins and one when it ends, even if many calls fail.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._is_on = False

    def begin(self, reason: object) -> None:
        with self._lock:
            if not self._is_on:
                self._is_on = True
                logger.error("%s does not answer: %s", self._name, " ".join(str(reason).split()))

    def end(self) -> None:
        if self._is_on:
            with self._lock:
                if self._is_on:
                    self._is_on = False
                    logger.warning("%s answers again", self._name)


class CurrentIds(logging.Filter):
    """Log filter that adds the current request and job IDs to every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        request, job = current_id.get(), current_job.get()
        record.request_id, record.job = request, job
        record.ids = request if job == NO_ID else f"{request} {job}"
        return True


class RefusedRequests(logging.Filter):
    """Log filter that turns client errors, such as too many form fields, into one line of level INFO.

    Django logs them as errors with a traceback, though any client can cause them.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno >= logging.ERROR:
            record.levelno, record.levelname = logging.INFO, "INFO"
            record.exc_info = record.exc_text = None
        return True


class JsonFormatter(logging.Formatter):
    """Log formatter that writes one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "request_id": getattr(record, "request_id", NO_ID),
            "job": getattr(record, "job", NO_ID),
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def logging_config(log_format: str) -> dict[str, Any]:
    """Return the `logging.config.dictConfig` argument for the format "text" or "json"."""
    apps = (
        "accounts", "config", "dashboard", "documentation", "infrastructure", "operations", "reports", "website_scan",
        "scans", "sites", "webhooks",
    )  # fmt: skip
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "current_ids": {"()": CurrentIds},
            "outages": {"()": "infrastructure.outage_filter.OutageFilter"},
            "refused_requests": {"()": RefusedRequests},
        },
        "formatters": {
            "text": {"format": "%(levelname)s %(name)s [%(ids)s] %(message)s"},
            "json": {"()": JsonFormatter},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "filters": ["current_ids"],
                "formatter": "json" if log_format == "json" else "text",
            },
            "refused_requests": {
                "class": "logging.StreamHandler",
                "filters": ["current_ids", "refused_requests"],
                "formatter": "json" if log_format == "json" else "text",
            },
        },
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            # Django logs a warning for every 4xx, which has no more information than the access log.
            "django.request": {"level": "ERROR", "filters": ["outages"]},
            # Bots often send requests with other Host headers. They get a 400, which does not deserve an error in the
            # log.
            "django.security": {"handlers": ["refused_requests"], "propagate": False},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            "celery.app.trace": {"filters": ["outages"]},
            "celery.beat": {"filters": ["outages"]},
            "celery.worker.request": {"filters": ["outages"]},
            "celery.worker.consumer.consumer": {"filters": ["outages"]},
            # Celery logs at INFO when it has reconnected to the broker. OutageFilter reads that line.
            "celery.worker.consumer.connection": {"level": "INFO", "filters": ["outages"]},
        }
        | {name: {"level": "INFO"} for name in apps},
    }
