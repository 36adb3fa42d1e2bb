"""What a project's back end verifies calls and remembers keys with."""

from __future__ import annotations

from .answer import MAX_BYTES, Answer, Reply, json_answer
from .asgi import AsgiReceiver
from .for_django import django_middleware
from .gate import Gate
from .memory import MemoryStore
from .remember import Delivery
from .signature import Call, SignatureError, body_hash, verify_signature
from .sql import SCHEMA, SqlStore, SqlTransactions, transactions_of
from .store import Claim, Entry, NotClaimed, Store, Transactor
from .wsgi import WsgiReceiver, wsgi_app

__all__ = [
    "MAX_BYTES",
    "SCHEMA",
    "Answer",
    "AsgiReceiver",
    "Call",
    "Claim",
    "Delivery",
    "Entry",
    "Gate",
    "MemoryStore",
    "NotClaimed",
    "Reply",
    "SignatureError",
    "SqlStore",
    "SqlTransactions",
    "Store",
    "Transactor",
    "WsgiReceiver",
    "body_hash",
    "django_middleware",
    "json_answer",
    "transactions_of",
    "verify_signature",
    "wsgi_app",
]
