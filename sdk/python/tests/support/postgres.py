"""A PostgreSQL server for the tests, on a socket of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def _programs() -> Path:
    found = shutil.which("initdb")
    if found:
        return Path(os.path.realpath(found)).parent
    return sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]


@contextmanager
def postgres() -> Iterator[str]:
    """Gives what psycopg2.connect takes. PostgreSQL doesn't run as root."""
    user: dict[str, Any] = {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="countersign-pg-") as folder:
        if user:
            shutil.chown(folder, "postgres", "postgres")
        programs, data = _programs(), f"{folder}/data"
        common: dict[str, Any] = {**user, "cwd": folder, "extra_groups": [] if user else None}
        subprocess.run([programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-N"], check=True, stdout=subprocess.DEVNULL, **common)
        options = f"-c listen_addresses= -k {folder} -c fsync=off"
        subprocess.run([programs / "pg_ctl", "-D", data, "-w", "-t", "300", "-l", f"{folder}/log", "-o", options, "start"], check=True, stdout=subprocess.DEVNULL, **common)
        try:
            yield f"host={folder} user=postgres dbname=postgres"
        finally:
            subprocess.run([programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"], check=True, stdout=subprocess.DEVNULL, **common)
