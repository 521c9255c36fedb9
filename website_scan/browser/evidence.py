"""Evidence from the browser: one load of the page. Times are seconds since the navigation began, sizes bytes."""

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
    """A request of the page; redirects are folded into the last. `kind` is None for documents of frames."""

    url: str  # as requested, without a fragment
    kind: ResourceKind | None
    method: str
    start_s: float
    response_s: float | None  # when the headers arrived
    end_s: float | None  # None if it had not ended
    status: int | None
    wait_s: float = 0.0  # from the request's last byte to the end of the response's headers
    media_type: str = ""
    protocol: str = ""  # such as h2
    wire_bytes: int = 0  # heads and bodies, as sent
    body_bytes: int = 0  # decoded
    redirects: int = 0
    initiator: str = ""  # URL of the document, script or style sheet that requested it
    is_blocking: bool = False  # render-blocking
    is_programmed: bool = False  # by fetch, XMLHttpRequest and the like
    in_frame: bool = False  # a frame's document, or a request of it
    error: str = ""


@dataclass(frozen=True, slots=True)
class LargestPaint:
    """The element of the largest contentful paint (LCP). `url` is its image's; empty for text."""

    time_s: float
    url: str
    selector: str
    snippet: str
    is_lazy: bool
    is_high_priority: bool


@dataclass(frozen=True, slots=True)
class LayoutShift:
    """A layout shift without user input. `source` is a selector of the element that moved most, if it still exists."""

    time_s: float
    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Task:
    """A task of the main thread: start, duration by the clock, and processor time."""

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
    """Work of the main thread, in order of time. `frames_s` is when each frame was handed over for drawing.

    `rendering` are the parts of tasks that grow with the document: parsing, styles, layout, painting; without scripts.
    `parses_s` is when parts of it began to be parsed.
    """

    tasks: tuple[Task, ...] = ()
    evaluations: tuple[Evaluation, ...] = ()
    frames_s: tuple[float, ...] = ()
    rendering: tuple[Task, ...] = ()
    parses_s: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """Visual progress of a load. `steps` are times with the part, 0 to 1, of the last screen that was there.

    They leave out `images`: URLs with the part of the last screen's content that each image makes up.
    """

    steps: tuple[tuple[float, float], ...]
    images: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Load:
    """One load without throttling. A time is None if there was nothing to measure; that does not mean zero."""

    fcp_s: float | None
    lcp: LargestPaint | None
    shifts: tuple[LayoutShift, ...]
    load_s: float | None  # None: the page was still loading at the end of the time limit
    main_thread_s: float  # processor time of the page's main thread
    script_s: float  # part of it in scripts
    requests: tuple[LoadedRequest, ...]
    left_out: int = 0  # number of requests that are not listed
    main_thread: MainThread = MainThread()  # as far as it was traced
    progress: Progress | None = None  # as far as it was filmed


@dataclass(frozen=True, slots=True)
class UsedFile:
    """A script or style sheet and its unused part by the end of the load; lengths in characters."""

    url: str
    kind: ResourceKind
    length: int
    unused: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coverage of every file of the page that could be tracked, once each."""

    files: tuple[UsedFile, ...]


@dataclass(frozen=True, slots=True)
class RenderedImage:
    """An image element as laid out. Sizes in CSS pixels; natural sizes in the file's pixels."""

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
    has_choices: bool = False  # of files (srcset, <picture>); the natural size is then corrected by their density


@dataclass(frozen=True, slots=True)
class TapTarget:
    """A link or control as laid out. `is_crowded`: another target is within 24 pixels of its centre."""

    selector: str
    width_px: float
    height_px: float
    is_crowded: bool


@dataclass(frozen=True, slots=True)
class Viewport:
    """The viewport: size in CSS pixels, and device pixels per CSS pixel."""

    width_px: int
    height_px: int
    ratio: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Layout of the page at the end of the load. `markup` is None if it is too long to examine."""

    markup: str | None
    letters_by_px: Mapping[float, int]
    targets: tuple[TapTarget, ...]
    images: tuple[RenderedImage, ...]
    viewport: Viewport


@dataclass(frozen=True, slots=True)
class ShownThing:
    """A visible element that shows something without text, such as an image or a field.

    `share` is its part of the viewport's area, 0 to 1. `is_turning`: it moves without end, or its name or state says
    that the page is loading.
    """

    tag: str  # or "background" for a background image
    region: str
    share: float
    is_turning: bool = False


@dataclass(frozen=True, slots=True)
class Screen:
    """Visible content at the end of the load, in open shadow trees as well.

    Texts and things have a region: `frame` is the page's banner, navigation and footer, `dialog` what lies above the
    page, `content` the rest. What an opaque element of the screen's size hides is not visible.
    """

    at_s: float  # when it was read
    title: str
    texts: Mapping[str, str]  # the beginning, by region
    things: tuple[ShownThing, ...] = ()
    signs: tuple[str, ...] = ()  # selectors of spinners, skeletons and other elements that say that the page is loading
    empty_roots: tuple[str, ...] = ()  # selectors of containers for the main content, such as #root, without any
    fields: int = 0
    is_below: bool = False  # some of it is below the first screen
    has_scripts: bool = False
    has_painted: bool = False  # contentfully, which may be in a closed shadow tree
    is_plain: bool = False  # the picture has one colour only
    waited_s: float = 0.0  # from the navigation on, for something to be shown
    had_time: bool = True  # enough to show something

    @property
    def text(self) -> str:
        """Return the visible text of all regions."""
        return " ".join(filter(None, self.texts.values()))


@dataclass(frozen=True, slots=True)
class AxeNode:
    """An element that a rule reports. `why` is axe-core's own sentence.

    `selector` is the shortest unique one; `ancestry` is the chain of its ancestors, without numbers. `colours` are
    those of a text and its background, empty for other rules.
    """

    selector: str
    ancestry: str
    snippet: str
    why: str
    colours: str = ""


@dataclass(frozen=True, slots=True)
class AxeRule:
    """A rule that found violations or was incomplete. `impact` is axe-core's word; empty if it has none.

    `pairs` are the pairs of colours with the number of their elements, the worst contrast first. `nodes` has elements
    of each, in the same order.
    """

    id: str
    impact: str
    tags: tuple[str, ...]
    help: str
    count: int
    nodes: tuple[AxeNode, ...]  # only the first nodes
    pairs: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class AxeReport:
    """axe-core's results on the rendered page, frames included. `frames_left_out` counts the frames not tested."""

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
    """WebP of the document from its top. Sizes in CSS pixels; `boxes` by selector of the requested elements."""

    data: bytes
    width: int
    height: int
    boxes: Mapping[str, Box]


@dataclass(frozen=True, slots=True)
class Frame:
    """JPEG of the screen `at_ms` after the load began. `marks` are those that this frame is the first to show."""

    at_ms: int
    marks: tuple[str, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class BrowserLoad:
    """All evidence of a visit. Parts that failed are None; `problems` has the reason by field name."""

    product: str  # such as Chromium 156.0
    first: Load
    again: tuple[Load, ...] = ()  # further loads, each with an empty cache
    layout: Layout | None = None
    files: tuple[UsedFile, ...] | None = None
    axe: AxeReport | None = None
    first_screen: PagePicture | None = None  # in device pixels
    page_picture: PagePicture | None = None  # down to the lowest element that axe-core reports
    frames: tuple[Frame, ...] = ()  # of the first load
    screen: Screen | None = None
    console_errors: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()  # those of the console's errors that no script caught
    host_ms: float | None = None  # duration of a fixed piece of work, to compare the figures of different machines
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def loads(self) -> tuple[Load, ...]:
        """Return all loads, the first one first."""
        return (self.first, *self.again)


class Unshown(StrEnum):
    """Reason why a browser shows nothing of a page's content."""

    BLANK = "blank"
    LOADING = "loading"
    FRAME = "frame"  # only the page's banner, navigation or footer
    ERROR = "error"  # an error page with a successful status
    CONSENT = "consent"
    CHALLENGE = "challenge"  # of a bot protection
    UNCERTAIN = "uncertain"  # the scanner may be the reason


# What a report says of a fault of the site; the checks that could not run repeat it.
REASONS: Mapping[Unshown, str] = {
    Unshown.BLANK: "The page stays blank in the browser.",
    Unshown.LOADING: "The page does not get beyond its loading screen.",
    Unshown.FRAME: "The main part of the page stays empty.",
    Unshown.ERROR: "The page shows an error message in place of its content.",
}


@dataclass(frozen=True, slots=True)
class ShownContent:
    """Judgement of what the browser showed. `unshown` is None if it was the page's content.

    `summary`, a template with `values`, says what was shown instead; `causes` are why, as far as that is known.
    """

    unshown: Unshown | None = None
    summary: str = ""
    values: Mapping[str, Value] = field(default_factory=dict, hash=False)
    causes: tuple[Place, ...] = ()

    @property
    def message(self) -> str:
        """Return the summary with its values."""
        return filled(self.summary, self.values)

    @property
    def is_fault(self) -> bool:
        """Return True if the site is at fault, and visitors see no more than this browser."""
        return self.unshown in REASONS

    @property
    def reason(self) -> str:
        """Return why content could not be judged; empty if it could."""
        return REASONS.get(self.unshown, self.message) if self.unshown else ""


@dataclass(frozen=True, slots=True)
class Rendered:
    """The page after its scripts have run, on a phone's screen: its tree, and number of letters by size in pixels."""

    document: Document
    letters_by_px: Mapping[float, int]
    targets: tuple[TapTarget, ...] = ()
