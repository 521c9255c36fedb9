"""Pages with random styles that decide what lies below and above texts."""

from __future__ import annotations

from random import Random

PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs="
COLOURS = (
    "#fff", "#eee", "#767676", "#333", "#000", "rgb(200 0 0 / .5)", "rgba(0, 0, 90, .2)", "transparent",
    "oklch(60% .2 30)", "color(display-p3 1 0 0)", "hsl(120 50% 40%)", "color-mix(in srgb, red, blue)", "currentcolor",
)  # fmt: skip
STYLES = {
    "background-color": COLOURS,
    "background-image": ("none", "linear-gradient(#fff, #000)", f"url({PIXEL})"),
    "color": COLOURS,
    "display": ("block", "inline", "inline-block", "flex", "grid", "none", "contents", "inline-flex"),
    "filter": ("none", "grayscale(1)", "blur(1px)"),
    "float": ("none", "left", "right"),
    "font-size": ("8px", "14px", "18.66px", "24px", "0"),
    "font-weight": ("400", "600", "700"),
    "height": ("auto", "20px", "120px", "0"),
    "isolation": ("auto", "isolate"),
    "left": ("0", "20px", "-50px", "-9999px"),
    "letter-spacing": ("normal", "4px"),
    "margin": ("0", "-12px", "8px", "-30px 0 0 10px"),
    "mix-blend-mode": ("normal", "multiply", "screen", "difference"),
    "opacity": ("1", ".99", ".5", "0"),
    "overflow": ("visible", "hidden", "auto", "scroll", "clip"),
    "padding": ("0", "4px", "20px"),
    "pointer-events": ("auto", "none"),
    "position": ("static", "relative", "absolute", "fixed", "sticky"),
    "text-indent": ("0", "-999px", "10px"),
    "text-shadow": ("none", "0 0 2px #fff", "1px 1px #000, -1px -1px #000", "0 0 1px red, 1px 0 3px #888"),
    "top": ("auto", "0", "10px", "-10px"),
    "transform": ("none", "translateX(10px)", "rotate(30deg)", "scale(.5)"),
    "visibility": ("visible", "hidden"),
    "-webkit-text-fill-color": ("currentcolor", "red", "transparent"),
    "-webkit-text-stroke": ("0", "1px #888", "2px transparent"),
    "width": ("auto", "60px", "150%", "0"),
    "will-change": ("auto", "transform", "opacity"),
    "z-index": ("auto", "0", "1", "-1"),
}
TEXTS = (
    "Tea from Uji",
    "A",
    "",
    "\N{MULTIPLICATION SIGN}",
    "🍵",
    "🍵 Tea",
    "日本茶",
    "Menü",
    "menu",
    "a b c d e f g h i j k l m n o p q r",
)
TAGS = ("div", "p", "span", "a href=/x", "b", "section", "label", "li", "button", "td", "h2", "em", "fieldset")
LEAVES = (
    f"<img alt=Tea src={PIXEL} width=40 height=20>",
    "<svg width=30 height=20><text y=15>Tea</text></svg>",
    "<input value=Tea aria-label=Tea>",
    "<input placeholder=Tea aria-label=Tea disabled>",
    "<textarea aria-label=Tea>Tea</textarea>",
    "<select aria-label=Tea><option>Tea</select>",
    "<br>",
    "<canvas width=20 height=20></canvas>",
    "<dialog open>Tea</dialog>",
    "<p><template shadowrootmode=open><style>::slotted(*) { color: #999 }</style><b>Tea</b><slot></slot></template>"
    "<i>Uji</i></p>",
)
PSEUDO_STYLES = (
    "content: ''; position: absolute; inset: 0; background: #ccc",
    "content: ''; position: absolute; width: 6px; height: 6px; background: red",
    "content: '•'; color: red",
    "content: ''; position: absolute; width: 50%; height: 30%; background: linear-gradient(red, blue)",
    "content: 'x'; position: absolute; opacity: 0; background: #000",
)


def random_page(seed: int, elements: int = 40) -> str:
    """Return a page with texts in random boxes, some of which change on wide screens."""
    random = Random(seed)
    styles = [_rule(random, f".c{number}", most=random.choice((1, 2, 4, 6))) for number in range(elements // 3)]
    wide = [_rule(random, f".c{random.randrange(elements // 3)}", most=2) for _ in range(3)]
    sides = random.sample(("before", "after"), random.choice((0, 0, 1, 2)))
    pseudo = [f".c{random.randrange(elements // 3)}::{side} {{ {random.choice(PSEUDO_STYLES)} }}" for side in sides]
    page = _rule(random, "html", most=1) + _rule(random, "body", most=2) if random.random() < 0.3 else ""
    sheet = "\n".join([page, *styles, *pseudo, "@media (min-width: 701px) {", *wide, "}"])
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>Tea</title>"
        f"<meta name=viewport content='width=device-width'><style>{sheet}</style></head>"
        f"<body><main><h1>Tea</h1>{_content(random, elements, depth=0)}</main></body></html>"
    )


def _rule(random: Random, selector: str, most: int) -> str:
    names = random.sample(list(STYLES), random.randint(1, most))
    return f"{selector} {{ {'; '.join(f'{name}: {random.choice(STYLES[name])}' for name in names)} }}"


def _content(random: Random, elements: int, depth: int) -> str:
    parts = []
    while elements > 0:
        inner = random.randint(0, min(elements - 1, 12)) if depth < 6 else 0
        elements -= inner + 1
        if random.random() < 0.1:
            parts.append(random.choice(LEAVES))
            continue
        tag = random.choice(TAGS)
        look = f" class='c{random.randrange(13)}'" if random.random() < 0.7 else ""
        text = random.choice(TEXTS)
        parts.append(f"<{tag}{look}>{text}{_content(random, inner, depth + 1)}</{tag.split()[0]}>")
    return "".join(parts)
