"""Content of grouped alerts, and their e-mails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings
from django.urls import reverse

from accounts import access
from accounts.mailing import outbox
from accounts.models import Organization, User
from scans.check_catalogue import check_pages
from sites.models import Alert, Monitor
from sites.monitors.alert_schemas import AlertData, AlertedSite, AlertProblem
from sites.monitors.headlines import headline_of
from sites.recipients import alerts_topic, topic_of
from website_scan.priority import SEVERITY_RANK
from website_scan.report.references import page_url
from website_scan.timestamps import timestamp

# Limits of the event. E-mails show fewer monitors.
MAX_PROBLEMS, MAX_SITES, MAX_MONITORS = 20, 50, 5
KIND_RANK = {"outage": 0, "journey": 1, "finding": 2, "certificate": 3, "score": 4}


def alert_data(problems: Sequence[Alert], ended: Sequence[Alert], ended_meanwhile: Sequence[Alert]) -> AlertData:
    """Return the data of the event `monitor.alert`, with the causes of each section grouped by problem."""
    sections = [_problems(alerts) for alerts in (problems, ended, ended_meanwhile)]
    shown = [section[:MAX_PROBLEMS] for section in sections]
    more = [len(section) - MAX_PROBLEMS if len(section) > MAX_PROBLEMS else 0 for section in sections]
    return {
        "headline": headline_of(*sections),
        "problems": shown[0],
        "ended": shown[1],
        "ended_meanwhile": shown[2],
        "more": {"problems": more[0], "ended": more[1], "ended_meanwhile": more[2]},
    }


def mail_alert(person: User, organization: Organization, monitors: Sequence[Monitor], data: AlertData) -> int:
    """Write the e-mail of an alert to the outbox, and return the number of e-mails.

    The alert of a single monitor has the monitor's topic, so that the person can unsubscribe from this monitor only.
    """
    first = monitors[0]
    is_single = len({monitor.id for monitor in monitors}) == 1
    topic = topic_of(first) if is_single else alerts_topic(organization.pk)
    listed = (*data["problems"], *data["ended"], *data["ended_meanwhile"])
    # The form for muting is closed to members who are limited to some sites.
    may_mute = access.active_members(organization.pk).filter(pk=person.pk).exists()
    context: dict[str, Any] = {
        "headline": data["headline"],
        "own_site": next(site["site"] for problem in listed for site in problem["sites"]),
        "sections": [
            ("", _for_mail(organization, data["problems"], has_mute_url=may_mute), data["more"]["problems"]),
            ("No longer a problem", _for_mail(organization, data["ended"]), data["more"]["ended"]),
            (
                "Began and ended since the last message",
                _for_mail(organization, data["ended_meanwhile"]),
                data["more"]["ended_meanwhile"],
            ),
        ],
        "monitors_url": f"{settings.BASE_URL}{reverse('monitors', args=[organization.slug])}",
        "settings_url": f"{settings.BASE_URL}{reverse('quiet-hours')}",
    }
    if is_single:
        context["topic_words"] = f"about the monitor {first.name} of {organization}"
    return outbox.post(
        to=person,
        template="alert",
        subject=data["headline"],
        topic=topic,
        organization=organization,
        context=context,
        # Recipients of alerts may see all sites of the monitors.
        includes_limited=True,
    )


def _for_mail(
    organization: Organization, problems: Iterable[AlertProblem], *, has_mute_url: bool = False
) -> list[dict[str, Any]]:
    """Return problems with links to their check, and if `has_mute_url` is True, to the form for muting them."""
    return [
        {
            **problem,
            "check_url": page_url(check_pages(), problem["check"]) if problem["check"] else "",
            "mute_url": _mute_url(organization, problem) if has_mute_url else "",
        }
        for problem in problems
    ]


def _mute_url(organization: Organization, problem: AlertProblem) -> str:
    report_url = problem["sites"][0]["report_url"]
    if not (problem["check"] and report_url):
        return ""
    path = reverse("mute-new", args=[organization.slug])
    return f"{settings.BASE_URL}{path}?scan={report_url.rpartition('/')[2]}&check={problem['check']}"


def _problems(alerts: Sequence[Alert]) -> list[AlertProblem]:
    """Return the problems of alerts, worst first.

    Problems on many sites come before others of the same severity.
    """
    groups: dict[str, list[Alert]] = {}
    for alert in alerts:
        groups.setdefault(alert.cause.group, []).append(alert)
    return sorted(
        map(_problem, groups.values()),
        key=lambda problem: (
            SEVERITY_RANK[problem["severity"]],
            KIND_RANK[problem["kind"]],
            -problem["sites_total"],
            problem["title"],
        ),
    )


def _problem(alerts: list[Alert]) -> AlertProblem:
    worst = min((alert.cause for alert in alerts), key=lambda cause: SEVERITY_RANK[cause.text["severity"]])
    by_site: dict[str, list[Alert]] = {}
    for alert in alerts:
        by_site.setdefault(alert.cause.site, []).append(alert)
    return {
        "kind": worst.kind,
        "severity": worst.text["severity"],
        "title": worst.text["title"],
        "fix": worst.text["fix"],
        "type": worst.text["type"] or None,
        "check": worst.text["check"] or None,
        "sites": [_site(site, by_site[site]) for site in sorted(by_site)[:MAX_SITES]],
        "sites_total": len(by_site),
        "monitors_total": len({alert.monitor_id for alert in alerts}),
    }


def _site(site: str, alerts: list[Alert]) -> AlertedSite:
    monitors = {alert.monitor_id: alert.monitor for alert in alerts}
    first = alerts[0]
    ended = [alert.cause.ended_at for alert in alerts if alert.cause.ended_at is not None]
    return {
        "site": site,
        "since": timestamp(min(alert.cause.first_seen_at for alert in alerts)),
        "ended_at": timestamp(max(ended)) if ended else None,
        "note": first.note,
        "report_url": first.report_url or None,
        "monitors": [
            {"id": monitor.id, "name": monitor.name, "target": monitor.url, "monitor_url": monitor.monitor_url}
            for monitor in list(monitors.values())[:MAX_MONITORS]
        ],
        "monitors_total": len(monitors),
    }
