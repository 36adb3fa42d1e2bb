"""Makes countersign/operations.py of the operations of an OpenAPI document: a method for
each, once for blocking callers and once for asyncio."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

HEAD = '''"""Generated from the service's OpenAPI document by scripts/generate.py. Not for editing."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

from . import types as t
from .calls import Call, key_of
from .listing import AsyncListing, Listing
'''

AS_BYTES = {"runReceipt"}  # signed: they must stay as they came
SLOW = {"probeRun": 75.0, "settleRun": 75.0}  # each waits for the project's answer, up to its capability's timeout of 60 s
IDS = {"projectId", "ftaAgentId"}  # in a path they are the id of what it is about, as elsewhere
PRIMITIVES = {
    False: '''    @abstractmethod
    def _send(self, call: Call) -> Any: ...

    @abstractmethod
    def _bytes(self, call: Call) -> bytes: ...

    @abstractmethod
    def _stream(self, call: Call) -> Iterator[bytes]: ...

    @abstractmethod
    def _events(self, call: Call) -> Iterator[Any]: ...

    @abstractmethod
    def _desk(self, call: Call) -> Iterator[Any]: ...
''',
    True: '''    @abstractmethod
    async def _send(self, call: Call) -> Any: ...

    @abstractmethod
    async def _bytes(self, call: Call) -> bytes: ...

    @abstractmethod
    def _stream(self, call: Call) -> AsyncIterator[bytes]: ...

    @abstractmethod
    def _events(self, call: Call) -> AsyncIterator[Any]: ...

    @abstractmethod
    def _desk(self, call: Call) -> AsyncIterator[Any]: ...
''',
}


def operations(document: dict[str, Any]) -> str:
    found = [
        _Operation(document, path, method, operation)
        for path, methods in sorted(document["paths"].items())
        for method, operation in sorted(methods.items())
    ]
    found.sort(key=lambda operation: operation.name)
    return HEAD + "".join(f"\n\n{_class(found, asynchronous)}" for asynchronous in (False, True))


def method_name(operation_id: str) -> str:
    """The rule of the names: one record, a list, a write; else the operation's own."""
    found = re.fullmatch(r"(get|list|put)([A-Z].*)", operation_id)
    name = operation_id if found is None else f"save{found[2]}" if found[1] == "put" else found[2]
    return _snake(name)


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _in_path(name: str) -> str:
    return "id" if name in IDS else _snake(name)


def _class(found: list[_Operation], asynchronous: bool) -> str:
    name, how = ("AsyncOperations", "for asyncio") if asynchronous else ("Operations", "for blocking callers")
    methods = "\n".join(operation.method(asynchronous) for operation in found)
    return f'class {name}(ABC):\n    """A method for each operation, {how}."""\n\n{PRIMITIVES[asynchronous]}\n{methods}'


@dataclass(frozen=True)
class _Operation:
    document: dict[str, Any]
    path: str
    verb: str
    operation: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.operation["operationId"])

    @property
    def name(self) -> str:
        return method_name(self.id)

    def method(self, asynchronous: bool) -> str:
        kind, of = self._answer()
        answer = {
            "send": of,
            "bytes": "bytes",
            "list": f"{'Async' if asynchronous else ''}Listing[{of}]",
            "stream": f"{'AsyncIterator' if asynchronous else 'Iterator'}[bytes]",
            "events": f"{'AsyncIterator' if asynchronous else 'Iterator'}[{of}]",
            "desk": f"{'AsyncIterator' if asynchronous else 'Iterator'}[{of}]",
        }[kind]
        awaited = asynchronous and kind in ("send", "bytes")
        lines = [f"    {'async ' if awaited else ''}def {self.name}({', '.join(self._parameters())}) -> {answer}:"]
        lines.append(f'        """{self._says()}"""')
        if kind == "list":
            listing = "AsyncListing" if asynchronous else "Listing"
            lines.append(f"        return {listing}(lambda query: self._send({self._call(query='query')}), {self._query()})")
        else:
            lines.append(f"        return {'await ' if awaited else ''}self._{kind}({self._call()})")
        return "\n".join(lines) + "\n"

    def _answer(self) -> tuple[str, str]:
        """How the operation answers, and with which type."""
        content = next(answer["content"] for status, answer in sorted(self.operation["responses"].items()) if status.startswith("2"))
        kind, media = next(iter(content.items()))
        if self.id in AS_BYTES:
            return "bytes", ""
        if kind == "application/x-ndjson":
            return "stream", ""
        if kind == "text/event-stream":
            return ("desk", "t.DeskEvent") if self.id == "events" else ("events", "t.ListedRun")
        reference = media["schema"].get("$ref", "").rsplit("/", 1)[-1]
        if reference.endswith("Page"):
            items = self.document["components"]["schemas"][reference]["properties"]["items"]["items"]["$ref"]
            return "list", f"t.{items.rsplit('/', 1)[-1]}"
        return "send", f"t.{reference}" if reference else "dict[str, Any]"

    def _in(self, place: str) -> list[dict[str, Any]]:
        return [parameter for parameter in self.operation.get("parameters", []) if parameter["in"] == place]

    def _body(self) -> str | None:
        content = self.operation.get("requestBody", {}).get("content", {})
        return f"t.{content['application/json']['schema']['$ref'].rsplit('/', 1)[-1]}" if content else None

    @property
    def _keyed(self) -> bool:
        return any(parameter["name"] == "Idempotency-Key" for parameter in self._in("header"))

    def _parameters(self) -> list[str]:
        out = ["self", *(f"{_in_path(parameter['name'])}: str" for parameter in self._in("path"))]
        if body := self._body():
            out.append(f"body: {body}")
        named = [f"{_snake(parameter['name'])}: {_type(parameter['schema'])} | None = None" for parameter in self._in("query")]
        if self._keyed:
            named.append("idempotency_key: str | None = None")
        if self.id == "runEvents":
            named.append("last_event_id: str | None = None")
        return [*out, "*", *named] if named else out

    def _says(self) -> str:
        text = str(self.operation.get("summary") or self.operation.get("description") or self.id)
        return text.replace("\\", "\\\\").replace('"', "'").rstrip(".") + "."

    def _query(self) -> str:
        return "{" + ", ".join(f'"{parameter["name"]}": {_snake(parameter["name"])}' for parameter in self._in("query")) + "}"

    def _call(self, query: str | None = None) -> str:
        parts = [_in_path(part[1:-1]) if part.startswith("{") else f'"{part}"' for part in self.path.strip("/").split("/")]
        out = [f'"{self.verb.upper()}"', f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"]
        if self._in("query"):
            out.append(f"query={query or self._query()}")
        if self._body():
            out.append("body=body")
        if self._keyed:
            out.append("idempotency_key=key_of(idempotency_key)")
        if self.id in SLOW:
            out.append(f"timeout={SLOW[self.id]}")
        if self.id == "runEvents":
            out.append('headers={} if last_event_id is None else {"Last-Event-ID": last_event_id}, accept="text/event-stream"')
        elif self.id == "events":
            out.append('accept="text/event-stream"')
        elif self.id == "exportAudit":
            out.append('accept="application/x-ndjson"')
        return f"Call({', '.join(out)})"


def _type(schema: dict[str, Any]) -> str:
    for values, more in (("enum", ""), ("x-extensible-enum", " | str")):
        if values in schema:
            return f"Literal[{', '.join(repr(value) for value in schema[values])}]".replace("'", '"') + more
    return {"string": "str", "integer": "int", "boolean": "bool"}[schema["type"]]
