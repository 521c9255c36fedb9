"""What a browser brings: one load of the page, seen from all sides. Seconds since the navigation began, and bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scanner.page.evidence import Document
from scanner.page.references import ResourceKind


@dataclass(frozen=True, slots=True)
class LoadedRequest:
    """A request that the page made, redirects folded into the last. `kind` is None for documents of frames."""

    url: str  # as it was asked for, without a fragment
    kind: ResourceKind | None
    method: str
    start_s: float
    response_s: float | None  # when the headers were there
    end_s: float | None  # None while it had not ended
    status: int | None
    wait_s: float = 0.0  # between the request's last byte and the answer's first
    media_type: str = ""
    protocol: str = ""  # such as h2
    wire_bytes: int = 0  # heads and bodies, as they were sent
    body_bytes: int = 0  # decoded
    redirects: int = 0
    initiator: str = ""  # the address of what asked for it
    is_blocking: bool = False  # nothing is shown before it came
    is_programmed: bool = False  # fetch, XMLHttpRequest and the like
    in_frame: bool = False  # a frame's document, or what that asked for
    error: str = ""


@dataclass(frozen=True, slots=True)
class LargestPaint:
    """The element of the largest contentful paint. `url` is its image's, empty for text."""

    time_s: float
    url: str
    selector: str
    snippet: str
    is_lazy: bool
    is_high_priority: bool


@dataclass(frozen=True, slots=True)
class LayoutShift:
    """Something moved by itself; `source` is a selector of the element that moved most, if it still is there."""

    time_s: float
    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Task:
    """Something that the main thread did without a break: when, how long by the clock, and in processor time."""

    time_s: float
    duration_s: float
    processor_s: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A script was run, inline ones under the document's address; what it put off runs in tasks of its own."""

    url: str
    time_s: float
    duration_s: float
    processor_s: float


@dataclass(frozen=True, slots=True)
class MainThread:
    """What the main thread did, in the order of time; `frames_s` is when it had handed over each frame to be drawn."""

    tasks: tuple[Task, ...] = ()
    evaluations: tuple[Evaluation, ...] = ()
    frames_s: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Load:
    """One load without any throttling. A time is None where there was nothing to measure, which is not "at once"."""

    fcp_s: float | None
    lcp: LargestPaint | None
    shifts: tuple[LayoutShift, ...]
    load_s: float | None  # None: the page was still loading when the time was up
    main_thread_s: float  # processor time of the page's main thread
    script_s: float  # of these, in scripts
    requests: tuple[LoadedRequest, ...]
    left_out: int = 0  # requests beyond those that are listed
    main_thread: MainThread = MainThread()  # as far as it was traced


@dataclass(frozen=True, slots=True)
class UsedFile:
    """A script or style sheet and how much of it was used until the load was over; lengths in characters."""

    url: str
    kind: ResourceKind
    length: int
    unused: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """Each file of the page that could be followed, once."""

    files: tuple[UsedFile, ...]


@dataclass(frozen=True, slots=True)
class RenderedImage:
    """An image element as laid out. Sizes in CSS pixels, those of the file in its own."""

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
    is_eager: bool = False  # it says so itself
    has_choices: bool = False  # of files (srcset, <picture>); its natural size is then counted by their density


@dataclass(frozen=True, slots=True)
class TapTarget:
    """A link or control as it was laid out. `is_crowded`: another one lies within 24 pixels of its centre."""

    selector: str
    width_px: float
    height_px: float
    is_crowded: bool


@dataclass(frozen=True, slots=True)
class Viewport:
    """The screen: CSS pixels, and device pixels for each of them."""

    width_px: int
    height_px: int
    ratio: float


@dataclass(frozen=True, slots=True)
class Layout:
    """The page as it stood when the load was over; `markup` is None when it is too long to look at."""

    markup: str | None
    letters_by_px: Mapping[float, int]
    targets: tuple[TapTarget, ...]
    images: tuple[RenderedImage, ...]
    viewport: Viewport


@dataclass(frozen=True, slots=True)
class AxeNode:
    """An element that a rule speaks of. `why` is axe-core's own sentence.

    `selector` is the shortest that leads there, `ancestry` the elements around it, without numbers.
    """

    selector: str
    ancestry: str
    snippet: str
    why: str


@dataclass(frozen=True, slots=True)
class AxeRule:
    """A rule that found something, or could not tell. `impact` is axe-core's word for it, empty if it has none."""

    id: str
    impact: str
    tags: tuple[str, ...]
    help: str
    count: int
    nodes: tuple[AxeNode, ...]  # the first of them


@dataclass(frozen=True, slots=True)
class AxeReport:
    """axe-core's verdicts on the rendered page, frames included. `frames_left_out` were too many or did not answer."""

    version: str
    violations: Mapping[str, AxeRule]
    incomplete: Mapping[str, AxeRule]
    passes: frozenset[str]
    inapplicable: frozenset[str]
    frames_left_out: int = 0


@dataclass(frozen=True, slots=True)
class Box:
    """Where an element stands in the document, in CSS pixels."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class PagePicture:
    """WebP of the document from its top on; sizes in CSS pixels, `boxes` by the selectors of what was asked for."""

    data: bytes
    width: int
    height: int
    boxes: Mapping[str, Box]


@dataclass(frozen=True, slots=True)
class Frame:
    """JPEG of the screen so many milliseconds after the load began; `marks` are those that it is the first to show."""

    at_ms: int
    marks: tuple[str, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class BrowserLoad:
    """Everything from one visit. What could not be had is None, and `problems` says why, by its field's name."""

    product: str  # such as Chromium 156.0
    first: Load
    again: tuple[Load, ...] = ()  # further loads, each with an empty cache
    layout: Layout | None = None
    files: tuple[UsedFile, ...] | None = None
    axe: AxeReport | None = None
    first_screen: PagePicture | None = None  # in device pixels
    page_picture: PagePicture | None = None  # down to what axe-core names
    frames: tuple[Frame, ...] = ()  # of the first load
    console_errors: tuple[str, ...] = ()
    host_ms: float | None = None  # for a fixed piece of work, so that figures of different machines can be compared
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def loads(self) -> tuple[Load, ...]:
        """All of them, the first one first."""
        return (self.first, *self.again)


@dataclass(frozen=True, slots=True)
class Rendered:
    """The page after its scripts have run, on a phone's screen: its tree, and letters by their size in pixels."""

    document: Document
    letters_by_px: Mapping[float, int]
    targets: tuple[TapTarget, ...] = ()
