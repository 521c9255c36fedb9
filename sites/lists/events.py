"""Webhook events of lists."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sites.lists import snapshots
from sites.lists.schemas import ListEventData, ListMean, list_run_of
from sites.models import ListCount, ListRun
from sites.models.site_list import ListCounts
from webhooks import events
from webhooks.models import EventKind


def record_list_event(run: ListRun, kind: EventKind, data: Mapping[str, object], at: datetime) -> None:
    """Record a webhook event of a list's run, in the transaction that ends the run.

    `data` is added to the data about the list and the run. Only the list's webhooks receive the event.
    """
    site_list = run.site_list
    events.record(
        kind,
        site_list.organization_id,
        at,
        lambda: {**list_data(run), **data},
        webhook_ids=site_list.webhook_ids,
        site_list=site_list,
    )


def list_data(run: ListRun) -> ListEventData:
    """Return the data fields that all list events have in common (docs/lists.md)."""
    return {
        "list_id": run.site_list_id,
        "name": run.site_list.name,
        "list_url": run.site_list.list_url,
        "run": list_run_of(run),
        "results": list_results(run),
    }


def list_results(run: ListRun) -> dict[str, ListMean]:
    """Return the number of sites with a score, their mean score and its grade, by scan type."""
    counts: ListCounts | None = ListCount.objects.filter(run=run, tag="").values_list("data", flat=True).first()
    means: dict[str, ListMean] = {}
    for name in run.types:
        scores, grades = ((counts or snapshots.EMPTY)[key].get(name, {}) for key in ("scores", "grades"))
        figures = snapshots.type_figures(scores, grades)
        means[name] = {
            "judged": figures["judged"],
            "mean": figures["mean"],
            "grade": snapshots.grade_of(figures) or None,
        }
    return means
