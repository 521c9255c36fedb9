"""The part of SARIF 2.1.0 (OASIS) that the exports use, as a JSON Schema."""

from __future__ import annotations

from typing import Any

from reports.exports import SARIF_SCHEMA

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
# What SARIF 2.1.0 asks of the objects that we write; `additionalProperties` is false there too.
SARIF: dict[str, Any] = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"const": SARIF_SCHEMA},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "additionalProperties": False,
                        "properties": {"driver": {"$ref": "#/$defs/driver"}},
                    },
                    "invocations": {"type": "array", "items": {"$ref": "#/$defs/invocation"}},
                    "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
                    "automationDetails": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"id": {"type": "string"}},
                    },
                    "properties": {"type": "object"},
                },
            },
        },
    },
    "$defs": {
        "driver": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string"},
                "version": {"type": "string"},
                "informationUri": {"type": "string", "pattern": r"^https://\S+$"},
                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}},
            },
        },
        "rule": {
            "type": "object",
            "required": ["id"],
            "additionalProperties": False,
            "properties": {
                "id": {"type": "string"},
                "name": {"type": "string"},
                "shortDescription": TEXT,
                "help": TEXT,
                "helpUri": {"type": "string", "pattern": r"^https?://\S+$"},
                "properties": {
                    "type": "object",
                    "properties": {
                        "tags": {"type": "array", "uniqueItems": True, "items": {"type": "string"}},
                        "security-severity": {"type": "string", "pattern": r"^\d\.\d$"},
                    },
                },
            },
        },
        "invocation": {
            "type": "object",
            "required": ["executionSuccessful"],
            "additionalProperties": False,
            "properties": {
                "executionSuccessful": {"type": "boolean"},
                "startTimeUtc": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
                "endTimeUtc": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
                "toolExecutionNotifications": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["message"],
                        "additionalProperties": False,
                        "properties": {"level": {"enum": ["none", "note", "warning", "error"]}, "message": TEXT},
                    },
                },
            },
        },
        "result": {
            "type": "object",
            "required": ["message"],
            "additionalProperties": False,
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                # Section 3.27.9: a level beside "none" goes with the kind "fail" only.
                "kind": {"const": "fail"},
                "level": {"enum": ["note", "warning", "error"]},
                "message": TEXT,
                "occurrenceCount": {"type": "integer", "minimum": 1},
                "locations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["physicalLocation"],
                        "additionalProperties": False,
                        "properties": {
                            "physicalLocation": {
                                "type": "object",
                                "required": ["artifactLocation"],
                                "additionalProperties": False,
                                "properties": {
                                    "artifactLocation": {
                                        "type": "object",
                                        "required": ["uri"],
                                        "properties": {"uri": {"type": "string", "pattern": r"^https?://\S+$"}},
                                    },
                                    "region": {
                                        "type": "object",
                                        "additionalProperties": False,
                                        "properties": {"startLine": {"type": "integer", "minimum": 1}},
                                    },
                                },
                            }
                        },
                    },
                },
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                "suppressions": {
                    "type": "array",
                    "uniqueItems": True,
                    "items": {
                        "type": "object",
                        "required": ["kind"],
                        "additionalProperties": False,
                        "properties": {
                            "kind": {"enum": ["inSource", "external"]},
                            "status": {"enum": ["accepted", "underReview", "rejected"]},
                            "justification": {"type": "string", "minLength": 1},
                        },
                    },
                },
                "properties": {"type": "object"},
            },
        },
    },
}
