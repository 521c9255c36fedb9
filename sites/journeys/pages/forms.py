"""Form for the settings of a journey: its name, types, states, places of log-in and secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from msgspec import Struct
from msgspec.structs import replace

from accounts.drafts import SECRET_PREFIX
from infrastructure.api.inputs import checked
from infrastructure.web.forms import HintedLabel, IdempotentForm, TicksField
from scans.models import Scan, stored_requirements, stored_viewing
from scans.policy import scan_policy
from scans.requests import types_of
from sites.journeys.requests import (
    MAX_SECRET_LENGTH,
    VALUE_RULE,
    JourneyRequest,
    JourneyRequestSerializer,
    refuse_foreign_steps,
)
from sites.models import Journey
from sites.models.journey import MAX_NAME_LENGTH
from sites.pages.forms import HINTS, NONE_CHOSEN, NOT_STORED, SecretField, ViewingForm, viewing_values_of
from sites.pages.requirement_rows import RequirementsForm, requirement_values_of
from website_scan.journeys import rules
from website_scan.journeys.journey import MAX_STATES, Judge, Navigate, StateRule, Step
from website_scan.journeys.journey import Journey as Steps
from website_scan.journeys.passwords import ReadJourney
from website_scan.journeys.planned import planned_states
from website_scan.journeys.words import step_in_words

RULES = (
    (StateRule.STEPS, HintedLabel("Only the states named below", "You choose what is judged")),
    (StateRule.NAVIGATIONS, HintedLabel("Also each new page", "The page after each navigation, and the last one")),
    (StateRule.END, HintedLabel("Also the last page", "The page as it is after the last step")),
)
# Beginnings of the names of fields.
STATE, SECRET, FORGET = "state-", SECRET_PREFIX, "forget-"


class StepRow(Struct, frozen=True):
    """Step in words with the field for the name of the state after it.

    `line` is the line in the text that was sent. `others` are names of further states of the same page.
    """

    number: int
    line: int
    text: str
    state: forms.BoundField
    others: Sequence[str]


class SecretRow(Struct, frozen=True):
    """Field for the value of a secret.

    `origin` is "stored", "read" if the value was in the steps, or empty without a value.
    """

    name: str
    field: forms.BoundField
    forget: forms.BoundField | None
    origin: str


class _StepWithStates(Struct, frozen=True):
    number: int
    step: Step
    states: tuple[Judge, ...]


class JourneyForm(ViewingForm, RequirementsForm, IdempotentForm):
    """Form for creating or changing a journey.

    `read` are its steps, and `current` is the stored journey, if it exists.
    """

    noun = "journey"
    about = {"types": "type"}
    carried = forms.CharField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(
        label="Name",
        max_length=MAX_NAME_LENGTH,
        help_text="Such as “Log-in” or “Checkout”. Shown in lists and reports.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": "Enter a name."},
    )
    type = TicksField(
        [(type, HintedLabel(type.label, hint)) for type, hint in HINTS.items()],
        label="What to check",
        initial=Scan.Type.values,
    )
    judge = forms.ChoiceField(
        label="Which pages are judged",
        choices=RULES,
        widget=forms.RadioSelect,
        error_messages={"required": "Choose which pages are judged."},
    )
    hosts = forms.CharField(
        label="Places of log-in, one on each line",
        required=False,
        max_length=2_000,
        widget=forms.Textarea(
            attrs={"rows": 2, "placeholder": "login.example.org", "autocapitalize": "none", "spellcheck": "false"}
        ),
        help_text="Hosts outside the site where the journey logs in, such as accounts.google.com. Secrets are typed "
        "there, too. Hosts of your own need the same proof of control as the site.",
    )

    def __init__(
        self,
        data: Any = None,
        *,
        read: ReadJourney,
        current: Journey | None = None,
        initial: Mapping[str, Any] | None = None,
    ) -> None:
        self.read, self.current = read, current
        self.stored = current.secret_names if current else []
        self._rows = _steps_with_states(read.journey)
        journey = read.journey
        values: dict[str, Any] = {"judge": str(journey.rule), "hosts": "\n".join(journey.identity_providers)}
        for number, row in enumerate(self._rows):
            values[f"{STATE}{number}"] = row.states[0].name if row.states else ""
        super().__init__(data, initial=values | dict(initial or {}))
        for number, row in enumerate(self._rows):
            self.fields[f"{STATE}{number}"] = forms.CharField(
                label=f"State after step {row.number}",
                required=False,
                max_length=rules.MAX_STATE_NAME_CHARACTERS,
                widget=forms.TextInput(attrs={"autocomplete": "off"}),
            )
        for name in journey.secret_names:
            widget = forms.PasswordInput(attrs=NOT_STORED | {"autocomplete": "new-password"})
            self.fields[f"{SECRET}{name}"] = SecretField(name, widget)
            if name in self.stored:
                self.fields[f"{FORGET}{name}"] = forms.BooleanField(label=f"Delete the value of {name}", required=False)

    @property
    def rows(self) -> list[StepRow]:
        """Return the steps in words. States are in the row of the step before."""
        return [
            StepRow(
                row.number,
                row.step.line,
                step_in_words(row.step),
                self[f"{STATE}{number}"],
                [state.name for state in row.states[1:]],
            )
            for number, row in enumerate(self._rows)
        ]

    @property
    def secrets(self) -> list[SecretRow]:
        return [
            SecretRow(
                name,
                self[f"{SECRET}{name}"],
                self[f"{FORGET}{name}"] if name in self.stored else None,
                "read" if name in self.read.secrets else "stored" if name in self.stored else "",
            )
            for name in self.read.journey.secret_names
        ]

    @property
    def planned(self) -> int:
        """Number of states for which a run reserves scans, as far as the steps were read."""
        return planned_states(self.read.journey)

    def clean_type(self) -> list[str]:
        types: list[str] = list(dict.fromkeys(self.cleaned_data["type"]))
        if not types:
            raise forms.ValidationError(NONE_CHOSEN)
        return types

    def clean_hosts(self) -> list[str]:
        hosts = []
        for text in re.split(r"[\s,]+", self.cleaned_data["hosts"].strip()):
            if text:
                try:
                    hosts.append(rules.check_host(text))
                except ValueError as error:
                    raise forms.ValidationError(str(error)) from None
        if len(hosts) > rules.MAX_IDENTITY_PROVIDERS:
            raise forms.ValidationError(f"Enter at most {rules.MAX_IDENTITY_PROVIDERS} hosts.")
        return hosts

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        names: set[str] = {state.name for row in self._rows for state in row.states[1:]}
        for number, _ in enumerate(self._rows):
            field = f"{STATE}{number}"
            if not (name := values.get(field, "").strip()):
                continue
            try:
                values[field] = name = rules.check_state_name(name)
            except ValueError as error:
                self.add_error(field, str(error))
                continue
            if name in names:
                self.add_error(field, "Another state has this name.")
            names.add(name)
        if len(names) > MAX_STATES:
            self.add_error(None, f"{len(names)} states would be judged. No more than {MAX_STATES} are possible.")
        if values.get("judge") == StateRule.STEPS and not names and not self.errors:
            self.add_error("judge", "Name at least one state beside the steps, or choose another answer.")
        for name in self.read.journey.secret_names:
            value = values.get(f"{SECRET}{name}", "")
            if len(value) > MAX_SECRET_LENGTH or rules.UNPRINTABLE_VALUE.search(value):
                self.add_error(f"{SECRET}{name}", VALUE_RULE)
        return values

    def journey_request(self) -> JourneyRequest:
        """Return the request to create or change the journey.

        Raises the same refusals as the API.
        """
        values = self.cleaned_data
        name = checked(JourneyRequestSerializer, "name", values["name"])
        steps: list[Step] = []
        for number, row in enumerate(self._rows):
            steps.append(row.step)
            if state := values[f"{STATE}{number}"].strip():
                steps.append(Judge(name=state, line=row.step.line))
            steps += row.states[1:]
        journey = rules.checked_journey(name, steps, StateRule(values["judge"]), values["hosts"])
        if self.current is None or _hosts_of(journey) != _hosts_of(self.current.steps):
            refuse_foreign_steps(journey, scan_policy(), "steps")
        columns: dict[str, Any] = {
            "name": name,
            "types": [str(type) for type in types_of(values["type"])],
            "viewing": stored_viewing(self.viewing),
            "requirements": stored_requirements(self.requirements),
        }
        return JourneyRequest(journey, columns, self._secrets(values), self.read.notes)

    def _secrets(self, values: Mapping[str, Any]) -> dict[str, str | None]:
        """Return the entered values, those in the steps, and None for values to delete."""
        secrets: dict[str, str | None] = dict(self.read.secrets)
        for name in self.read.journey.secret_names:
            if value := values[f"{SECRET}{name}"]:
                secrets[name] = value
            elif values.get(f"{FORGET}{name}"):
                secrets[name] = None
        return secrets


def _hosts_of(journey: Steps) -> tuple[set[str], set[str]]:
    """Return the addresses that a journey opens, and its places of log-in."""
    opened = {step.url for step in journey.steps if isinstance(step, Navigate)}
    return opened, set(journey.identity_providers)


def _steps_with_states(journey: Steps) -> list[_StepWithStates]:
    """Return the steps that act, with the states that are judged after them."""
    rows: list[_StepWithStates] = []
    for number, step in enumerate(journey.steps, 1):
        if isinstance(step, Judge):
            # The first step is never a state, because a journey begins with an address.
            rows[-1] = replace(rows[-1], states=(*rows[-1].states, step))
        else:
            rows.append(_StepWithStates(number, step, ()))
    return rows


def initial_values_of(journey: Journey) -> dict[str, Any]:
    """Return the initial form values for an existing journey, without those of its steps."""
    return {"name": journey.name, "type": journey.types, **viewing_values_of(journey), **requirement_values_of(journey)}
