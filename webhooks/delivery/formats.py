"""Body formats of webhooks: JSON, Slack and Microsoft Teams.

Every attempt sends the same bytes for the same event. Titles, names and addresses come from strangers, so messages
contain them as plain text, never as markup, mentions or links. All links lead to pages of this service.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from webhooks.delivery.alert_content import alert_content
from webhooks.delivery.lines import Content, Line, LinePart
from website_scan.messages import counted

# Limits for lines, the headline, listed findings and listed pages.
MAX_LINE_CHARACTERS = 300
MAX_HEADLINE_CHARACTERS = 150
MAX_LISTED_FINDINGS = 10
MAX_LISTED_PAGES = 3
MAX_PAGE_CHARACTERS = 100
# Slack's limits for texts and headers (https://docs.slack.dev/reference/block-kit).
MAX_SLACK_TEXT_CHARACTERS = 3_000
MAX_SLACK_HEADER_CHARACTERS = 150
# Teams allows 28 KB with text that a workflow may add (https://learn.microsoft.com/microsoftteams).
MAX_TEAMS_BYTES = 24_000
CUT = "…"
# Control characters, line ends, bidirectional controls, and surrogates.
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")
PAGES = (("unreachable_pages", "Unreachable"), ("reachable_pages", "Reachable again"))
REACHED = {"lost": "no longer reached", "regained": "reached again"}
CHANGES = (("new", "New"), ("worse", "Worse"), ("better", "Better"), ("fixed", "Fixed"))


class MessageContent(Struct, frozen=True):
    """Slack or Teams message.

    It has a headline, paragraphs, and links to pages of this service.
    """

    headline: str
    paragraphs: Sequence[Sequence[Line]]
    links: Sequence[tuple[str, str]]


def sent_body(body_format: str, body: bytes) -> bytes:
    """Return the body to send in this format.

    `body` is the event's stored body, JSON in UTF-8.
    """
    write = FORMATS[body_format]
    return body if write is None else _encode_json(write(message_content(json.loads(body))))


def message_content(event: Mapping[str, Any]) -> MessageContent:
    """Return an event's message in short lines without control characters."""
    name, data = str(event["event"]), event["data"]
    headline, paragraphs, links = CONTENT_BY_SUBJECT[name.partition(".")[0]](name, data)
    test = "Test: " if event.get("test") else ""
    return MessageContent(
        headline=_clean_text(test + headline, MAX_HEADLINE_CHARACTERS),
        paragraphs=[
            lines for raw_lines in paragraphs if (lines := [line for line in map(_clean_line, raw_lines) if line])
        ],
        links=[(label, url) for label, url in links if url],
    )


def _scan_content(name: str, data: Mapping[str, Any]) -> Content:
    links = [("Open the report", data["report_url"])]
    kind = _type_name(data["type"])
    if name == "scan.failed":
        return f"{kind} scan failed", [[data["url"], *_error_lines(data)]], []
    lines = [data["url"], counted(data["findings_count"], "finding")]
    if name == "scan.partial":
        lines.append("Some checks could not run.")
    return f"{kind} scan: {_score_text(data)}", [lines], links


def _audit_content(name: str, data: Mapping[str, Any]) -> Content:
    if name == "audit.scan":
        return _scan_content(f"scan.{data['status']}", data)
    links = [("Open the audit", data["audit_url"])]
    if name == "audit.failed":
        return "Audit failed", [[data["target"], *_error_lines(data)]], links
    pages = data["pages"]
    progress = f"{pages['done']:,} of {counted(pages['planned'], 'page')} checked"
    progress += f", {pages['failed']:,} failed" if pages["failed"] else ""
    results = [f"{_type_name(scan_type)}: {_score_text(result)}" for scan_type, result in data["results"].items()]
    return "Audit completed", [[data["target"], progress], results], links


def _monitor_content(name: str, data: Mapping[str, Any]) -> Content:
    if name == "monitor.alert":
        return alert_content(data)
    monitor = ("Open the monitor", data["monitor_url"])
    if name == "monitor.failed":
        return f"{data['name']}: unreachable", [[data["target"], *_error_lines(data)]], [monitor]
    if name == "monitor.recovered":
        since = f"It was unreachable since {_format_timestamp(data['down_since'])}."
        return f"{data['name']}: reachable again", [[data["target"], since]], [monitor]
    more = data["more"]
    counts = [f"{len(data[change]) + more[change]} {change}" for change, _ in CHANGES if data[change]]
    if counts:
        counts[0] += " problem" if counts[0].startswith("1 ") else " problems"
    scores = [
        f"{_type_name(scan_type)}: {score['before']} → {score['after']} ({score['grade']})"
        for scan_type, score in data["scores"].items()
    ]
    certificate = data["certificate"]
    expiry = certificate and (
        f"The certificate of {certificate['host']} expires on {_format_timestamp(certificate['expires_at'])},"
        f" in {counted(certificate['days_left'], 'day')}."
    )
    paragraphs: list[Sequence[str | Line]] = [[data["target"]], scores, [expiry or ""]]
    paragraphs += [
        [f"{title}:", *_finding_lines(data[change], more[change])] for change, title in CHANGES if data[change]
    ]
    for pages, title in PAGES:
        if data[pages]:
            names = [_page_name(page) for page in data[pages][:MAX_LISTED_FINDINGS]]
            paragraphs.append([f"{title}:", *names, *_number_of_others_line(len(data[pages]) + more[pages])])
    headline = f"{data['name']}: {', '.join(counts) or 'something changed'}"
    return headline, paragraphs, [("Open the audit", data["run"]["audit_url"]), monitor]


def _list_content(name: str, data: Mapping[str, Any]) -> Content:
    run = data["run"]
    links = [("Open the list", data["list_url"])]
    progress = f"{run['done']:,} of {counted(run['entries'], 'site')} judged"
    progress += f", {run['failed']:,} failed" if run["failed"] else ""
    progress += f", {run['left_out']:,} not scanned" if run["left_out"] else ""
    means = [
        f"{_type_name(scan_type)}: {mean['mean']} of 100 on average ({mean['grade']})"
        for scan_type, mean in data["results"].items()
        if mean["mean"] is not None
    ]
    if name == "list.completed":
        return f"{data['name']}: run {run['status']}", [[progress, *_error_lines(run)], means], links
    changes = data["changes"]
    grades = [
        f"{counted(number, 'site')} with a {change} grade" for change, number in changes["grades"].items() if number
    ]
    sites = changes["sites"]
    grades += [f"{counted(sites[key], 'site')} {state}" for key, state in REACHED.items() if sites[key]]
    paragraphs: list[Sequence[str | Line]] = [[progress], means]
    for key, state in REACHED.items():
        if urls := changes[key][:MAX_LISTED_FINDINGS]:
            paragraphs.append([f"{state.capitalize()}:", *urls, *_number_of_others_line(sites[key])])
    for change, title in (("worse", "Worse"), ("better", "Better")):
        if sites := changes[change]:
            lines = [f"{site['url']}: {site['change']:+g} on average" for site in sites[:MAX_LISTED_FINDINGS]]
            paragraphs.append([f"{title}:", *lines, *_number_of_others_line(changes["sites"][change])])
    for change, title in (("more_failures", "Fails on more sites"), ("fewer_failures", "Fails on fewer sites")):
        if checks := changes[change]:
            lines = [f"{check['name']}: {check['failed_before']} → {check['failed_after']}" for check in checks]
            paragraphs.append([f"{title}:", *lines])
    return f"{data['name']}: {', '.join(grades) or 'checks changed'}", paragraphs, links


CONTENT_BY_SUBJECT: Mapping[str, Callable[[str, Mapping[str, Any]], Content]] = {
    "scan": _scan_content,
    "audit": _audit_content,
    "monitor": _monitor_content,
    "list": _list_content,
}


def slack(content: MessageContent) -> dict[str, Any]:
    """Return the JSON of a Slack message.

    It has blocks, and a text for notifications.
    """
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": _slack_text(_fit_lines([content.headline], MAX_SLACK_HEADER_CHARACTERS))},
        *map(_slack_block, content.paragraphs),
    ]
    if content.links:
        links = " · ".join(f"<{_escape_slack(url).replace('|', '%7C')}|{label}>" for label, url in content.links)
        blocks.append({"type": "section", "text": {"type": "mrkdwn", "text": links, "verbatim": True}})
    return {
        "text": _fit_lines([content.headline], MAX_SLACK_TEXT_CHARACTERS),
        "blocks": blocks,
        "unfurl_links": False,
        "unfurl_media": False,
    }


def teams(content: MessageContent) -> dict[str, Any]:
    """Return the JSON of a Teams message.

    It has one Adaptive Card 1.4, and is truncated if it is too long.
    """
    paragraphs = list(content.paragraphs)
    while len(_encode_json(message := _teams_message(content, paragraphs))) > MAX_TEAMS_BYTES:
        last = paragraphs[-1]
        paragraphs[-1:] = [[*last[: len(last) // 2], [LinePart(CUT)]]] if len(last) > 2 else []
    return message


FORMATS: Mapping[str, Callable[[MessageContent], dict[str, Any]] | None] = {
    "standard": None,
    "slack": slack,
    "teams": teams,
}


def _teams_message(content: MessageContent, paragraphs: Iterable[Sequence[Line]]) -> dict[str, Any]:
    body = [_teams_line([LinePart(content.headline)], size="Large", weight="Bolder")]
    for lines in paragraphs:
        body += [_teams_line(line, spacing="Medium" if index == 0 else "None") for index, line in enumerate(lines)]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
        "actions": [{"type": "Action.OpenUrl", "title": label, "url": url} for label, url in content.links],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _teams_line(line: Line, *, spacing: str = "Default", **style: str) -> dict[str, Any]:
    """Return plain text with links as a RichTextBlock.

    A TextBlock would interpret Markdown.
    """
    inlines = [
        {"type": "TextRun", "text": part.text, **style}
        | ({"selectAction": {"type": "Action.OpenUrl", "url": part.url}} if part.url else {})
        for part in line
    ]
    return {"type": "RichTextBlock", "spacing": spacing, "inlines": inlines}


def _slack_block(lines: Sequence[Line]) -> dict[str, Any]:
    """Return a Slack section that interprets no markup.

    It is plain text, or rich text for lines with links.
    """
    if not any(part.url for line in lines for part in line):
        return {
            "type": "section",
            "text": _slack_text(
                _fit_lines(["".join(part.text for part in line) for line in lines], MAX_SLACK_TEXT_CHARACTERS)
            ),
        }
    elements: list[dict[str, str]] = []
    size = 0
    for line in lines:
        size += sum(len(part.text) + len(part.url) for part in line) + 1
        if size > MAX_SLACK_TEXT_CHARACTERS - len(CUT):
            elements.append({"type": "text", "text": CUT})
            break
        elements += [_slack_part(part) for part in line] + [{"type": "text", "text": "\n"}]
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


def _slack_part(part: LinePart) -> dict[str, str]:
    return {"type": "link", "url": part.url, "text": part.text} if part.url else {"type": "text", "text": part.text}


def _slack_text(escaped: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": escaped, "emoji": False}


def _escape_slack(text: str) -> str:
    """Escape Slack's three special characters.

    Otherwise `<!channel>` in a text would notify everybody.
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _fit_lines(lines: Sequence[str], characters: int) -> str:
    """Return as many escaped lines as fit into `characters`.

    If the first line is too long, returns its beginning.
    """
    text = ""
    for line in lines:
        longer_text = f"{text}\n{_escape_slack(line)}" if text else _escape_slack(line)
        if len(longer_text) > characters - len(CUT) - 1:
            return f"{text}\n{CUT}" if text else _cut_escaped(line, characters)
        text = longer_text
    return text


def _cut_escaped(line: str, characters: int) -> str:
    while len(_escape_slack(line)) > characters - len(CUT):
        line = line[:-1]
    return _escape_slack(line) + CUT


def _finding_lines(findings: Sequence[Mapping[str, Any]], dropped: int) -> list[str | Line]:
    """Return two lines for each of the first findings.

    The last line is the number of other findings. The first line has the severity and title, the second links to the
    pages' reports. The number includes `dropped` findings that are not in the event.
    """
    lines: list[str | Line] = []
    for finding in findings[:MAX_LISTED_FINDINGS]:
        evidence = f": {finding['said']}" if finding["said"] else ""
        severity = str(finding["severity"]).capitalize()
        lines += [
            f"{severity}: {finding['title']} ({_type_name(finding['type'])}){evidence}",
            _pages_line(finding),
        ]
    return [*lines, *_number_of_others_line(len(findings) + dropped)]


def _pages_line(finding: Mapping[str, Any]) -> Line:
    """Return a line with links to the first reports.

    It ends with the number of other pages.
    """
    parts: list[LinePart] = []
    for page in finding["pages"][:MAX_LISTED_PAGES]:
        # Readers would expect a linked address to open the page itself.
        name = _clean_text(_page_name(page), MAX_PAGE_CHARACTERS)
        before = f"{', ' if parts else 'on '}{name} ("
        parts += [LinePart(before), LinePart("report", page["report_url"]), LinePart(")")]
    more = finding["pages_affected"] - MAX_LISTED_PAGES
    return [*parts, LinePart(f" and {more} more")] if more > 0 else parts


def _page_name(page: Mapping[str, Any]) -> str:
    """Return the URL of a page, or the name and the URL of a state of a journey."""
    return f"{page['state']} ({page['url']})" if page.get("state") else str(page["url"])


def _number_of_others_line(count: int) -> list[str]:
    return [f"and {count - MAX_LISTED_FINDINGS} more"] if count > MAX_LISTED_FINDINGS else []


def _type_name(scan_type: str) -> str:
    return "SEO" if scan_type == "seo" else scan_type.capitalize()


def _score_text(result: Mapping[str, Any]) -> str:
    return "no score" if result["score"] is None else f"{result['score']} of 100 ({result['grade']})"


def _error_lines(data: Mapping[str, Any]) -> list[str]:
    return [data["error"]["message"]] if data.get("error") else []


def _format_timestamp(timestamp: str) -> str:
    """Return a timestamp in the form `2026-11-21 07:15 UTC`.

    `value` is a timestamp such as `2026-11-21T07:15:00Z`.
    """
    return f"{timestamp[:16].replace('T', ' ')} UTC"


def _clean_line(line: str | Line) -> Line:
    """Convert a string to a line with one cleaned part.

    Other lines are unchanged. An empty string becomes an empty line.
    """
    if not isinstance(line, str):
        return line
    text = _clean_text(line)
    return [LinePart(text)] if text else []


def _clean_text(text: str, characters: int = MAX_LINE_CHARACTERS) -> str:
    """Return the text as one line of at most `characters`.

    The line has no control characters.
    """
    line = " ".join(UNPRINTABLE.sub(" ", text).split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + CUT


def _encode_json(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
