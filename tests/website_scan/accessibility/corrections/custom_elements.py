"""Test pages with custom elements.

Only the browser knows their roles and names.
"""

from __future__ import annotations

from tests.website_scan.accessibility.corrections.elements import Pages, element

# HTML, "ElementInternals: ARIA mixin" and "custom elements: default ARIA semantics": the element's attributes take
# precedence over its internals. HTML, "labelable elements": form-associated custom elements can have labels.
LABELABLE = "static formAssociated = true;"
INTERNALS_GOOD: Pages = {
    ("aria-allowed-attr", "role"): "<x-a aria-label=Menu aria-expanded=false tabindex=0></x-a>"
    + element("x-a", "i.role = 'button'"),
    ("aria-prohibited-attr", "role"): "<x-a aria-label='Night view' tabindex=0></x-a>"
    + element("x-a", "i.role = 'switch'"),
    ("aria-required-attr", "checked"): "<x-a role=checkbox aria-label=A></x-a>"
    + element("x-a", "i.ariaChecked = 'true'"),
    ("aria-required-attr", "not-checked"): "<x-a role=checkbox aria-label=A></x-a>"
    + element("x-a", "i.ariaChecked = 'false'"),
    ("aria-required-attr", "slider"): "<x-a role=slider aria-label=A></x-a>" + element("x-a", "i.ariaValueNow = '30'"),
    ("aria-toggle-field-name", "label"): "<label for=c>A</label><x-a id=c role=checkbox aria-checked=true></x-a>"
    + element("x-a", "i.ariaBusy = 'false'", fields=LABELABLE),
    ("aria-toggle-field-name", "name"): "<x-a role=switch aria-checked=true></x-a>"
    + element("x-a", "i.ariaLabel = 'Night view'"),
    ("aria-command-name", "name"): "<x-a role=button tabindex=0></x-a>" + element("x-a", "i.ariaLabel = 'Menu'"),
    ("aria-input-field-name", "name"): "<x-a role=slider aria-valuenow=1 tabindex=0></x-a>"
    + element("x-a", "i.ariaLabel = 'Volume'"),
    ("aria-meter-name", "name"): "<x-a role=meter aria-valuenow=1></x-a>" + element("x-a", "i.ariaLabel = 'Tide'"),
    ("aria-progressbar-name", "name"): "<x-a role=progressbar></x-a>" + element("x-a", "i.ariaLabel = 'Upload'"),
    ("aria-dialog-name", "name"): "<x-a role=dialog>Hi</x-a>" + element("x-a", "i.ariaLabel = 'News'"),
    ("role-img-alt", "name"): "<x-a role=img></x-a>" + element("x-a", "i.ariaLabel = 'Map'"),
    ("role-img-alt", "reference"): "<p id=n>Map</p><x-a role=img></x-a>"
    + element("x-a", "i.ariaLabelledByElements = [document.getElementById('n')]"),
    ("button-name", "icon"): "<button><x-a></x-a></button>" + element("x-a", "i.role = 'img'; i.ariaLabel = 'Search'"),
    ("link-name", "icon"): "<a href=/><x-a></x-a></a>" + element("x-a", "i.role = 'img'; i.ariaLabel = 'Home'"),
    ("aria-required-children", "items"): "<div role=list><x-a>1</x-a><x-a>2</x-a></div>"
    + element("x-a", "i.role = 'listitem'"),
    ("aria-required-parent", "list"): "<x-a><div role=listitem>1</div></x-a>" + element("x-a", "i.role = 'list'"),
    ("landmark-one-main", "role"): "<x-a><h1>Boats</h1></x-a>" + element("x-a", "i.role = 'main'"),
    ("region", "role"): "<x-a><h1>Boats</h1></x-a>" + element("x-a", "i.role = 'main'"),
    ("page-has-heading-one", "role"): "<main><x-a>Boats</x-a></main>"
    + element("x-a", "i.role = 'heading'; i.ariaLevel = '1'"),
    ("aria-command-name", "content"): "<x-a tabindex=0>Menu</x-a>" + element("x-a", "i.role = 'button'"),
    ("aria-command-name", "shadow-content"): "<x-a tabindex=0></x-a>"
    + element("x-a", "i.role = 'button'", shadow="<b>Menu</b>"),
    ("aria-toggle-field-name", "wrapping-label"): "<label>Vests <x-a tabindex=0></x-a></label>"
    + element("x-a", "i.role = 'checkbox'", fields=LABELABLE),
    ("aria-allowed-attr", "closed-tree"): "<x-a aria-label=A aria-pressed=true tabindex=0></x-a>"
    + element("x-a", "i.role = 'button'", shadow="<b>A</b>", mode="closed"),
    ("heading-order", "level"): "<h1>A</h1><x-a>B</x-a><h3>C</h3>"
    + element("x-a", "i.role = 'heading'; i.ariaLevel = '2'"),
    ("role-img-alt", "in-frame"): '<iframe title=A srcdoc="'
    + ("<x-a role=img></x-a>" + element("x-a", "i.ariaLabel = 'Map'")).replace('"', "&quot;")
    + '"></iframe>',
}
INTERNALS_BAD: Pages = {
    ("role-img-alt", "no-name"): "<x-a role=img></x-a>" + element("x-a", "i.ariaBusy = 'false'"),
    ("role-img-alt", "blank-name"): "<x-a role=img></x-a>" + element("x-a", "i.ariaLabel = ' '"),
    ("role-img-alt", "other-element"): "<div role=img></div><x-a role=img></x-a>"
    + element("x-a", "i.ariaLabel = 'Map'"),
    ("aria-toggle-field-name", "no-label"): "<x-a role=checkbox aria-checked=true></x-a>"
    + element("x-a", "i.ariaBusy = 'false'", fields=LABELABLE),
    ("aria-required-attr", "no-internals"): "<x-a role=checkbox aria-label=A></x-a>" + element("x-a"),
    ("aria-required-attr", "undefined"): "<x-a role=checkbox aria-label=A></x-a>",
    ("aria-allowed-attr", "wrong-role"): "<x-a aria-label=A aria-checked=true tabindex=0></x-a>"
    + element("x-a", "i.role = 'link'"),
    ("button-name", "no-name"): "<button><x-a></x-a></button>" + element("x-a", "i.role = 'img'"),
    ("link-name", "font-icon"): "<style>x-a::before { content: '\\e900' }</style><a href=/><x-a></x-a></a>"
    + element("x-a", "i.role = 'img'"),
    # The internals define only a role, and nothing defines a name.
    ("aria-command-name", "nameless-role"): "<x-a tabindex=0></x-a>" + element("x-a", "i.role = 'button'"),
    ("aria-toggle-field-name", "nameless-role"): "<x-a tabindex=0></x-a>" + element("x-a", "i.role = 'checkbox'"),
    ("aria-input-field-name", "nameless-role"): "<x-a tabindex=0></x-a>" + element("x-a", "i.role = 'textbox'"),
    ("aria-dialog-name", "nameless-role"): "<x-a>Hi</x-a>" + element("x-a", "i.role = 'dialog'"),
    ("role-img-alt", "nameless-role"): "<x-a></x-a>" + element("x-a", "i.role = 'img'"),
    ("aria-required-children", "wrong-child"): "<x-a aria-label=A tabindex=0><h2>1</h2></x-a>"
    + element("x-a", "i.role = 'listbox'"),
    ("nested-interactive", "role"): "<x-a tabindex=0><a href=/>A</a></x-a>" + element("x-a", "i.role = 'button'"),
    ("heading-order", "level"): "<h1>A</h1><x-a>B</x-a>" + element("x-a", "i.role = 'heading'; i.ariaLevel = '4'"),
    ("empty-heading", "role"): "<h1>A</h1><x-a></x-a>" + element("x-a", "i.role = 'heading'; i.ariaLevel = '2'"),
    ("landmark-no-duplicate-main", "role"): "<main>A</main><x-a>B</x-a>" + element("x-a", "i.role = 'main'"),
    ("landmark-one-main", "other-role"): "<x-a><h1>Boats</h1></x-a>" + element("x-a", "i.role = 'region'"),
}


def refer(name: str, *ids: str) -> str:
    """Return a script that makes a property of `e` refer to these IDs."""
    return f"<script>e.{name} = [{', '.join(ids)}]</script>"


NAMED = "<p id=n>Find a boat</p>"
BY_NAME = refer("ariaLabelledByElements", "n")
SVG = "<svg width=9 height=9></svg>"
# HTML, "Reflecting content attributes in IDL attributes: element references"; WAI-ARIA 1.3, "ARIA mixin".
REFERENCES_GOOD: Pages = {
    ("label", "input"): f"{NAMED}<input id=e>{BY_NAME}",
    ("label", "textarea"): f"{NAMED}<textarea id=e></textarea>{BY_NAME}",
    ("select-name", "select"): f"{NAMED}<select id=e><option>1</select>{BY_NAME}",
    ("button-name", "button"): f"{NAMED}<button id=e>{SVG}</button>{BY_NAME}",
    ("link-name", "link"): f"{NAMED}<a href=/ id=e>{SVG}</a>{BY_NAME}",
    ("aria-input-field-name", "listbox"): f"{NAMED}<div role=listbox tabindex=0 id=e><div role=option>1</div></div>"
    f"{BY_NAME}",
    ("aria-meter-name", "meter"): f"{NAMED}<div role=meter aria-valuenow=3 id=e></div>{BY_NAME}",
    ("aria-dialog-name", "dialog"): f"{NAMED}<div role=dialog id=e>Hi</div>{BY_NAME}",
    ("role-img-alt", "image"): f"{NAMED}<div role=img id=e></div>{BY_NAME}",
    ("svg-img-alt", "svg"): f"{NAMED}<svg role=img id=e></svg>{BY_NAME}",
    ("label", "two"): f"{NAMED}<b id=m></b><input id=e>{refer('ariaLabelledByElements', 'm', 'n')}",
    ("label", "no-id"): "<p>Day</p><input id=e><script>e.ariaLabelledByElements = "
    "[document.querySelector('p')]</script>",
    ("button-name", "out-of-shadow-tree"): f"{NAMED}<x-a></x-a>"
    + element(
        "x-a",
        shadow=f"<button>{SVG}</button>",
        more="connectedCallback() { this.shadowRoot.firstChild.ariaLabelledByElements = [n] }",
    ),
}
REFERENCES_BAD: Pages = {
    ("label", "empty-element"): f"<p id=n></p><input id=e>{BY_NAME}",
    ("label", "no-element"): f"<input id=e>{refer('ariaLabelledByElements')}",
    ("label", "removed"): f"{NAMED}<input id=e>{BY_NAME}<script>e.removeAttribute('aria-labelledby')</script>",
    ("label", "empty-attribute"): "<input aria-labelledby=''>",
    ("label", "description"): f"{NAMED}<input id=e>{refer('ariaDescribedByElements', 'n')}",
    ("button-name", "other-button"): f"{NAMED}<button id=e>{SVG}</button><button>{SVG}</button>{BY_NAME}",
}

ITEM = element("x-item", shadow="<li><slot></slot></li>")
LIST = element("x-list", shadow="<ul><slot></slot></ul>")
WRAPPED_ITEM = element("x-item", shadow="<style></style><div><li><slot></slot></li></div>")
TERM = element("x-term", shadow="<dt>Deposit</dt><dd>Fifty</dd>")
# WAI-ARIA 1.2, "Allowed Accessibility Child Roles": elements without a role are ignored. HTML, the ul element: its
# children must be li elements, so a div in a list of the same tree is still a fault.
LISTS_GOOD: Pages = {
    **{
        (rule, f"{tag}-item"): f"<{tag}><x-item>1</x-item><x-item>2</x-item></{tag}>{ITEM}"
        for rule in ("list", "listitem")
        for tag in ("ul", "ol")
    },
    ("listitem", "menu-item"): f"<menu><x-item>1</x-item></menu>{ITEM}",
    **{(rule, "slotted"): f"<x-list><x-item>1</x-item></x-list>{ITEM}{LIST}" for rule in ("list", "listitem")},
    **{(rule, "wrapped"): f"<ul><x-item>1</x-item></ul>{WRAPPED_ITEM}" for rule in ("list", "listitem")},
    **{(rule, "light"): "<ul><x-item><li>1</li></x-item></ul>" for rule in ("list", "listitem")},
    **{(rule, "two-deep"): f"<ul><x-group><x-item>1</x-item></x-group></ul>{ITEM}" for rule in ("list", "listitem")},
    ("list", "beside-items"): f"<ul><li>0</li><x-item>1</x-item></ul>{ITEM}",
    ("listitem", "role"): f"<div role=list><x-item>1</x-item></div>{ITEM}",
    **{(rule, "terms"): f"<dl><x-term></x-term></dl>{TERM}" for rule in ("definition-list", "dlitem")},
    ("list", "closed-item"): "<ul><x-item>1</x-item></ul>"
    + element("x-item", shadow="<li><slot></slot></li>", mode="closed"),
    ("listitem", "closed-list"): "<x-list><li>1</li></x-list>"
    + element("x-list", shadow="<ul><slot></slot></ul>", mode="closed"),
    ("definition-list", "closed-terms"): "<dl><x-term></x-term></dl>"
    + element("x-term", shadow="<dt>Deposit</dt><dd>Fifty</dd>", mode="closed"),
    ("list", "closed-in-closed"): "<x-list></x-list>"
    + element("x-list", shadow="<ul><x-item>1</x-item></ul>", mode="closed")
    + element("x-item", shadow="<li><slot></slot></li>", mode="closed"),
    ("definition-list", "shadow"): "<x-a></x-a>" + element("x-a", shadow="<dl><x-term></x-term></dl>") + TERM,
}
LISTS_BAD: Pages = {
    ("list", "no-item"): "<ul><x-item>1</x-item></ul>",
    ("list", "text-beside-item"): "<ul><x-item>1</x-item></ul>" + element("x-item", shadow="Text <li>1</li>"),
    ("list", "other-element"): "<ul><x-item></x-item></ul>" + element("x-item", shadow="<h2>A</h2><li>1</li>"),
    ("list", "div"): "<ul><div><li>1</li></div></ul>",
    ("listitem", "div"): "<ul><div><li>1</li></div></ul>",
    ("list", "closed-without-item"): "<ul><x-item>1</x-item></ul>"
    + element("x-item", shadow="<p><slot></slot></p>", mode="closed"),
    ("listitem", "closed-without-list"): "<x-list><li>1</li></x-list>"
    + element("x-list", shadow="<div><slot></slot></div>", mode="closed"),
    ("image-alt", "in-closed-tree"): "<x-a></x-a>" + element("x-a", shadow="<img src=data:,>", mode="closed"),
    ("listitem", "no-list"): f"<x-item>1</x-item>{ITEM}",
    ("listitem", "in-section"): f"<section aria-label=A><x-item>1</x-item></section>{ITEM}",
    ("dlitem", "no-list"): f"<x-term></x-term>{TERM}",
    ("dlitem", "wrong-list"): f"<ul><x-term></x-term></ul>{TERM}",
    ("definition-list", "no-term"): "<dl><x-term>1</x-term></dl>",
}

SLOTTED = element("x-row", shadow="<label><slot name=l></slot> <slot name=i></slot></label>")
# HTML, "labeled control": the element with the ID of `for`, or else the first labelable descendant in tree order.
LABELS_GOOD: Pages = {
    ("label", "first"): "<label>Street <input></label>",
    ("label", "nested"): "<label>Street <span><input></span></label>",
    ("label", "after-hidden"): "<label>Street <input type=hidden><input></label>",
    ("label", "for-itself"): "<label for=i>Street <input id=i></label>",
    ("label", "second-by-other-label"): "<label>Street <input><input id=n></label><label for=n>Number</label>",
    ("label", "own-shadow-tree"): "<x-row></x-row>" + element("x-row", shadow="<label>Street <input></label>"),
    ("label", "text-slotted"): "<x-row>Street</x-row>" + element("x-row", shadow="<label><slot></slot><input></label>"),
}
LABELS_BAD: Pages = {
    ("label", "slotted"): f"<x-row><span slot=l>Street</span><input slot=i></x-row>{SLOTTED}",
    ("label", "slotted-textarea"): f"<x-row><span slot=l>Street</span><textarea slot=i></textarea></x-row>{SLOTTED}",
    ("select-name", "slotted"): f"<x-row><b slot=l>Street</b><select slot=i><option>1</select></x-row>{SLOTTED}",
    ("label", "second"): "<label>Street <input><input></label>",
    ("label", "for-other"): "<label for=n>Street <input></label><input id=n>",
    ("label", "same-id-before"): "<label for=i>Street</label><p id=i></p><input id=i>",
    ("label", "slot-of-closed-label"): "<x-row><input></x-row>"
    + element("x-row", shadow="<label>Street <slot></slot></label>", mode="closed"),
    ("label-title-only", "slotted"): "<x-row><input title=Street></x-row>"
    + element("x-row", shadow="<label>A <slot></slot></label>"),
    ("label", "in-shadow-tree-of-label"): "<label>Street <x-row></x-row></label>" + element("x-row", shadow="<input>"),
}

GOOD: Pages = INTERNALS_GOOD | REFERENCES_GOOD | LISTS_GOOD | LABELS_GOOD
BAD: Pages = INTERNALS_BAD | REFERENCES_BAD | LISTS_BAD | LABELS_BAD
