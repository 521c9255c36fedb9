"""E-mail to a list's recipients about a finished run, queued in the transaction that ends the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accounts.mailing import outbox
from accounts.models import User
from scans.check_catalogue import failure_title
from sites.lists.changes import Changes
from sites.lists.events import list_results
from sites.models import ListRun
from sites.recipients import topic_of
from website_scan.messages import counted


def mail_run_end(run: ListRun, changes: Changes | None) -> int:
    """Queue the e-mails about a finished run and return their number.

    `changes` is None if nothing has changed.
    """
    if not run.site_list.recipients:
        return 0
    headline = ", ".join(_change_texts(changes)) if changes else _end_text(run)
    site_list = run.site_list
    before = ListRun.objects.filter(id=changes["with_run_id"]).first() if changes else None
    return outbox.post(
        to=User.objects.filter(pk__in=site_list.recipients),
        template="list_changed" if changes else "list_completed",
        subject=f"{site_list.name}: {headline}",
        topic=topic_of(site_list),
        organization=site_list.organization,
        key=f"{site_list.id}:ended:{run.id}",
        context={
            "name": site_list.name,
            "said": headline,
            "ended": _end_text(run),
            "run": run,
            "scores": _scores(run, before),
            "changes": changes,
            "list_url": site_list.list_url,
            "topic_words": f"about the list {site_list.name} of {site_list.organization}",
        },
    )


def _end_text(run: ListRun) -> str:
    """Return the site counts of a run as text, such as "1,198 of 1,204 sites judged, 6 failed"."""
    text = f"{run.done:,} of {counted(run.entries, 'site')} judged"
    text += f", {run.failed:,} failed" if run.failed else ""
    return text + (f", {run.left_out:,} not scanned" if run.left_out else "")


def _change_texts(changes: Changes) -> Iterator[str]:
    """Yield the changes as texts, such as "3 sites with a better grade"."""
    grades = changes["grades"]
    if grades["better"]:
        yield f"{counted(grades['better'], 'site')} with a better grade"
    if grades["worse"]:
        yield f"{counted(grades['worse'], 'site')} with a worse grade"
    sites = changes["sites"]
    if sites["lost"]:
        yield f"{counted(sites['lost'], 'site')} no longer reached"
    if sites["regained"]:
        yield f"{counted(sites['regained'], 'site')} reached again"
    if not (any(grades.values()) or sites["lost"] or sites["regained"]):
        for checks, words in ((changes["fewer_failures"], "fewer"), (changes["more_failures"], "more")):
            if checks:
                yield f"{failure_title(checks[0]['check'], checks[0]['name'])} on {words} sites"


def _scores(run: ListRun, before: ListRun | None) -> dict[str, dict[str, Any]]:
    """Return the mean scores before and after the run by scan type, for the template macro `score_row`."""
    earlier = list_results(before) if before is not None else {}
    return {
        name: {
            "before": earlier[name]["mean"] if name in earlier else None,
            "after": result["mean"],
            "grade": result["grade"],
        }
        for name, result in list_results(run).items()
    }
