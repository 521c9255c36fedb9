"""Test pages whose verdict depends on how a browser renders them."""

from __future__ import annotations

from tests.website_scan.accessibility.corrections.elements import Pages, element

TEXT = "<p>A boat that nobody had asked for lay at the pier until the end of the summer.</p>" * 9
BOX = "style='height: 90px; width: 200px; overflow: auto'"
OPTIONS = "".join(f"<div role=option id=o{number} aria-selected=false>Pier {number}</div>" for number in range(30))
ITEMS = "".join(f"<div role=menuitem id=o{number}>Action {number}</div>" for number in range(30))
TREE = "".join(f"<div role=treeitem id=o{number}>Pier {number}</div>" for number in range(30))
SCROLLER = "scrollable-region-focusable"
# WAI-ARIA Authoring Practices: in these widgets, the arrow keys scroll.
SCROLLERS_GOOD: Pages = {
    (SCROLLER, "menu"): f"<div role=menu tabindex=-1 aria-activedescendant=o2 {BOX}>{ITEMS}</div>",
    (SCROLLER, "combobox"): "<input role=combobox aria-controls=l aria-expanded=true aria-activedescendant=o2>"
    f"<div {BOX}><div role=listbox id=l>{OPTIONS}</div></div>",
    (SCROLLER, "combobox-without-active-option"): "<input role=combobox aria-controls=l aria-expanded=true>"
    f"<div {BOX}><div role=listbox id=l>{OPTIONS}</div></div>",
    (SCROLLER, "owned-tree"): f"<div tabindex=0 role=tree aria-owns=t aria-activedescendant=o2></div>"
    f"<div id=t {BOX}>{TREE}</div>",
    (SCROLLER, "reference"): f"<div role=menu tabindex=-1 id=e {BOX}>{ITEMS}</div>"
    "<script>e.ariaActiveDescendantElement = o2</script>",
    (SCROLLER, "tab-stop"): f"<div tabindex=0 {BOX}>{TEXT}</div>",
    (SCROLLER, "link"): f"<div {BOX}><a href=/>Home</a>{TEXT}</div>",
}
# Safari and older browsers do not reach these boxes with the Tab key.
SCROLLERS_OLDER: Pages = {
    (SCROLLER, "text"): f"<div {BOX}>{TEXT}</div>",
    (SCROLLER, "region"): f"<section aria-label=News {BOX}>{TEXT}</section>",
    (SCROLLER, "disabled-button"): f"<div {BOX}><button disabled>Go</button>{TEXT}</div>",
    (SCROLLER, "inner-tabindex"): f"<div {BOX}><p tabindex=-1>Go</p>{TEXT}</div>",
    (SCROLLER, "closed-popup"): "<input role=combobox aria-controls=l aria-expanded=false>"
    f"<div {BOX}>{TEXT}<div role=listbox id=l hidden>{OPTIONS}</div></div>",
    (SCROLLER, "other-activedescendant"): f"<div {BOX}>{TEXT}</div>"
    f"<div role=listbox tabindex=0 aria-label=A aria-activedescendant=o2>{OPTIONS}</div>",
}
SCROLLERS_BAD: Pages = {
    (SCROLLER, "negative-tabindex"): f"<div tabindex=-1 {BOX}>{TEXT}</div>",
    (SCROLLER, "missing-active-item"): f"<div role=menu tabindex=-1 aria-activedescendant=none {BOX}>{ITEMS}</div>",
}

CONTRAST = "color-contrast"
FAINT = "<p style='color: #bbb'>The deposit is due on arrival.</p>"
CLIPPED_PAGE = "<style>html, body { margin: 0; height: 100%; overflow: hidden }</style>"


def scroller(style: str, first: str = "width: 2000px; height: 2000px; flex: none") -> str:
    """Return a page whose faint text needs scrolling.

    In the scroll container, a large box comes before the text.
    """
    box = f"height: 200px; width: 300px; overflow: auto; {style}"
    return f"{CLIPPED_PAGE}<div style='{box}'><div style='{first}'></div><div>{FAINT}</div></div>"


# CSS Overflow 3, section 2.2: only content after the start can be reached by scrolling.
REACHED_BAD: Pages = {
    (CONTRAST, name): scroller(style)
    for name, style in {
        "block": "",
        "column": "display: flex; flex-direction: column",
        "column-reverse": "display: flex; flex-direction: column-reverse",
        "row-reverse": "display: flex; flex-direction: row-reverse",
        "wrap-reverse": "display: flex; flex-wrap: wrap-reverse",
        "right-to-left": "display: flex; direction: rtl",
        "vertical": "writing-mode: vertical-rl",
        "sideways": "writing-mode: sideways-lr; display: flex",
    }.items()
} | {
    (CONTRAST, "modal"): f"{CLIPPED_PAGE}<dialog id=d style='height: 200px; overflow: auto'>"
    f"<div style='height: 3000px'></div>{FAINT}</dialog><script>d.showModal()</script>",
    (CONTRAST, "closed-tree"): f"{CLIPPED_PAGE}<x-a><div style='height: 3000px'></div>{FAINT}</x-a>"
    + element("x-a", shadow="<div style='height: 300px; overflow: auto'><slot></slot></div>", mode="closed"),
}
REACHED_GOOD: Pages = {
    (CONTRAST, "before-start"): f"{CLIPPED_PAGE}<div style='height: 300px; overflow: auto; position: relative'>"
    f"<div style='position: absolute; top: -200px'>{FAINT}</div><div style='height: 3000px'></div></div>",
    (CONTRAST, "clipped"): scroller("").replace("overflow: auto", "overflow: hidden"),
    (CONTRAST, "moved-off"): scroller("position: fixed; transform: translateX(-100%); left: 0"),
}


def coloured(colour: str, background: str = "#fff") -> str:
    return f"<p style='color: {colour}; background: {background}'>Bring a towel.</p>"


# CSS Color 4, 4.4 "Missing Color Components and the none Keyword": shown as 0. WCAG 1.4.3 requires 4.5:1.
COLOURS_GOOD: Pages = {
    (CONTRAST, colour): coloured(colour)
    for colour in (
        "oklch(0.35 none none)",
        "oklab(0.35 none none)",
        "lab(30 none none)",
        "lch(30 none none)",
        "color(srgb none none none)",
        "color-mix(in oklch, #000 90%, white)",
        "oklch(none 0.1 20)",
    )
} | {(CONTRAST, "light-on-none"): coloured("#fff", "lab(20 none none)")}
COLOURS_BAD: Pages = {
    (CONTRAST, colour): coloured(colour)
    for colour in (
        "lab(75 none none)",
        "lch(75 none 20)",
        "oklch(0.8 none none)",
        "oklab(0.8 none 0)",
        "color(display-p3 0.8 0.8 none)",
        "color(srgb 1 none 1)",
        "color-mix(in oklch, #000 30%, white)",
        "color-mix(in lch, #000 30%, white)",
        "color-mix(in oklch, #999, oklch(0.8 none none))",
        "color(rec2020 0.8 0.8 none)",
        "oklch(from #bbb l none none)",
        "hsl(none 0% 80%)",
    )
} | {(CONTRAST, "on-none"): coloured("#fff", "lab(75 none none)")}

LINK_RULE = "link-in-text-block"


def link(style: str = "", content: str = "the short tour", attributes: str = "") -> str:
    return (
        "<style>a { color: #146; text-decoration: none } p { color: #000 }</style>"
        f"<p>Ask for <a href=/ {attributes} style='{style}'>{content}</a> if the wind is strong today.</p>"
    )


PICTURE = "<img alt='' width=12 height=12 src='data:image/svg+xml,<svg xmlns=\"http://www.w3.org/2000/svg\"/>'>"
# WCAG 1.4.1 Use of Color, techniques G182 and G183; failure F73.
CUES_GOOD: Pages = {
    (LINK_RULE, name): link(style)
    for name, style in {
        "inset-shadow": "box-shadow: inset 0 -1px #146",
        "second-shadow": "box-shadow: 0 0 transparent, 0 1px 0 #146",
        "drop-shadow": "filter: drop-shadow(0 1px 0 #146)",
        "capitals": "text-transform: uppercase",
        "small-capitals": "font-variant: small-caps",
        "spacing": "letter-spacing: 2px",
        "border": "border-bottom: 1px solid #146",
        "weight": "font-weight: bold",
        "underline": "text-decoration: underline",
        "side-border": "border-left: 3px solid #146",
        "text-shadow": "text-shadow: 1px 1px 1px #000",
        "text-stroke": "-webkit-text-stroke: 1px #146",
        "gradient": "background: linear-gradient(#146, #146) 0 100% / 100% 1px no-repeat",
    }.items()
} | {
    (LINK_RULE, "image"): link(content=f"{PICTURE} the long tour"),
    (LINK_RULE, "svg"): link(content="<svg width=12 height=12><circle r=5 /></svg> the long tour"),
    (LINK_RULE, "styled-icon"): link(
        content="<i style='display: inline-block; width: 12px; height: 12px; "
        "background-image: linear-gradient(red, tan)'></i> the long tour"
    ),
    (LINK_RULE, "underline-around"): link().replace("<a", "<u><a").replace("</a>", "</a></u>"),
    (LINK_RULE, "bold-inside"): link(content="<b>the long tour</b>"),
    (LINK_RULE, "border-inside"): link(content="<span style='border-bottom: 1px solid'>the long tour</span>"),
}
CUES_BAD: Pages = {
    (LINK_RULE, name): link(style)
    for name, style in {
        "plain": "",
        "empty-shadow": "box-shadow: 0 0 #146",
        "clear-shadow": "box-shadow: 0 0 0 0 transparent, 0 1px 0 transparent",
        "no-blur": "filter: blur(0)",
        "tiny-spacing": "letter-spacing: 0.1px",
        "clear-underline": "text-decoration: underline transparent",
        "white-border": "border-bottom: 1px solid #fff",
        "white-shadow": "box-shadow: 0 1px 0 #fff",
        "clear-border": "border-bottom: 1px solid transparent",
    }.items()
} | {
    (LINK_RULE, "all-underlined"): "<style>p { text-decoration: underline }</style>" + link(),
    (LINK_RULE, "hidden-icon"): link(content="<svg width=12 height=12 style='display: none'></svg> the long tour"),
    (LINK_RULE, "pixel"): link(content="<svg width=1 height=1></svg> the long tour"),
    (LINK_RULE, "broken-image"): link(content="<img alt='' src='data:,' width=12 height=12> the long tour"),
    (LINK_RULE, "partly-bold"): link(content="the <b>long</b> tour"),
}
CUES_REVIEW: Pages = {
    (LINK_RULE, "icon-font"): "<style>i::before { content: '→' }</style>" + link(content="the tour <i></i>"),
    (LINK_RULE, "drawn-line"): "<style>a::after { content: ''; position: absolute; inset: auto 0 0; height: 1px; "
    "background: #146 }</style>" + link("position: relative"),
    (LINK_RULE, "narrow-font"): link("font-stretch: 50%"),
    (LINK_RULE, "inverted"): link("filter: invert(1)"),
}

TARGET = "target-size"


def targets(markup: str, style: str = "") -> str:
    return f"<style>{style}</style><div>{markup * 3}</div>"


RADIO = "<input type=radio aria-label=May>"
BUTTON = "<button>Add</button><br>"
# WCAG 2.5.8, exception "User Agent Control": the size is determined by the user agent and not modified by the author.
SIZES_GOOD: Pages = {
    (TARGET, "radio"): targets(RADIO),
    (TARGET, "checkbox"): targets("<input type=checkbox aria-label=May>"),
    (TARGET, "button"): targets(BUTTON),
    (TARGET, "submit"): targets("<input type=submit value=Go><br>"),
    (TARGET, "select"): targets("<select aria-label=A><option>1</select><br>"),
    (TARGET, "text"): targets("<input aria-label=A><br>"),
    (TARGET, "colours"): targets(BUTTON, "button { color: #fff; background: #036; border-color: #036 }"),
    (TARGET, "margins"): targets(RADIO, "input { margin: 0 }"),
    (TARGET, "large"): targets("<button style='width: 30px; height: 30px'>A</button>"),
}
SIZES_BAD: Pages = {
    (TARGET, "radio-size"): targets(RADIO, "input { width: 16px; height: 16px; margin: 0 }"),
    (TARGET, "radio-appearance"): targets(RADIO, "input { appearance: none; border: 1px solid }"),
    (TARGET, "radio-scaled"): targets(RADIO, "div { transform: scale(0.8); width: 99px }"),
    (TARGET, "button-padding"): targets(BUTTON, "button { padding: 0 }"),
    (TARGET, "button-font"): targets(BUTTON, "button { font-size: 10px }"),
    (TARGET, "button-height"): targets(BUTTON, "button { max-height: 20px }"),
    (TARGET, "button-border"): targets(BUTTON, "button { border: 0 }"),
    (TARGET, "button-with-icon"): targets("<button aria-label=A><svg width=9 height=9></svg></button><br>"),
    (TARGET, "squeezed"): targets("<button>A</button>", "div { display: grid; grid-auto-rows: 12px }"),
    (TARGET, "link"): targets("<a href=/ style='display: inline-block'>A</a><br>"),
}

# WCAG 2.5.8, exception "Inline", and technique F73 concern links in visible text.
UNSEEN: dict[str, str] = {
    "script": "<script>const opening = 'The pier opens at nine';</script>",
    "style-sheet": "<style>.pier { color: #036 }</style>",
    "hidden": "<span hidden>The pier opens at nine</span>",
    "hidden-by-style": "<span style='visibility: hidden'>The pier opens at nine</span>",
    "off-screen": "<span style='position: absolute; left: -999px'>The pier opens at nine</span>",
}
SEEN: dict[str, str] = {
    "text": " and the pier opens at nine",
    "text-in-element": "<em>and the pier opens at nine</em>",
}
CROWDED = "<button style='width: 16px; height: 16px; padding: 0; border: 0'>A</button>" * 2
FAINT_LINK = "<a href=/ style='color: #444; text-decoration: none'>Pier</a>"
TEXT_GOOD: Pages = {
    (LINK_RULE, f"beside-{name}"): f"<div style='color: #333'>{FAINT_LINK}{beside}</div>"
    for name, beside in UNSEEN.items()
} | {(TARGET, f"beside-{name}"): f"<div>{CROWDED}{beside}</div>" for name, beside in SEEN.items()}
TEXT_BAD: Pages = {
    (LINK_RULE, f"beside-{name}"): f"<div style='color: #333'>{FAINT_LINK}{beside}</div>"
    for name, beside in SEEN.items()
} | {(TARGET, f"beside-{name}"): f"<div>{CROWDED}{beside}</div>" for name, beside in UNSEEN.items()}

SPACING = "avoid-inline-spacing"
LINES = "Boats leave the pier every hour as long as the water is high enough for them."
# WCAG 1.4.12: spacing by a style attribute that visitors cannot override has to be wide enough where text uses it.
SPACINGS_GOOD: Pages = {
    (SPACING, "small-font"): "<div style='word-spacing: 3px !important; font-size: 30px'>"
    f"<p style='font-size: 12px'>{LINES}</p></div>",
    (SPACING, "widened-inside"): "<div style='letter-spacing: 0.01em !important'>"
    f"<p style='letter-spacing: 0.2em'>{LINES}</p></div>",
    (SPACING, "one-line"): "<p style='line-height: 1em !important'>Boats</p>",
    (SPACING, "wide-lines"): f"<p style='line-height: 1.6 !important; width: 150px'>{LINES}</p>",
    (SPACING, "high-picture"): "<p style='line-height: 1em !important'>Boats <img src=/a alt=A height=90 width=9></p>",
    (SPACING, "inherited"): f"<p style='line-height: inherit !important; width: 150px'>{LINES}</p>",
}
SPACINGS_BAD: Pages = {
    (SPACING, name): f"<p style='{declaration} !important; width: 150px; font-size: 20px'>{LINES}</p>"
    for name, declaration in {
        "lines-of-font-size": "line-height: 1em",
        "lines-in-pixels": "line-height: 20px",
        "lines-by-number": "line-height: 1.3",
        "lines-of-browser": "line-height: normal",
        "letters": "letter-spacing: 1px",
        "words": "word-spacing: normal",
    }.items()
} | {
    (SPACING, "larger-font-inside"): "<div style='letter-spacing: 2px !important; font-size: 10px'>"
    f"<p style='font-size: 30px'>{LINES}</p></div>",
    (SPACING, "number-inside"): "<div style='line-height: 1.2 !important; width: 150px'>"
    f"<p style='font-size: 30px'>{LINES}</p></div>",
}

GOOD: Pages = SCROLLERS_GOOD | REACHED_GOOD | COLOURS_GOOD | CUES_GOOD | SIZES_GOOD | TEXT_GOOD | SPACINGS_GOOD
BAD: Pages = SCROLLERS_BAD | REACHED_BAD | COLOURS_BAD | CUES_BAD | SIZES_BAD | TEXT_BAD | SPACINGS_BAD
