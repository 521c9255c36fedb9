"""Museum's site with forty accessibility faults, and the same site without any.

    with museum_site() as faulty, museum_site(faults=()) as healthy: ...

Each fault replaces one part of a healthy page. Thirty can be seen by a machine, ten only by a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from tests.targets.museum_pages import CAPTIONS, FRAME, PAGES, SCRIPT, STYLES
from tests.targets.server import Answer, Route, Site
from tests.targets.shop import png
from website_scan.browser.devices import DESKTOP, PHONE

BOTH = (PHONE.width, DESKTOP.width)
ONLY_PHONE = (PHONE.width,)
ONLY_DESKTOP = (DESKTOP.width,)
HEAD = '<meta charset="utf-8">'
HTML = '<html lang="en">\n'
FRAME_OF_SEATS = '<iframe id="seats" title="Rooms with seats"'
SMALL = 'style="width: 16px; min-width: 0; height: 16px; min-height: 0; margin: 0; padding: 0"'
FREE = '<label for="free">Only exhibitions that are free of charge</label>'
LEGEND = '<p id="legend">Objects marked “in store” are not on show.</p>'
WRONG_CAPTIONS = "WEBVTT\n\n00:00.000 --> 00:09.000\nWelcome to our shop. Books are cheaper this week.\n"


class Fault(Struct, frozen=True):
    """Accessibility fault of a page.

    `widths` are those of a page that has the fault, in CSS pixels. `check` is the check that reports the fault at
    `selector`, or empty if only a person can see the fault. The fault replaces `healthy`, which occurs once in the
    page, by `faulty`.
    """

    page: str
    widths: tuple[int, ...]
    criterion: str
    selector: str
    check: str
    healthy: str
    faulty: str

    @property
    def is_visible_to_machines(self) -> bool:
        return bool(self.check)


FAULTS = (
    # Only on a phone.
    Fault("/", ONLY_PHONE, "4.1.2", "#menu-button", "button-name", ">Menu</button>", '><i class="bars"></i></button>'),
    Fault("/", ONLY_PHONE, "1.4.3", "#phone-strip", "color-contrast", 'class="phone strip">Open',
          'class="phone strip" style="color: #b9a98a">Open'),
    Fault("/visit", ONLY_PHONE, "2.4.4", "#call", "link-name", ' aria-label="Call the museum"', ""),
    Fault("/tickets", ONLY_PHONE, "2.5.8", "#fewer", "target-size",
          '<button id="fewer" type="button">Fewer</button><button id="more" type="button">',
          f'<button id="fewer" type="button" {SMALL} aria-label="Fewer">-</button>'
          f'<button id="more" type="button" {SMALL}>'),
    Fault("/collection", ONLY_PHONE, "4.1.2", "#kind", "select-name", '<label for="kind">Kind of object</label>', ""),
    Fault("/object", ONLY_PHONE, "1.1.1", "#detail", "image-alt", '\nalt="The scale is divided to ten seconds"', ""),
    Fault("/calendar", ONLY_PHONE, "1.3.1", "#days", "list",
          '<ul id="days"><li>Saturday: tour of the figureheads</li>',
          '<ul id="days"><p>Saturday: tour of the figureheads</p>'),
    Fault("/shop", ONLY_PHONE, "4.1.2", "#basket", "aria-hidden-focus", '<div id="basket"',
          '<div id="basket" aria-hidden="true"'),
    # Only on a desktop.
    Fault("/", ONLY_DESKTOP, "1.1.1", "#slide", "image-alt",
          ' alt="The lamp of the old lighthouse, taller than a visitor"', ""),
    Fault("/visit", ONLY_DESKTOP, "4.1.2", "#map", "frame-title", ' title="Plan of the museum"', ""),
    Fault("/exhibitions", ONLY_DESKTOP, "4.1.2", "#free", "label", FREE, "<p>Only exhibitions free of charge</p>"),
    Fault("/exhibition", ONLY_DESKTOP, "2.4.4", "#share", "link-name", ' alt="Tell a friend by e-mail"', ' alt=""'),
    Fault("/collection", ONLY_DESKTOP, "4.1.2", "#period", "aria-input-field-name", ' aria-labelledby="century"', ""),
    Fault("/calendar", ONLY_DESKTOP, "1.3.1", "#month", "td-headers-attr", '<td headers="tour">Figureheads',
          '<td headers="tours">Figureheads'),
    Fault("/shop", ONLY_DESKTOP, "1.4.3", "#offer", "color-contrast", 'class="desktop strip">Until',
          'class="desktop strip" style="color: #a99f8d">Until'),
    Fault("/news", ONLY_DESKTOP, "1.4.1", "#winter", "link-in-text-block", '<a id="winter"',
          '<a id="winter" style="color: #3a3344; text-decoration: none"'),
    # At both widths.
    Fault("/visit", BOTH, "3.1.1", "html", "html-has-lang", HTML, "<html>\n"),
    Fault("/contact", BOTH, "2.4.2", "html", "document-title", "<title>Contact - Museum of the Sea</title>", ""),
    Fault("/tickets", BOTH, "1.3.5", "#email", "autocomplete-valid", 'autocomplete="email"', 'autocomplete="my-mail"'),
    Fault("/tickets", BOTH, "4.1.2", "#visitor", "label", '<label for="visitor">Your name</label>',
          "<p>Your name</p>"),
    Fault("/tickets", BOTH, "2.1.1", "#seats >>> html", "frame-focusable-content", FRAME_OF_SEATS,
          f'{FRAME_OF_SEATS} tabindex="-1"'),
    Fault("/exhibitions", BOTH, "2.2.2", "#ticker", "marquee", '<p id="ticker">Figureheads closes on 31 May.</p>',
          '<marquee id="ticker">Figureheads closes on 31 May.</marquee>'),
    Fault("/exhibition", BOTH, "3.1.2", "#quote", "valid-lang", 'lang="de"', 'lang="german"'),
    Fault("/exhibition", BOTH, "1.2.2", "#trailer", "video-caption",
          '<track kind="captions" srclang="en" label="English" src="/captions.vtt">', ""),
    Fault("/collection", BOTH, "1.4.4", 'meta[name="viewport"]', "meta-viewport", "initial-scale=1",
          "initial-scale=1, user-scalable=no"),
    Fault("/object", BOTH, "4.1.2", "#zoom", "nested-interactive", ">Zoom in</button>",
          '>Zoom in <a href="/zoom" style="color: #fff">to the scale</a></button>'),
    Fault("/object", BOTH, "1.1.1", "#condition", "svg-img-alt", ' aria-label="Condition: four of five points"', ""),
    Fault("/calendar", BOTH, "2.2.1", 'meta[http-equiv="refresh"]', "meta-refresh", HEAD,
          f'{HEAD}<meta http-equiv="refresh" content="60">'),
    Fault("/accessibility", BOTH, "1.3.1", "#people", "definition-list", "<dd>Ada Lindgren</dd>",
          "<dd>Ada Lindgren</dd><p>and</p>"),
    Fault("/accessibility", BOTH, "1.4.12", "#promise", "avoid-inline-spacing", '<p id="promise">',
          '<p id="promise" style="letter-spacing: 0.01em !important">'),
    # Only visible to a person.
    Fault("/", BOTH, "1.1.1", "#hero", "", "A three-master leaves the harbour under full sail",
          "The director opens the new wing"),
    Fault("/visit", BOTH, "1.3.3", "#directions", "",
          "The lift is behind the cash desk. A sign with the words “All floors” hangs above its door.",
          "For the lift, press the round green button on the right."),
    Fault("/tickets", BOTH, "3.3.1", "#result", "",
          "Please enter an e-mail address with an @, such as name@example.com.", "Something is wrong."),
    Fault("/exhibitions", BOTH, "2.4.4", "#read", "", ">Read about the figureheads</a>.", ">That one over there</a>."),
    Fault("/exhibition", BOTH, "2.4.6", "#carvers", "", "How the carvers worked", "Opening hours and prices"),
    Fault("/collection", BOTH, "1.4.1", "#legend", "", LEGEND,
          '<p id="legend">Objects in <span style="color: #a3123a">this colour</span> are not on show.</p>'),
    Fault("/object", BOTH, "2.1.1", "#viewer", "", '<button id="viewer"><img src="/sextant.png" width="600"'
          ' height="300" alt="Enlarge the picture of the sextant"></button>',
          '<div id="viewer"><img src="/sextant.png" width="600" height="300" alt="Sextant of brass in its box"></div>'),
    Fault("/calendar", BOTH, "2.4.3", "#steps", "",
          '<div id="steps"><button type="button">1. Choose a day</button><button type="button">2. Pay</button></div>',
          '<div id="steps" style="display: flex; flex-direction: row-reverse; justify-content: flex-end">'
          '<button type="button">2. Pay</button><button type="button">1. Choose a day</button></div>'),
    Fault("/contact", BOTH, "4.1.3", "#result", "", ' role="status"', ""),
    Fault("/news", BOTH, "1.2.2", "#film", "", "/captions.vtt", "/wrong-captions.vtt"),
)  # fmt: skip


def museum_pages(faults: Iterable[Fault] = FAULTS) -> Mapping[str, str]:
    """Return the markup of all pages by path, with these faults."""
    pages = dict(PAGES)
    for fault in faults:
        before, healthy, after = pages[fault.page].partition(fault.healthy)
        assert healthy, fault
        assert fault.healthy not in after, fault
        pages[fault.page] = before + fault.faulty + after
    return pages


def museum_site(faults: Iterable[Fault] = FAULTS) -> Site:
    """Return the museum's site with these faults."""
    picture = Answer(png(64, 64, (90, 60, 130)), headers={"Content-Type": "image/png"})
    files: dict[str, Route] = {
        "/museum.css": Answer(STYLES, headers={"Content-Type": "text/css"}),
        "/museum.js": Answer(SCRIPT, headers={"Content-Type": "text/javascript"}),
        "/captions.vtt": Answer(CAPTIONS, headers={"Content-Type": "text/vtt"}),
        "/wrong-captions.vtt": Answer(WRONG_CAPTIONS, headers={"Content-Type": "text/vtt"}),
        "/plan": Answer(FRAME),
        **{f"/{name}.png": picture for name in ("ship", "lamp", "phone", "letter", "sextant", "scale")},
    }
    return Site(files | {path: Answer(markup) for path, markup in museum_pages(faults).items()})
