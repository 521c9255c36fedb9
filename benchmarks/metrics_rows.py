"""Expected samples of `/metrics`, counted from the rows of scans, audits and deliveries while the service is idle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence


def counted() -> dict[str, float]:
    """Return expected values by `name{label="value",…}`, the format of `tests.operations.scraping.samples`."""
    return {**_scans(), **_unfinished(), **_deliveries()}


def histogram(name: str, label: str, bounds: Sequence[float], values_ms: Iterable[tuple[str, int]]) -> dict[str, float]:
    """Return the samples of a histogram from pairs of a label's value and milliseconds."""
    found: Counter[str] = Counter()
    for value, ms in values_ms:
        labels = f'{label}="{value}"'
        found[f"{name}_count{{{labels}}}"] += 1
        found[f"{name}_sum{{{labels}}}"] += ms
        for bound in (*bounds, float("inf")):
            le = "+Inf" if bound == float("inf") else str(bound)
            inside = f'le="{le}",{labels}' if label > "le" else f'{labels},le="{le}"'
            found[f"{name}_bucket{{{inside}}}"] += ms <= bound * 1000
    return {key: value / 1000 if "_sum" in key else value for key, value in found.items()}


def _scans() -> dict[str, float]:
    from scans.models import Scan
    from scans.visits.tallies import DURATION_S, WAITED_S

    ended: Counter[str] = Counter()
    waited, duration = [], []
    columns = ("type", "status", "error_code", "is_background", "created_at", "started_at", "completed_at")
    for kind, status, reason, is_background, created, started, completed in Scan.objects.exclude(
        completed_at=None
    ).values_list(*columns):
        waiting = "background" if is_background else "interactive"
        ended[f'scans_ended_total{{class="{waiting}",reason="{reason}",status="{status}",type="{kind}"}}'] += 1
        if started:
            waited.append((waiting, max(0, round((started - created).total_seconds() * 1000))))
            duration.append((kind, max(0, round((completed - started).total_seconds() * 1000))))
    return {
        **ended,
        **histogram("scan_wait_seconds", "class", WAITED_S, waited),
        **histogram("scan_duration_seconds", "type", DURATION_S, duration),
    }


def _unfinished() -> dict[str, float]:
    from accounts.models import Mail
    from scans.models import Scan
    from scans.visits.queue import QUEUES, types_of
    from sites.models import Audit, AuditPage, MonitorRun

    found: dict[str, float] = {}
    for queue in QUEUES:
        for name, is_background in (("interactive", False), ("background", True)):
            visits = Scan.objects.visits().filter(type__in=types_of(queue), is_background=is_background)
            labels = f'{{class="{name}",queue="{queue}"}}'
            found[f"visits_queued{labels}"] = visits.filter(status="queued").count()
            found[f"visits_running{labels}"] = visits.filter(status="scanning").count()
            found[f"oldest_visit_seconds{labels}"] = 0
        found[f'queue_age_seconds{{queue="{queue}"}}'] = 0
    audits = Audit.objects.unfinished()
    return found | {
        "visits_interrupted": 0,
        "audits_unfinished": audits.count(),
        "audit_pages_waiting": AuditPage.objects.filter(audit__in=audits, status="waiting").count(),
        "monitors_due": MonitorRun.objects.filter(status="due").count(),
        "monitors_late": 0,
        "mails_waiting": Mail.objects.filter(sent_at=None, given_up_at=None).count(),
        "maintenance": 0,
        'up{server="postgresql"}': 1,
        'up{server="redis"}': 1,
        'queue_messages{queue="scans"}': 0,
        'queue_messages{queue="browser"}': 0,
        **{f'queue_workers{{queue="{name}"}}': 1 for name in ("scans", "browser", "webhooks", "maintenance")},
    }


def _deliveries() -> dict[str, float]:
    from webhooks.models import Attempt, Delivery, Webhook

    pending = Delivery.objects.filter(status="pending", is_held=False, webhook__enabled=True)
    attempts = Attempt.objects.all()
    return {
        'deliveries_pending{state="sending"}': 0,
        'deliveries_pending{state="due"}': 0,
        'deliveries_pending{state="later"}': pending.count(),
        "oldest_due_delivery_seconds": 0,
        'webhooks{state="failing"}': Webhook.objects.filter(enabled=True).exclude(failing_since=None).count(),
        'webhooks{state="disabled"}': Webhook.objects.filter(enabled=False)
        .exclude(disabled_reason="requested")
        .count(),
        'delivery_attempts_total{outcome="delivered"}': attempts.filter(error_code="").count(),
        'delivery_attempts_total{outcome="retry"}': attempts.exclude(error_code="").count(),
        "delivery_duration_seconds_count": attempts.count(),
    }
