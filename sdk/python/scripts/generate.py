"""Writes the API's types and operations anew from its OpenAPI document, by file or URL:

    python3 scripts/generate.py http://127.0.0.1:8080/v1/openapi.json
"""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from operations import operations  # noqa: E402
from typeddicts import types  # noqa: E402

PACKAGE = Path(__file__).parent.parent / "countersign"


def generated(document: dict[str, Any]) -> dict[Path, str]:
    """The generated files of a document, by their paths."""
    return {PACKAGE / "types.py": types(document), PACKAGE / "operations.py": operations(document)}


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: generate.py <file or URL of openapi.json>", file=sys.stderr)
        return 2
    source = sys.argv[1]
    if source.startswith(("http://", "https://")):
        with urllib.request.urlopen(source) as answer:
            text = answer.read()
    else:
        text = Path(source).read_bytes()
    for path, content in generated(json.loads(text)).items():
        path.write_text(content, encoding="utf-8")
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
