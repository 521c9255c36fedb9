"""Validity of the values of ARIA attributes (WAI-ARIA 1.2, section 6.2.4), as in axe-core."""

from __future__ import annotations

import re
from enum import IntEnum

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import sole_role
from website_scan.accessibility.wai_aria import ATTRIBUTES, Type
from website_scan.page.markup import attribute


class Validity(IntEnum):
    """Validity of an attribute's value; a higher number is worse."""

    VALID = 0
    UNCERTAIN = 1  # assistive technologies differ on the value, or a script may make the value valid
    INVALID = 2


INTEGER = re.compile(r"[-+]?[0-9]+")
NUMBER = re.compile(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)")
REFERENCES = frozenset({Type.ID, Type.IDS})
# Attributes whose invalid value is no error, because a default value or another name applies instead.
HARMLESS = frozenset({"aria-current", "aria-describedby", "aria-labelledby"})
DEEPEST_HEADING = 6
ANNOUNCED = frozenset({"assertive", "polite"})


def judge_value(document: AccessibleDocument, node: LexborNode, name: str) -> Validity:
    """Judge the value of an element's attribute. An attribute that is not in ARIA is VALID here."""
    value = attribute(node, name) or ""
    if name not in ATTRIBUTES:
        return Validity.VALID
    if name == "aria-errormessage":
        return _judge_error_message(document, node, value)
    if _is_valid(document, node, name, value):
        return Validity.UNCERTAIN if name == "aria-level" and float(value) > DEEPEST_HEADING else Validity.VALID
    if _may_appear_later(node, name):
        return Validity.VALID
    is_empty = value == "" and ATTRIBUTES[name].type is not Type.STRING
    return Validity.UNCERTAIN if is_empty or name in HARMLESS else Validity.INVALID


def is_reference(name: str) -> bool:
    """Return True if the attribute's value is an ID or a list of IDs."""
    return name in ATTRIBUTES and ATTRIBUTES[name].type in REFERENCES


def _is_valid(document: AccessibleDocument, node: LexborNode, name: str, value: str) -> bool:
    definition = ATTRIBUTES[name]
    if definition.may_be_empty and not value.strip():
        return True
    match definition.type:
        case Type.BOOLEAN:
            return value.lower() in ("true", "false")
        case Type.TOKEN:
            return value.lower() in definition.tokens
        case Type.TOKENS:
            return bool(value.split()) and definition.tokens.issuperset(value.split())
        case Type.ID:
            return len(value.split()) == 1 and bool(document.referenced(node, name))
        case Type.IDS:
            return bool(document.referenced(node, name))
        case Type.INTEGER:
            return INTEGER.fullmatch(value) is not None and float(value) >= definition.least
        case Type.NUMBER:
            return NUMBER.fullmatch(value) is not None
        case Type.STRING:
            return bool(value.strip())


def _may_appear_later(node: LexborNode, name: str) -> bool:
    """Return True if the referenced element may appear later: with a pop-up, or when the element expands."""
    if name not in ("aria-controls", "aria-owns"):
        return False
    if attribute(node, "aria-expanded") == "false":
        return True
    if name == "aria-owns":
        return False
    return attribute(node, "aria-selected") == "false" or attribute(node, "aria-haspopup") not in (None, "false")


def _judge_error_message(document: AccessibleDocument, node: LexborNode, value: str) -> Validity:
    """Judge aria-errormessage: the message must exist, and be announced once the element is marked as invalid."""
    if attribute(node, "aria-invalid") in (None, "false") or not value.strip():
        return Validity.VALID
    if len(value.split()) > 1:
        return Validity.INVALID
    messages = document.referenced(node, "aria-errormessage")
    if not messages:
        return Validity.UNCERTAIN
    if document.visibility.is_hidden_from_at(messages[0]):
        return Validity.INVALID
    is_announced = sole_role(messages[0]) == "alert" or attribute(messages[0], "aria-live") in ANNOUNCED
    is_description = value.strip() in (attribute(node, "aria-describedby") or "").split()
    return Validity.VALID if is_announced or is_description else Validity.INVALID
