"""The shop of the Flask, FastAPI and Django examples: orders that can be paid back, as
docs/example/project.json registers them, in a database of SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from typing import Any

from countersign import exactjson
from countersign.receiver import SCHEMA, Answer, Delivery, SqlTransactions, json_answer, transactions_of

ORDERS = {
    "A-48213": {"id": "A-48213", "status": "returned", "total": 249, "currency": "EUR"},
    "A-48377": {"id": "A-48377", "status": "returned", "total": Decimal("64.5"), "currency": "EUR"},
    "A-48411": {"id": "A-48411", "status": "returned", "total": 12, "currency": "EUR"},
    "A-48502": {"id": "A-48502", "status": "delivered", "total": Decimal("18.9"), "currency": "EUR"},
}


def not_found(what: str) -> Answer:
    return json_answer(404, {"error": "not_found", "message": f"there is no such {what}"})


class Shop:
    def __init__(self, path: str) -> None:
        # A handler of asyncio runs in another thread than the store: hence check_same_thread.
        self._connect: Callable[[], sqlite3.Connection] = lambda: sqlite3.connect(path, timeout=30, check_same_thread=False)
        begin = transactions_of(self._connect)
        with begin() as connection:
            connection.execute(SCHEMA)
            connection.execute("CREATE TABLE IF NOT EXISTS refunds (order_id TEXT PRIMARY KEY, amount TEXT NOT NULL)")
        # Key, refund and answer are committed together, or none of them.
        self.store = SqlTransactions(begin, sqlite3.paramstyle)

    def order(self, order_id: str) -> Answer:
        order = ORDERS.get(order_id)
        return json_answer(200, {"order": order}) if order else not_found("order")

    def refunds(self, order_id: str) -> Answer:
        """The read that shows what happened, for whoever must find out later."""
        with closing(self._connect()) as connection:
            rows = connection.execute("SELECT order_id, amount FROM refunds WHERE order_id = ?", (order_id,)).fetchall()
        return json_answer(200, {"refunds": [_refund(order, amount) for order, amount in rows]})

    def refund(self, delivery: Delivery) -> Answer:
        """Pays back within the call's own transaction. The answer is the final state, never
        "accepted": Countersign verifies what it says. A 4xx says that nothing happened,
        and frees the key."""
        asked = _object(delivery)
        if asked is None:
            return json_answer(400, {"error": "invalid_json", "message": "the body must be a JSON object"})
        order: dict[str, Any] | None = ORDERS.get(str(asked.get("orderId")))
        if order is None:
            return not_found("order")
        if order["status"] != "returned":
            return json_answer(409, {"error": "conflict", "message": f"order {order['id']} is {order['status']}, not returned"})
        amount = asked.get("amount")
        if not isinstance(amount, (int, Decimal)) or not 0 < amount <= order["total"] or asked.get("currency") != order["currency"]:
            return json_answer(422, {"error": "invalid_amount", "message": f"at most {order['total']} {order['currency']}"})
        try:
            delivery.tx.execute("INSERT INTO refunds VALUES (?, ?)", (order["id"], str(amount)))
        except sqlite3.IntegrityError:
            return json_answer(409, {"error": "conflict", "message": f"order {order['id']} is paid back already"})
        return json_answer(201, _refund(order["id"], str(amount)))


def _refund(order_id: str, amount: str) -> dict[str, Any]:
    return {"id": f"refund-of-{order_id}", "status": "succeeded", "orderId": order_id, "amount": Decimal(amount), "currency": "EUR"}


def _object(delivery: Delivery) -> dict[str, Any] | None:
    try:
        value = exactjson.decode(delivery.body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
