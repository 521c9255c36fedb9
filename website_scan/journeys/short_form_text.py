"""Write a journey in the short form, so that people can edit its steps as text.

Each line is read again. A journey with a step that no line expresses exactly, for example a click at a position of a
recording, has no short form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from website_scan.journeys import targets
from website_scan.journeys.journey import (
    DEFAULT_STEP_TIMEOUT_S,
    PLACEHOLDER,
    Change,
    Click,
    ElementTarget,
    Hover,
    Journey,
    JourneyRefused,
    Judge,
    KeyDown,
    KeyUp,
    Navigate,
    Scroll,
    SelectorKind,
    SetViewport,
    Step,
    WaitForAddress,
    WaitForElement,
    WaitForTitle,
)
from website_scan.journeys.short_form import steps_of_line


def short_form_of(journey: Journey) -> str | None:
    """Return the journey as text, or None if it has no short form.

    The text does not contain the title and the rule of states.
    """
    lines = [f"allow log-in at {', '.join(journey.identity_providers)}"] if journey.identity_providers else []
    steps = list(journey.steps)
    while steps:
        pressed = _keys(steps)
        done, line = (steps[: 2 * len(pressed)], _press(pressed)) if pressed else (steps[:1], _line(steps[0]))
        if line is None or not _is_line_of(line, done):
            return None
        lines.append(line)
        steps = steps[len(done) :]
    return "\n".join(lines) + "\n"


def _line(step: Step) -> str | None:
    """Return the line whose steps are exactly this one."""
    return next((line for line in _candidates(step) if _is_line_of(line, [step])), None)


def _is_line_of(line: str, steps: Sequence[Step]) -> bool:
    try:
        return "\n" not in line and steps_of_line(line) == list(steps)
    except JourneyRefused:
        return False


def _candidates(step: Step) -> Iterator[str]:
    """Yield lines that may express the step."""
    match step:
        case Navigate():
            yield f"open {step.url}"
        case SetViewport():
            yield from ("screen phone", "screen desktop", f"screen {step.width}x{step.height}")
        case Judge():
            yield f"judge “{step.name}”"
        case Click():
            verb = "double click" if step.count == 2 else "click"
            yield from (f"{verb} {element}" for element in _elements(step.target))
        case Hover():
            yield from (f"hover over {element}" for element in _elements(step.target))
        case Change():
            value = step.value if PLACEHOLDER.fullmatch(step.value) else f"“{step.value}”"
            for element in _elements(step.target):
                yield f"fill {element} with {value}"
                yield f"choose “{step.value}” in {element}"
                yield f"{'check' if step.value == 'true' else 'uncheck'} {element}"
        case Scroll(target=None):
            yield from ("scroll to the top", "scroll to the bottom")
        case Scroll(target=ElementTarget() as target):
            yield from (f"scroll to {element}" for element in _elements(target))
        case WaitForElement() | WaitForAddress() | WaitForTitle():
            yield from _waits(step)


def _waits(step: WaitForElement | WaitForAddress | WaitForTitle) -> Iterator[str]:
    match step:
        case WaitForElement():
            for element in _elements(step.target):
                yield f"wait for {element}{_time_limit(step)}"
                yield f"wait until {element} is gone{_time_limit(step)}"
        case WaitForAddress():
            yield f"wait for address {'beginning with ' if step.is_prefix else ''}{step.url}{_time_limit(step)}"
        case WaitForTitle():
            yield f"wait for title “{step.title}”{_time_limit(step)}"


def _elements(target: ElementTarget) -> Iterator[str]:
    """Yield names of the element as the short form may have them."""
    part = target.selectors[0].parts[-1]
    if part.kind is SelectorKind.CSS:
        yield f"`{part.text}`"
        return
    yield f"“{part.text}”"
    yield from (f"{words} “{part.text}”" for words, role in targets.ROLES.items() if role == part.role)


def _time_limit(step: Step) -> str:
    return "" if step.timeout_s == DEFAULT_STEP_TIMEOUT_S else f" up to {step.timeout_s:.0f} seconds"


def _keys(steps: Sequence[Step]) -> list[str]:
    """Return the keys that the first steps press and release in reverse order, or an empty list."""
    pressed: list[str] = []
    for step in steps:
        if not isinstance(step, KeyDown):
            break
        pressed.append(step.key)
    released = [step.key for step in steps[len(pressed) : 2 * len(pressed)] if isinstance(step, KeyUp)]
    return pressed if released == pressed[::-1] else []


def _press(keys: Sequence[str]) -> str:
    return f"press {'+'.join('Space' if key == ' ' else key for key in keys)}"
