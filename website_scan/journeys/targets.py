"""Elements that the short form names, with alternative selectors.

Headings often have the same name as a button. So the roles that an action needs precede all other elements.
"""

from __future__ import annotations

from website_scan.journeys.journey import ElementTarget, SelectorKind
from website_scan.journeys.selectors import aria, containing, css, css_string, target_of

# Words for roles, in the order in which they are tried. Longer ones precede those with which they begin.
ROLES = {
    "button": "button",
    "link": "link",
    "tab": "tab",
    "menu item": "menuitem",
    "check box": "checkbox",
    "checkbox": "checkbox",
    "radio button": "radio",
    "radio": "radio",
    "switch": "switch",
    "option": "option",
    "text field": "textbox",
    "field": "textbox",
    "search field": "searchbox",
    "list": "listbox",
    "combo box": "combobox",
    "heading": "heading",
    "image": "img",
    "dialog": "dialog",
    "alert": "alert",
    "row": "row",
    "cell": "cell",
}
CLICKABLE = ("button", "link", "tab", "menuitem", "option", "checkbox", "radio")
TYPEABLE = ("textbox", "searchbox", "combobox", "spinbutton")


def clickable(name: str, role: str) -> ElementTarget:
    """Return the element on which a click does something."""
    if role:
        return target_of(aria(name, role))
    return target_of(*(aria(name, each) for each in CLICKABLE), aria(name), containing(name))


def field(name: str, role: str) -> ElementTarget:
    """Return the form field into which text can be typed, by its label, placeholder or name."""
    if role:
        return target_of(aria(name, role), aria(name))
    text = css_string(name)
    fields = ("input", "textarea")
    return target_of(
        *(aria(name, each) for each in TYPEABLE),
        aria(name),
        css(", ".join(f"{each}[placeholder={text} i]" for each in fields)),
        css(", ".join(f"{each}[name={text} i]" for each in fields)),
    )


def choice(name: str, role: str) -> ElementTarget:
    """Return the list in which one option can be chosen."""
    if role:
        return target_of(aria(name, role))
    return target_of(
        aria(name, "combobox"), aria(name, "listbox"), aria(name), css(f"select[name={css_string(name)} i]")
    )


def check_box(name: str, role: str) -> ElementTarget:
    """Return the element that can be checked."""
    if role:
        return target_of(aria(name, role))
    return target_of(aria(name, "checkbox"), aria(name, "switch"), aria(name, "radio"), aria(name))


def content(name: str, role: str) -> ElementTarget:
    """Return the element that shows the text, or that has this role and name."""
    return target_of(aria(name, role)) if role else target_of(containing(name), aria(name))


def written_name(target: ElementTarget) -> str:
    """Return the name by which the short form selects an element.

    Empty for CSS, and for targets of recordings, which have further selectors.
    """
    part = target.selectors[0].parts[-1]
    if part.kind not in (SelectorKind.ARIA, SelectorKind.TEXT) or not part.text or target.frame:
        return ""
    named = (clickable, field, choice, check_box, content)
    forms = {make(part.text, role) for make in named for role in ("", part.role)}
    return part.text if target in forms else ""
