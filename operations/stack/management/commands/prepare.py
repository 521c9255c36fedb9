"""`manage.py prepare`: check the settings, migrate the database and collect static files if anything changed."""

from __future__ import annotations

import hashlib
import logging
import secrets
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.checks import Tags
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from psycopg.errors import DeadlockDetected, LockNotAvailable

from accounts.keys.services import create_api_key
from accounts.models import Membership, User
from accounts.services import ensure_organization
from operations.stack.demo import DemoLogin, save_demo

logger = logging.getLogger(__name__)

# Each try waits up to LOCK_TIMEOUT_S (infrastructure.apps) for a lock, so all tries take about two minutes.
TRIES = 20
PAUSE_S = 1.0  # In this time, queries that waited for the migration's lock can run.
# Errors after which a migration is retried.
LOCK_ERRORS = (LockNotAvailable, DeadlockDetected)

DEMO_ORGANIZATION = "Demo"
DEMO_EMAIL = "demo@example.com"
DEMO_TIER = "business"


class Command(BaseCommand):
    help = "Checks the settings, migrates the database and collects static files, where needed."
    requires_system_checks = ["environment"]

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--demo",
            type=Path,
            metavar="FILE",
            help="create the demo organization and store its login and API key in FILE",
        )

    def handle(self, *args: Any, demo: Path | None, **options: Any) -> None:
        migrate()
        self.check(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])
        collect_static_files(settings.DATA_DIR / "static.stamp")
        if demo is not None:
            save_demo(demo, _ensure_demo())


def migrate(using: str = DEFAULT_DB_ALIAS) -> None:
    """Apply missing migrations. If there are none, Django's slower `migrate` command is not run.

    A migration that failed to get its locks, because the service is busy, is retried. Earlier migrations are not
    applied again.
    """
    for tries_left in reversed(range(TRIES)):
        executor = MigrationExecutor(connections[using])
        if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return
        try:
            call_command("migrate", verbosity=0, interactive=False, database=using)
        except OperationalError as error:
            if not tries_left or not isinstance(error.__cause__, LOCK_ERRORS):
                raise
            logger.warning("A migration had to wait for queries, and is retried: %s", " ".join(str(error).split()))
            # Django leaves the transaction open if the deferred statements at the end of a migration fail.
            connections[using].close()
            del connections[using]
            time.sleep(PAUSE_S)


def collect_static_files(stamp: Path) -> None:
    """Collect and compress the static files if one was added, deleted or changed since `stamp` was written."""
    fingerprint = static_fingerprint()
    is_collected = Path(settings.STATIC_ROOT, "staticfiles.json").exists()
    if is_collected and stamp.exists() and stamp.read_text() == fingerprint:
        return
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)
    stamp.write_text(fingerprint)


def static_fingerprint() -> str:
    """Return a digest over every static source file's path, size and modification time."""
    digest = hashlib.sha256(str(settings.STATIC_ROOT).encode())
    for finder in get_finders():
        for path, storage in sorted(finder.list([]), key=lambda item: item[0]):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _ensure_demo() -> DemoLogin:
    """Create the demo organization with an owner, who is a superuser, and an API key.

    The password and key in the returned login are None if the owner already exists.
    """
    with transaction.atomic():
        organization = ensure_organization(name=DEMO_ORGANIZATION, tier=DEMO_TIER)
        if User.objects.filter(email=DEMO_EMAIL).exists():
            return DemoLogin(organization.name, DEMO_EMAIL, None, None)
        password = secrets.token_urlsafe(12)
        user = User.objects.create_superuser(DEMO_EMAIL, password)
        Membership.objects.create(organization=organization, user=user, role=Membership.Role.OWNER)
        _, key = create_api_key(organization=organization, name="Demo", created_by=user)
        return DemoLogin(organization.name, DEMO_EMAIL, password, key)
