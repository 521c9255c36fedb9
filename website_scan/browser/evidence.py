"""Evidence from the browser: loads of the page. Times are in seconds since the navigation began, sizes in bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from website_scan.page.evidence import Document
from website_scan.page.references import ResourceKind
from website_scan.places import Place
from website_scan.values import Value, filled


@dataclass(frozen=True, slots=True)
class LoadedRequest:
    """Request of the page. A chain of redirects is one request. `kind` is None for documents of the page and frames."""

    url: str  # as requested, without a fragment
    kind: ResourceKind | None
    method: str
    start_s: float
    response_s: float | None  # when the response headers arrived
    end_s: float | None  # None if the request had not ended
    status: int | None
    wait_s: float = 0.0  # from the request's last byte to the end of the response's headers
    media_type: str = ""
    protocol: str = ""  # such as h2
    wire_bytes: int = 0  # response heads and bodies, as sent
    body_bytes: int = 0  # decoded body
    redirects: int = 0
    initiator: str = ""  # URL of the document, script or style sheet that requested it
    is_blocking: bool = False  # the request blocks rendering
    is_sent_by_code: bool = False  # sent by fetch, XMLHttpRequest or a similar API
    in_frame: bool = False  # a frame's document, or a request that a frame made
    error: str = ""


@dataclass(frozen=True, slots=True)
class LargestPaint:
    """Element of the largest contentful paint (LCP). `url` is the URL of its image; empty for text."""

    time_s: float
    url: str
    selector: str
    snippet: str
    is_lazy: bool
    is_high_priority: bool


@dataclass(frozen=True, slots=True)
class LayoutShift:
    """Layout shift without user input. `source` is a selector of the element that moved most, if it still exists."""

    time_s: float
    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Task:
    """Task of the main thread: start, duration by the clock, and processor time."""

    time_s: float
    duration_s: float
    processor_s: float

    @property
    def ends_s(self) -> float:
        return self.time_s + self.duration_s


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Evaluation of a script. An inline script has the document's URL; callbacks run in tasks of their own."""

    url: str
    time_s: float
    duration_s: float
    processor_s: float


@dataclass(frozen=True, slots=True)
class MainThread:
    """Work of the main thread, in order of time. `frames_s` are the times when frames were committed for drawing.

    `rendering` are the parts of tasks that grow with the document: parsing, styles, layout, painting; without scripts.
    `parses_s` are the times when the parser began with a part of the document.
    """

    tasks: tuple[Task, ...] = ()
    evaluations: tuple[Evaluation, ...] = ()
    frames_s: tuple[float, ...] = ()
    rendering: tuple[Task, ...] = ()
    parses_s: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """Visual progress of a load. `steps` are pairs of a time and the share, 0 to 1, of the last screen drawn by then.

    The steps exclude `images`: pairs of a URL and the image's share of the last screen's content.
    """

    steps: tuple[tuple[float, float], ...]
    images: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Load:
    """One page load without throttling. A time is None if nothing was measured, which does not mean zero."""

    fcp_s: float | None
    lcp: LargestPaint | None
    shifts: tuple[LayoutShift, ...]
    load_s: float | None  # load event; None if the page was still loading at the end of the time limit
    main_thread_s: float  # processor time of the page's main thread
    script_s: float  # part of `main_thread_s` that scripts took
    requests: tuple[LoadedRequest, ...]
    left_out: int = 0  # number of requests beyond the limit
    main_thread: MainThread = MainThread()  # empty if the load was not traced
    progress: Progress | None = None  # None if no filmstrip was recorded


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """Script or style sheet with the size of its unused part at the end of the load. Lengths are in characters."""

    url: str
    kind: ResourceKind
    length: int
    unused: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """Used and unused parts of the page's scripts and style sheets. A file has one entry."""

    files: tuple[FileCoverage, ...]


@dataclass(frozen=True, slots=True)
class RenderedImage:
    """Image element as laid out. Sizes are in CSS pixels; natural sizes are in pixels of the file."""

    selector: str
    url: str
    width_px: float
    height_px: float
    natural_width: int
    natural_height: int
    top_px: float
    left_px: float
    fit: str  # object-fit
    is_visible: bool
    is_lazy: bool
    is_eager: bool = False  # explicit loading="eager"
    has_choices: bool = False  # several files (srcset, <picture>); browsers divide the natural size by their density


@dataclass(frozen=True, slots=True)
class TapTarget:
    """Link or control as laid out. `is_crowded`: another target is within 24 pixels of its centre."""

    selector: str
    width_px: float
    height_px: float
    is_crowded: bool


@dataclass(frozen=True, slots=True)
class Viewport:
    """Viewport: size in CSS pixels, and `ratio` of device pixels to CSS pixels."""

    width_px: int
    height_px: int
    ratio: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Layout of the page at the end of the load. `markup` is the DOM as HTML; None if too long to examine."""

    markup: str | None
    letters_by_px: Mapping[float, int]
    targets: tuple[TapTarget, ...]
    images: tuple[RenderedImage, ...]
    viewport: Viewport


@dataclass(frozen=True, slots=True)
class VisibleElement:
    """Visible element that shows something other than text, such as an image or a field.

    `share` is the part of the viewport's area that the element takes, 0 to 1. `is_spinning`: the element has an endless
    animation, or its name or ARIA state says that the page is loading.
    """

    tag: str  # or "background" for a background image
    region: str
    share: float
    is_spinning: bool = False


@dataclass(frozen=True, slots=True)
class Screen:
    """Visible content at the end of the load, in open shadow trees as well.

    Texts and elements have a region: `frame` is the page's banner, navigation and footer, `dialog` is what lies above
    the page, `content` is the rest. What an opaque element of the screen's size hides is not visible.
    """

    at_s: float  # when the script screen.js ran
    title: str
    texts: Mapping[str, str]  # beginning of the visible text, by region
    elements: tuple[VisibleElement, ...] = ()
    loading_indicators: tuple[str, ...] = ()  # selectors of spinners, skeletons and busy elements
    empty_roots: tuple[str, ...] = ()  # selectors of containers for the main content, such as #root, that are empty
    fields: int = 0  # number of form fields
    is_below: bool = False  # some content is below the first screen
    has_scripts: bool = False
    has_painted: bool = False  # the browser reported a first contentful paint, perhaps in a closed shadow tree
    is_plain: bool = False  # the screenshot has one colour only
    waited_s: float = 0.0  # wait for visible content, from the navigation on
    had_time: bool = True  # the page had enough time to show content

    @property
    def text(self) -> str:
        """Return the visible text of all regions."""
        return " ".join(filter(None, self.texts.values()))


@dataclass(frozen=True, slots=True)
class AxeNode:
    """Element that an axe-core rule reports. `why` is axe-core's own sentence.

    `selector` is the shortest unique selector; `ancestry` is the chain of the element's ancestors, without positions.
    `colours` are the colours of a text and its background, empty for other rules.
    """

    selector: str
    ancestry: str
    snippet: str
    why: str
    colours: str = ""


@dataclass(frozen=True, slots=True)
class AxeRule:
    """axe-core rule that found violations or was incomplete. `impact` is axe-core's word; empty if axe-core has none.

    `pairs` are pairs of colours with the number of their elements, the worst contrast first. `nodes` has elements of
    every pair, in the same order.
    """

    id: str
    impact: str
    tags: tuple[str, ...]
    help: str
    count: int
    nodes: tuple[AxeNode, ...]  # the first of `count` nodes
    pairs: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class AxeReport:
    """Results of axe-core on the rendered page, frames included. `frames_left_out` is the number of untested frames."""

    version: str
    violations: Mapping[str, AxeRule]
    incomplete: Mapping[str, AxeRule]
    passes: frozenset[str]
    inapplicable: frozenset[str]
    frames_left_out: int = 0


@dataclass(frozen=True, slots=True)
class Box:
    """Position and size of an element in the document, in CSS pixels."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class PagePicture:
    """WebP picture of the document from its top. Sizes are in CSS pixels; `boxes` of elements are by selector."""

    data: bytes
    width: int
    height: int
    boxes: Mapping[str, Box]


@dataclass(frozen=True, slots=True)
class Frame:
    """JPEG screenshot, `at_ms` after the load began. `marks` are the paints that no earlier frame shows."""

    at_ms: int
    marks: tuple[str, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class BrowserLoad:
    """All evidence of a visit. Parts that failed are None; `problems` maps their field names to reasons."""

    product: str  # such as Chromium 156.0
    first: Load
    again: tuple[Load, ...] = ()  # further loads with an empty cache
    layout: Layout | None = None
    files: tuple[FileCoverage, ...] | None = None
    axe: AxeReport | None = None
    first_screen: PagePicture | None = None  # in device pixels
    page_picture: PagePicture | None = None  # down to the lowest element that axe-core reports
    frames: tuple[Frame, ...] = ()  # filmstrip of the first load
    screen: Screen | None = None
    console_errors: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()  # console errors that are uncaught exceptions
    host_ms: float | None = None  # duration of a benchmark (host.js), to compare the figures of different machines
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def loads(self) -> tuple[Load, ...]:
        """Return the first load and the further loads."""
        return (self.first, *self.again)


class Unshown(StrEnum):
    """Reason why a browser shows nothing of a page's content."""

    BLANK = "blank"
    LOADING = "loading"
    FRAME = "frame"  # only the page's banner, navigation or footer
    ERROR = "error"  # an error page with a successful status
    CONSENT = "consent"
    CHALLENGE = "challenge"  # a page of a bot protection
    UNCERTAIN = "uncertain"  # the scanner itself may be the reason


# Sentences in the report about faults of the site. Checks that could not run repeat them.
REASONS: Mapping[Unshown, str] = {
    Unshown.BLANK: "The page stays blank in the browser.",
    Unshown.LOADING: "The page does not get beyond its loading screen.",
    Unshown.FRAME: "The main part of the page stays empty.",
    Unshown.ERROR: "The page shows an error message in place of its content.",
}


@dataclass(frozen=True, slots=True)
class ShownContent:
    """Judgement of whether the browser showed the page's content. `unshown` is None if it did.

    `summary`, a template with `values`, describes what the browser showed instead; `causes` are the known causes.
    """

    unshown: Unshown | None = None
    summary: str = ""
    values: Mapping[str, Value] = field(default_factory=dict, hash=False)
    causes: tuple[Place, ...] = ()

    @property
    def message(self) -> str:
        """Return the summary with its values filled in."""
        return filled(self.summary, self.values)

    @property
    def is_fault(self) -> bool:
        """Return True if the site is at fault, so that visitors see no more than the scanner's browser."""
        return self.unshown in REASONS

    @property
    def reason(self) -> str:
        """Return why the content could not be judged; empty if the page shows its content."""
        return REASONS.get(self.unshown, self.message) if self.unshown else ""


@dataclass(frozen=True, slots=True)
class Rendered:
    """Page after its scripts have run, on a phone's screen: the document, and number of letters by size in pixels."""

    document: Document
    letters_by_px: Mapping[float, int]
    targets: tuple[TapTarget, ...] = ()
