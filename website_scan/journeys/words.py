"""Describe the steps of a journey in words, for the preview and the storyboard."""

from __future__ import annotations

from website_scan.journeys.journey import (
    PLACEHOLDER,
    Change,
    Click,
    ElementTarget,
    Hover,
    Journey,
    Judge,
    KeyDown,
    KeyUp,
    Navigate,
    Scroll,
    SelectorKind,
    SelectorPart,
    SetViewport,
    StateRule,
    Step,
    WaitForAddress,
    WaitForElement,
    WaitForTitle,
)
from website_scan.journeys.rules import MAX_SCROLL_PIXELS
from website_scan.messages import excerpt

MAX_WORDS, MAX_URL = 80, 200
# Selectors that people understand best are shown.
ORDER = (SelectorKind.ARIA, SelectorKind.TEXT, SelectorKind.CSS, SelectorKind.PIERCE, SelectorKind.XPATH)
ROLES = {
    "textbox": "field", "searchbox": "search field", "combobox": "list", "listbox": "list", "menuitem": "menu item",
    "checkbox": "check box", "radio": "radio button", "spinbutton": "number field", "img": "image",
}  # fmt: skip
CHECKABLE = ("checkbox", "switch", "radio")
CHOOSABLE = ("combobox", "listbox")
BUTTONS = {"secondary": "right", "auxiliary": "middle", "back": "back", "forward": "forward"}
NUMBERS = {">=": "at least {}", "<=": "at most {}", "==": "exactly {}"}
RULES = {
    StateRule.STEPS: "Only the steps “judge” are judged.",
    StateRule.NAVIGATIONS: "The page is judged after each navigation.",
    StateRule.END: "The page is judged after the last step.",
}


def step_in_words(step: Step) -> str:
    """Return a sentence for people, such as “Click the button “Sign in”.”.

    It contains secrets only by name.
    """
    match step:
        case SetViewport():
            kind = "phone" if step.is_mobile else "screen"
            return f"Use a {kind} of {step.width} by {step.height} pixels."
        case Navigate():
            return f"Open {excerpt(step.url, MAX_URL)}."
        case Click():
            verb = "Double-click" if step.count == 2 else "Click"
            button = f" with the {BUTTONS[step.button]} mouse button" if step.button in BUTTONS else ""
            return f"{verb} {element_in_words(step.target)}{button}."
        case Hover():
            return f"Move the mouse over {element_in_words(step.target)}."
        case Change():
            return _change_in_words(step)
        case KeyDown():
            return f"Press the key {_key(step.key)}."
        case KeyUp():
            return f"Release the key {_key(step.key)}."
        case Scroll():
            return _scroll_in_words(step)
        case WaitForElement() | WaitForAddress() | WaitForTitle():
            return f"Wait until {_condition_in_words(step)}."
        case Judge():
            return f"Judge the page as “{step.name}”."
    raise TypeError(f"Steps of the type {type(step).__name__} have no words.")


def states_in_words(journey: Journey) -> str:
    """Return the sentence that says which pages are judged."""
    sentence = RULES[journey.rule]
    has_states = journey.rule is not StateRule.STEPS and any(isinstance(step, Judge) for step in journey.steps)
    return f"{sentence[:-1]}, and in the steps “judge”." if has_states else sentence


def element_in_words(target: ElementTarget) -> str:
    """Return the role and the name of an element, such as “the button “Sign in””, or its selector."""
    part = min((selector.parts[-1] for selector in target.selectors), key=_rank)
    place = " in a frame" if target.frame else ""
    text = excerpt(part.text, MAX_WORDS)
    if part.kind is SelectorKind.ARIA:
        # Alternatives of the short form have several roles, so none is named.
        roles = {role for selector in target.selectors if (role := selector.parts[-1].role)}
        role = f"the {ROLES.get(part.role, part.role)}" if part.role and len(roles) == 1 else ""
        if not text:
            return f"the element with the role {part.role}{place}"
        return f"{role} “{text}”".strip() + place
    return (f"“{text}”" if part.kind is SelectorKind.TEXT else f"the element {text}") + place


def _rank(part: SelectorPart) -> tuple[int, bool]:
    return ORDER.index(part.kind), not part.text


def _change_in_words(step: Change) -> str:
    element = element_in_words(step.target)
    roles = {selector.parts[-1].role for selector in step.target.selectors}
    if step.value in ("true", "false") and roles.intersection(CHECKABLE):
        return f"{'Check' if step.value == 'true' else 'Uncheck'} {element}."
    secret = PLACEHOLDER.fullmatch(step.value)
    value = f"the secret “{secret[1]}”" if secret else f"“{excerpt(step.value, MAX_WORDS)}”"
    if not step.value:
        return f"Clear {element}."
    if roles.intersection(CHOOSABLE) and "textbox" not in roles:
        return f"Choose {value} in {element}."
    return f"Enter {value} in {element}."


def _scroll_in_words(step: Scroll) -> str:
    place = "" if step.target is None else element_in_words(step.target)
    if step.x == 0 and step.y == 0:
        return f"Scroll to {place or 'the top'}."
    if step.y >= MAX_SCROLL_PIXELS:
        return f"Scroll to the bottom{place and f' of {place}'}."
    return f"Scroll {place or 'the page'} to {step.x:,.0f}, {step.y:,.0f} pixels."


def _condition_in_words(step: WaitForElement | WaitForAddress | WaitForTitle) -> str:
    if isinstance(step, WaitForTitle):
        return f"the title of the page is “{excerpt(step.title, MAX_WORDS)}”"
    if isinstance(step, WaitForAddress):
        verb = "begins with" if step.is_prefix else "is"
        part = {"/": "path of the address", "?": "query of the address"}.get(step.url[:1], "address")
        return f"the {part} {verb} {excerpt(step.url, MAX_URL)}"
    element = element_in_words(step.target)
    state = {True: "shown", False: "hidden", None: "there"}[step.is_visible]
    details = [f"{name} = “{excerpt(str(value), MAX_WORDS)}”" for name, value in (*step.attributes, *step.properties)]
    ending = f" with {', '.join(details)}" if details else ""
    if (step.operator, step.count) == (">=", 1):
        return f"{element} is {state}{ending}"
    if step.count == 0 and step.operator in ("==", "<="):
        return f"{element} is {'gone' if step.is_visible is not False else 'not hidden'}{ending}"
    return f"{element} is {state} {NUMBERS[step.operator].format(step.count)} times{ending}"


def _key(name: str) -> str:
    return "Space" if name == " " else name
