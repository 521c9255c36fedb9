"""Log lines: one format for people, one for machines, both with the request's ID."""

from __future__ import annotations

import json
import logging
import threading
from contextvars import ContextVar
from typing import Any

logger = logging.getLogger(__name__)

# The ID of the request (or scan) that this thread works on; "-" outside of any.
current_id: ContextVar[str] = ContextVar("current_id", default="-")


class Outage:
    """Something we need does not answer: a line when that begins and one when it ends, however often it is tried."""

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


class CurrentId(logging.Filter):
    """Puts the current ID on every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_id.get()
        return True


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "request_id": getattr(record, "request_id", "-"),
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def logging_config(log_format: str) -> dict[str, Any]:
    """The argument of `logging.config.dictConfig` for "text" or "json"."""
    ours = ("config", "accounts", "scans", "reports", "webhooks")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "current_id": {"()": CurrentId},
            "known_states": {"()": "config.operations.known_states.KnownStates"},
        },
        "formatters": {
            "text": {"format": "%(levelname)s %(name)s [%(request_id)s] %(message)s"},
            "json": {"()": JsonFormatter},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "filters": ["current_id"],
                "formatter": "json" if log_format == "json" else "text",
            }
        },
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            # Django's line for every 4xx says nothing that the caller was not told.
            "django.request": {"level": "ERROR", "filters": ["known_states"]},
            # Strangers ask for strangers' names all day long, and get a 400.
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            "celery.app.trace": {"filters": ["known_states"]},
            "celery.beat": {"filters": ["known_states"]},
            "celery.worker.request": {"filters": ["known_states"]},
            "celery.worker.consumer.consumer": {"filters": ["known_states"]},
            # Says when the queue is back.
            "celery.worker.consumer.connection": {"level": "INFO", "filters": ["known_states"]},
        }
        | {name: {"level": "INFO"} for name in ours},
    }
