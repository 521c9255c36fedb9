"""Evidence from the browser: page loads.

Times are in seconds since the navigation began, sizes in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from website_scan.page.evidence import Document
from website_scan.page.references import ResourceKind


class LoadedRequest(Struct, frozen=True):
    """HTTP request of a page load with its redirects. `kind` is None for documents of the page and its frames."""

    url: str  # URL as requested, without its fragment.
    kind: ResourceKind | None
    method: str
    start_s: float
    response_s: float | None  # Time when the response headers arrived.
    end_s: float | None  # End of the request; None if it was still pending.
    status: int | None
    wait_s: float = 0.0  # Time from the request's last byte to the end of the response headers.
    media_type: str = ""
    protocol: str = ""  # Name of the protocol in Chromium, such as h2.
    wire_bytes: int = 0  # Transferred bytes of all responses, including headers.
    body_bytes: int = 0  # Size of the decoded body.
    redirects: int = 0
    initiator: str = ""  # URL of the document, script or style sheet that made the request.
    is_blocking: bool = False  # True if the request blocks rendering.
    is_sent_by_script: bool = False  # True if sent by fetch, XMLHttpRequest or a similar API.
    is_in_frame: bool = False  # True for requests of a frame, including the request for its document.
    error: str = ""


class MixedRequest(Struct, frozen=True):
    """Request over plain HTTP.

    `kind` is Chromium's type in lower case, such as script.
    """

    url: str
    kind: str
    is_blocked: bool


class MixedRequests(Struct, frozen=True):
    """Requests that the browser blocked or upgraded, in order.

    Requests from style sheets and scripts are included.
    """

    items: tuple[MixedRequest, ...]


class LargestPaint(Struct, frozen=True):
    """Element of the largest contentful paint (LCP).

    `url` is the URL of its image; empty for text.
    """

    time_s: float
    url: str
    selector: str
    snippet: str
    is_lazy: bool
    is_high_priority: bool


class LayoutShift(Struct, frozen=True):
    """Layout shift without user input.

    `source` is a selector of the element that moved most; empty if it is gone.
    """

    time_s: float
    value: float
    source: str


class Task(Struct, frozen=True):
    """Task of the main thread.

    `duration_s` is wall-clock time.
    """

    time_s: float
    duration_s: float
    processor_s: float

    @property
    def ends_s(self) -> float:
        return self.time_s + self.duration_s


class Evaluation(Struct, frozen=True):
    """First run of a script, without its callbacks.

    The `url` of an inline script is the document's URL.
    """

    url: str
    time_s: float
    duration_s: float
    processor_s: float


class MainThread(Struct, frozen=True):
    """Tasks of the main thread in chronological order.

    `frame_commits_s` are the times when frames were committed. `rendering` are the parts of tasks that grow with the
    document: parsing, styles, layout, painting; without scripts. `parse_starts_s` are the times when the parser began
    with a part of the document.
    """

    tasks: tuple[Task, ...] = ()
    evaluations: tuple[Evaluation, ...] = ()
    frame_commits_s: tuple[float, ...] = ()
    rendering: tuple[Task, ...] = ()
    parse_starts_s: tuple[float, ...] = ()


class Progress(Struct, frozen=True):
    """Visual progress of a page load.

    `steps` are pairs of a time and the drawn share (0 to 1) of the final screen. The steps exclude `images`: pairs of
    an image's URL and its share of the final screen's content.
    """

    steps: tuple[tuple[float, float], ...]
    images: tuple[tuple[str, float], ...] = ()


class Load(Struct, frozen=True):
    """Unthrottled page load. A time is None if it could not be measured."""

    fcp_s: float | None
    lcp: LargestPaint | None
    shifts: tuple[LayoutShift, ...]
    load_s: float | None  # Load event; None if the page was still loading at the time limit.
    main_thread_s: float  # Processor time of the page's main thread.
    script_s: float  # Part of `main_thread_s` that was spent in scripts.
    requests: tuple[LoadedRequest, ...]
    left_out: int = 0  # Number of requests beyond the limit of recorded requests.
    main_thread: MainThread = MainThread()  # The main thread's tasks are empty if the load was not traced.
    progress: Progress | None = None  # The progress is None if no filmstrip was recorded.
    observed_s: float = 0.0  # Time from the navigation to the end of the wait for the page.
    starvation: float = 0.0  # Wait for a processor as a multiple of the processor time.


class FileCoverage(Struct, frozen=True):
    """Script or style sheet with the size of its unused part after the load. Lengths are in characters."""

    url: str
    kind: ResourceKind
    length: int
    unused: int


class Coverage(Struct, frozen=True):
    """Used and unused parts of the page's scripts and style sheets.

    Each file has one entry.
    """

    files: tuple[FileCoverage, ...]


class RenderedImage(Struct, frozen=True):
    """Image element after layout. Sizes are in CSS pixels; natural sizes are in pixels of the image file."""

    selector: str
    url: str
    width_px: float
    height_px: float
    natural_width: int
    natural_height: int
    top_px: float
    left_px: float
    fit: str  # Value of the CSS property object-fit.
    is_visible: bool
    is_lazy: bool
    is_eager: bool = False  # True for an image with an explicit loading="eager".
    # True if styles pixelate or blur the image on purpose.
    is_pixelated_or_blurred: bool = False
    # Browsers divide the natural size of such images by their pixel density (srcset, <picture>).
    has_several_files: bool = False


class TapTarget(Struct, frozen=True):
    """Link or control after layout. `is_crowded` is True if another target is within 24 CSS pixels of its centre."""

    selector: str
    width_px: float
    height_px: float
    is_crowded: bool


class Viewport(Struct, frozen=True):
    """Size of the viewport in CSS pixels. `ratio` is the number of device pixels per CSS pixel."""

    width_px: int
    height_px: int
    ratio: float


class Layout(Struct, frozen=True):
    """Page layout after the load. `markup` is the DOM as HTML, or None if it is too long to examine."""

    markup: str | None
    letters_by_px: Mapping[float, int]
    targets: tuple[TapTarget, ...]
    images: tuple[RenderedImage, ...]
    viewport: Viewport


class VisibleElement(Struct, frozen=True):
    """Visible element that is not text, such as an image or a form field.

    `share` is the part of the viewport's area that the element takes, 0 to 1. `is_spinning`: the element has an endless
    animation, or its name or ARIA state says that the page is loading.
    """

    tag: str  # The tag "background" stands for a CSS background image.
    region: str
    share: float
    is_spinning: bool = False


class Screen(Struct, frozen=True):
    """Visible content of the page after the load.

    Open shadow trees are included. Texts and elements have a region: `frame` is the page's banner, navigation and
    footer, `dialog` is what lies above the page, `content` is the rest. What an opaque element of the screen's size
    hides is not visible.
    """

    at_s: float  # Time when the script screen.js ran.
    title: str
    texts: Mapping[str, str]  # Beginning of the visible text of each region.
    elements: tuple[VisibleElement, ...] = ()
    loading_indicators: tuple[str, ...] = ()  # Selectors of spinners, skeletons and busy elements.
    empty_roots: tuple[str, ...] = ()  # Selectors of empty containers for the main content, such as #root.
    fields: int = 0  # Number of form fields.
    has_content_below: bool = False  # True if the page has content below the first screen.
    has_scripts: bool = False
    # The first contentful paint may be in a closed shadow tree.
    has_contentful_paint: bool = False
    is_plain: bool = False  # True if the whole screenshot has the same colour.
    waited_s: float = 0.0  # Time from the navigation to the end of the wait for visible content.
    had_enough_time: bool = True  # True if the page had enough time to show content.

    @property
    def text(self) -> str:
        """Return the visible text of all regions."""
        return " ".join(filter(None, self.texts.values()))


class AxeNode(Struct, frozen=True):
    """Element that an axe-core rule reports. `why` is axe-core's explanation.

    `selector` is the shortest unique selector; `ancestry` is the chain of the element's ancestors, without positions.
    `colours` are those of a text and its background. `width` is set if the rule reports the element on this width only.
    """

    selector: str
    ancestry: str
    snippet: str
    why: str
    colours: str = ""
    width: int | None = None


class AxeRule(Struct, frozen=True):
    """Result of an axe-core rule that found violations or was incomplete.

    `impact` is axe-core's impact; empty if there is none. `pairs` are pairs of colours with the number of their
    elements, the worst contrast first. `nodes` has elements of every pair, in the same order.
    """

    id: str
    impact: str
    tags: tuple[str, ...]
    help: str
    count: int
    nodes: tuple[AxeNode, ...]  # Only the first nodes; `count` is the total number.
    pairs: tuple[tuple[str, int], ...] = ()


class AxeReport(Struct, frozen=True):
    """Results of axe-core for the rendered page and its frames, on pages of `widths` CSS pixels.

    Rules in `unfinished` did not judge all elements in time. They have no result, or the faults that they found.
    """

    version: str
    violations: Mapping[str, AxeRule]
    incomplete: Mapping[str, AxeRule]
    passes: frozenset[str]
    inapplicable: frozenset[str]
    untested_frames: int = 0
    unfinished: frozenset[str] = frozenset()
    widths: tuple[int, ...] = (412,)


class Box(Struct, frozen=True):
    """Position and size of an element in the document, in CSS pixels."""

    left: int
    top: int
    width: int
    height: int


class PagePicture(Struct, frozen=True):
    """Screenshot of the page from its top. Sizes are in CSS pixels; `boxes` maps selectors to elements' boxes."""

    data: bytes
    width: int
    height: int
    boxes: Mapping[str, Box]


class Frame(Struct, frozen=True):
    """JPEG frame of the filmstrip, `at_ms` after the load began.

    `marks` are the paints that this frame is the first to show.
    """

    at_ms: int
    marks: tuple[str, ...]
    data: bytes


class BrowserLoad(Struct, frozen=True):
    """All browser evidence of a visit. Failed parts are None; `problems` maps their field names to reasons."""

    product: str  # Name and version of the browser, such as Chromium 156.0.
    first: Load
    again: tuple[Load, ...] = ()  # Repeated loads, each with an empty cache.
    layout: Layout | None = None
    files: tuple[FileCoverage, ...] | None = None
    axe: AxeReport | None = None
    first_screen: PagePicture | None = None  # Screenshot of the viewport, in device pixels.
    page_picture: PagePicture | None = None  # Screenshot down to the lowest element that axe-core reports.
    frames: tuple[Frame, ...] = ()  # Filmstrip of the first load.
    screen: Screen | None = None
    console_errors: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()  # Console errors that are uncaught exceptions.
    # Results of different machines can be compared by this duration (host.js).
    host_ms: float | None = None
    # Scripts can change the final address without a navigation.
    shown_url: str = ""
    mixed_requests: tuple[MixedRequest, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def loads(self) -> tuple[Load, ...]:
        """Return the first load and its repetitions."""
        return (self.first, *self.again)


class Rendered(Struct, frozen=True):
    """Rendered page.

    It has the document after scripts have run, and the number of letters by font size (px) on a phone.
    """

    document: Document
    letters_by_px: Mapping[float, int]
    targets: tuple[TapTarget, ...] = ()
