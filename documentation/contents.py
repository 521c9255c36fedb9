"""Table of contents: the documentation's pages, and the resolver of links between the documents."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.safestring import SafeString

from documentation.documents import Chunk, Heading, Resolve, chunks, render

# Sections of api.md for the first page: those about the whole API.
OF_OVERVIEW = ("What holds everywhere", "Limits", "Keys", "Health", "Versions")
OF_ERRORS = ("Errors", "Why a scan failed")
WEB = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class Guide:
    """A page made of a document of docs/.

    It has either the chunks with the titles in `only`, with their subsections, or all chunks but those in `without`.
    """

    slug: str
    title: str
    description: str
    document: str
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        every = chunks(self.document)
        if not self.only:
            return tuple(each for each in every if not {each.title, each.section} & {*self.without})
        # In the order of `only`.
        return tuple(each for title in self.only for each in every if title in (each.title, each.section))


@dataclass(frozen=True, slots=True)
class Link:
    """Entry of the side navigation."""

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
        "Create a scan, follow it, read its report, export and compare it: each request with its real answer.",
        "api.md",
        without=(*OF_OVERVIEW, *OF_ERRORS),
    ),
    Guide(
        "errors",
        "Error codes",
        "Every error code of the API with its HTTP status, what it means and what to do about it.",
        "api.md",
        only=OF_ERRORS,
    ),
    Guide(
        "webhooks",
        "Webhooks",
        "Receive events: verify signatures in Python, Node.js, Go, PHP or a shell, and what is sent again when.",
        "webhooks.md",
    ),
    Guide(
        "audits",
        "Audits of many pages",
        "Scan a list of pages or a whole site in one request, follow its progress and export what is wrong.",
        "audits.md",
    ),
    Guide(
        "monitors",
        "Monitors and badges",
        "Scan pages again and again, be told what has become worse, and show your grades on your own site.",
        "monitors.md",
    ),
    Guide(
        "mutes",
        "Mutes",
        "Mute findings that you have decided to live with, with a reason and an end, and see where that applies.",
        "mutes.md",
    ),
    Guide(
        "export",
        "Export of all data",
        "Take all data of an organization along: zip files of JSON, what each file holds and what is left out.",
        "export.md",
    ),
    Guide(
        "identity",
        "Logging in",
        "Second factors, passkeys and identity providers: what people can add, and what an organization can require.",
        "identity.md",
    ),
    Guide(
        "command",
        "The command",
        "Scan from a shell with website-scan, with or without a service: gate, baseline, formats and configuration.",
        "command.md",
    ),
    Guide(
        "ci",
        "In a build",
        "Gate a build in five minutes: recipes to copy for GitHub Actions, GitLab, Jenkins and any shell.",
        "ci.md",
    ),
    Guide(
        "scoring",
        "How scores come about",
        "How the checks of a scan become a score from 0 to 100 and a grade: weights, severities and ceilings.",
        "scoring.md",
    ),
    Guide(
        "verdicts",
        "Where our verdicts differ",
        "Where the checks decide otherwise than Lighthouse, axe, HTTP Observatory and other tools, and why.",
        "checks-deviations.md",
    ),
)


def guide_of(slug: str) -> Guide | None:
    return next((each for each in GUIDES if each.slug == slug), None)


def address_of(guide: Guide) -> str:
    return reverse("docs-guide", args=[guide.slug]) if guide.slug else reverse("docs")


def resolver(document: str) -> Resolve:
    """Return a function that maps a document's link targets to addresses of pages; None for targets without a page."""

    def resolve(target: str) -> str | None:
        if target.startswith((*WEB, "/")):
            return target
        if target == "../openapi.yaml":
            return reverse("schema")
        file, _, anchor = target.partition("#")
        if file == "checks.md":
            return reverse("docs-checks")
        for guide in (OVERVIEW, *GUIDES):
            if guide.document == (file or document) and (
                not anchor or anchor in {each.anchor for each in guide.chunks}
            ):
                return f"{address_of(guide)}#{anchor}" if anchor else address_of(guide)
        return None

    return resolve


@functools.cache
def rendered(guide: Guide) -> tuple[SafeString, tuple[Heading, ...]]:
    """Return the HTML of a guide and its headings. Cached, because it does not change while the process lives."""
    return render(guide.chunks, resolver(guide.document))


def navigation(groups: Sequence[Link], types: Sequence[Link]) -> list[tuple[str, list[Link]]]:
    """Return the navigation: headings with their entries."""
    guides = [Link(each.title, address_of(each)) for each in GUIDES]
    return [
        ("Start", [Link("Overview", reverse("docs")), *guides[:2]]),
        ("API reference", list(groups)),
        ("Guides", guides[2:]),
        ("Checks", [Link("All checks", reverse("docs-checks")), *types]),
    ]
