"""Redis client that all threads of a process share, so that a process needs few connections."""

from __future__ import annotations

import redis
from django.conf import settings

client = redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_TIMEOUTS)
