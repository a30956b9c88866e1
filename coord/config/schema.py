"""The JSON Schema of `.omp-coord.json`, for editors; `docs/schema.json` is this text."""

from __future__ import annotations

import json
from typing import Any

from coord.config.models import Config


def schema() -> dict[str, Any]:
    """The schema as an object."""
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Config.model_json_schema()}
    _close_maps(document)
    return document


def schema_text() -> str:
    """The schema as it is printed and kept, with a line end."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _close_maps(node: Any) -> None:
    """Where keys are names, pydantic says what a good name maps to but not that others are wrong."""
    if isinstance(node, list):
        for item in node:
            _close_maps(item)
    elif isinstance(node, dict):
        if "patternProperties" in node:
            node["additionalProperties"] = False
        for item in node.values():
            _close_maps(item)
