"""Generate the pictures of docs/statement.md, from a scan of the museum's site and an assessment of it.

`make pictures` saves them in static/img/statement/. Its file name keeps pytest from collecting it, unless it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pytest
from django.utils import timezone
from msgspec import Struct
from msgspec.structs import replace
from playwright.sync_api import Page, ViewportSize

from accounts.authentication import Caller, member_caller
from accounts.models import Membership, User
from scans.policy import scan_policy
from sites.assessments import refreshing, results, services
from sites.assessments.requests import AssessmentRequestSerializer
from sites.models import Assessment, AssessmentResult, Audit
from tests.e2e.pages import PageRequest, RenderedPages, Window, render_page, window
from tests.e2e.pictures import MARGIN, save_screenshots, scanned_pages
from tests.factories import Member, member_of, person_of
from tests.populated_audits import look_at, make_audit, make_pages
from tests.targets.museum import museum_site
from tests.targets.museum_pages import PAGES
from website_scan.findings import ScanType
from website_scan.net.targets import parse_target

HOST = "https://museum.example.com"
ORGANIZATION = "City of Seaport"
FOLDER = "statement"
WIDTH = 900
DENSITY = 1.1
QUALITY = 72
# The sample, with the names that people give to its pages.
NAMES = {
    "/": "Start page",
    "/visit": "Plan your visit",
    "/tickets": "Book tickets",
    "/shop": "Shop",
    "/contact": "Contact",
    "/calendar": "Calendar",
}
# Criterion of the picture with a test procedure.
PROCEDURE = "3.3.1"
# Criteria about content that the museum's pages do not have.
NOT_APPLICABLE = {
    "1.2.1": "The sample has no recordings.",
    "1.2.2": "The sample has no videos.",
    "1.2.3": "The sample has no videos.",
    "1.2.4": "The museum broadcasts nothing live.",
    "1.2.5": "The sample has no videos.",
    "1.4.2": "Nothing plays by itself.",
    "2.1.4": "There are no shortcuts of one key.",
    "2.5.1": "No function needs a gesture.",
    "2.5.4": "No function needs a movement of the device.",
    "2.5.7": "Nothing is dragged.",
    "3.3.8": "There is no log-in.",
}
# What a person sees: page, criterion, note and what to do.
FAILURES = (
    ("/", "1.1.1", "The text of the large picture is about the director, but it shows a ship.", "Describe the ship."),
    ("/visit", "1.3.3", "The way to the lift is described by the colour and shape of a button.", "Name the sign, too."),
    ("/tickets", "3.3.1", "“Something is wrong” does not say which field, or why.", "Name the field, with an example."),
    ("/contact", "4.1.3", "A screen reader does not say that the message was sent.", "Add role=status to the line."),
)
TEXTS = {
    "scope": "The website of the museum, without the ticket shop of a partner.",
    "evaluators": "Ana Kovač\nJonas Weber",
    "owner_name": ORGANIZATION,
    "contact_email": "accessibility@seaport.example",
    "contact_phone": "+1 555 0100",
}


class Picture(Struct, frozen=True):
    """Part of a page: from the element at `start` on, `height` CSS pixels.

    `prepare` fills in a form or expands a part of the page.
    """

    path: str
    start: str
    height: int
    prepare: Callable[[Page], None] = lambda _: None


def _fill_in_scan(page: Page) -> None:
    page.get_by_label("Address", exact=True).fill(f"{HOST}/")
    for scan_type in ("Security", "Performance", "SEO"):
        page.get_by_label(scan_type).uncheck()


def _expand_finding(page: Page) -> None:
    page.locator(".result-finding summary").first.click()


BEGINNING = "#content"
# Pictures while people test, and those of the finished assessment.
OPEN = {
    "scan": Picture("/o/{slug}/scans/new?scope=site", BEGINNING, 700, _fill_in_scan),
    "automatic": Picture("/audit/{audit}/conformance", BEGINNING, 700),
    "sample": Picture("{assessment}/pages", "#sample-title", 760),
    "overview": Picture("{assessment}", BEGINNING, 760),
    "procedure": Picture("{assessment}/criteria/" + PROCEDURE + "?show=failed", ".criterion-card", 790),
    "finding": Picture("{assessment}/criteria/1.1.1?show=failed", "#rows-title", 740, _expand_finding),
}
FINISHED = {
    "report": Picture("/assessment/{id}", BEGINNING, 700),
    "statement": Picture("/assessment/{id}/statement", BEGINNING, 680),
}


@pytest.mark.timeout(600)
def test_pictures_of_the_statement_guide_are_saved(db: None) -> None:
    home = member_of(ORGANIZATION, "pro")
    ana, jonas = (person_of(home, "member", f"{name}@seaport.example") for name in ("ana", "jonas"))
    site = museum_site()
    # All pages are in the sample at first, without a random choice. Those that stay in it come first.
    paths = (*NAMES, *(path for path in PAGES if path not in NAMES))
    with scanned_pages(site, *paths, types=[ScanType.ACCESSIBILITY]) as page_results:
        audit = make_audit(
            home, kind="site", url=f"{HOST}/", max_pages=100, discover=["links"], types=["accessibility"]
        )
        pages = make_pages(audit, [HOST + path for path in paths])
        for page, (result,) in zip(pages, page_results, strict=True):
            look_at(page, timezone.now(), {"accessibility": replace(result, url=page.url)})
    journey = _Journey(home, audit, ana, jonas, site.url_as("localhost"))
    journey.begin()
    with window() as browser:
        journey.save(browser, OPEN)
        journey.finish()
        journey.save(browser, FINISHED)


class _Journey:
    """Two people assess the museum's site."""

    def __init__(self, home: Member, audit: Audit, ana: User, jonas: User, origin: str) -> None:
        self.home, self.audit, self.ana, self.origin = home, audit, ana, origin
        self.callers = [self._caller(person) for person in (ana, jonas)]
        values = {"audit": audit.id, "name": "Website of the Museum of the Sea", "sample_size": len(PAGES)} | TEXTS
        created = services.create_assessment(caller=self.callers[0], values=AssessmentRequestSerializer.judged(values))
        self.id = str(created.response["id"])
        refreshing.copy_results(self.id)

    def _caller(self, person: User) -> Caller:
        return member_caller(Membership.objects.select_related("organization__tier").get(user=person))

    def begin(self) -> None:
        """Complete the sample, and test about two thirds of the criteria."""
        caller = self.callers[0]
        for page in self.assessment.pages.filter(number__gt=len(NAMES)):
            services.remove_page(caller=caller, assessment_id=self.id, number=page.number)
        self._add("/tickets", "Booking with a wrong e-mail address")
        for page in self.assessment.pages.filter(is_state=False):
            name = NAMES[page.url.removeprefix(HOST)]
            services.rename_page(caller=caller, assessment_id=self.id, number=page.number, name=name)
        for criterion, note in NOT_APPLICABLE.items():
            self._set_remaining(criterion, "not_applicable", note)
        for path, criterion, note, remedy in FAILURES:
            page = next(page for page in self.assessment.pages.all() if page.url.removeprefix(HOST) == path)
            values = {"version": 0, "result": "failed", "note": note, "remedy": remedy}
            results.set_result(
                caller=caller, assessment_id=self.id, number=page.number, criterion=criterion, values=values
            )
        for criterion in self._untested():
            if criterion < "2.4.6" or criterion == PROCEDURE:
                self._set_remaining(criterion, "passed", "")

    def finish(self) -> None:
        for criterion in self._untested():
            self._set_remaining(criterion, "passed", "")
        services.change_assessment(caller=self.callers[1], assessment_id=self.id, values={"status": "finished"})

    def save(self, browser: Window, pictures: Mapping[str, Picture]) -> None:
        names = {
            "slug": self.home.organization.slug,
            "audit": self.audit.id,
            "id": self.id,
            "assessment": f"/o/{self.home.organization.slug}/assessments/{self.id}",
        }
        for name, picture in pictures.items():
            rendered = render_page(PageRequest(picture.path), self.ana, names)
            text = rendered.body.decode().replace(self.origin, HOST)
            manifest = render_page(PageRequest("/site.webmanifest", "anonymous"), None, {})
            rendering = RenderedPages({name: replace(rendered, body=text.encode())}, {"/site.webmanifest": manifest})
            browser.run_on_page(rendering, name, partial(_take, name=name, picture=picture))

    @property
    def assessment(self) -> Assessment:
        return Assessment.objects.get(id=self.id)

    def _add(self, path: str, state: str) -> None:
        target = parse_target(HOST + path, scan_policy())
        services.add_page(
            caller=self.callers[0], assessment_id=self.id, target=target, name=state, is_state=bool(state)
        )

    def _untested(self) -> Iterator[str]:
        rows = AssessmentResult.objects.filter(assessment_id=self.id, result="untested", open_failures=0)
        yield from sorted(set(rows.values_list("criterion", flat=True)))

    def _set_remaining(self, criterion: str, result: str, note: str) -> None:
        results.set_remaining(
            caller=self.callers[1], assessment_id=self.id, criterion=criterion, result=result, note=note
        )


def _take(page: Page, name: str, picture: Picture) -> None:
    size: ViewportSize = {"width": WIDTH, "height": picture.height}
    page.set_viewport_size(size)
    picture.prepare(page)
    top = page.locator(picture.start).first.evaluate("element => element.getBoundingClientRect().y + window.scrollY")
    margin = 0 if picture.start == BEGINNING else MARGIN
    save_screenshots(page, f"{FOLDER}/{name}", size, top - margin, DENSITY, quality=QUALITY)
