"""Input: serializers that validate the body of a request, describe it in openapi.yaml and name the field that is wrong.

Fields are strict: JSON's types, nothing converted. Each says in one sentence (`says`) what it takes, and that sentence
is the refusal whatever is wrong. A form shows the refusal beside the field of the same name.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from infrastructure.api.errors import InvalidParams
from infrastructure.api.parsing import MOMENT, WEB_ADDRESS, as_moment
from website_scan.errors import Refusal
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, Target, parse_target

# Longest URL, in characters.
MAX_URL = 2048


class Input(serializers.Serializer[Any]):
    """The body of a request."""

    @classmethod
    def judged(cls, body: Mapping[str, object], **context: Any) -> Any:
        """Return what `validate` makes of the valid values, by default a dictionary of them by field.

        Raises the refusal of the first field, in their order, that is wrong.
        """
        details: dict[str, Mapping[str, object]] = {}  # of refusals by their code, which errors of fields cannot carry
        found = cls(data=body, context={**context, "details": details})
        if not found.is_valid():
            refusal = refusal_of(found.errors)
            refusal.details = details.get(refusal.code, {})
            raise refusal
        return found.validated_data


def refusal_of(errors: Mapping[str, Any]) -> Refusal:
    """Return the first of a serializer's errors as a refusal that knows its field, such as `alert.score_drop`.

    The blocklist has the last word: a body that is wrong elsewhere is refused for that.
    """
    found = list(_details(errors))
    path, detail = next((each for each in found if each[1].code != Blocked.code), found[0])
    refusal = _kinds().get(detail.code or "", InvalidParams)(str(detail))
    refusal.field = ".".join(each for each in path if each != "non_field_errors")
    return refusal


def _details(errors: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], ErrorDetail]]:
    if isinstance(errors, ErrorDetail):
        yield path, errors
    elif isinstance(errors, Mapping):
        for name, each in errors.items():
            yield from _details(each, (*path, str(name)))
    else:
        for each in errors:
            yield from _details(each, path)


def _kinds(of: type[Refusal] = Refusal) -> dict[str, type[Refusal]]:
    """Return all kinds of refusals by their code."""
    return {each.code: each for kind in of.__subclasses__() for each in (kind, *_kinds(kind).values())}


@contextlib.contextmanager
def refusal_as_error(details: dict[str, Mapping[str, object]] | None = None) -> Iterator[None]:
    """Raise a refusal inside as the error of the field that is validated, so that the other fields are judged too.

    `details`, which is in the context, gets the refusal's own fields of the response. A rule about the whole body,
    in `validate`, may raise a refusal as it is, because all fields are valid by then.
    """
    try:
        yield
    except Refusal as refusal:
        if details is not None:
            details[refusal.code] = refusal.details
        raise serializers.ValidationError(str(refusal), code=refusal.code) from None


def checked(body: type[Input], name: str, value: object) -> Any:
    """Return a value of a form as the field of the API's body accepts it. Raises the field's refusal."""
    try:
        return body().fields[name].run_validation(value)
    except serializers.ValidationError as error:
        raise refusal_of({name: error.detail}) from None


def parse_address(value: object, policy: Policy, field: str) -> Target:
    """Parse the URL of a page or a receiver. Raises InvalidUrl or Blocked, which name the field of the input."""
    try:
        return parse_target(value, policy)
    except (InvalidUrl, Blocked) as refusal:
        # The parser's messages call every field `url`.
        named = type(refusal)(re.sub(r"^url\b", field, str(refusal)))
        named.field = field
        raise named from None


class Nested(serializers.Serializer[Any]):
    """An object in the body, which has no field that is not known."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if data is not serializers.empty and not isinstance(data, dict):
            raise serializers.ValidationError(f"{self.field_name} must be an object.")
        for name in data if isinstance(data, dict) else ():
            if name not in self.fields:
                known = ", ".join(map(str, self.fields))
                shown = ascii(name)[1:-1][:60]  # in ASCII and short, whatever was sent
                raise serializers.ValidationError(f"{self.field_name}.{shown} is not known; there are {known}.")
        return super().run_validation(data)


def path_of(field: Any) -> str:
    """Return the name of a field with those of the objects around it, such as `alert.score_drop`."""
    names: list[str] = []
    while field is not None and field.field_name:
        names.append(field.field_name)
        field = field.parent
    return ".".join(reversed(names))


class Parsed:
    """Mixin for a field whose `to_internal_value` judges null as well."""

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        if data is None:
            return False, None
        found: tuple[bool, Any] = super().validate_empty_values(data)  # type: ignore[misc]  # of the field
        return found


class Told:
    """Mixin for a field that says in one sentence what it takes; `{name}` in it is the field, such as `alert.fixed`.

    `accepts` judges a valid value once more; `code` is that of the refusal, if it has one of its own.
    """

    def __init__(
        self,
        *args: Any,
        says: str,
        accepts: Callable[[Any], bool] = lambda _value: True,
        code: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.says = says
        self.code = code
        self._accepts = accepts

    def run_validation(self, data: Any = serializers.empty) -> Any:
        try:
            value = super().run_validation(data)  # type: ignore[misc]  # of the field that it is mixed into
        except serializers.ValidationError:
            raise serializers.ValidationError(self.told, code=self.code) from None
        if value is not None and not self._accepts(value):
            raise serializers.ValidationError(self.told, code=self.code)
        return value

    @property
    def told(self) -> str:
        """Return the sentence, with the name of the field."""
        return self.says.replace("{name}", path_of(self))


class Text(Told, serializers.CharField):
    """Field for a string, which is not trimmed; `tidy` is applied before its length is judged."""

    def __init__(self, *args: Any, tidy: Callable[[str], str] = str, **kwargs: Any) -> None:
        super().__init__(*args, trim_whitespace=False, **kwargs)
        self._tidy = tidy

    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        text = self._tidy(data)
        if not text and not self.allow_blank:
            self.fail("blank")
        return text


class Pattern(Told, serializers.RegexField):
    """Field for a string that matches a regular expression entirely; `$` would accept a line end after it."""

    def __init__(self, regex: str, **kwargs: Any) -> None:
        super().__init__(regex, trim_whitespace=False, **kwargs)
        self._regex = re.compile(regex)

    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str) or not self._regex.fullmatch(data):
            self.fail("invalid")
        return data


class Flag(Told, serializers.BooleanField):
    """Field for true or false."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(says="{name} must be true or false.", **kwargs)

    def to_internal_value(self, data: object) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class Whole(Told, serializers.IntegerField):
    """Field for a whole number."""

    def to_internal_value(self, data: object) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return data


class Choice(Told, serializers.ChoiceField):
    """Field for one of several strings."""

    def to_internal_value(self, data: object) -> Any:
        if not isinstance(data, str):
            self.fail("invalid_choice", input="")
        return super().to_internal_value(data)


class Chosen(Told, serializers.ListField):
    """Field for a list of one or more of several strings; duplicates are dropped."""

    def __init__(self, choices: Any, *, says: str, **kwargs: Any) -> None:
        super().__init__(child=Choice(choices, says=says), says=says, allow_empty=False, **kwargs)

    def to_internal_value(self, data: Any) -> list[Any]:
        return list(dict.fromkeys(super().to_internal_value(data)))


class Moment(Told, serializers.DateTimeField):
    """Field for a moment in the API's format, or with an offset (RFC 3339)."""

    def to_internal_value(self, value: object) -> datetime:
        if not isinstance(value, str) or not MOMENT.fullmatch(value):
            self.fail("invalid", format="RFC 3339")
        try:
            return as_moment(value)
        except (ValueError, OverflowError):
            self.fail("invalid", format="RFC 3339")


class Address(Parsed, serializers.RegexField):
    """Field for the URL of a page or a receiver; returns a `Target` under the policy in the serializer's context."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(WEB_ADDRESS, max_length=MAX_URL, **kwargs)

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        # The parser refuses an address that is missing.
        return super().validate_empty_values(None if data is serializers.empty and self.required else data)

    def to_internal_value(self, data: object) -> Target:  # type: ignore[override]
        with refusal_as_error():
            return parse_address(data, self.context["policy"], self.field_name or "url")

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Leave blank ones to the parser as well, unlike fields of characters."""
        return serializers.Field.run_validation(self, data)

    def run_validators(self, value: object) -> None:
        """Run none: the parser has judged length and form, and the value is a target."""
