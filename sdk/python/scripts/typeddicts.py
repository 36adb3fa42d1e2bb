"""Makes countersign/types.py of the schemas of an OpenAPI document."""

from __future__ import annotations

import json
import keyword
import textwrap
from typing import Any

HEAD = '''"""Generated from the service's OpenAPI document by scripts/generate.py. Not for editing."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, Optional, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired
else:
    NotRequired = Optional

Number = Union[int, Decimal]
"""Exact: a float is refused."""
'''

WIDTH = 140


def types(document: dict[str, Any]) -> str:
    schemas = document["components"]["schemas"]
    made: dict[str, str] = {}
    for name in sorted(schemas):
        if _has_members(schemas[name]):
            _Maker(made, name).define(schemas[name])
    return HEAD + "".join(f"\n\n{made[name]}" for name in sorted(made)) + _aliases(schemas)


def _aliases(schemas: dict[str, Any]) -> str:
    """Schemas that are no object, such as a union. They are evaluated where they stand, and
    so come after the classes that they name."""
    others = {name: schema for name, schema in sorted(schemas.items()) if not _has_members(schema)}
    return "".join("\n\n" + "\n".join([*_comment(of, ""), f"{name} = {_Maker({}, name).type(of, name)}\n"]) for name, of in others.items())


def _has_members(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "object" and "properties" in schema


class _Maker:
    """Makes the definition of a schema, and those of what is nested in it."""

    def __init__(self, made: dict[str, str], name: str) -> None:
        self._made = made
        self._name = name

    def define(self, schema: dict[str, Any]) -> None:
        properties = schema["properties"]
        plain = all(name.isidentifier() and not keyword.iskeyword(name) for name in properties)
        self._made[self._name] = (self._class if plain else self._call)(schema)

    def _class(self, schema: dict[str, Any]) -> str:
        lines = [f"class {self._name}(TypedDict):"]
        if "description" in schema:
            lines += _docstring(schema["description"])
        for name, of in schema["properties"].items():
            lines += _comment(of)
            lines.append(f"    {name}: {self._member(schema, name)}")
        if not schema["properties"]:
            lines.append("    pass")
        return "\n".join(lines) + "\n"

    def _call(self, schema: dict[str, Any]) -> str:
        """Of names that no class can have. Here the types are texts: they are read later."""
        lines = [f"{self._name} = TypedDict(", f'    "{self._name}",', "    {"]
        for name, of in schema["properties"].items():
            lines += ["    " + line for line in _comment(of)]
            lines.append(f"        {json.dumps(name)}: {json.dumps(self._member(schema, name))},")
        return "\n".join([*lines, "    },", ")"]) + "\n"

    def _member(self, schema: dict[str, Any], name: str) -> str:
        of = self.type(schema["properties"][name], name)
        return of if name in schema.get("required", []) else f"NotRequired[{of}]"

    def type(self, schema: dict[str, Any], place: str) -> str:
        if "$ref" in schema:
            return str(schema["$ref"].rsplit("/", 1)[-1])
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return _union([self.type(one, place) for one in schema[several]])
        if "enum" in schema:
            return _literal(schema["enum"])
        if "x-extensible-enum" in schema:  # of a list that stays open
            return f"{_literal(schema['x-extensible-enum'])} | str"
        kind = schema.get("type")
        if isinstance(kind, list):
            return _union([self.type({**schema, "type": one}, place) for one in kind])
        if kind == "array":
            return f"list[{self.type(schema['items'], place)}]"
        if kind == "object" and schema.get("properties"):
            nested = self._name + "".join(c for c in place.title() if c.isalnum())
            _Maker(self._made, nested).define(schema)
            return nested
        if kind == "object":
            more = schema.get("additionalProperties", True)
            return f"dict[str, {self.type(more, place) if isinstance(more, dict) else 'Any'}]"
        return {"string": "str", "integer": "int", "number": "Number", "boolean": "bool", "null": "None", None: "Any"}[kind]


def _literal(values: list[Any]) -> str:
    return f"Literal[{', '.join(json.dumps(value) for value in values)}]"


def _union(names: list[str]) -> str:
    return " | ".join(dict.fromkeys(names)) if "Any" not in names else "Any"


def _comment(schema: dict[str, Any], indent: str = "    ") -> list[str]:
    text = schema.get("description", "")
    return [f"{indent}# {line}" for line in textwrap.wrap(text, WIDTH - 6, break_on_hyphens=False)]


def _docstring(text: str) -> list[str]:
    escaped = text.replace("\\", "\\\\").replace('"""', "'''")
    lines = textwrap.wrap(escaped, WIDTH - 10, break_on_hyphens=False)
    return [f'    """{lines[0]}', *(f"    {line}" for line in lines[1:-1]), f'    {lines[-1]}"""'] if len(lines) > 1 else [f'    """{lines[0]}"""']
