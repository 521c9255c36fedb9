"""Serializers and fields that validate request bodies, describe them in openapi.yaml and name the invalid field.

Fields are strict: they accept JSON types and convert nothing. Each field states in one sentence (`says`) which values
it accepts. That sentence is the error message for every invalid value. HTML forms display the message beside the field
of the same name.
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

# Maximum length of a URL in characters.
MAX_URL = 2048


class Input(serializers.Serializer[Any]):
    """Serializer for a request body."""

    @classmethod
    def judged(cls, body: Mapping[str, object], **context: Any) -> Any:
        """Validate a body and return what `validate` returns, by default a dictionary of values by field.

        Raises the refusal of the first invalid field, in the order of declaration.
        """
        # Extra response fields of refusals by error code: DRF's field errors have no attribute for them.
        details: dict[str, Mapping[str, object]] = {}
        serializer = cls(data=body, context={**context, "details": details})
        if not serializer.is_valid():
            refusal = refusal_of(serializer.errors)
            refusal.details = details.get(refusal.code, {})
            raise refusal
        return serializer.validated_data


def refusal_of(errors: Mapping[str, Any]) -> Refusal:
    """Return a serializer's first error as a refusal with the path of its field, such as `alert.score_drop`.

    An error of the blocklist is returned only if there is no other error.
    """
    details = list(_details(errors))
    path, detail = next(((path, detail) for path, detail in details if detail.code != Blocked.code), details[0])
    refusal = _refusal_classes().get(detail.code or "", InvalidParams)(str(detail))
    refusal.field = ".".join(name for name in path if name != "non_field_errors")
    return refusal


def _details(errors: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], ErrorDetail]]:
    """Flatten nested serializer errors into pairs of a field's path and an error."""
    if isinstance(errors, ErrorDetail):
        yield path, errors
    elif isinstance(errors, Mapping):
        for name, field_errors in errors.items():
            yield from _details(field_errors, (*path, str(name)))
    else:
        for item_errors in errors:
            yield from _details(item_errors, path)


def _refusal_classes(base: type[Refusal] = Refusal) -> dict[str, type[Refusal]]:
    """Map error codes to all of a refusal class's subclasses, at any depth."""
    return {
        refusal.code: refusal
        for subclass in base.__subclasses__()
        for refusal in (subclass, *_refusal_classes(subclass).values())
    }


@contextlib.contextmanager
def refusal_as_error(details: dict[str, Mapping[str, object]] | None = None) -> Iterator[None]:
    """Convert a refusal raised in the block to a ValidationError, so that the serializer validates other fields too.

    The refusal's extra response fields are stored in `details`, the dictionary in the serializer's context. A rule
    about the whole body, in `validate`, may raise a refusal directly, because all fields are valid by then.
    """
    try:
        yield
    except Refusal as refusal:
        if details is not None:
            details[refusal.code] = refusal.details
        raise serializers.ValidationError(str(refusal), code=refusal.code) from None


def checked(body: type[Input], name: str, value: object) -> Any:
    """Return an HTML form value, validated by the API field `name`. Raises the field's refusal."""
    try:
        return body().fields[name].run_validation(value)
    except serializers.ValidationError as error:
        raise refusal_of({name: error.detail}) from None


def parse_address(value: object, policy: Policy, field: str) -> Target:
    """Parse a page's or webhook receiver's URL. Raises InvalidUrl or Blocked with the input field's name."""
    try:
        return parse_target(value, policy)
    except (InvalidUrl, Blocked) as refusal:
        # The parser's messages call every field `url`, so the name is replaced.
        renamed = type(refusal)(re.sub(r"^url\b", field, str(refusal)))
        renamed.field = field
        raise renamed from None


class Nested(serializers.Serializer[Any]):
    """Serializer for an object inside the body. Unknown fields are refused."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if data is not serializers.empty and not isinstance(data, dict):
            raise serializers.ValidationError(f"{self.field_name} must be an object.")
        for name in data if isinstance(data, dict) else ():
            if name not in self.fields:
                known_names = ", ".join(map(str, self.fields))
                safe_name = ascii(name)[1:-1][:60]  # The client's name goes into the message as ASCII, cut to length.
                raise serializers.ValidationError(
                    f"Unknown field {self.field_name}.{safe_name}. Allowed: {known_names}."
                )
        return super().run_validation(data)


def path_of(field: Any) -> str:
    """Return the dotted name of a field in nested objects, such as `alert.score_drop`."""
    names: list[str] = []
    while field is not None and field.field_name:
        names.append(field.field_name)
        field = field.parent
    return ".".join(reversed(names))


class Parsed:
    """Mixin for fields whose `to_internal_value` also validates null."""

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        if data is None:
            return False, None
        result: tuple[bool, Any] = super().validate_empty_values(data)  # type: ignore[misc]  # The field has it.
        return result


class SingleMessage:
    """Mixin for fields with a single error message. The sentence `says` describes which values are accepted.

    `{name}` in the sentence stands for the field's dotted name, such as `alert.fixed`. `accepts` is a further condition
    on values. `code` is the error code, by default `INVALID_PARAMS`.
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
            value = super().run_validation(data)  # type: ignore[misc]  # The field class of the mixin has it.
        except serializers.ValidationError:
            raise serializers.ValidationError(self.error_message, code=self.code) from None
        if value is not None and not self._accepts(value):
            raise serializers.ValidationError(self.error_message, code=self.code)
        return value

    @property
    def error_message(self) -> str:
        """Return the sentence `says` with the field's name filled in."""
        return self.says.replace("{name}", path_of(self))


class Text(SingleMessage, serializers.CharField):
    """String field that keeps surrounding spaces. `tidy` normalizes the string before its length is checked."""

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


# PostgreSQL refuses NUL and lone surrogates. Other control characters except tab and line feed are refused as well.
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def tidy_lines(text: str) -> str:
    """Return a text of several lines with line feeds only, and without white space around it."""
    return text.replace("\r\n", "\n").strip()


class Lines(Text):
    """String field for several lines of text, without control characters and without white space around it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(tidy=tidy_lines, accepts=lambda text: not UNPRINTABLE.search(text), **kwargs)


class Pattern(SingleMessage, serializers.RegexField):
    """Field for a string that a regular expression matches entirely (`$` alone would accept a trailing line feed)."""

    def __init__(self, regex: str, **kwargs: Any) -> None:
        super().__init__(regex, trim_whitespace=False, **kwargs)
        self._regex = re.compile(regex)

    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str) or not self._regex.fullmatch(data):
            self.fail("invalid")
        return data


class Flag(SingleMessage, serializers.BooleanField):
    """Field for true or false."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(says="{name} must be true or false.", **kwargs)

    def to_internal_value(self, data: object) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class Whole(SingleMessage, serializers.IntegerField):
    """Field for a whole number."""

    def to_internal_value(self, data: object) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return data


class Choice(SingleMessage, serializers.ChoiceField):
    """Field for a string from a fixed set."""

    def to_internal_value(self, data: object) -> Any:
        if not isinstance(data, str):
            self.fail("invalid_choice", input="")
        return super().to_internal_value(data)


class Chosen(SingleMessage, serializers.ListField):
    """Field for a list with at least one string from a fixed set. Duplicates are dropped."""

    def __init__(self, choices: Any, *, says: str, **kwargs: Any) -> None:
        super().__init__(child=Choice(choices, says=says), says=says, allow_empty=False, **kwargs)

    def to_internal_value(self, data: Any) -> list[Any]:
        return list(dict.fromkeys(super().to_internal_value(data)))


class Moment(SingleMessage, serializers.DateTimeField):
    """Field for an RFC 3339 timestamp, in UTC or with an offset."""

    def to_internal_value(self, value: object) -> datetime:
        if not isinstance(value, str) or not MOMENT.fullmatch(value):
            self.fail("invalid", format="RFC 3339")
        try:
            return as_moment(value)
        except (ValueError, OverflowError):
            self.fail("invalid", format="RFC 3339")


class Address(Parsed, serializers.RegexField):
    """Field for a page's or receiver's URL. Its value is a `Target` that the `policy` in the context permits."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(WEB_ADDRESS, max_length=MAX_URL, **kwargs)

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        # A missing address is passed to the parser as None, because the parser raises its own refusal.
        return super().validate_empty_values(None if data is serializers.empty and self.required else data)

    def to_internal_value(self, data: object) -> Target:  # type: ignore[override]
        with refusal_as_error():
            return parse_address(data, self.context["policy"], self.field_name or "url")

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Skip CharField's check for blank strings. The parser refuses a blank address."""
        return serializers.Field.run_validation(self, data)

    def run_validators(self, value: object) -> None:
        """Run no validators. The parser has already checked the URL, and a `Target` is not a string."""
