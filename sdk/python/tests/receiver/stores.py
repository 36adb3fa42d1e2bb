"""The stores that the law is tried with."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg2

from countersign.receiver import SCHEMA, MemoryStore, SqlStore, SqlTransactions, transactions_of
from countersign.receiver.sql import Begin

REFUNDS = "CREATE TABLE IF NOT EXISTS refunds (id TEXT PRIMARY KEY)"


def sqlite(folder: Path) -> Begin:
    begin = transactions_of(lambda: sqlite3.connect(folder / "shop.db", timeout=300, check_same_thread=False))
    _schema(begin)
    return begin


def postgresql(dsn: str) -> Begin:
    begin = transactions_of(lambda: psycopg2.connect(dsn))
    _schema(begin)
    return begin


def _schema(begin: Begin) -> None:
    for _ in range(2):  # again and again is fine
        with begin() as connection:
            cursor = connection.cursor()
            cursor.execute(SCHEMA)
            cursor.execute(REFUNDS)


STORES: dict[str, Callable[[Path, str], Any]] = {
    "memory": lambda folder, dsn: MemoryStore(),
    "sqlite": lambda folder, dsn: SqlStore(sqlite(folder), sqlite3.paramstyle),
    "postgresql": lambda folder, dsn: SqlStore(postgresql(dsn), psycopg2.paramstyle),
}

DATABASES: dict[str, Callable[[Path, str], tuple[Begin, str]]] = {
    "sqlite": lambda folder, dsn: (sqlite(folder), sqlite3.paramstyle),
    "postgresql": lambda folder, dsn: (postgresql(dsn), psycopg2.paramstyle),
}


def transactions(begin: Begin, paramstyle: str) -> SqlTransactions:
    return SqlTransactions(begin, paramstyle)
