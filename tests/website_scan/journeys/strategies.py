"""Journeys of all kinds of steps for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from website_scan.journeys import rules
from website_scan.journeys.journey import (
    DEFAULT_STEP_TIMEOUT_S,
    PLACEHOLDER,
    Change,
    Click,
    ElementTarget,
    ExpectedNavigation,
    Hover,
    Journey,
    Judge,
    KeyDown,
    KeyUp,
    Navigate,
    Scroll,
    Selector,
    SelectorKind,
    SelectorPart,
    SetViewport,
    StateRule,
    Step,
    WaitForAddress,
    WaitForElement,
    WaitForTitle,
)
from website_scan.journeys.keys import KEY_NAMES
from website_scan.journeys.selectors import ARIA_ATTRIBUTE, PUPPETEER_SYNTAX, containing, css

HOSTS = ("shop.example", "idp.example:8443", "xn--bcher-kva.example")
# Values that nobody can mistake for passwords, which are moved out of the journey.
NO_SECRETS = st.sampled_from(["", "true", "false", "{{password}}", "Bearer {{api_token}}", "{{a}}\n\t{{b}} ä {"])


def printable(max_size: int = 20) -> st.SearchStrategy[str]:
    """Return texts that may be shown and are not blank."""
    characters = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])
    return st.text(characters, min_size=1, max_size=max_size).filter(
        lambda text: bool(text.strip()) and not rules.UNPRINTABLE.search(text) and not PLACEHOLDER.search(text)
    )


def names(max_size: int = 20) -> st.SearchStrategy[str]:
    """Return names without spaces that a reader would remove."""
    return printable(max_size).map(lambda text: " ".join(text.split()))


URLS = st.builds(
    lambda host, path: rules.check_address(f"https://{host}/{path}"), st.sampled_from(HOSTS), printable().map(str.strip)
)
PARTS = st.builds(
    SelectorPart, st.just(SelectorKind.ARIA), names().filter(lambda name: not ARIA_ATTRIBUTE.search(name)),
    st.sampled_from(["", "button", "link"]),
) | st.builds(
    SelectorPart,
    st.sampled_from([kind for kind in SelectorKind if kind is not SelectorKind.ARIA]),
    printable().filter(lambda text: not PUPPETEER_SYNTAX.search(text)) | st.just("aria/x"),
)  # fmt: skip
SELECTORS = st.builds(Selector, st.lists(PARTS, min_size=1, max_size=3).map(tuple))
TARGETS = st.builds(
    ElementTarget,
    st.lists(SELECTORS, min_size=1, max_size=4, unique=True).map(tuple),
    st.lists(st.integers(0, 99), max_size=2).map(tuple),
)
FIELDS = st.sampled_from([ElementTarget((css("#field"),)), ElementTarget((containing("Search"), css("input")), (1,))])
NAVIGATIONS = st.none() | st.builds(ExpectedNavigation, st.just("") | URLS, st.just("") | names())
TIMEOUTS = st.just(DEFAULT_STEP_TIMEOUT_S) | st.integers(1, 30_000).map(lambda ms: ms / 1000)
PIXELS = st.integers(-1000, 100_000).map(float) | st.sampled_from([0.5, 62.125])
JSON_VALUES = st.none() | st.booleans() | printable() | st.integers(-5, 5).map(float)
SIZES = st.integers(1, rules.MAX_PIXELS)
COMMON = {"expected_navigation": NAVIGATIONS, "timeout_s": TIMEOUTS}
NAVIGATE = st.builds(Navigate, url=URLS, **COMMON)
VIEWPORTS = st.builds(
    SetViewport, width=SIZES, height=SIZES, scale=st.sampled_from([1.0, 2.0, 2.625]), is_mobile=st.booleans(), **COMMON
)
OTHER_STEPS: st.SearchStrategy[Step] = st.one_of(
    VIEWPORTS,
    st.builds(
        Click,
        target=TARGETS,
        button=st.sampled_from(["primary", "secondary"]),
        count=st.sampled_from([1, 2]),
        offset=st.none() | st.tuples(PIXELS.filter(lambda pixels: pixels >= -1000), PIXELS),
        held_for_s=st.sampled_from([0.0, 0.05, 2.0]),
        **COMMON,
    ),
    st.builds(Hover, target=TARGETS, **COMMON),
    st.builds(Change, target=TARGETS, value=NO_SECRETS, **COMMON),
    st.builds(Change, target=FIELDS, value=st.text("abc \n{", max_size=9), **COMMON),
    st.builds(KeyDown, key=st.sampled_from(sorted(KEY_NAMES)), **COMMON),
    st.builds(KeyUp, key=st.sampled_from(sorted(KEY_NAMES)), **COMMON),
    st.builds(Scroll, x=PIXELS, y=PIXELS, target=st.none() | TARGETS, **COMMON),
    st.builds(
        WaitForElement,
        target=TARGETS,
        operator=st.sampled_from([">=", "==", "<="]),
        count=st.integers(0, 1000),
        is_visible=st.sampled_from([True, False, None]),
        attributes=st.dictionaries(names(), printable(), max_size=2).map(lambda items: tuple(items.items())),
        properties=st.dictionaries(names(), JSON_VALUES, max_size=2).map(lambda items: tuple(items.items())),
        **COMMON,
    ),
    st.builds(
        WaitForAddress,
        url=URLS | st.sampled_from(["/account", "/a\"b'c\\", "?page=2"]),
        is_prefix=st.booleans(),
        timeout_s=TIMEOUTS,
    ),
    st.builds(WaitForTitle, title=printable(), timeout_s=TIMEOUTS),
)


@st.composite
def journeys(draw: st.DrawFn) -> Journey:
    """Draw a journey that respects all limits."""
    states = [Judge(name=name) for name in draw(st.lists(names(), max_size=3, unique=True))]
    steps = draw(st.permutations([*draw(st.lists(OTHER_STEPS, max_size=6)), *states]))
    start = [*draw(st.lists(VIEWPORTS, max_size=1)), draw(NAVIGATE)]
    rule = draw(st.sampled_from([rule for rule in StateRule if states or rule is not StateRule.STEPS]))
    hosts = draw(st.lists(st.sampled_from(["idp.example", "login.example.com"]), unique=True))
    return rules.checked_journey(draw(names()), [*start, *steps], rule, hosts)
