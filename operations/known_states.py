"""Log filter that drops the frameworks' repeated lines about an outage of PostgreSQL or Redis."""

from __future__ import annotations

import logging
import re

from django.db import InterfaceError, OperationalError

from infrastructure import cache
from infrastructure.postgresql.silence import log_failure

# Celery's messages at each attempt to connect, and at each task that ends, while it has no connection to the broker.
BROKER = re.compile(r"onnection (?:error|to broker lost)|Cannot connect to|Couldn't ack")


class KnownStates(logging.Filter):
    """Drop these lines; an `Outage` logs an outage of PostgreSQL or of the queue once instead."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", None) == 503:
            return False
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, OperationalError | InterfaceError):
            log_failure(error)
            return False
        if record.name == "celery.worker.consumer.connection":  # this logger only reports a new connection
            cache.outage.end()
            return False
        if record.name.startswith("celery.") and BROKER.search(record.getMessage()):
            cache.outage.begin(record.getMessage())
            return False
        return True
