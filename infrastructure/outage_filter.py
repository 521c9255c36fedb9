"""Log filter that drops repeated Django and Celery lines about outages and missing migrations."""

from __future__ import annotations

import logging
import re

from infrastructure import cache
from infrastructure.postgresql.availability import is_unavailable

# Celery's messages while it has no connection to the broker: for each attempt to connect, and each task that ends.
BROKER = re.compile(r"onnection (?:error|to broker lost)|Cannot connect to|Couldn't ack")


class OutageFilter(logging.Filter):
    """Log filter for lines about a PostgreSQL or Redis outage, which an `Outage` logs once."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", None) == 503:
            return False
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and is_unavailable(error):
            return False
        if record.name == "celery.worker.consumer.connection":  # Celery uses this logger only after it has reconnected.
            cache.outage.end()
            return False
        if record.name.startswith("celery.") and BROKER.search(record.getMessage()):
            cache.outage.begin(record.getMessage())
            return False
        return True
