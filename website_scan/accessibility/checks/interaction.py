"""Checks of what happens between the states of a journey: keyboard, focus and messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import visible_text
from website_scan.accessibility.verdicts import places
from website_scan.accessibility.wcag import ERROR_IDENTIFICATION, FOCUS_ORDER, KEYBOARD, STATUS_MESSAGES
from website_scan.browser.journey.judged import ExecutedStep, JourneyState
from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, MEDIUM, NotApplicable
from website_scan.journeys.journey import Change, Click, Hover, KeyDown
from website_scan.journeys.words import step_in_words
from website_scan.messages import excerpt
from website_scan.outcomes import Fail, Pass, Verdict, Warn, outcome
from website_scan.places import Column, Identity, Place, as_prose, as_written
from website_scan.values import Count

CATEGORY = Category("Interaction", weight=15, html=True)

INPUT_STEPS = (Change, Click, Hover, KeyDown)
NO_INPUT = NotApplicable("No step before this state acts on the page.")
UNREACHABLE = {
    "not focusable": "The Tab key does not reach it.",
    "no action": "It has the focus, but reacts to no key.",
    "hidden": "It is visible only under the mouse.",
}
INVALID_FIELDS = "input[aria-invalid=true i], select[aria-invalid=true i], textarea[aria-invalid=true i]"


class UsedElement(Place, frozen=True):
    """Element that a step of the journey uses."""

    kind: ClassVar[str] = "used-element"

    step: Annotated[int, Column("Step", "number")]
    name: Annotated[str, Identity(as_prose), Column("Name")]
    selector: Annotated[str, Identity(as_written), Column("Selector", "code")]
    fault: Annotated[str | None, Column("What is wrong")] = None


@check(
    "keyboard-reach",
    name="Keyboard reaches what the mouse uses",
    outcomes={
        "unreachable": outcome(
            "Controls that only a mouse can use",
            consequence="Visitors who cannot use a mouse, for example because of a disability, cannot go on here.",
        )
    },
    why="People who cannot use a mouse cannot go on.",
    judged="The element of each click has to be focusable, visible with the focus, and native or with a key listener.",
    severity=HIGH,
    fix='Use `<button>` for actions and `<a href>` for addresses, or add `tabindex="0"`, a role and key events.',
    references=(f"{KEYBOARD}",),
)
def keyboard_reach(state: JourneyState) -> Verdict:
    reached = [executed.result.keyboard for executed in state.steps if executed.result.keyboard is not None]
    if not reached:
        return NotApplicable("No step before this state clicks an element.")
    faults = [element for element in reached if not element.is_reached]
    if not faults:
        return Pass("The keyboard reaches {elements} that the steps click.", elements=Count(len(reached), "element"))
    return Fail(
        "unreachable",
        "The keyboard does not reach {elements} that the journey clicks.",
        elements=Count(len(faults), "element"),
        places=[
            UsedElement(element.step + 1, excerpt(element.name), element.selector, UNREACHABLE.get(element.reason))
            for element in faults
        ],
    )


@check(
    "focus-lost",
    name="Focus is not lost",
    outcomes={"lost": "The focus is lost after a step"},
    why="Keyboard users start again at the top of the page, and screen readers say nothing about what has changed.",
    judged="The step has removed or hidden the element with the focus, and the page has focused no other one.",
    severity=MEDIUM,
    consequence="Visitors who use a keyboard have to go through the page again from its top.",
    fix="Move the focus with `element.focus()` to what has changed, before removing or hiding the focused element.",
    references=(f"{FOCUS_ORDER}",),
)
def focus_lost(state: JourneyState) -> Verdict:
    steps = _input_steps(state)
    if not steps:
        return NO_INPUT
    lost = [executed for executed in steps if executed.result.focus and executed.result.focus.is_lost]
    if not lost:
        return Pass("No step before this state loses the focus.")
    return Fail("lost", "The focus is lost after {steps}.", steps=Count(len(lost), "step"), places=_step_places(lost))


@check(
    "dialog-focus",
    name="Dialogs receive the focus",
    outcomes={"outside": "The focus stays behind an open dialog"},
    why="Keyboard users cannot use the dialog, and screen readers do not read it.",
    judged="Only modal dialogs: `<dialog>` opened with `showModal()`, and elements with `aria-modal`.",
    severity=MEDIUM,
    consequence="Visitors who use a keyboard may not get into the dialog, and cannot use the page behind it.",
    fix="Open the dialog with `showModal()`, or focus its first control when it opens.",
    references=(f"{FOCUS_ORDER}", "WAI-ARIA Authoring Practices: Dialog (Modal)"),
)
def dialog_focus(state: JourneyState) -> Verdict:
    modal = [dialog for dialog in state.state.dialogs if dialog.is_modal]
    if not modal:
        return NotApplicable("No modal dialog is open in this state.")
    if any(dialog.has_focus_inside for dialog in modal):
        return Pass("The focus is in the open dialog.")
    return Fail(
        "outside",
        "The focus is outside of {dialogs}.",
        dialogs=Count(len(modal), "open dialog"),
        places=[UsedElement(state.state.step + 1, excerpt(dialog.name), dialog.selector) for dialog in modal],
    )


@check(
    "error-message",
    name="Errors of forms are described at their fields",
    outcomes={"missing": "Invalid fields without a description of the error"},
    why="Screen readers say that the field is invalid, but not what is wrong with it.",
    judged="Fields with `aria-invalid`, unless a live region has announced the error.",
    severity=MEDIUM,
    fix="Write the error as text, and name its element in `aria-describedby` or `aria-errormessage` of the field.",
    references=(f"{ERROR_IDENTIFICATION}",),
)
def error_message(state: JourneyState, document: AccessibleDocument) -> Verdict:
    invalid = list(document.exposed(INVALID_FIELDS))
    if not invalid or not _input_steps(state):
        return NotApplicable("No field of this state is marked as invalid.")
    if state.state.messages:
        return Pass("A live region has announced a message after the steps.")
    faults = [node for node in invalid if not _has_description(document, node)]
    if not faults:
        return Pass("A description belongs to {fields}.", fields=Count(len(invalid), "invalid field"))
    return Warn(
        "missing",
        "{fields} {count:has|have} no description of the error.",
        fields=Count(len(faults), "invalid field"),
        count=Count(len(faults)),
        places=places(faults, ERROR_IDENTIFICATION),
    )


@check(
    "status-message",
    name="Messages are announced",
    outcomes={"silent": "Messages that screen readers do not announce"},
    why="People who do not see the message do not learn whether a step worked.",
    judged="Short texts that a step shows in elements named `message`, `toast` or similar, and new counts of results.",
    severity=MEDIUM,
    consequence="Visitors who use a screen reader do not learn whether a step worked, such as adding to the cart.",
    fix='Keep an empty element with `role="status"` in the page, or `role="alert"` for errors, and write into it.',
    references=(f"{STATUS_MESSAGES}",),
)
def status_message(state: JourneyState) -> Verdict:
    steps = [step for step in _input_steps(state) if not isinstance(step.step, Hover)]
    if not steps:
        return NO_INPUT
    if state.state.messages:
        return Pass("A live region has announced a message after the steps.")
    silent = [(step.number, message) for step in steps for message in step.result.silent_messages]
    if not silent:
        return NotApplicable("No step before this state has shown a message.")
    return Warn(
        "silent",
        "No live region announces {messages}.",
        messages=Count(len(silent), "message"),
        places=[UsedElement(number, excerpt(message.text), message.selector) for number, message in silent],
    )


def _has_description(document: AccessibleDocument, field: LexborNode) -> bool:
    described = (*document.referenced(field, "aria-describedby"), *document.referenced(field, "aria-errormessage"))
    return any(visible_text(document, node).strip() for node in described)


def _input_steps(state: JourneyState) -> list[ExecutedStep]:
    """Return the steps before the state that act on the page and have not opened another one."""
    return [step for step in state.steps if isinstance(step.step, INPUT_STEPS) and not step.result.navigated]


def _step_places(steps: Sequence[ExecutedStep]) -> list[UsedElement]:
    return [UsedElement(step.number, step_in_words(step.step), "") for step in steps]
