"""A project API for Countersign with Flask.

    SHOP_SECRET=... python3 examples/python/flask_shop.py 127.0.0.1:9090
"""

from __future__ import annotations

import os
import sys

from flask import Flask, Response, request
from werkzeug.serving import make_server

from countersign.receiver import Answer, Gate, WsgiReceiver
from shop import Shop

shop = Shop(os.environ.get("SHOP_DATABASE", "shop.db"))
app = Flask(__name__)
# Every call is verified, and every side effect happens once.
app.wsgi_app = WsgiReceiver(app.wsgi_app, Gate(secrets=[os.environ.get("SHOP_SECRET", "")], store=shop.store))


def responding(answer: Answer) -> Response:
    return Response(answer.body, status=answer.status, content_type=answer.content_type)


@app.get("/health")
def health() -> dict[str, str]:
    return {"status": "ok"}


@app.get("/orders/<order_id>")
def read_order(order_id: str) -> Response:
    return responding(shop.order(order_id))


@app.get("/refunds")
def list_refunds() -> Response:
    return responding(shop.refunds(request.args.get("orderId", "")))


@app.post("/refunds")
def create_refund() -> Response:
    return responding(shop.refund(request.environ["countersign"]))


if __name__ == "__main__":
    host, _, port = (sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:9090").rpartition(":")
    server = make_server(host, int(port), app, threaded=True)
    print(f"listening on http://{host}:{server.port}", flush=True)
    server.serve_forever()
