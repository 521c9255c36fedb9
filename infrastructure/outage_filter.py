"""Log filter that drops the frameworks' repeated lines about outages of PostgreSQL or Redis, and missing migrations."""

from __future__ import annotations

import logging
import re

from infrastructure import cache
from infrastructure.postgresql.availability import is_unavailable

# Celery's messages at each attempt to connect, and at each task that ends, while it has no connection to the broker.
BROKER = re.compile(r"onnection (?:error|to broker lost)|Cannot connect to|Couldn't ack")


class OutageFilter(logging.Filter):
    """Drop these lines: an `Outage` logs once that PostgreSQL or the queue does not answer."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", None) == 503:
            return False
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and is_unavailable(error):
            return False
        if record.name == "celery.worker.consumer.connection":  # this logger only reports a new connection
            cache.outage.end()
            return False
        if record.name.startswith("celery.") and BROKER.search(record.getMessage()):
            cache.outage.begin(record.getMessage())
            return False
        return True
