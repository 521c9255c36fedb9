"""Text of the website-scan.toml that `website-scan init` writes."""

from __future__ import annotations

from website_scan.command.init.plan import ScanPlan
from website_scan.command.init.quoting import quoted

EXAMPLE_URL = "https://example.com/"
EXAMPLE_FOLDER = "public"

HEAD = """\
# Options of `website-scan` for this repository. Those on the command line take
# precedence. To use a line, remove its `#`. Paths are relative to this file.
# Secrets, private networks and programs to start are never in this file.

"""

PAGES = """\
# The pages of a whole site, in place of `urls`: its start page.
# site = "https://example.com/"

# The pages of a sitemap, a file or a URL.
# sitemap = "https://example.com/sitemap.xml"

# Highest number of pages of the site or the sitemap.
# max-pages = 20

# Paths of pages of the site to scan, and of pages to leave out.
# include = ["/docs/*"]
# exclude = ["*?page=*"]

# Files with steps in a browser, such as a log-in. `urls` names their site.
# journey = ["journeys/log-in.txt"]


# --- How the pages are judged ---

# Types of checks. Without this line, all four.
# types = ["security", "performance", "accessibility", "seo"]

# Categories of security to judge. Without this line, all ten.
# categories = ["transport", "headers", "csp"]

# Widths in pixels at which accessibility is judged.
# widths = [412, 1440]

# Colours that the browser prefers: "light" or "dark".
# color-scheme = "light"

# Standard whose success criteria reports and `fail-on-level` name.
# standard = "en301549"

# Highest level of these criteria in the formats `conformance` and `earl`.
# level = "AA"


# --- What fails the build ---
# Without these lines, every finding is reported, and none fails the build.

# Accepted findings, so that only new ones fail. Write the file first, with
# `website-scan{arguments} --write-baseline known.json`
# baseline = "known.json"

# Severity from which failed checks fail: "low", "medium", "high" or "critical".
# fail-on = "high"

# Lowest score that passes. For single types: {{ security = 90, seo = 70 }}
# fail-under = 80

# Findings that fail at any severity, and findings that never do.
# fail-on-outcome = ["hsts.short"]
# accept = ["csp-present.missing"]

# Fail if checks prove that a success criterion of this level is not met.
# fail-on-level = "A"

# Budgets of Lighthouse: each limit becomes a requirement (see below).
# budget = ["budget.json"]

# Pass if the site answers with a log-in page instead of the page.
# allow-login = true


# --- Tables: they have to be at the end of the file ---

# Steps in a browser, in this file instead of a file of `journey`.
# [[journeys]]
# name = "Menu"
# steps = '''
# open /
# click "Products"
# judge "Menu"
# '''

# Requirements of your own: each is a finding in all reports.
# [[requirements.rules]]
# name = "Imprint is linked"
# link = "/imprint"
# severity = "high"
#
# [[requirements.rules]]
# name = "Scripts are small"
# bytes = "script"
# at_most = 300_000
# pages = ["/shop/*"]
"""


def configuration_text(plan: ScanPlan) -> str:
    """Return the content of website-scan.toml. Only the lines that choose the pages are in use."""
    arguments = f" {plan.arguments}" if plan.arguments else ""
    return f"{HEAD}# --- What is scanned ---\n\n{_pages(plan)}\n{PAGES.format(arguments=arguments)}"


def _pages(plan: ScanPlan) -> str:
    folder = quoted(plan.site.folder or EXAMPLE_FOLDER)
    if plan.folder:
        return (
            f'# Pages as paths in the folder of `serve`.\nurls = ["/"]\n\n'
            f"# Folder with the finished site. It is served during the scan.\nserve = {folder}\n"
        )
    serve = (
        "# Folder with the finished site, which is served during the scan. Pages are\n"
        f'# then paths in it, such as urls = ["/"].\n# serve = {folder}\n'
    )
    if plan.local_url:
        return (
            "# Addresses of pages. Your own machine's may only be on the command line:\n"
            f"# `website-scan {plan.arguments}`\n"
            f'# urls = ["{EXAMPLE_URL}"]\n\n{serve}'
        )
    urls = f"urls = [{quoted(plan.url)}]" if plan.url else f'# urls = ["{EXAMPLE_URL}"]'
    return f"# Addresses of the pages.\n{urls}\n\n{serve}"
