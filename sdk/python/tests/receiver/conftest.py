from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from support.postgres import postgres

from .stores import DATABASES, STORES


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with postgres() as dsn:
        yield dsn


@pytest.fixture
def dsn(server: str) -> str:
    """A database without tables."""
    with closing(psycopg2.connect(server)) as connection, connection, connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return server


@pytest.fixture(params=sorted(STORES))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return STORES[request.param](tmp_path, request.getfixturevalue("dsn") if request.param == "postgresql" else "")


@pytest.fixture(params=sorted(DATABASES))
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return DATABASES[request.param](tmp_path, request.getfixturevalue("dsn") if request.param == "postgresql" else "")
