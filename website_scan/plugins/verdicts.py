"""Verdicts of plug-ins as JSON.

The process of the plug-in writes it, and the scanner reads it strictly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from website_scan.findings import NotApplicable, Severity
from website_scan.outcomes import Fail, Fault, Fix, Language, Pass, Verdict, Warn
from website_scan.places import Element, Header, Place, Resource
from website_scan.plugins.json_checking import (
    CONTROL,
    MAX_TEXT,
    WrongData,
    digit,
    items,
    mapping,
    number,
    optional_text,
    text,
    whole,
)
from website_scan.values import (
    Address,
    Bytes,
    Count,
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
VERDICTS = {"pass": Pass, "warn": Warn, "fail": Fail}


def verdict_json(verdict: object) -> dict[str, Any]:
    """Convert the verdict of a plug-in's check to JSON. Raises WrongData for anything else."""
    if isinstance(verdict, NotApplicable):
        return {"kind": "not-applicable", "reason": verdict.reason}
    kind = next((name for name, known in VERDICTS.items() if verdict.__class__ is known), None)
    if kind is None:
        raise WrongData(f"the check returned {type(verdict).__name__} instead of a verdict")
    assert isinstance(verdict, Pass | Fault)
    data: dict[str, Any] = {
        "kind": kind,
        "summary": verdict.summary,
        "values": {name: _fields(value) for name, value in verdict.values.items()},
        "details": [_fields(place) for place in verdict.details[:MAX_PLACES]],
    }
    if isinstance(verdict, Fault):
        data |= {
            "outcome": verdict.outcome,
            "severity": None if verdict.severity is None else str(verdict.severity),
            "places": [_fields(place) for place in verdict.places[:MAX_PLACES]],
            "total": verdict.total,
            "fix": None if verdict.fix is None else fix_json(verdict.fix),
        }
    return data


def fix_json(fix: Fix) -> dict[str, Any]:
    return {"text": fix.text, "snippets": {str(label): code for label, code in fix.snippets.items()}}


def _fields(value: Value | Place) -> dict[str, Any]:
    if KINDS.get(value.kind) is not value.__class__:
        raise WrongData(f"plug-ins may not use {type(value).__name__}")
    return {"kind": value.kind, **{name: _sent(getattr(value, name)) for name in READERS[value.__class__]}}


def _sent(value: object) -> object:
    """Return a field's value for JSON. Texts of a site may be of any length and have any characters."""
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
        text(name, "the name of a value", 80): _value(value)
        for name, value in mapping(verdict.get("values"), "values", MAX_VALUES).items()
    }
    if kind == "pass":
        passed = Pass(summary, details=details)
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
    )
    fault.values = values
    return fault


def read_severity(value: object) -> Severity:
    try:
        return Severity(text(value, "the severity", 80))
    except ValueError:
        raise WrongData(f"the severity is not one of {', '.join(Severity)}") from None


def read_fix(data: object) -> Fix:
    """Return a fix with its snippets. Raises WrongData."""
    fix = mapping(data, "the fix")
    labels = {str(language): language for language in Language}
    snippets: dict[Language, str] = {}
    for label, code in mapping(fix.get("snippets"), "the snippets", MAX_SNIPPETS).items():
        if label not in labels:
            raise WrongData(f"the label of a snippet is not one of {', '.join(labels)}")
        snippets[labels[label]] = text(code, "a snippet")
    return Fix(text(fix.get("text"), "the fix", may_be_empty=False), snippets)


def _places(data: object, name: str) -> list[Place]:
    places = [_read(place) for place in items(data, name, MAX_PLACES)]
    if not all(isinstance(place, Place) for place in places):
        raise WrongData(f"{name} have values instead of places")
    return [place for place in places if isinstance(place, Place)]


def _value(data: object) -> Value:
    value = _read(data)
    if not isinstance(value, Value):
        raise WrongData("values have a place instead of a value")
    return value


def _read(data: object) -> Value | Place:
    stored = dict(mapping(data, "a value", 20))
    kind = KINDS.get(str(stored.pop("kind", "")))
    if kind is None or stored.keys() != READERS[kind].keys():
        raise WrongData("a value has no known kind")
    return kind(**{name: read(stored[name], f"{kind.kind}.{name}") for name, read in READERS[kind].items()})
