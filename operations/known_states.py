"""What frameworks say of every request, task and try while something of ours does not answer is told once."""

from __future__ import annotations

import logging
import re

from django.db import InterfaceError, OperationalError

from infrastructure import cache
from infrastructure.postgresql.silence import log_failure

# What Celery says with every try, and every task that ends, while it is not connected to the queue.
BROKER = re.compile(r"onnection (?:error|to broker lost)|Cannot connect to|Couldn't ack")


class KnownStates(logging.Filter):
    """Keeps those lines back; an `Outage` tells of PostgreSQL's, and of the queue's."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", None) == 503:
            return False
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, OperationalError | InterfaceError):
            log_failure(error)
            return False
        if record.name == "celery.worker.consumer.connection":  # which says nothing else
            cache.outage.end()
            return False
        if record.name.startswith("celery.") and BROKER.search(record.getMessage()):
            cache.outage.begin(record.getMessage())
            return False
        return True
