"""The service's binary: COUNTERSIGN_BINARY, or one built here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[4]


def build(folders: pytest.TempPathFactory) -> str:
    given = os.environ.get("COUNTERSIGN_BINARY")
    if given:
        return given
    target = folders.mktemp("binary") / "countersign"
    subprocess.run(["go", "build", "-o", str(target), "./cmd/countersign"], cwd=REPOSITORY, check=True)
    return str(target)
