"""Content of the event `monitor.alert` for chats: its problems with their fix and their sites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from webhooks.delivery.lines import Content, Line, LinePart
from website_scan.messages import counted, cut, single_line

# Limits for listed problems and sites, and for a line.
MAX_LISTED_PROBLEMS, MAX_LISTED_SITES = 10, 20
MAX_NOTE_CHARACTERS, MAX_SITE_CHARACTERS = 200, 100
SECTIONS = (("problems", ""), ("ended", "No longer a problem: "), ("ended_meanwhile", "Began and ended meanwhile: "))


def alert_content(data: Mapping[str, Any]) -> Content:
    paragraphs: list[list[str | Line]] = []
    for name, prefix in SECTIONS:
        problems = data[name]
        paragraphs += [
            list(_problem_lines(problem, prefix, is_open=name == "problems"))
            for problem in problems[:MAX_LISTED_PROBLEMS]
        ]
        more = len(problems) - MAX_LISTED_PROBLEMS + data["more"][name]
        if more > 0:
            paragraphs.append([f"{prefix}{counted(more, 'more problem')}"])
    sites = [site for name, _ in SECTIONS for problem in data[name] for site in problem["sites"]]
    monitors = {monitor["id"]: monitor for site in sites for monitor in site["monitors"]}
    links = [("Open the monitor", monitor["monitor_url"]) for monitor in monitors.values()]
    return data["headline"], paragraphs, links if len(links) == 1 else []


def _problem_lines(problem: Mapping[str, Any], prefix: str, *, is_open: bool) -> Iterator[str | Line]:
    severity = f"{problem['severity'].capitalize()}: " if problem["kind"] == "finding" else ""
    yield f"{prefix}{severity}{problem['title']}"
    if is_open and problem["fix"]:
        yield f"Fix: {problem['fix']}"
    for site in problem["sites"][:MAX_LISTED_SITES]:
        yield _site_line(site, is_open=is_open)
    more = problem["sites_total"] - MAX_LISTED_SITES
    if more > 0:
        yield f"and {counted(more, 'more site')}"


def _site_line(site: Mapping[str, Any], *, is_open: bool) -> Line:
    """Return a site with its number of monitors, a link to the first one, and what the run saw."""
    name = cut(single_line(site["site"]), MAX_SITE_CHARACTERS)
    monitors = f", {counted(site['monitors_total'], 'monitor')}" if site["monitors_total"] > 1 else ""
    # Readers would expect a linked host to open the site itself.
    parts = [LinePart(f"{name}{monitors} (")]
    if is_open and site["report_url"]:
        parts += [LinePart("report", site["report_url"]), LinePart(", ")]
    parts += [LinePart("monitor", site["monitors"][0]["monitor_url"]), LinePart(")")]
    note = cut(single_line(site["note"]), MAX_NOTE_CHARACTERS)
    return [*parts, LinePart(f": {note}")] if is_open and note else parts
