"""Validation of requests to create and change journeys, from the API and from forms."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from rest_framework import serializers

from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Address, Choice, Input, Parsed, Text, refusal_as_error
from scans.models import stored_requirements, stored_viewing
from scans.requests import OwnRequirements, Widths, chosen_types, color_scheme_field, types_of, viewing_of
from sites.models import Journey
from sites.models.journey import MAX_NAME_LENGTH
from website_scan.findings import ScanType
from website_scan.journeys.journey import PLACEHOLDER, JourneyRefused, Navigate, StateRule
from website_scan.journeys.journey import Journey as Steps
from website_scan.journeys.json_steps import MAX_RECORDING_BYTES
from website_scan.journeys.passwords import ReadJourney
from website_scan.journeys.recordings import read_recording, recording_of
from website_scan.journeys.rules import UNPRINTABLE_VALUE, checked_journey
from website_scan.journeys.short_form import read_short_form
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, parse_target
from website_scan.page.registrable_domain import site_of
from website_scan.records import repr_without
from website_scan.urls import Url

MAX_SECRETS, MAX_SECRET_LENGTH = 20, 5_000
SECRET_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
SECRETS_RULE = (
    f"secrets must be an object with at most {MAX_SECRETS} names and their values. A name begins with a letter from a "
    "to z and has at most 40 letters, digits, hyphens and underscores."
)
VALUE_RULE = f"The value of each secret must be a text of 1 to {MAX_SECRET_LENGTH:,} characters that people can type."
STATE_RULES = [str(rule) for rule in StateRule]
JUDGE_RULE = f"judge must be one of {', '.join(StateRule)}."
# Fields whose values may be secrets, so that requests are compared and logged without them.
SECRET_FIELDS = frozenset({"recording", "steps", "secrets"})


class JourneyRequest(Struct, frozen=True):
    """Validated request to create or change a journey.

    `steps` is None if the steps do not change. `secrets` are values by name; None deletes a value. `notes` are
    sentences about what was changed when the steps were read.
    """

    steps: Steps | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    secrets: Mapping[str, str | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return repr_without(self, "secrets")


class Recording(Parsed, serializers.DictField):
    """Serializer field for a recording. Its value is a function that reads it, given the rule of states or None."""

    def to_internal_value(self, data: Any) -> Callable[[StateRule | None], ReadJourney]:  # type: ignore[override]
        if not isinstance(data, dict):
            raise serializers.ValidationError("recording must be an object, as Chrome DevTools' Recorder exports it.")
        # Lines are counted as in the files that the Recorder writes.
        with refusal_as_error():
            read = read_recording(json.dumps(data, indent=2))
        return lambda rule: read if rule is None else replace(read, journey=_with_rule(read.journey, rule))


class Secrets(Parsed, serializers.DictField):
    """Serializer field for the values of secrets. Errors contain no value."""

    def __init__(self, *, may_delete: bool, **kwargs: Any) -> None:
        super().__init__(child=serializers.CharField(allow_null=may_delete), write_only=True, **kwargs)
        self._may_delete = may_delete

    def to_internal_value(self, data: Any) -> dict[str, str | None]:
        if not isinstance(data, dict) or len(data) > MAX_SECRETS or not all(map(SECRET_NAME.fullmatch, data)):
            raise serializers.ValidationError(SECRETS_RULE)
        for value in data.values():
            if value is None and self._may_delete:
                continue
            is_text = isinstance(value, str) and 1 <= len(value) <= MAX_SECRET_LENGTH
            if not is_text or UNPRINTABLE_VALUE.search(value):
                raise serializers.ValidationError(VALUE_RULE)
        return data


class JourneyFields(Input):
    """Common fields of POST and PATCH for journeys."""

    name = Text(
        max_length=MAX_NAME_LENGTH,
        required=False,
        help_text="Default: the title of the recording, or the host.",
        says=f"name must have 1 to {MAX_NAME_LENGTH} printable characters.",
        tidy=lambda name: " ".join(name.split()),
        # A title of a recording contains no secrets, not even by name.
        accepts=lambda name: name.isprintable() and not PLACEHOLDER.search(name),
    )
    recording = Recording(required=False, help_text="Export of Chrome DevTools' Recorder as JSON.")
    steps = Text(
        required=False,
        max_length=MAX_RECORDING_BYTES,
        help_text="In place of a recording: the steps as text, one on each line.",
        says=f"steps must be a text of at most {MAX_RECORDING_BYTES // 1024} KiB.",
    )
    start = Address(required=False, help_text="With `steps`: the address to which relative addresses refer.")
    judge = Choice(
        [(rule, rule) for rule in STATE_RULES],
        required=False,
        help_text="Which pages are states: those of the steps `judge` only (`steps`), also the page after each "
        "navigation (`navigations`), or also the last page (`end`). Default: `steps` if there are such steps, else "
        "`navigations`.",
        says=JUDGE_RULE,
    )
    types = chosen_types()
    widths = Widths(required=False)
    color_scheme = color_scheme_field()
    requirements = OwnRequirements()

    def steps_of(self, values: Mapping[str, Any], current: Journey | None = None) -> ReadJourney | None:
        """Read the steps of a valid body. Returns None if it has none."""
        rule = StateRule(values["judge"]) if "judge" in values else None
        if "recording" in values and "steps" in values:
            raise InvalidParams("Send either recording or steps.", "steps")
        if "start" in values and "steps" not in values:
            raise InvalidParams("start can only be used with steps.", "start")
        if "recording" in values:
            reader: Callable[[StateRule | None], ReadJourney] = values["recording"]
            with _steps_in("judge"):
                return reader(rule)
        if "steps" in values:
            base_url = values["start"].url if "start" in values else current.start_url if current else ""
            with _steps_in("steps"):
                return read_short_form(values["steps"], title="Journey", base_url=base_url, rule=rule)
        if current is not None and rule is not None:
            with _steps_in("judge"):
                return ReadJourney(_with_rule(current.steps, rule))
        return None

    def columns(self, values: Mapping[str, Any], current: Journey | None = None) -> dict[str, Any]:
        """Return the columns that a valid body sets, except those of the steps."""
        columns: dict[str, Any] = {name: values[name] for name in ("name",) if name in values}
        if "types" in values or current is None:
            columns["types"] = [str(one) for one in types_of(values.get("types", tuple(ScanType)))]
        if "widths" in values or "color_scheme" in values:
            viewing = viewing_of(values, current.chosen_viewing if current else None)
            columns["viewing"] = stored_viewing(viewing)
        if "requirements" in values:
            columns["requirements"] = stored_requirements(values["requirements"])
        return columns


class JourneyRequestSerializer(JourneyFields):
    """Body of POST /v1/journeys, with either `recording` or `steps`."""

    secrets = Secrets(required=False, may_delete=False, help_text="Values by name, which are never returned.")

    def validate(self, values: dict[str, Any]) -> JourneyRequest:
        read = self.steps_of(values)
        if read is None:
            raise InvalidParams("Send either recording or steps.", "recording")
        field_name = "recording" if "recording" in values else "steps"
        refuse_foreign_steps(read.journey, self.context["policy"], field_name)
        columns = self.columns(values)
        if "name" not in columns:
            has_title = "recording" in values
            columns["name"] = read.journey.title if has_title else Url.of(read.journey.start_url).host[:MAX_NAME_LENGTH]
        secrets = {**read.secrets, **values.get("secrets", {})}
        refuse_unused_secrets(secrets, read.journey)
        return JourneyRequest(read.journey, columns, secrets, read.notes)


class JourneyChangeSerializer(JourneyFields):
    """Body of PATCH /v1/journeys/:id. Fields that are missing in the body do not change."""

    secrets = Secrets(
        required=False, may_delete=True, help_text="Values by name, which are never returned. Null deletes a value."
    )

    def validate(self, values: dict[str, Any]) -> JourneyRequest:
        current: Journey = self.context["journey"]
        read = self.steps_of(values, current)
        secrets = values.get("secrets", {})
        if read is None:
            refuse_unused_secrets(secrets, current.steps)
            return JourneyRequest(None, self.columns(values, current), secrets)
        field_name = next(name for name in ("recording", "steps", "judge") if name in values)
        refuse_foreign_steps(read.journey, self.context["policy"], field_name)
        secrets = {**read.secrets, **secrets}
        refuse_unused_secrets(secrets, read.journey)
        return JourneyRequest(read.journey, self.columns(values, current), secrets, read.notes)


def parse_new(body: Mapping[str, Any], policy: Policy) -> JourneyRequest:
    """Validate the body of POST /v1/journeys. Raises the refusal of the first invalid field."""
    request: JourneyRequest = JourneyRequestSerializer.judged(body, policy=policy)
    return request


def parse_change(body: Mapping[str, Any], policy: Policy, journey: Journey) -> JourneyRequest:
    """Validate the body of PATCH /v1/journeys/:id. Raises the same refusals as `parse_new`."""
    request: JourneyRequest = JourneyChangeSerializer.judged(body, policy=policy, journey=journey)
    return request


def without_secrets(body: Mapping[str, Any], request: JourneyRequest) -> dict[str, object]:
    """Return the body for the digest of an idempotent request.

    Steps may contain typed passwords, of which not even a digest may be stored, so the steps as they were read replace
    them.
    """
    comparable = {name: value for name, value in body.items() if name not in SECRET_FIELDS}
    return comparable | {"recording": None if request.steps is None else recording_of(request.steps)}


def refuse_foreign_steps(steps: Steps, policy: Policy, field_name: str) -> None:
    """Refuse a journey that opens pages outside its site and its places of log-in.

    Raises JourneyRefused, InvalidUrl and Blocked.
    """
    try:
        start = parse_target(steps.start_url, policy)
    except (InvalidUrl, Blocked) as error:
        error.field = field_name
        raise
    site = site_of(start.host)
    for number, step in enumerate(steps.steps, 1):
        if isinstance(step, Navigate):
            host = Url.of(step.url).host
            if site_of(host) != site and host not in steps.identity_providers:
                refusal = JourneyRefused(
                    f"Step {number} opens {host}, which is not part of the site {site}. A place of log-in has to be "
                    "allowed by its host."
                )
                refusal.field = field_name
                raise refusal


def refuse_unused_secrets(secrets: Mapping[str, str | None], steps: Steps) -> None:
    """Raise InvalidParams for a value that no step uses, because its name is probably misspelt."""
    for name, value in secrets.items():
        if value is not None and name not in steps.secret_names:
            raise InvalidParams(f"No step contains {{{{{name}}}}}.", "secrets")


def _with_rule(steps: Steps, rule: StateRule) -> Steps:
    return checked_journey(steps.title, steps.steps, rule, steps.identity_providers)


@contextlib.contextmanager
def _steps_in(field_name: str) -> Iterator[None]:
    """Set the field of refusals of the steps."""
    try:
        yield
    except JourneyRefused as refusal:
        refusal.field = field_name
        raise
