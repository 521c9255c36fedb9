"""OpenAPI schemas for TypedDicts. A view method's return type describes its response in openapi.yaml.

`website_scan.json_types` defines the metadata that `typing.Annotated` adds to the types of keys.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.plumbing import (
    ResolvedComponent,
    append_meta,
    build_basic_type,
    build_choice_description_list,
    list_hash,
)
from msgspec.structs import asdict
from rest_framework import serializers
from rest_framework.response import Response

from website_scan.json_types import Component, JsonValue, Keywords, Published, Values

if TYPE_CHECKING:
    from drf_spectacular.openapi import AutoSchema
    from drf_spectacular.utils import Direction

Document = TypeVar("Document")
Stored = TypeVar("Stored")
Schema = dict[str, Any]


class Answer(Generic[Document], Response):  # Generic comes first, because subscripting Response drops the parameter.
    """A JSON response. The annotation `-> Answer[Mute]` gives the view method's response the schema `Mute`."""

    def __init__(self, document: Document, *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(document, status=status, headers=headers)


class _TypedDictMeta(type):
    def __subclasscheck__(cls, subclass: type) -> bool:
        return is_typeddict(subclass)


class TypedDictClass(metaclass=_TypedDictMeta):
    """Base class that makes `issubclass` accept every TypedDict, so that drf-spectacular recognizes TypedDicts."""


class TypedDictSchema(OpenApiSerializerExtension):
    """OpenAPI schema for a TypedDict. The component's name is the class name, or comes from `json_types.component`."""

    target_class = TypedDictClass
    match_subclasses = True

    def get_name(self, auto_schema: AutoSchema, direction: Direction) -> str:
        return str(vars(self.target).get("component_name", self.target.__name__))

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> Schema:
        return _object([self.target], inspect.cleandoc(self.target.__doc__ or ""), auto_schema, direction)


class ItemField(serializers.Field[Any, Any, Any, Any]):
    """Field for list items of any type that `schema_of` supports. drf-spectacular requires a serializer field."""

    def __init__(self, document: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.document = document


class ItemFieldSchema(OpenApiSerializerFieldExtension):
    target_class = ItemField
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> Schema:
        return schema_of(self.target.document, auto_schema, direction)


def returned_by(method: Callable[..., object]) -> Any:
    """Return `Document` from a method's annotation `-> Answer[Document]`, in a form that drf-spectacular accepts."""
    (document,) = get_args(get_type_hints(method)["return"])
    if get_origin(document) is list:  # drf-spectacular would repeat the item's schema instead of making a component.
        (item,) = get_args(document)
        return serializers.ListSerializer(child=ItemField(item))
    return document


def in_order(kind: type[Stored], stored: Stored) -> Stored:
    """Return a JSON document with its keys in the order of its TypedDict. PostgreSQL's jsonb sorts keys by length."""
    ordered: Stored = _in_order(kind, stored)
    return ordered


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _in_order(hint: Any, value: Any) -> Any:
    kind, arguments = get_origin(hint), get_args(hint)
    if value is None:
        return None
    if kind in (Union, UnionType):
        (inner,) = (argument for argument in arguments if argument is not type(None))
        return _in_order(inner, value)
    if kind is list:
        return [_in_order(arguments[0], item) for item in value]
    if kind is dict:
        return {key: _in_order(arguments[1], item) for key, item in value.items()}
    if is_typeddict(hint):
        return {key: _in_order(key_hint, value[key]) for key, key_hint in _hints(hint).items() if key in value}
    return value


def _object(kinds: Sequence[Any], text: str, auto_schema: AutoSchema, direction: Direction) -> Schema:
    """Return the schema of an object that matches one of several TypedDicts.

    A key is required if all of them require it.
    """
    hints: dict[str, list[Any]] = {}
    required: Counter[str] = Counter()
    for kind in kinds:
        for key, hint in get_type_hints(kind, include_extras=True).items():
            # With `from __future__ import annotations`, __optional_keys__ does not contain keys marked NotRequired.
            is_optional = key in kind.__optional_keys__ or get_origin(hint) is NotRequired
            inner = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
            metadata = get_args(inner) if get_origin(inner) is Annotated else ()
            if Published.ABSENT not in metadata:
                hints.setdefault(key, []).append(inner)
                required[key] += not is_optional or Published.PRESENT in metadata
    schema: Schema = {"type": "object"} | ({"description": text} if text else {})
    schema["properties"] = {
        key: schema_of(Union[tuple(key_hints)], auto_schema, direction)  # noqa: UP007  # The members are in a list.
        for key, key_hints in hints.items()
    }
    names = sorted(key for key, count in required.items() if count == len(kinds))
    return schema | ({"required": names} if names else {})


def schema_of(hint: Any, auto_schema: AutoSchema, direction: Direction = "response") -> Schema:
    """Return the OpenAPI schema for a type hint. TypedDicts become references to components."""
    if hint in (Any, object, JsonValue):
        return {}
    kind, arguments = get_origin(hint), get_args(hint)
    if kind is Annotated:
        return _annotated(arguments[0], arguments[1:], auto_schema, direction)
    if kind in (Union, UnionType):
        inner = tuple(argument for argument in arguments if argument is not type(None))
        if all(get_origin(member) is Literal for member in inner):
            inner = (Literal[tuple(value for literal in inner for value in get_args(literal))],)
        if len(inner) > 1:
            raise TypeError(f"{hint} has no schema: name the union with json_types.Component")
        schema = schema_of(inner[0], auto_schema, direction)
        if type(None) not in arguments:
            return schema
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
        return append_meta(schema, {"nullable": True})
    if kind is Literal:
        return {"type": "string", **_enumeration(tuple((value, value) for value in arguments))}
    if kind is list:
        return {"type": "array", "items": schema_of(arguments[0], auto_schema, direction)}
    if kind in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema_of(arguments[1], auto_schema, direction)}
    if is_typeddict(hint):
        return dict(auto_schema.resolve_serializer(hint, direction).ref)
    basic = build_basic_type(hint)
    assert basic is not None
    return dict(basic)


def _annotated(hint: Any, metadata: tuple[object, ...], auto_schema: AutoSchema, direction: Direction) -> Schema:
    """Return the schema for `Annotated[hint, *metadata]`."""
    for component in metadata:
        if isinstance(component, Component):
            schema = _object(get_args(hint), component.description, auto_schema, direction)
            resolved = ResolvedComponent(component.name, ResolvedComponent.SCHEMA, schema, component.name)
            auto_schema.registry.register_on_missing(resolved)
            return dict(resolved.ref)
    if Published.NOT_NULL in metadata:
        (hint,) = (argument for argument in get_args(hint) if argument is not type(None))
    schema = schema_of(hint, auto_schema, direction)
    texts = [item for item in metadata if isinstance(item, str)]
    for item in metadata:
        # A request body contains the same object, so the request serializer's schema is used.
        if isinstance(item, type) and issubclass(item, serializers.Serializer):
            return dict(auto_schema.resolve_serializer(item, direction).ref)
        if isinstance(item, Keywords):
            schema |= {name: value for name, value in asdict(item).items() if value is not None}
        elif isinstance(item, Values):
            schema |= _enumeration(item.choices)
    if texts:
        schema = append_meta(schema, {"description": "\n\n".join([*texts, *filter(None, [schema.get("description")])])})
    return schema


def _enumeration(choices: tuple[tuple[str, str], ...]) -> Schema:
    return {
        "enum": [value for value, _ in choices],
        "description": build_choice_description_list(choices),
        "x-spec-enum-id": list_hash(choices),
    }
