"""Table of contents for the documentation.

It also resolves links between documents.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from django.conf import settings
from django.urls import reverse
from django.utils.safestring import SafeString
from msgspec import Struct

from documentation.markdown import Chunk, Heading, Resolve, chunks, render

# Sections of api.md on the first page, which are about the whole API.
OF_OVERVIEW = ("Conventions", "Rate limits and quotas", "Health checks", "Versioning")
OF_ERRORS = ("Errors", "Failure codes")
# This section of accounts.md is on a separate page.
OF_EXPORT = ("Data export",)
WEB = ("http://", "https://")


class Guide(Struct, frozen=True):
    """A page that shows a document in docs/.

    The page has either the chunks whose title or section is in `only`, or all chunks except those in `without`.
    """

    slug: str
    title: str
    description: str
    document: str
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        all_chunks = chunks(self.document)
        if not self.only:
            return tuple(chunk for chunk in all_chunks if not {chunk.title, chunk.section} & {*self.without})
        # The page has its sections in the order of `only`.
        return tuple(chunk for title in self.only for chunk in all_chunks if title in (chunk.title, chunk.section))


class Link(Struct, frozen=True):
    """An entry in the side navigation."""

    text: str
    url: str


OVERVIEW = Guide(
    "",
    "API documentation",
    "How to use the Website Scan Service: start in three steps, then every call of the API with its fields, "
    "errors and examples, and every check.",
    "api.md",
    only=OF_OVERVIEW,
)
GUIDES = (
    Guide(
        "walkthrough",
        "Walkthrough",
        "Create a scan, follow it, read its report, export and compare it: each request with its real response.",
        "api.md",
        without=(*OF_OVERVIEW, *OF_ERRORS),
    ),
    Guide(
        "errors",
        "Error codes",
        "Every error code of the API with its HTTP status, its meaning and its solution.",
        "api.md",
        only=OF_ERRORS,
    ),
    Guide(
        "scoring",
        "Scoring",
        "How a score from 0 to 100 and a grade are calculated from checks: weights, severities and caps.",
        "scoring.md",
    ),
    Guide(
        "audits",
        "Audits",
        "Scan a list of pages or a whole site in one request, follow its progress and export the findings.",
        "audits.md",
    ),
    Guide(
        "monitors",
        "Monitors and badges",
        "Scan pages on a schedule, get alerts when they become worse, and show grades on your own site.",
        "monitors.md",
    ),
    Guide(
        "lists",
        "Lists of sites",
        "Judge thousands of sites together: import them, run over hours, compare snapshots, export and share them.",
        "lists.md",
    ),
    Guide(
        "statement",
        "From a site to a statement",
        "For those who answer for a site's accessibility: scan it, test a sample by hand, and draft the statement.",
        "statement.md",
    ),
    Guide(
        "assessments",
        "Assessments",
        "Test a sample of pages by the criteria of WCAG, EN 301 549 or Section 508, together with automatic results.",
        "assessments.md",
    ),
    Guide(
        "journeys",
        "Journeys",
        "Judge pages behind a log-in, a click or a form: record the steps, prove control of the site, and run them.",
        "journeys.md",
    ),
    Guide(
        "conformance",
        "Success criteria",
        "Which criteria of WCAG 2.2, EN 301 549 or Section 508 fail, and what automatic results prove and what not.",
        "conformance.md",
    ),
    Guide(
        "mutes",
        "Mutes",
        "Accept findings for a limited time, with a reason, and see where a mute takes effect.",
        "mutes.md",
    ),
    Guide(
        "requirements",
        "Own requirements",
        "Rules and budgets of your own, without code: headers, texts, links, files, metrics and sizes.",
        "requirements.md",
    ),
    Guide(
        "webhooks",
        "Webhooks",
        "Receive events: verify signatures in Python, Node.js, Go, PHP or a shell, retries and the delivery log.",
        "webhooks.md",
    ),
    Guide(
        "command",
        "Command line",
        "Scan from a shell with website-scan, with or without a service: gate, baseline, formats and configuration.",
        "command.md",
    ),
    Guide(
        "library",
        "Python library",
        "Scan from Python with import website_scan: pages, findings as data, documents, comparison and browsers.",
        "library.md",
    ),
    Guide(
        "plugins",
        "Plug-ins",
        "Write checks and output formats of your own in Python: an example, the reference of the API, and the limits.",
        "plugins.md",
    ),
    Guide(
        "ci",
        "Continuous integration",
        "Gate a build in five minutes: recipes to copy for GitHub Actions, GitLab, pre-commit, Jenkins and any shell.",
        "ci.md",
    ),
    Guide(
        "agents",
        "Agents",
        "Let coding agents scan through the Model Context Protocol: Claude Code, VS Code, Cursor and other clients.",
        "agents.md",
    ),
    Guide(
        "accounts",
        "Accounts",
        "Log-in with second factors, passkeys and identity providers, API keys, activity log and deletion.",
        "accounts.md",
        without=OF_EXPORT,
    ),
    Guide(
        "export",
        "Data export",
        "Export all data of an organization: zip files of JSON, the contents of each file and what is left out.",
        "accounts.md",
        only=OF_EXPORT,
    ),
    Guide(
        "verdicts",
        "Differences from other tools",
        "Checks that decide differently from Lighthouse, axe, HTTP Observatory and other tools, with reasons.",
        "checks-deviations.md",
    ),
    Guide(
        "compatibility",
        "Compatibility",
        "What stays the same from version 1.0.0 on, what may change, and how deprecations are announced.",
        "compatibility.md",
    ),
    Guide(
        "comparison",
        "Comparison",
        "This service and MDN Observatory, Lighthouse CI, pa11y, internet.nl and Oobee, and what they do better.",
        "comparison.md",
    ),
)
# Guides for operators. Only the static site has them, because users of an installation do not need them.
OPERATOR_GUIDES = (
    Guide(
        "operations",
        "Operations",
        "Install, configure and deploy the service: processes, environment variables, proxies and troubleshooting.",
        "operations.md",
    ),
    Guide(
        "scaling",
        "Scaling",
        "How much a process scans and answers, how many processes a load needs, and how to tune them.",
        "scaling.md",
    ),
    Guide(
        "benchmarks",
        "Benchmarks",
        "Measured figures of scans, audits, the API, pages, lists and the idle service, and how to measure them again.",
        "benchmarks.md",
    ),
    Guide(
        "upgrades",
        "Backups and upgrades",
        "Back up and restore the service, upgrade it without downtime, and go back to the version before.",
        "upgrades.md",
    ),
    Guide(
        "metrics",
        "Metrics, logs and traces",
        "Prometheus metrics, access log, traces, and the alerts for when the service needs attention.",
        "metrics.md",
    ),
    Guide(
        "security",
        "Security",
        "What the service guarantees to its users and to the sites it scans, and the duties of its operator.",
        "security.md",
    ),
)


def guides() -> tuple[Guide, ...]:
    """Return the guides in navigation order."""
    return (*GUIDES, *OPERATOR_GUIDES) if settings.STATIC_SITE else GUIDES


def guide_of(slug: str) -> Guide | None:
    return next((guide for guide in guides() if guide.slug == slug), None)


def address_of(guide: Guide) -> str:
    return reverse("docs-guide", args=[guide.slug]) if guide.slug else reverse("docs")


def resolver(document: str) -> Resolve:
    """Return a function that maps a document's links to page addresses.

    It returns None if there is no page.
    """

    def resolve(target: str) -> str | None:
        if target.startswith((*WEB, "/")):
            return target
        if target == "../openapi.yaml":
            return reverse("schema")
        file, _, anchor = target.partition("#")
        if file == "checks.md":
            return reverse("docs-checks")
        for guide in (OVERVIEW, *guides()):
            if guide.document == (file or document) and (
                not anchor or anchor in {chunk.anchor for chunk in guide.chunks}
            ):
                return f"{address_of(guide)}#{anchor}" if anchor else address_of(guide)
        return None

    return resolve


@functools.cache
def render_guide(guide: Guide) -> tuple[SafeString, tuple[Heading, ...]]:
    """Return a guide's HTML and headings.

    They are cached, because guides never change in a process.
    """
    return render(guide.chunks, resolver(guide.document))


def navigation(groups: Sequence[Link], types: Sequence[Link]) -> list[tuple[str, list[Link]]]:
    """Return the side navigation as headings with links."""
    links = [Link(guide.title, address_of(guide)) for guide in GUIDES]
    sections = [
        ("Start", [Link("Overview", reverse("docs")), *links[:2]]),
        ("API reference", list(groups)),
        ("Guides", [*links[2:], Link("Sample reports", reverse("samples"))]),
        ("Checks", [Link("All checks", reverse("docs-checks")), *types]),
    ]
    if settings.STATIC_SITE:
        sections.append(("Operate the service", [Link(guide.title, address_of(guide)) for guide in OPERATOR_GUIDES]))
    return sections
