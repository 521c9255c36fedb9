"""pytest plugin that starts PostgreSQL and Redis.

All tests of a run share the two embedded servers.

Loaded with `-p tests.stack`. It sets the environment before pytest-django reads the settings. Servers in DATABASE_URL
or REDIS_URL are used instead. Under pytest-xdist, the controller starts the servers, and the workers inherit its
environment. Each worker has its own database, which pytest-django copies from one template (`database_template.py`),
and its own Redis database, which is set here.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from operations.stack import embedded
from tests import database_template

# A developer's shell may set variables that tests must not depend on.
FOREIGN = (
    "ACCESS_LOG",
    "ALLOWED_HOSTS",
    "BASE_URL",
    "DJANGO_SETTINGS_MODULE",
    "DRAIN_S",
    "EMAIL_FROM",
    "EMAIL_URL",
    "ENCRYPTION_KEYS",
    "LOG_FORMAT",
    "METRICS_TOKEN",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "PORT",
    "SCAN_ALLOWED_NETWORKS",
    "SCAN_ALLOWED_PORTS",
    "SCAN_BROWSER",
    "SCAN_BROWSER_MEMORY",
    "SCAN_BROWSER_SANDBOX",
    "SCAN_CA_BUNDLE",
    "SCAN_CONTACT",
    "SCAN_DENIED_NETWORKS",
    "SCAN_GAP_PER_DOMAIN",
    "SCAN_JOURNEY_NETWORKS",
    "SCAN_MAIL_SERVERS",
    "SCAN_ORIGIN_ZONE",
    "SCAN_RPKI_URL",
    "SCAN_QUEUE_AGE_LIMIT",
    "SCAN_REQUESTS_TO_OTHER_SITES",
    "SCAN_VISITS_PER_DOMAIN",
    "SCAN_NAME_SERVERS",
    "SCAN_SOURCE_ADDRESSES",
    "SCAN_TIME_LIMIT",
    "SECURITY_CONTACT",
    "SOURCE_URL",
    "SENTRY_DSN",
    "SIGN_UP",
    "TRUSTED_PROXIES",
)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Wrap pytest-django's hook of the same name, which reads the settings."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        cleanup = contextlib.ExitStack()
        early_config.add_cleanup(cleanup.close)  # The cleanup also runs after a failure and after Ctrl-C.
        start(cleanup)
    else:
        url = os.environ["REDIS_URL"]
        os.environ["REDIS_URL"] = redis_database(url, 1 + int(worker.removeprefix("gw")))
    return (yield)


def start(cleanup: contextlib.ExitStack) -> None:
    """Start the servers for which the environment has no URL.

    Store all URLs in os.environ.
    """
    for name in FOREIGN:
        os.environ.pop(name, None)
    data_dir = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="wss-tests-")))
    data_dir.chmod(0o755)  # If the tests run as root, the database server runs as another user.
    try:
        stack = cleanup.enter_context(
            embedded.stack(
                data_dir,
                database=not os.environ.get("DATABASE_URL"),
                redis=not os.environ.get("REDIS_URL"),
                durable=False,
            )
        )
    except embedded.EmbeddedError as error:
        raise pytest.UsageError(str(error)) from error
    if os.environ.get("DATABASE_URL"):
        cleanup.callback(database_template.drop_template)
    os.environ |= stack.env
    os.environ[database_template.VARIABLE] = f"test_template_{secrets.token_hex(4)}"
    os.environ["DATA_DIR"] = str(data_dir)
    os.environ["DEBUG"] = "off"
    os.environ["SCAN_BROWSER"] = "off"  # Tests that need a browser start one themselves.
    os.environ["SCAN_GAP_PER_DOMAIN"] = "0"  # Tests of pauses set their own value.
    os.environ["SECRET_KEY"] = "tests-only-" + "0123456789abcdef" * 4


def redis_database(url: str, number: int) -> str:
    """Return the Redis URL with another database number."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{number}"))
