"""Make a table of many pages: their grades, and their worst finding of each type.

    python examples/fifty_pages.py urls.txt > pages.csv

The file has one URL per line. The table goes to standard output, and what most pages have in common to standard error.
The cells between the lines `# %%` also run one by one in a notebook.
"""

# %% Read the URLs.
import csv
import sys
from collections import Counter
from pathlib import Path

import website_scan
from website_scan import PageResult, Progress, Report

urls = Path(sys.argv[1]).read_text(encoding="utf-8").split()


# %% Scan the pages, two at a time.
def show(progress: Progress) -> None:
    """Print a line when a page is done."""
    if progress.percent == 100:
        print(f"{progress.page}/{progress.pages} {progress.url}", file=sys.stderr)


pages = list(website_scan.scan_pages(urls, workers=2, progress=show))
pages.sort(key=lambda page: urls.index(page.url) if page.url in urls else len(urls))


# %% Write the table.
def worst(report: Report) -> str:
    """Return the most urgent finding of a report in words, or the reason why the scan failed."""
    if report.error:
        return report.error.message
    finding = next((finding for finding in report.findings if not finding.accepted), None)
    return f"{finding.title} ({finding.severity})" if finding else ""


def row(page: PageResult) -> list[object]:
    """Return the cells of a page: its URL, and grade, score and worst finding of each type."""
    return [page.url, *(cell for report in page.reports for cell in (report.grade, report.score, worst(report)))]


writer = csv.writer(sys.stdout)
writer.writerow(["page", *(f"{type}{suffix}" for type in website_scan.TYPES for suffix in ("", " score", " worst"))])
for page in pages:
    # A spreadsheet would execute a cell that begins with one of these characters, and the site chooses the words.
    writer.writerow([f"'{cell}" if str(cell).startswith(("=", "+", "-", "@")) else cell for cell in row(page)])

# %% Count the serious findings.
serious = Counter(
    (finding.severity, finding.title)
    for page in pages
    for finding in page.findings
    if finding.status == "fail" and finding.severity in ("critical", "high") and not finding.accepted
)
for (severity, title), count in serious.most_common(10):
    print(f"{count:>4} of {len(pages)} pages: {title} ({severity})", file=sys.stderr)
