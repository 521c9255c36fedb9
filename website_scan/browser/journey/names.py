"""Match elements by the names that people write.

An element has the written name if the names are equal after folding white space and case. A name that only contains the
written one is used if it is the only one, because “Loan” may mean “Loans”, and must not mean “Loan terms” beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from website_scan.browser.journey.failures import MAX_NAME_CHARS, ROLES_OF_TEXT
from website_scan.browser.journey.worlds import Handle, World
from website_scan.journeys.journey import ElementTarget, SelectorKind, SelectorPart

MAX_MATCHES = 50
MAX_NODES = 20_000


class NamedNode(Struct, frozen=True):
    """Node of the accessibility tree with a name. `id` is the backend ID of its element in the DOM."""

    id: int
    role: str
    name: str

    def __str__(self) -> str:
        return f"{self.role} “{self.name[:MAX_NAME_CHARS]}”"


def folded(text: str) -> str:
    """Return the text for comparisons of names: without differences in white space and case."""
    return " ".join(text.split()).casefold()


def named_nodes(nodes: Iterable[Mapping[str, Any]]) -> list[NamedNode]:
    """Return the elements with a name among nodes of Chromium's accessibility tree, each once."""
    named: dict[int, NamedNode] = {}
    for node in nodes:
        role = str(node.get("role", {}).get("value", ""))
        name = " ".join(str(node.get("name", {}).get("value", "")).split())
        if node.get("ignored") or not name or "backendDOMNodeId" not in node or role in ROLES_OF_TEXT | {"RootWebArea"}:
            continue
        id = int(node["backendDOMNodeId"])
        named.setdefault(id, NamedNode(id, role, name))
        if len(named) == MAX_NODES:
            break
    return list(named.values())


def with_name(nodes: Sequence[NamedNode], target: ElementTarget) -> list[NamedNode]:
    """Return the elements that have the written name, of the first selector that matches any."""
    for part in _name_parts(target):
        wanted = folded(part.text)
        if matches := [node for node in nodes if part.role in ("", node.role) and folded(node.name) == wanted]:
            return matches
    return []


def containing_name(nodes: Sequence[NamedNode], target: ElementTarget) -> list[NamedNode]:
    """Return the elements whose names contain the written one.

    They are those with one of the roles on which the step can act, or those with any role if there are none.
    """
    parts = _name_parts(target)
    roles = {part.role for part in parts if part.role}
    wanted = folded(parts[0].text)
    matches = [node for node in nodes if wanted in folded(node.name)]
    if of_roles := [node for node in matches if node.role in roles]:
        return of_roles
    return matches if any(not part.role for part in parts) else []


class Found(Struct, frozen=True):
    """Element with a written name, or the elements that the name does not tell apart, as `link “Loans”`."""

    handle: Handle | None = None
    alternatives: list[str] = field(default_factory=list)


async def find_written(
    world: World, root: Handle, nodes: Sequence[NamedNode], target: ElementTarget, *, may_contain: bool
) -> Found:
    """Find the visible element with the written name, or, if it is the only one, with a name that contains it.

    A hidden element is returned if only hidden ones have the name itself. Raises `ProtocolError`.
    """
    texts = _texts(target, SelectorKind.TEXT)
    exact = [await world.resolve(node.id) for node in with_name(nodes, target)[:MAX_MATCHES]]
    queries = [("css", text) for text in _texts(target, SelectorKind.CSS)] + [("same-words", text) for text in texts]
    for kind, text in queries:
        exact = exact or await world.handles("query", root, kind, text)
    if exact:
        shown = await world.call("areVisible", *exact)
        return Found(exact[shown.index(True) if True in shown else 0])
    if not may_contain:
        return Found()
    # The kinds are tried in the order of the selectors: a click prefers names, and scrolling to a text prefers texts.
    for kind in dict.fromkeys(selector.parts[-1].kind for selector in target.selectors):
        if kind is SelectorKind.ARIA:
            found = await _only_containing_name(world, nodes, target)
        elif kind is SelectorKind.TEXT:
            found = await _only_containing_text(world, root, texts)
        else:
            continue
        if found != Found():
            return found
    return Found()


async def _only_containing_name(world: World, nodes: Sequence[NamedNode], target: ElementTarget) -> Found:
    containing = containing_name(nodes, target)[:MAX_MATCHES]
    return await _only_visible(world, [await world.resolve(node.id) for node in containing], [*map(str, containing)])


async def _only_containing_text(world: World, root: Handle, texts: Sequence[str]) -> Found:
    handles = [handle for text in texts for handle in await world.handles("query", root, "some-words", text)]
    shown = await world.call("textsOf", MAX_NAME_CHARS, *handles) if handles else []
    return await _only_visible(world, handles, [f"text “{text}”" for text in shown])


async def _only_visible(world: World, handles: Sequence[Handle], names: Sequence[str]) -> Found:
    shown = await world.call("areVisible", *handles) if handles else []
    visible = [(handle, name) for handle, name, is_shown in zip(handles, names, shown, strict=True) if is_shown]
    return Found(visible[0][0]) if len(visible) == 1 else Found(alternatives=[name for _, name in visible])


def with_roles(target: ElementTarget) -> ElementTarget:
    """Return the target with its selectors by role and name only, which are searched without reading the whole tree."""
    selectors = tuple(selector for selector in target.selectors if selector.parts[-1].role)
    return ElementTarget(selectors, target.frame)


def _texts(target: ElementTarget, kind: SelectorKind) -> list[str]:
    return [part.text for selector in target.selectors if (part := selector.parts[-1]).kind is kind]


def _name_parts(target: ElementTarget) -> list[SelectorPart]:
    return [part for selector in target.selectors if (part := selector.parts[-1]).kind is SelectorKind.ARIA]
