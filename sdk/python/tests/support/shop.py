"""A shop behind the receiver kit that keeps what it was asked."""

from __future__ import annotations

import threading
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from countersign.receiver import Answer, Delivery, Gate, MemoryStore, json_answer, wsgi_app

from .service import SHOP_SECRET


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Shop:
    def __init__(self) -> None:
        self.calls: list[Delivery] = []
        app = wsgi_app(self._answer, Gate(secrets=["the-secret-before", SHOP_SECRET], store=MemoryStore()))
        self._server = make_server("127.0.0.1", 0, app, server_class=_Server, handler_class=_Quiet)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def _answer(self, delivery: Delivery) -> Answer:
        self.calls.append(delivery)
        method, target = delivery.call.method, delivery.call.target
        if target == "/health":
            return json_answer(200, {"status": "ok"})
        if method == "GET" and target.startswith("/orders/"):
            return json_answer(200, {"order": {"status": "returned", "total": 249}})
        if method == "POST" and target == "/refunds":
            return json_answer(201, {"id": "r-1", "status": "succeeded", **delivery.json()})
        return json_answer(404, {"error": "not_found"})

    def __enter__(self) -> Shop:
        threading.Thread(target=lambda: self._server.serve_forever(0.01), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
