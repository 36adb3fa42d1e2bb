"""A project API for Countersign with Django, all in one file. Its refunds are made by the
ORM in the transaction of the call.

    SHOP_SECRET=... python3 examples/python/django_shop.py 127.0.0.1:9090
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIServer, make_server

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=[f"{__name__}.receiver"],
    SECRET_KEY=os.urandom(16).hex(),
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ.get("SHOP_DATABASE", "shop.db"), "OPTIONS": {"timeout": 30}}},
)
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models, transaction  # noqa: E402
from django.http import HttpRequest, HttpResponse, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402

from countersign.receiver import SCHEMA, Gate, SqlTransactions, django_middleware  # noqa: E402


class Refund(models.Model):
    order_id = models.TextField(primary_key=True)
    amount = models.DecimalField(max_digits=12, decimal_places=2)

    class Meta:
        app_label = "shop"


@contextmanager
def begin() -> Iterator[Any]:
    with transaction.atomic():
        yield connection


def health(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"status": "ok"})


def order(request: HttpRequest, order_id: str) -> HttpResponse:
    return JsonResponse({"order": {"id": order_id, "status": "returned", "total": 249, "currency": "EUR"}})


def refunds(request: HttpRequest) -> HttpResponse:
    if request.method == "GET":
        found = Refund.objects.filter(order_id=request.GET.get("orderId"))
        return JsonResponse({"refunds": [{"status": "succeeded", "orderId": each.order_id, "amount": str(each.amount)} for each in found]})
    asked = request.META["countersign"].json()
    refund, made = Refund.objects.get_or_create(order_id=asked["orderId"], defaults={"amount": asked["amount"]})
    if not made:
        return JsonResponse({"error": "conflict", "message": f"order {refund.order_id} is paid back already"}, status=409)
    return JsonResponse({"status": "succeeded", "orderId": refund.order_id, "amount": str(refund.amount)}, status=201)


urlpatterns = [path("health", health), path("orders/<order_id>", order), path("refunds", refunds)]

# Every call is verified, and every side effect happens once. Django marks parameters
# with %s, whatever the database.
gate = Gate(secrets=[os.environ.get("SHOP_SECRET", "")], store=SqlTransactions(begin, "format"))
receiver = django_middleware(gate)
application = get_wsgi_application()


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


def tables() -> None:
    """Makes the tables where they aren't there; in your project migrations do."""
    with connection.cursor() as cursor:
        cursor.execute(SCHEMA)
    if Refund._meta.db_table not in connection.introspection.table_names():
        with connection.schema_editor() as editor:
            editor.create_model(Refund)


if __name__ == "__main__":
    tables()
    host, _, port = (sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:9090").rpartition(":")
    with make_server(host, int(port), application, server_class=Server) as server:
        print(f"listening on http://{host}:{server.server_port}", flush=True)
        server.serve_forever()
