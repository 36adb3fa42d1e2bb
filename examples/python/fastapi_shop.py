"""A project API for Countersign with FastAPI.

    SHOP_SECRET=... python3 examples/python/fastapi_shop.py 127.0.0.1:9090
"""

from __future__ import annotations

import os
import socket
import sys

import uvicorn
from fastapi import FastAPI, Request, Response

from countersign.receiver import Answer, AsgiReceiver, Gate
from shop import Shop

shop = Shop(os.environ.get("SHOP_DATABASE", "shop.db"))
api = FastAPI()


def responding(answer: Answer) -> Response:
    return Response(answer.body, status_code=answer.status, headers={"content-type": answer.content_type})


@api.get("/health")
def health() -> dict[str, str]:
    return {"status": "ok"}


@api.get("/orders/{order_id}")
def read_order(order_id: str) -> Response:
    return responding(shop.order(order_id))


@api.get("/refunds")
def list_refunds(orderId: str) -> Response:
    return responding(shop.refunds(orderId))


@api.post("/refunds")
def create_refund(request: Request) -> Response:
    return responding(shop.refund(request.scope["countersign"]))


# Every call is verified, and every side effect happens once. What serves is `app`.
app = AsgiReceiver(api, Gate(secrets=[os.environ.get("SHOP_SECRET", "")], store=shop.store))

if __name__ == "__main__":
    host, _, port = (sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:9090").rpartition(":")
    listener = socket.create_server((host, int(port)))
    print(f"listening on http://{host}:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
