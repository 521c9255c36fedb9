"""What a request to an operation may say. Said once, for openapi.yaml and for the refusal of everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers

from config.api.errors import InvalidParams
from config.api.schema import EVERYWHERE

Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Taken:
    """The names that an operation knows: query parameters, and fields of the body with those that it needs."""

    parameters: tuple[str, ...]
    fields: tuple[str, ...]
    needed: frozenset[str]

    def refuse_other_parameters(self, given: Iterable[str]) -> None:
        """Raises InvalidParams, which names the first that is not known."""
        _refuse_others(given, self.parameters, "parameter")

    def refuse_other_fields(self, body: Mapping[str, object]) -> None:
        """The same for the body. What it lacks is said first, by the view: a URL that is missing has its own code."""
        if self.needed <= body.keys():
            _refuse_others(body, self.fields, "field")


def operation(
    *,
    parameters: Sequence[OpenApiParameter] = (),
    request: type[serializers.Serializer] | None = None,
    body_optional: bool = False,
    **described: Any,
) -> Callable[[Method], Method]:
    """`extend_schema` for a method of an ApiView, which then takes what is described here and nothing else.

    `body_optional` says that the body may be left out.
    """
    fields = request().fields if request else {}
    taken = Taken(
        tuple(each.name for each in parameters if each.location == OpenApiParameter.QUERY),
        tuple(map(str, fields)),
        frozenset(str(name) for name, field in fields.items() if field.required),
    )
    # drf-spectacular calls a body required unless it comes by media type.
    body = {"application/json": request} if body_optional else request

    def decorate(method: Method) -> Method:
        method.taken = taken  # type: ignore[attr-defined]  # read by ApiView.initial
        return extend_schema(parameters=[*parameters, *EVERYWHERE], request=body, **described)(method)

    return decorate


def _refuse_others(given: Iterable[str], known: Sequence[str], noun: str) -> None:
    for name in given:
        if name not in known:
            others = f"there are {', '.join(known)}" if known else "there are none"
            # In ASCII and short, whatever was sent.
            raise InvalidParams(f"{name!a:.60} is no {noun} here; {others}.")
