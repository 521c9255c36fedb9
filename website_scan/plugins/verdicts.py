"""Verdicts of plug-ins as JSON.

The process of the plug-in writes it, and the scanner reads it strictly.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from website_scan.findings import NotApplicable, Severity
from website_scan.outcomes import Fail, Fault, Fix, Language, Pass, Verdict, Warn
from website_scan.places import Element, Header, Place, Resource
from website_scan.plugins.evidence import Node
from website_scan.plugins.json_checking import (
    CONTROL,
    MAX_TEXT,
    WrongData,
    digit,
    items,
    mapping,
    moment,
    number,
    optional_text,
    share,
    text,
    whole,
)
from website_scan.values import (
    Address,
    Bytes,
    Count,
    Date,
    Excerpt,
    Milliseconds,
    Number,
    Percent,
    Seconds,
    Value,
    Word,
)

# More places than a report stores are not sent.
MAX_PLACES = 20
MAX_VALUES = 20
MAX_SNIPPETS = 10
# Readers of the fields of each kind of value and place. Other kinds and fields are not part of the interface.
READERS: Mapping[type[Value | Place], Mapping[str, Callable[[object, str], Any]]] = {
    Address: {"value": text, "limit": whole},
    Bytes: {"value": number},
    Count: {"value": whole, "noun": text, "plural": optional_text},
    Date: {"value": moment},
    Excerpt: {"value": text, "limit": whole},
    Milliseconds: {"value": number},
    Number: {"value": number, "digits": digit},
    Percent: {"value": number},
    Seconds: {"value": number, "digits": digit},
    Word: {"value": text},
    Element: {"selector": text, "snippet": text, "why": optional_text},
    Header: {"header": text, "value": text},
    Resource: {"url": text},
}
KINDS: Mapping[str, type[Value | Place]] = {kind.kind: kind for kind in READERS}
# Arguments of other verdicts. In a Pass, they would be values of its sentence.
ARGUMENTS_OF_FAULTS = ("places", "severity", "total", "fix")
VERDICTS = {"pass": Pass, "warn": Warn, "fail": Fail}


def verdict_json(verdict: object) -> dict[str, Any]:
    """Convert the verdict of a plug-in's check to JSON. Raises WrongData for anything else."""
    if isinstance(verdict, NotApplicable):
        return {"kind": "not-applicable", "reason": verdict.reason}
    kind = next((name for name, known in VERDICTS.items() if verdict.__class__ is known), None)
    if kind is None:
        raise WrongData(f"the check returned {_description(verdict)} instead of a verdict")
    assert isinstance(verdict, Pass | Fault)
    if isinstance(verdict, Pass) and (wrong := [name for name in ARGUMENTS_OF_FAULTS if name in verdict.values]):
        advice = "; use details" if wrong[0] == "places" else ""
        raise WrongData(f"Pass has no {wrong[0]}{advice}")
    data: dict[str, Any] = {
        "kind": kind,
        "summary": verdict.summary,
        "values": {name: _value_json(name, value) for name, value in verdict.values.items()},
        "details": _places_json(verdict.details),
        "credit": verdict.credit,
    }
    if isinstance(verdict, Fault):
        data |= {
            "outcome": verdict.outcome,
            "severity": None if verdict.severity is None else str(verdict.severity),
            "places": _places_json(verdict.places),
            "total": verdict.total,
            "fix": None if verdict.fix is None else fix_json(verdict.fix),
        }
    return data


def fix_json(fix: Fix) -> dict[str, Any]:
    return {"text": fix.text, "snippets": {str(label): code for label, code in fix.snippets.items()}}


def _description(value: object) -> str:
    """Return what a check returned, for a message."""
    if inspect.iscoroutine(value):
        return "a coroutine, because it is async,"
    return repr(value) if value is None or isinstance(value, bool) else f"a {type(value).__name__}"


def _value_json(name: str, value: Value) -> dict[str, Any]:
    if value.__class__ is Number and isinstance(value, Number):
        _refuse_unclear_number(name, value)
    if KINDS.get(value.kind) is not value.__class__:
        raise WrongData(f"plug-ins may not use {type(value).__name__}")
    return _fields(value)


def _refuse_unclear_number(name: str, number: Number) -> None:
    """Raise WrongData for a value that is no number, and for a fraction whose digits would not be printed.

    Any object that is passed as a value without a class of its own is a Number.
    """
    value: object = number.value
    if isinstance(value, str):
        raise WrongData(f"the value {name} is a str; use Excerpt(…) for texts")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongData(f"the value {name} is {_description(value)}; use a number, or a class such as Count or Excerpt")
    if isinstance(value, float) and not number.digits:
        raise WrongData(f"the value {name} is a float; use Number({name}, digits=1), or a class such as Percent")


def _places_json(places: Sequence[object]) -> list[dict[str, Any]]:
    sent = []
    for place in places[:MAX_PLACES]:
        if isinstance(place, Node):
            raise WrongData("a place is an element of the document; use element.place(why)")
        if not isinstance(place, Place) or KINDS.get(place.kind) is not place.__class__:
            raise WrongData(f"a place is {_description(place)}, not an Element, Header or Resource")
        sent.append(_fields(place))
    return sent


def _fields(value: Value | Place) -> dict[str, Any]:
    return {"kind": value.kind, **{name: _sent(getattr(value, name)) for name in READERS[value.__class__]}}


def _sent(value: object) -> object:
    """Return a field's value for JSON. Texts of a site may be of any length and have any characters."""
    if isinstance(value, datetime):
        return value.isoformat()
    return CONTROL.sub(" ", value[:MAX_TEXT]) if isinstance(value, str) else value


def read_verdict(data: object) -> Verdict:
    """Return the verdict. Raises WrongData."""
    verdict = mapping(data, "the verdict")
    kind = text(verdict.get("kind"), "the kind of the verdict", 80)
    if kind == "not-applicable":
        return NotApplicable(text(verdict.get("reason"), "the reason"))
    if kind not in VERDICTS:
        raise WrongData("the verdict has no known kind")
    summary = text(verdict.get("summary"), "the summary", may_be_empty=False)
    details = _places(verdict.get("details"), "details")
    values = {
        text(name, "the name of a value", 80): _value(value, name)
        for name, value in mapping(verdict.get("values"), "values", MAX_VALUES).items()
    }
    credit = None if verdict.get("credit") is None else share(verdict["credit"], "the credit")
    if kind == "pass":
        passed = Pass(summary, details=details, credit=credit)
        passed.values = values
        return passed
    severity = verdict.get("severity")
    places = _places(verdict.get("places"), "places")
    make = Fail if kind == "fail" else Warn
    fault = make(
        text(verdict.get("outcome"), "the outcome", 80),
        summary,
        severity=None if severity is None else read_severity(severity),
        places=places,
        total=max(len(places), whole(verdict.get("total"), "the total")),
        details=details,
        fix=None if verdict.get("fix") is None else read_fix(verdict["fix"]),
        credit=credit,
    )
    fault.values = values
    return fault


def read_severity(value: object) -> Severity:
    name = text(value, "the severity", 80)
    try:
        return Severity(name)
    except ValueError:
        raise WrongData(f"the severity “{name}” is none of {', '.join(Severity)}") from None


def read_fix(data: object) -> Fix:
    """Return a fix with its snippets. Raises WrongData."""
    fix = mapping(data, "the fix")
    labels = {str(language): language for language in Language}
    snippets: dict[Language, str] = {}
    for label, code in mapping(fix.get("snippets"), "the snippets", MAX_SNIPPETS).items():
        if label not in labels:
            raise WrongData(f"the label “{str(label)[:80]}” of a snippet is none of {', '.join(labels)}")
        snippets[labels[label]] = text(code, "a snippet")
    return Fix(text(fix.get("text"), "the fix", may_be_empty=False), snippets)


def _places(data: object, name: str) -> list[Place]:
    places = [_read(place, f"in {name}") for place in items(data, name, MAX_PLACES)]
    if not all(isinstance(place, Place) for place in places):
        raise WrongData(f"{name} have values instead of places")
    return [place for place in places if isinstance(place, Place)]


def _value(data: object, name: str) -> Value:
    value = _read(data, name)
    if not isinstance(value, Value):
        raise WrongData("values have a place instead of a value")
    return value


def _read(data: object, name: str) -> Value | Place:
    """Return a value or a place. `name` follows the name of its class in messages."""
    stored = dict(mapping(data, "a value", 20))
    kind = KINDS.get(str(stored.pop("kind", "")))
    if kind is None or stored.keys() != READERS[kind].keys():
        raise WrongData("a value has no known kind")
    return kind(
        **{
            field: read(stored[field], f"the {field} of the {kind.__name__} {name}")
            for field, read in READERS[kind].items()
        }
    )
