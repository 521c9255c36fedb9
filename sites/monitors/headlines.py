"""Headlines of alerts, which are the subjects of e-mails. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from sites.models import Cause
from sites.monitors.alert_schemas import AlertProblem
from website_scan.messages import clause, counted, cut

MAX_TITLE_LENGTH = 100
DASH = " \N{EN DASH} "
# First words of titles that are names, which keep their capital letter.
NAMES = frozenset({"Git", "Docker", "Spring", "Swagger", "Webpack"})


def headline_of(
    problems: Sequence[AlertProblem], ended: Sequence[AlertProblem], ended_meanwhile: Sequence[AlertProblem]
) -> str:
    """Return the severity, the worst problem, the number of others and the site or the number of sites.

    For example "Critical: environment file is public, and 3 more problems" with a dash and "4 sites".
    """
    if problems:
        worst = problems[0]
        severity = worst["severity"].capitalize()
        return _headline(problems, "Unreachable" if _is_site_outage(worst) else severity)
    if ended:
        is_over = any(site["ended_at"] for site in ended[0]["sites"])
        return _headline(ended, "Reachable again" if _is_site_outage(ended[0]) else "Fixed" if is_over else "Better")
    return _headline(ended_meanwhile, "Reachable again" if _is_site_outage(ended_meanwhile[0]) else "Fixed meanwhile")


def _headline(problems: Sequence[AlertProblem], label: str) -> str:
    first = problems[0]
    sites = {site["site"] for problem in problems for site in problem["sites"]}
    sites_total = max(len(sites), *(problem["sites_total"] for problem in problems))
    where = next(iter(sites)) if sites_total == 1 else counted(sites_total, "site")
    others = f", and {counted(len(problems) - 1, 'more problem')}" if len(problems) > 1 else ""
    if not _is_site_outage(first):
        return f"{label}: {_title(first)}{others}{DASH}{where}"
    monitors = first["monitors_total"]
    outage_sites = first["sites"][0]["site"] if first["sites_total"] == 1 else counted(first["sites_total"], "site")
    return f"{label}: {outage_sites}{others}" + (f"{DASH}{counted(monitors, 'monitor')}" if monitors > 1 else "")


def _is_site_outage(problem: AlertProblem) -> bool:
    return problem["kind"] == Cause.Kind.OUTAGE and problem["title"] == "Unreachable"


def _title(problem: AlertProblem) -> str:
    """Return the title with a small first letter, unless it begins with a name or an abbreviation."""
    title = cut(problem["title"], MAX_TITLE_LENGTH)
    return title if title.partition(" ")[0] in NAMES else clause(title)
