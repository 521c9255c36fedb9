"""Export of an organization's audits, assessments, journeys, monitors, lists and badges in the API's JSON format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import F, QuerySet

from accounts import access
from accounts.export.kinds import Kind
from scans.schemas import requirements_json_of
from sites.assessments.documents.json_report import report_and_log_chunks
from sites.audits import exports
from sites.audits.muting import AuditMutes
from sites.audits.schemas import audit_summary_of
from sites.journeys.schemas import journey_json_of
from sites.lists import exports as list_exports
from sites.lists.schemas import entry_json_of, list_json_of, list_run_of, share_json_of
from sites.maintenance.schemas import window_json_of
from sites.models import (
    Assessment,
    Audit,
    Badge,
    Journey,
    JourneyStep,
    ListEntry,
    ListResult,
    ListRun,
    ListShare,
    MaintenanceWindow,
    Monitor,
    MonitorRun,
    SiteList,
)
from sites.monitors.schemas import monitor_json_of, monitor_run_of


def _audit_rows(organization_id: int) -> QuerySet[Audit]:
    return access.rows(Audit, organization_id).defer("encrypted_credentials").select_related("created_by")


def _audit_summary(audit: Audit) -> dict[str, Any]:
    own = {} if audit.requirements is None else {"requirements": requirements_json_of(audit.requirements)}
    limited = {} if audit.categories is None else {"categories": audit.categories}
    return {**audit_summary_of(audit), **own, **limited, "run_of": audit.run_of or None, **_creator(audit)}


def _creator(row: Audit | Journey | Monitor | SiteList) -> dict[str, str | None]:
    return {"api_key": row.api_key_id, "created_by": row.created_by.email if row.created_by else None}


def _audit_results(audit: Audit) -> Iterator[bytes]:
    """Export an audit's results without mutes.

    The export has a separate file for mutes.
    """
    return exports.export(audit, "json", AuditMutes(audit))


def _monitor_json(monitor: Monitor) -> dict[str, Any]:
    return {**monitor_json_of(monitor), **_creator(monitor)}


def _journey_rows(organization_id: int) -> QuerySet[Journey]:
    return access.rows(Journey, organization_id).defer("encrypted_secrets").select_related("created_by")


def _journey_json(journey: Journey) -> dict[str, Any]:
    return {**journey_json_of(journey), **_creator(journey)}


def _step_rows(organization_id: int) -> QuerySet[JourneyStep]:
    return JourneyStep.objects.filter(audit__organization_id=organization_id).defer("picture")


def _step_json(step: JourneyStep) -> dict[str, Any]:
    names = ("audit_id", "position", "text", "status", "url", "duration_ms", "problem", "near_matches", "notes")
    return {name: getattr(step, name) for name in names}


def _monitor_run_json(run: MonitorRun) -> dict[str, Any]:
    return {"monitor_id": run.monitor_id, **monitor_run_of(run)}


def _list_json(site_list: SiteList) -> dict[str, Any]:
    return {**list_json_of(site_list), **_creator(site_list)}


def _entry_rows(organization_id: int) -> QuerySet[ListEntry]:
    return ListEntry.objects.filter(site_list__in=access.rows(SiteList, organization_id)).annotate(
        audit_id=F("result__audit_id")
    )


def _entry_json(entry: ListEntry) -> dict[str, Any]:
    return {"list_id": entry.site_list_id, **entry_json_of(entry)}


def _list_run_rows(organization_id: int) -> QuerySet[ListRun]:
    return ListRun.objects.filter(site_list__in=access.rows(SiteList, organization_id))


def _list_run_json(run: ListRun) -> dict[str, Any]:
    return {"list_id": run.site_list_id, **list_run_of(run)}


def _list_results(run: ListRun) -> Iterator[bytes]:
    """Export the results of a list run.

    Its counts are omitted, because they can be calculated from the results.
    """
    about = json.dumps({"list_id": run.site_list_id, "run_id": run.id, "checks": run.checks})
    yield f'{about[:-1]}, "sites": ['.encode()
    separator = ""
    for line in list_exports.export(run, "jsonl"):
        for site in line.decode().splitlines():
            yield f"{separator}{site}".encode()
            separator = ",\n"
    yield b"]}"


def _single_result_rows(organization_id: int) -> QuerySet[ListResult]:
    lists = access.rows(SiteList, organization_id)
    return ListResult.objects.filter(site_list__in=lists, run=None).defer("seen", "statuses")


def _single_result_json(result: ListResult) -> dict[str, Any]:
    return {"list_id": result.site_list_id, "ended_at": result.ended_at, **list_exports.result_json(result)}


def _share_rows(organization_id: int) -> QuerySet[ListShare]:
    lists = access.rows(SiteList, organization_id)
    return ListShare.objects.filter(site_list__in=lists).select_related("created_by")


def _share_json(share: ListShare) -> dict[str, Any]:
    created_by = share.created_by.email if share.created_by else None
    return {"list_id": share.site_list_id, **share_json_of(share), "created_by": created_by}


def _badge_json(badge: Badge) -> dict[str, Any]:
    return {
        "id": badge.id,
        "monitor_id": badge.monitor_id,
        "page": badge.page or None,
        "badge_url": badge.badge_url,
        "created_by": badge.created_by.email if badge.created_by else None,
        "created_at": badge.created_at,
    }


BY_TIME = ("created_at", "pk")

KINDS = (
    Kind("audits", _audit_rows, _audit_summary, BY_TIME),
    Kind("audit_results", _audit_rows, _audit_results, BY_TIME, has_own_files=True),
    Kind("assessments", lambda id: access.rows(Assessment, id), report_and_log_chunks, BY_TIME, has_own_files=True),
    Kind("monitors", lambda id: access.rows(Monitor, id).select_related("created_by"), _monitor_json),
    Kind(
        "monitor_runs",
        lambda id: MonitorRun.objects.filter(monitor__organization_id=id),
        _monitor_run_json,
        ("due_at", "pk"),
    ),
    Kind(
        "maintenance_windows", lambda id: access.rows(MaintenanceWindow, id), lambda window: {**window_json_of(window)}
    ),
    Kind("lists", lambda id: access.rows(SiteList, id).select_related("created_by"), _list_json),
    Kind("list_entries", _entry_rows, _entry_json),
    Kind("list_runs", _list_run_rows, _list_run_json),
    Kind("list_results", _list_run_rows, _list_results, has_own_files=True),
    Kind("list_single_results", _single_result_rows, _single_result_json),
    Kind("list_shares", _share_rows, _share_json),
    Kind("badges", lambda id: access.rows(Badge, id).select_related("created_by"), _badge_json),
    Kind("journeys", _journey_rows, _journey_json, BY_TIME),
    Kind("journey_steps", _step_rows, _step_json),
)
