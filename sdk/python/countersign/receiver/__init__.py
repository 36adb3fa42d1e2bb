"""What a project's back end verifies calls and remembers keys with."""

from __future__ import annotations

from .answer import MAX_BYTES, Answer, Reply, json_answer
from .answersigning import ANSWER, AnswerKey, AnswerParts, answer_key_id, sign_answer, verify_answer
from .asgi import AsgiReceiver
from .for_django import django_middleware
from .gate import Gate
from .memory import MemoryStore
from .remember import Delivery
from .signature import Call, SignatureError, body_hash, verify_signature
from .sql import SCHEMA, SqlStore, SqlTransactions, transactions_of
from .statement import Statement
from .store import Claim, Entry, Memory, NotClaimed, Store, Transactor
from .wsgi import WsgiReceiver, wsgi_app

__all__ = [
    "ANSWER",
    "MAX_BYTES",
    "SCHEMA",
    "Answer",
    "AnswerKey",
    "AnswerParts",
    "AsgiReceiver",
    "Call",
    "Claim",
    "Delivery",
    "Entry",
    "Gate",
    "Memory",
    "MemoryStore",
    "NotClaimed",
    "Reply",
    "SignatureError",
    "SqlStore",
    "SqlTransactions",
    "Statement",
    "Store",
    "Transactor",
    "WsgiReceiver",
    "answer_key_id",
    "body_hash",
    "django_middleware",
    "json_answer",
    "sign_answer",
    "transactions_of",
    "verify_answer",
    "verify_signature",
    "wsgi_app",
]
