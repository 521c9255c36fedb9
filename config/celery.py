"""The Celery app for `celery -A config worker` and `celery -A config beat`."""

from __future__ import annotations

import gc
import os
import ssl
import sys
import warnings

from celery import Celery
from celery.exceptions import CPendingDeprecationWarning
from celery.schedules import crontab
from celery.signals import beat_init, celeryd_after_setup, celeryd_init, heartbeat_sent, task_prerun

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings
from django.db import close_old_connections

from infrastructure import environment

# A scan ends at its own time limit. Celery's limits only end code that cannot be interrupted otherwise.
SOFT_LIMIT_S = settings.SCAN_TIME_LIMIT_S + 15
HARD_LIMIT_S = settings.SCAN_TIME_LIMIT_S + 30

app = Celery("config")
app.conf.update(
    broker_url=settings.REDIS_URL,
    broker_transport="infrastructure.broker:Transport",
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_connection_timeout=2,
    # Without this option, the Redis client would accept any certificate, and send the password to an impostor.
    broker_use_ssl={"ssl_cert_reqs": ssl.CERT_REQUIRED} if settings.REDIS_URL.startswith("rediss:") else None,
    # `visibility_timeout` is longer than any task, so that Redis never delivers the message of a running task again.
    broker_transport_options={"visibility_timeout": 3600, "socket_timeout": 5, "socket_connect_timeout": 2},
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    worker_prefetch_multiplier=1,
    worker_max_tasks_per_child=500,
    worker_autoscaler="infrastructure.pool:Autoscaler",
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    worker_send_task_events=False,
    # By default, Celery closes the connection to PostgreSQL before and after each task. For most tasks, connecting and
    # planning the queries again takes longer than the queries. `check_connection` replaces broken connections.
    CELERY_DB_REUSE_MAX=sys.maxsize,
    task_default_queue="scans",
    task_time_limit=HARD_LIMIT_S,
    task_soft_time_limit=SOFT_LIMIT_S,
    task_publish_retry=False,
    task_routes={
        "scans.tasks.run_scan": {"queue": "scans"},
        "sites.tasks.discover_pages": {"queue": "scans"},
        # Deliveries have a separate queue, and in production a separate worker, so that they don't wait for scans.
        "webhooks.tasks.deliver": {"queue": "webhooks"},
        "*": {"queue": "maintenance"},
    },
    beat_schedule={
        "sweep-scans": {"task": "scans.tasks.sweep", "schedule": 15.0, "options": {"expires": 60}},
        "sweep-audits": {"task": "sites.tasks.sweep_audits", "schedule": 15.0, "options": {"expires": 60}},
        "sweep-assessments": {"task": "sites.tasks.sweep_assessments", "schedule": 15.0, "options": {"expires": 60}},
        "run-monitors": {"task": "sites.tasks.run_monitors", "schedule": 15.0, "options": {"expires": 60}},
        "send-alerts": {"task": "sites.tasks.send_alerts", "schedule": 15.0, "options": {"expires": 60}},
        "run-lists": {"task": "sites.tasks.run_lists", "schedule": 15.0, "options": {"expires": 60}},
        "sweep-deliveries": {
            "task": "webhooks.tasks.deliver",
            "schedule": 15.0,
            "args": ("sweep",),
            "options": {"expires": 60},
        },
        "hold-deliveries": {"task": "webhooks.tasks.hold_deliveries", "schedule": 60.0, "options": {"expires": 60}},
        # The task runs every hour until midnight, in case the scheduler was down at 7:00. Each digest is written once.
        "post-digests": {
            "task": "sites.tasks.mail_digests",
            "schedule": crontab(day_of_week="1", hour="7-23", minute="0"),
        },
        "tell-of-certificates": {"task": "sites.tasks.tell_of_certificates", "schedule": crontab(minute="23")},
        "refresh-site-states": {"task": "sites.tasks.refresh_site_states", "schedule": crontab(minute="2")},
        "delete-old": {"task": "infrastructure.tasks.delete_old", "schedule": crontab(hour="3", minute="17")},
        "announce-mutes": {
            "task": "reports.tasks.announce_mutes",
            "schedule": crontab(hour="5", minute="40"),
        },
        "send-mails": {
            "task": "accounts.tasks.send_mails",
            "schedule": 60.0,
            "args": ("sweep",),
            "options": {"expires": 60},
        },
        "tell-of-ending-keys": {
            "task": "accounts.tasks.tell_of_ending_keys",
            "schedule": crontab(minute="37"),
            "options": {"expires": 3600},
        },
        "wake-exports": {
            "task": "accounts.tasks.wake_exports",
            "schedule": 60.0,
            "options": {"expires": 60},
        },
        "delete-closed-accounts": {
            "task": "accounts.tasks.delete_closed_accounts",
            "schedule": 60.0,
            "options": {"expires": 60},
        },
    },
    beat_scheduler="operations.scheduler:SteadyScheduler",
    timezone="UTC",
)
app.autodiscover_tasks(["infrastructure", "accounts", "scans", "reports", "webhooks", "sites"])


@celeryd_init.connect
@beat_init.connect
def refuse_wrong_settings(**_: object) -> None:
    """Refuse to start with invalid settings, because worker and scheduler don't run Django's system checks."""
    environment.refuse_problems()


@celeryd_after_setup.connect
def ignore_warning_of_connection_loss(**_: object) -> None:
    """Ignore Celery's warning that it does not cancel tasks.

    They may continue, because PostgreSQL has their state.

    Celery's logging, which has been set up by now, shows these warnings always, so an earlier filter has no effect.
    """
    warnings.simplefilter("ignore", CPendingDeprecationWarning)


@celeryd_after_setup.connect
def freeze_before_fork(**_: object) -> None:
    """Exempt all objects from garbage collection before the worker forks its pool, so that the memory remains shared.

    billiard collects garbage before each fork, which would write to every memory page.
    """
    gc.freeze()


@task_prerun.connect
def check_connection(**_: object) -> None:
    """Let Django check this thread's PostgreSQL connection before the next use, as Django does before a request."""
    close_old_connections()


@heartbeat_sent.connect
def touch_heartbeat_file(**_: object) -> None:
    """Touch the heartbeat file whenever a worker that is connected to its queue sends a heartbeat.

    The liveness probe checks the file's age, because `celery inspect ping` would start Python and Celery each time.
    """
    if settings.WORKER_HEARTBEAT_FILE:
        settings.WORKER_HEARTBEAT_FILE.touch()
