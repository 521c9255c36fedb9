"""Replace repeated descriptions in openapi.yaml by references to `components`.

This module does not import drf-spectacular, because the running service resolves the references for its documentation.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

Described = dict[str, Any]
# A container and the key of a description in the container, such as a response's `headers` and "ETag".
Slot = tuple[Any, Any]

KINDS = ("headers", "parameters", "responses")
# A description that is repeated less often is not moved to `components`.
MIN_REPEATS = 3
CODE = re.compile(r"`([A-Z]+(?:_[A-Z]+)*)`")
# Words that are left out of the names of components.
FILLERS = {"a", "an", "the", "is", "it"}


def move_to_components(result: Described, **_: object) -> Described:
    """Move repeated headers, parameters and responses to `components`. Hook for drf-spectacular.

    The component of a header or parameter has the name of the header or parameter. Of different descriptions with the
    same name, only the most frequent one is moved. The component of a response is named after its error codes.
    """
    for kind in KINDS:
        by_text: dict[str, list[Slot]] = {}
        for container, key in _slots(result, kind):
            by_text.setdefault(json.dumps(container[key], sort_keys=True, default=str), []).append((container, key))
        repeated = sorted((slots for slots in by_text.values() if len(slots) >= MIN_REPEATS), key=len, reverse=True)
        described = [container[key] for (container, key), *_ in repeated]
        names = _names_of_responses(described) if kind == "responses" else [_name(*slots[0]) for slots in repeated]
        components: dict[str, Any] = {}
        for name, slots, shared in zip(names, repeated, described, strict=True):
            if components.setdefault(name, shared) is shared:
                for container, key in slots:
                    container[key] = {"$ref": f"#/components/{kind}/{name}"}
        result["components"][kind] = dict(sorted(components.items()))
    return result


def resolve_references(description: Described) -> Described:
    """Return an OpenAPI description with references to headers, parameters and responses resolved.

    References to schemas are not resolved.
    """
    resolved = copy.deepcopy(description)
    for kind in reversed(KINDS):
        for container, key in _slots(resolved, kind):
            if reference := container[key].get("$ref"):
                container[key] = copy.deepcopy(description["components"][kind][reference.rpartition("/")[2]])
    return resolved


def _slots(description: Described, kind: str) -> Iterator[Slot]:
    """Yield every header, parameter or response in all operations and webhooks. `kind` selects which."""
    paths = [*description["paths"].values(), *description["webhooks"].values()]
    for operation in [operation for methods in paths for operation in methods.values()]:
        if kind == "parameters":
            parameters = operation.get("parameters", [])
            yield from ((parameters, index) for index in range(len(parameters)))
        elif kind == "responses":
            yield from ((operation["responses"], status) for status in operation["responses"])
        else:
            for response in operation["responses"].values():
                headers = response.get("headers", {})
                yield from ((headers, name) for name in headers)


def _name(container: Any, key: Any) -> str:
    return str(container[key]["name"] if isinstance(key, int) else key)


def _names_of_responses(responses: list[Described]) -> list[str]:
    """Return component names such as `UnauthorizedOrKeyRevoked`.

    If several responses have the same error codes, the last three words of the description are appended.
    """
    texts = [str(response["description"]) for response in responses]
    names = [_codes_or_beginning(text) for text in texts]
    return [
        name + (_pascal_case(_words(text)[-3:]) if names.count(name) > 1 else "")
        for name, text in zip(names, texts, strict=True)
    ]


def _codes_or_beginning(text: str) -> str:
    """Return a name made from the error codes in a text, or else from its first clause."""
    if codes := CODE.findall(text):
        return "Or".join(_pascal_case(code.lower().split("_")) for code in codes)
    return _pascal_case(re.split("[.,:;]", text)[0].split())


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", CODE.sub("", text)) if word not in FILLERS]


def _pascal_case(words: list[str]) -> str:
    return "".join(word[:1].upper() + word[1:] for word in words)
