"""Form section for own requirements: a row for each rule, and rows to fill for further ones."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.forms.renderers import Jinja2

from scans.models import Scan, WithRequirements
from website_scan.findings import MEDIUM, Severity
from website_scan.messages import counted
from website_scan.requirements.lighthouse.translation import FILE_NAMES, METRIC_NAMES
from website_scan.requirements.model import MAX_NAME_CHARACTERS, MAX_RULES, MAX_WEIGHT, Metric, Requirements, RuleJson
from website_scan.requirements.reading import KINDS, InvalidRule, read_requirements

# Rows without a rule, which the form has in addition to those with one.
EMPTY_ROWS = 3
MAX_VALUE_CHARACTERS = 420
MAX_PAGES_CHARACTERS = 2_100
MAX_BUDGET_CHARACTERS = 100_000
HEADER, HEADER_EQUALS, HEADER_MATCHES = "header", "header-equals", "header-matches"
# Kinds of limits, whose choices are a kind and what is limited, such as `bytes:script`.
LIMITS = ("metric", "bytes", "requests")
PRESENT, ABSENT = "present", "absent"
UNITS = {Metric.CUMULATIVE_LAYOUT_SHIFT: "", Metric.DOM_ELEMENTS: ""}
KIND_CHOICES = [
    ("", "Choose"),
    (
        "On the page",
        [
            ("link", "Link to an address"),
            ("text", "Text"),
            ("element", "Element (CSS selector)"),
        ],
    ),
    ("On the site", [("file", "File")]),
    (
        "In the response",
        [
            (HEADER, "Header with any value"),
            (HEADER_EQUALS, "Header with exactly this value"),
            (HEADER_MATCHES, "Header with a value like this"),
        ],
    ),
    (
        "Metric is at most",
        [(f"metric:{metric}", f"{name}{UNITS.get(metric, ' in ms')}") for metric, name in METRIC_NAMES.items()],
    ),
    ("Size is at most", [(f"bytes:{kind}", f"Bytes of {name}") for kind, name in FILE_NAMES.items()]),
    ("Number is at most", [(f"requests:{kind}", f"Number of {name}") for kind, name in FILE_NAMES.items()]),
]
CONDITION_CHOICES = [(PRESENT, "Required"), (ABSENT, "Not allowed")]
# Fields of the row by fields of the rule, in whose errors their labels replace the names.
ROW_FIELDS = {"name": "name", "pages": "pages", "type": "type", "severity": "severity", "absent": "condition"}
NO_VALUE = "Enter the name and the value, such as X-Frame-Options: DENY."


class RequirementRow(forms.Form):
    """Fields of one rule. A row without name, kind, value and pages is no rule, and one to remove neither."""

    default_renderer = Jinja2()
    name = forms.CharField(
        label="Rule name",
        required=False,
        max_length=MAX_NAME_CHARACTERS,
        widget=forms.TextInput(attrs={"placeholder": "Imprint is linked", "autocomplete": "off"}),
    )
    kind = forms.ChoiceField(
        label="What is required",
        required=False,
        choices=KIND_CHOICES,
        error_messages={"invalid_choice": "Choose what is required."},
    )
    value = forms.CharField(
        label="Value or limit",
        required=False,
        max_length=MAX_VALUE_CHARACTERS,
        widget=forms.TextInput(
            attrs={"placeholder": "/imprint", "autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    condition = forms.ChoiceField(label="Condition", required=False, choices=CONDITION_CHOICES)
    severity = forms.ChoiceField(
        label="Severity", required=False, choices=[(name, name.capitalize()) for name in Severity], initial=str(MEDIUM)
    )
    type = forms.ChoiceField(
        label="Reported in", required=False, choices=[("", "The usual report"), *Scan.Type.choices]
    )
    pages = forms.CharField(
        label="Only on pages",
        required=False,
        max_length=MAX_PAGES_CHARACTERS,
        widget=forms.Textarea(
            attrs={"rows": 1, "placeholder": "/shop/*", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    remove = forms.BooleanField(label="Remove", required=False)

    @property
    def is_empty(self) -> bool:
        return not any(str(self[name].value() or "").strip() for name in ("name", "kind", "value", "pages"))

    @property
    def is_filled(self) -> bool:
        """Return True if the valid row is a rule."""
        return not self.is_empty and not self.cleaned_data["remove"]

    def rule(self) -> dict[str, Any]:
        """Return the rule of the valid row in the JSON form, whose values are not validated yet.

        Adds an error if there is no value, or no kind.
        """
        values = self.cleaned_data
        kind, value = values["kind"], values["value"]
        rule: dict[str, Any] = {"name": values["name"], "severity": values["severity"] or str(MEDIUM)}
        if not kind:
            self.add_error("kind", "Choose what is required.")
        name, _, limited = kind.partition(":")
        if name in LIMITS:
            rule |= {name: limited, "at_most": _number(value)}
        elif kind in (HEADER_EQUALS, HEADER_MATCHES):
            header, separator, expected = value.partition(":")
            if not separator or not expected.strip():
                self.add_error("value", NO_VALUE)
            rule |= {HEADER: header.strip(), kind.removeprefix(f"{HEADER}-"): expected.strip()}
        elif kind:
            rule[kind] = value
        if values["condition"] == ABSENT:
            rule["absent"] = True
        if values["type"]:
            rule["type"] = values["type"]
        if patterns := list(filter(None, map(str.strip, values["pages"].splitlines()))):
            rule["pages"] = patterns
        return rule

    def add_fault(self, fault: InvalidRule) -> None:
        """Add an error about the rule to the field that it is about."""
        field = ROW_FIELDS.get(fault.field, "value")
        named = f"“{self.fields[field].label}” {fault.sentence}"
        self.add_error(field, named if fault.field else fault.sentence)


class RequirementsForm(forms.Form):
    """Section for own requirements of a form with `own_rules` and `own_weight` in its initial values.

    `requirements` are those of the valid form, or None without any.
    """

    own_rows = forms.IntegerField(required=False, widget=forms.HiddenInput)
    own_weight = forms.IntegerField(
        label="Weight in the score",
        required=False,
        min_value=0,
        max_value=MAX_WEIGHT,
        initial=0,
        help_text=f"0 to {MAX_WEIGHT}, relative to the other categories of a report. With 0, scores stay the same.",
    )
    own_budget = forms.CharField(
        label="Text of a budget.json or lighthouserc.json",
        required=False,
        max_length=MAX_BUDGET_CHARACTERS,
        widget=forms.Textarea(
            attrs={
                "rows": 4,
                "placeholder": '[{"path": "/*", "resourceCounts": [{"resourceType": "script", "budget": 20}]}]',
                "autocapitalize": "none",
                "spellcheck": "false",
            }
        ),
        help_text="Its limits become rows above, which you can check before you save them.",
    )

    def __init__(self, data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        self.requirements: Requirements | None = None
        self.requirement_rows = self._bound_rows() if self.is_bound else self._initial_rows()
        self.fields["own_rows"].initial = len(self.requirement_rows)

    def _bound_rows(self) -> list[RequirementRow]:
        entered = str(self.data.get("own_rows", ""))
        number = min(int(entered), MAX_RULES + EMPTY_ROWS) if re.fullmatch(r"[0-9]{1,3}", entered) else 0
        return [RequirementRow(self.data, prefix=_prefix(position)) for position in range(number)]

    def _initial_rows(self) -> list[RequirementRow]:
        values = [values_of_rule(rule) for rule in self.initial.get("own_rules", ())]
        values += [{}] * min(EMPTY_ROWS, MAX_RULES - len(values))
        return [RequirementRow(initial=row, prefix=_prefix(position)) for position, row in enumerate(values)]

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if budget := values.get("own_budget", "").strip():
            self._read_budget(budget)
        filled: list[tuple[RequirementRow, dict[str, Any]]] = []
        for row in self.requirement_rows:
            if row.is_valid() and row.is_filled:
                rule = row.rule()
                filled.append((row, rule))
                if not row.errors and isinstance(fault := _fault([rule]), InvalidRule):
                    row.add_fault(fault)
        if not any(row.errors for row in self.requirement_rows):
            self._read_rules(filled, values.get("own_weight") or 0)
        if any(row.errors for row in self.requirement_rows):
            self.add_error("own_rows", "Correct the requirements marked below.")
        return values

    def _read_rules(self, filled: Sequence[tuple[RequirementRow, dict[str, Any]]], weight: int) -> None:
        rules = [rule for _, rule in filled]
        fault = _fault(rules)
        if isinstance(fault, InvalidRule):
            filled[fault.number - 1][0].add_fault(fault)
        elif fault is not None:
            self.add_error("own_rows", str(fault))
        elif rules:
            self.requirements = read_requirements({"rules": rules, "weight": weight})

    def _read_budget(self, text: str) -> None:
        """Add the limits of a file of Lighthouse as rows, which are displayed again before they are saved."""
        # Few forms have such a file.
        from website_scan.requirements.lighthouse.files import translate
        from website_scan.requirements.lighthouse.translation import UnreadableFile

        try:
            translation = translate(text)
        except UnreadableFile as error:
            self.add_error("own_budget", str(error))
            return
        read = [values_of_rule(rule) for rule in translation.requirements.json()["rules"]]
        entered = [
            {name: row[name].value() for name in row.fields} for row in self.requirement_rows if not row.is_empty
        ]
        read = read[: max(0, MAX_RULES - len(entered))]
        self._replace_rows([*entered, *read])
        number = counted(len(read), "requirement was", "requirements were")
        rows = f"{number} read. Nothing is saved yet: check the rows above, then save them."
        notes = [f"{note[:1].upper()}{note[1:]}." for note in translation.notes]
        if translation.under or any(not name.startswith("own-") for name in translation.outcomes):
            notes.append("Conditions on scores and on findings are not read: alerts of monitors are for them.")
        for sentence in (rows, *notes):
            self.add_error("own_budget", sentence)

    def _replace_rows(self, values: Sequence[Mapping[str, Any]]) -> None:
        number = min(len(values) + EMPTY_ROWS, MAX_RULES + EMPTY_ROWS)
        data = {name: self.data[name] for name in self.data if not name.startswith("own-")}
        changed: Any = copy.copy(self.data)  # A copy of a QueryDict can be changed.
        for name in set(changed) - data.keys():
            del changed[name]
        for position, row in enumerate(values):
            # An unticked box is missing in the data of a form.
            entered = {f"{_prefix(position)}-{name}": value for name, value in row.items() if value is not False}
            changed.update(entered)
        changed["own_rows"], changed["own_budget"] = str(number), ""
        self.data = changed
        self.requirement_rows = self._bound_rows()

    @property
    def rule_count(self) -> int:
        """Return the number of rows with a rule."""
        return sum(not row.is_empty for row in self.requirement_rows)

    @property
    def expands_requirements_section(self) -> bool:
        """Return True if the section must be expanded: it has a rule or an error."""
        names = ("own_rows", "own_weight", "own_budget")
        return bool(self.rule_count) or any(name in self.errors for name in names)


def requirement_values_of(row: WithRequirements) -> dict[str, Any]:
    """Return the initial form values for the own requirements of an audit, a monitor, a list or a journey."""
    requirements = row.own_requirements or Requirements()
    return {"own_rules": requirements.json()["rules"], "own_weight": requirements.weight}


def values_of_rule(rule: RuleJson) -> dict[str, Any]:
    """Return the values of a row for a rule in its complete JSON form."""
    fields: Mapping[str, Any] = rule
    name = next(kind for kind in KINDS if kind in fields)
    kind, value = name, fields[name]
    if name in LIMITS:
        limit = fields["at_most"]
        kind, value = f"{name}:{value}", str(int(limit) if limit == int(limit) else limit)
    for condition, kind_with_value in (("equals", HEADER_EQUALS), ("matches", HEADER_MATCHES)):
        if condition in fields:
            kind, value = kind_with_value, f"{value}: {fields[condition]}"
    return {
        "name": fields["name"],
        "kind": kind,
        "value": value,
        "condition": ABSENT if fields.get("absent") else PRESENT,
        "severity": fields["severity"],
        "type": "" if fields["type"] == KINDS[name][1] else fields["type"],
        "pages": "\n".join(fields.get("pages", ())),
    }


def _prefix(position: int) -> str:
    return f"own-{position}"


def _number(text: str) -> int | float | str:
    """Return the number, or the text if it is none, which the validation refuses."""
    if re.fullmatch(r"[0-9]{1,15}", text):
        return int(text)
    return float(text) if re.fullmatch(r"[0-9]{1,15}\.[0-9]{1,15}", text) else text


def _fault(rules: Sequence[Mapping[str, Any]]) -> ValueError | None:
    """Return the first fault of the rules, or None."""
    try:
        read_requirements({"rules": list(rules)})
    except ValueError as error:
        return error
    return None
