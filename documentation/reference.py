"""API reference for the documentation pages, read from openapi.yaml."""

from __future__ import annotations

import functools
import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

import yaml
from django.conf import settings
from msgspec import Struct

from documentation.markdown import EXAMPLE_ORIGIN, anchor_of
from infrastructure.api.framework import TAGS
from infrastructure.api.references import resolve_references
from infrastructure.api.schema import COMMON_HEADERS

Schema = Mapping[str, Any]

# Depth of nested fields in the tables. Deeper fields are only in openapi.yaml.
MAX_DEPTH = 5
# Schema keywords for the minimum and maximum of a field, with the unit.
LIMITS = (("minimum", "maximum", ""), ("minLength", "maxLength", " characters"), ("minItems", "maxItems", " items"))
# Longer examples are cut, because they would fill most of the page.
MAX_EXAMPLE_LINES = 120


class Field(Struct, frozen=True):
    """A parameter or a body field.

    Nested names have dots and brackets, such as `scans[].id`.
    """

    name: str
    type: str
    is_required: bool
    description: str
    values: tuple[str, ...]
    limits: str
    place: str = ""


class Answer(Struct, frozen=True):
    """A response in the API reference.

    `headers` excludes those that all responses have.
    """

    status: str
    text: str
    headers: tuple[tuple[str, str], ...] = ()
    media_type: str = ""
    fields: tuple[Field, ...] = ()
    example: str = ""

    @property
    def reason(self) -> str:
        return HTTPStatus(int(self.status)).phrase


class Operation(Struct, frozen=True):
    """An operation: one method on one path.

    `errors` excludes the errors that most operations have.
    """

    anchor: str
    title: str
    method: str
    path: str
    text: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    request: str
    answers: tuple[Answer, ...]
    errors: tuple[Answer, ...]


class Group(Struct, frozen=True):
    """Operations with the same tag."""

    slug: str
    title: str
    introduction: str
    operations: tuple[Operation, ...]


class Api(Struct, frozen=True):
    """The whole API, with its groups by slug and the errors that most operations share."""

    groups: Mapping[str, Group]
    common_errors: tuple[Answer, ...]


@functools.cache
def api() -> Api:
    """Return the API from openapi.yaml.

    Parsing takes half a second of CPU, so the result is cached.
    """
    text = (settings.BASE_DIR / "openapi.yaml").read_text(encoding="utf-8")
    description = resolve_references(yaml.load(text.replace(EXAMPLE_ORIGIN, settings.BASE_URL), Loader=_loader()))  # noqa: S506  # safe
    reader = _Reader(description)
    by_tag: dict[str, list[Operation]] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            (tag,) = operation["tags"]
            by_tag.setdefault(tag, []).append(reader.operation(method, path, operation))
    groups = [
        Group(anchor_of(tag), tag, introduction, tuple(sorted(by_tag[tag], key=_order)))
        for tag, introduction in TAGS.items()
    ]
    return Api({group.slug: group for group in groups}, tuple(Answer(*error) for error in sorted(reader.common_errors)))


def _loader() -> Any:
    """Return libyaml's loader if it is available, because it is eight times as fast."""
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _order(operation: Operation) -> tuple[int, bool]:
    """Return the sort key that puts collections before items, and POST before a path's other methods."""
    return operation.path.count("/"), operation.method != "POST"


class _Reader:
    def __init__(self, description: Schema) -> None:
        self.components: Schema = description["components"]
        operations = [operation for methods in description["paths"].values() for operation in methods.values()]
        counts = Counter(
            (status, response["description"])
            for operation in operations
            for status, response in operation["responses"].items()
        )
        self.common_errors = {
            (status, text)
            for (status, text), count in counts.items()
            if status >= "400" and count > len(operations) / 2
        }

    def operation(self, method: str, path: str, operation: Schema) -> Operation:
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        answers = [self._answer(status, response) for status, response in sorted(operation["responses"].items())]
        return Operation(
            anchor=operation["operationId"].replace("_", "-"),
            title=operation["summary"],
            method=method.upper(),
            path=path,
            text=operation.get("description", ""),
            parameters=tuple(self._parameter(parameter) for parameter in operation.get("parameters", ())),
            body=tuple(self._fields(body["schema"])) if body else (),
            request=_curl(method.upper(), path, operation, body.get("example")),
            answers=tuple(answer for answer in answers if answer.status < "400"),
            errors=tuple(
                answer
                for answer in answers
                if answer.status >= "400" and (answer.status, answer.text) not in self.common_errors
            ),
        )

    def _answer(self, status: str, response: Schema) -> Answer:
        content: dict[str, dict[str, Any]] = response.get("content", {})
        media_type = next(iter(content), "")
        media = content.get(media_type, {})
        headers = (
            (name, header["description"])
            for name, header in response.get("headers", {}).items()
            if name not in COMMON_HEADERS
        )
        return Answer(
            status=status,
            text=response["description"] if status >= "400" else "",
            headers=tuple(headers),
            media_type=media_type,
            fields=tuple(self._fields(media["schema"])) if media and status < "400" else (),
            example=_example(media.get("example")),
        )

    def _parameter(self, parameter: Schema) -> Field:
        return self._field(
            parameter["name"],
            {**parameter["schema"], "description": parameter.get("description", "")},
            is_required=parameter.get("required", False),
            place=parameter["in"],
        )

    def _fields(self, schema: Schema, prefix: str = "", depth: int = 1) -> Iterator[Field]:
        schema = self._resolved(schema)
        if "items" in schema:
            yield from self._fields(schema["items"], f"{prefix}[]", depth)
        required = schema.get("required", ())
        for name, field_schema in schema.get("properties", {}).items():
            path = f"{prefix}.{name}" if prefix else name
            yield self._field(path, field_schema, is_required=name in required)
            inner = self._resolved(field_schema)
            values = inner.get("additionalProperties")
            if depth < MAX_DEPTH:
                yield from self._fields(inner, path, depth + 1)
                if isinstance(values, dict) and values:
                    yield from self._fields(values, f"{path}.*", depth + 1)

    def _field(self, name: str, field_schema: Schema, *, is_required: bool, place: str = "") -> Field:
        schema = self._resolved(field_schema)
        items = self._resolved(schema.get("items", {}))
        return Field(
            name=name,
            type=self._type(schema),
            is_required=is_required,
            # drf-spectacular appends a list of values, which is removed.
            description=schema.get("description", "").partition("\n\n* `")[0].partition("* `")[0].strip(),
            values=tuple(str(value) for value in (schema.get("enum") or items.get("enum") or ()) if value is not None),
            limits=", ".join(_limits(schema)),
            place=place,
        )

    def _type(self, schema: Schema) -> str:
        kind, *null = _types(schema)
        if kind == "array":
            inner, *_ = _types(self._resolved(schema["items"]))
            kind = f"array of {inner}s"
        elif isinstance(values := schema.get("additionalProperties"), dict) and values:
            inner, *_ = _types(self._resolved(values))
            kind = f"object of {inner}s"
        elif schema.get("format") in ("date-time", "uri"):
            kind = {"date-time": "time", "uri": "URL"}[schema["format"]]
        return " or ".join((kind, *null))

    def _resolved(self, schema: Schema) -> Schema:
        """Resolve `$ref`, `allOf`, and `oneOf` with null.

        Keywords next to a reference override its schema.
        """
        if "$ref" in schema:
            return self._resolved(self.components["schemas"][schema["$ref"].rpartition("/")[2]])
        for keyword in schema.keys() & {"allOf", "oneOf"}:
            first, *null = schema[keyword]
            referenced = self._resolved(first)
            siblings = {key: value for key, value in schema.items() if key != keyword}
            return {**referenced, **siblings, "type": [*_types(referenced), *(option["type"] for option in null)]}
        return schema


def _types(schema: Schema) -> list[str]:
    """Return a schema's types, with null last."""
    types = schema.get("type", "any")
    return [types] if isinstance(types, str) else types


def _limits(schema: Schema) -> Iterator[str]:
    """Yield a field's limits in words, such as "1 to 255 characters"."""
    for minimum, maximum, noun in LIMITS:
        low, high = schema.get(minimum), schema.get(maximum)
        if low is not None and high is not None:
            yield f"{low:,} to {high:,}{noun}"
        elif high is not None:
            yield f"at most {high:,}{noun}"
        elif low:
            yield "not empty" if low == 1 and noun else f"at least {low:,}{noun}"
    if "default" in schema:
        yield f"default {schema['default']}"


def _example(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    lines = text.splitlines()
    return "\n".join([*lines[:MAX_EXAMPLE_LINES], *(["…"] if len(lines) > MAX_EXAMPLE_LINES else [])])


def _curl(method: str, path: str, operation: Schema, body: object) -> str:
    """Return the request as a curl command, with shell variables for IDs."""
    address = path
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            address = address.replace(f"{{{parameter['name']}}}", f"${parameter['name'].upper()}")
    lines = [f'curl {"" if method == "GET" else f"-X {method} "}"{settings.BASE_URL}{address}"']
    lines.append('-H "Authorization: Bearer $API_KEY"')
    if body is not None:
        lines.append('-H "Content-Type: application/json"')
        lines.append(f"-d {shlex.quote(json.dumps(body, indent=2, ensure_ascii=False))}")
    return " \\\n  ".join(lines)
