"""Test pages with faults in their structure."""

from __future__ import annotations

from tests.website_scan.accessibility.corrections.elements import Pages, element

NESTED = "nested-interactive"
# HTML, the a element: it must not contain interactive content. WAI-ARIA: the children of some roles are presentational.
NESTED_GOOD: Pages = {
    (NESTED, "text"): "<a href=/><h2>Boats</h2><img alt='Pier' src=data:,></a>",
    (NESTED, "button-beside"): "<div><a href=/>Boats</a><button>Book</button></div>",
    (NESTED, "placeholder-link"): "<a><button>Book</button></a>",
    (NESTED, "hidden-button"): "<a href=/>Boats<button hidden>Book</button></a>",
    (NESTED, "focusable-by-script"): "<a href=/><div tabindex=-1>Boats</div></a>",
    (NESTED, "disabled-button"): "<a href=/>Boats<button disabled>Book</button></a>",
    (NESTED, "summary-of-section"): "<section><summary><a href=/>Boats</a></summary></section>",
}
NESTED_BAD: Pages = {
    (NESTED, "editable"): "<a href=/>Boats <span contenteditable>Book</span></a>",
    (NESTED, "role-link"): "<span role=link tabindex=0>Boats <button>Book</button></span>",
    (NESTED, "button"): "<a href=/><button type=button>Book</button></a>",
    (NESTED, "button-in-card"): "<a href=/><div><h2>Boats</h2><span><button>Book</button></span></div></a>",
    (NESTED, "button-out-of-order"): "<a href=/><button tabindex=-1>Book</button></a>",
    (NESTED, "input"): "<a href=/>Boats <input type=checkbox aria-label=A></a>",
    (NESTED, "select"): "<a href=/>Boats <select aria-label=A><option>1</select></a>",
    (NESTED, "tab-stop"): "<a href=/>Boats <span tabindex=0>Book</span></a>",
    (NESTED, "link-by-script"): "<a href=/ id=e>Boats </a><script>e.append(Object.assign("
    "document.createElement('a'), {href: '/b', textContent: 'Book'}))</script>",
    (NESTED, "video"): "<a href=/>Boats <video controls></video></a>",
    (NESTED, "custom-element"): "<a href=/><x-a>Book</x-a></a>"
    + element("x-a", shadow="<button><slot></slot></button>"),
    (NESTED, "link-in-button"): "<button><a href=/>Boats</a></button>",
}

ORDER = "heading-order"
# W3C WAI, "Page Structure Tutorial", Headings: do not skip levels.
HEADINGS_GOOD: Pages = {
    (ORDER, "sidebar"): "<h1>A</h1><h2>B</h2><aside><h4>C</h4></aside>",
    (ORDER, "content-after-sidebar"): "<h1>A</h1><aside><h3>B</h3></aside><h2>C</h2>",
    (ORDER, "sidebar-first"): "<aside><h3>B</h3></aside><h1>A</h1><h2>C</h2>",
    (ORDER, "deeper-content"): "<h1>A</h1><h2>B</h2><aside><h2>C</h2></aside><h3>D</h3>",
    (ORDER, "footer"): "<h1>A</h1><footer><h4>B</h4><h5>C</h5></footer>",
    (ORDER, "content-first-is-h3"): "<h3>A</h3><h4>B</h4>",
    (ORDER, "shadow-tree-in-sidebar"): "<h1>A</h1><aside><x-a></x-a></aside><h2>C</h2>"
    + element("x-a", shadow="<h4>B</h4>"),
    (ORDER, "sidebar-in-shadow-tree"): "<h1>A</h1><x-a><h4>B</h4></x-a><h2>C</h2>"
    + element("x-a", shadow="<aside><slot></slot></aside>"),
    (ORDER, "frame"): "<h1>A</h1><iframe title=A srcdoc='<h3>T</h3><h4>U</h4>'></iframe><h2>B</h2>",
}
HEADINGS_BAD: Pages = {
    (ORDER, "content"): "<h1>A</h1><h3>B</h3>",
    (ORDER, "past-sidebar"): "<h1>A</h1><aside><h3>B</h3></aside><h3>C</h3>",
    (ORDER, "past-sidebar-class"): "<h1>A</h1><div class=sidebar><h2>B</h2></div><h3>C</h3>",
    (ORDER, "within-sidebar"): "<h1>A</h1><aside><h2>B</h2><h4>C</h4></aside>",
    (ORDER, "past-frame"): "<h1>A</h1><iframe title=A srcdoc='<h1>T</h1><h2>U</h2>'></iframe><h3>C</h3>",
    (ORDER, "in-frame"): "<h1>A</h1><iframe title=A srcdoc='<h1>T</h1><h4>U</h4>'></iframe>",
    (ORDER, "past-two-sections"): "<h1>A</h1><nav><h2>B</h2></nav><aside><h3>C</h3></aside><h4>D</h4>",
}

FRAME_MARKUP = "<title>Tide</title><header>Tide</header><main><h1>Tide</h1></main><nav>A</nav><footer>Office</footer>"
FRAME = f'<iframe title=Tide srcdoc="<!doctype html><html lang=en>{FRAME_MARKUP}"></iframe>'
FILM = '<iframe title=Film srcdoc="<!doctype html><html lang=en><title>Film</title><video controls></video>"></iframe>'
# WAI-ARIA 1.2: a document may have one banner, one contentinfo and one main.
FRAMES_GOOD: Pages = {
    ("landmark-unique", "frame"): f"<header>A</header><main><h1>A</h1>{FRAME}</main><nav>B</nav><footer>C</footer>",
    ("landmark-unique", "two-frames"): f"<main><h1>A</h1>{FRAME}{FRAME}</main>",
    **{
        (
            f"landmark-no-duplicate-{role}",
            "frame",
        ): f"<header>A</header><main><h1>A</h1>{FRAME}</main><footer>C</footer>"
        for role in ("banner", "contentinfo", "main")
    },
    ("bypass", "film"): f"<main><h1>A</h1>{FILM}</main>",
}
FRAMES_BAD: Pages = {
    ("landmark-unique", "page"): f"<main><h1>A</h1>{FILM}</main><nav>A</nav><nav>B</nav>",
    ("landmark-unique", "in-frame"): FRAME.replace("<nav>A</nav>", "<nav>A</nav><nav>B</nav>"),
    ("landmark-no-duplicate-main", "page"): f"<main><h1>A</h1></main><main>{FILM}</main>",
}

# A field without a name is reported by `label`, and a field with only a title by `label-title-only`.
TITLES_GOOD: Pages = {
    ("label-title-only", "description-only"): "<p id=d>Number and street</p><input aria-describedby=d>",
    ("label-title-only", "blank-title"): "<p id=d>Number and street</p><input title=' ' aria-describedby=d>",
    ("label", "title"): "<input title=Street>",
}
TITLES_BAD: Pages = {
    ("label", "description-only"): "<p id=d>Number and street</p><input aria-describedby=d>",
    ("label-title-only", "title"): "<input title=Street>",
    ("label-title-only", "title-and-description"): "<p id=d>Number</p><input title=Street aria-describedby=d>",
}

GOOD: Pages = NESTED_GOOD | HEADINGS_GOOD | FRAMES_GOOD | TITLES_GOOD
BAD: Pages = NESTED_BAD | HEADINGS_BAD | FRAMES_BAD | TITLES_BAD
