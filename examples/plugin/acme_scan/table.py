"""Output format of Acme: a Markdown table with a line for each finding."""

from __future__ import annotations

from typing import Any


def table(reports: list[dict[str, Any]]) -> str:
    """Return the findings of all reports. Each report is as in the output format `full`."""
    lines = ["| page | finding | severity |", "|---|---|---|"]
    for report in reports:
        for category in report["categories"]:
            for found in category["checks"]:
                if found["status"] != "pass":
                    title = found["title"].replace("|", "\\|")
                    lines.append(f"| {report['url']} | {title} | {found['severity']} |")
    return "\n".join(lines) + "\n"
