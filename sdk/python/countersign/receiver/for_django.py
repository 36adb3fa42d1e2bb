"""The receiver kit as middleware of Django, within its request: Django closes connections
at a request's start, so a transaction must begin after it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..steps import run
from .answer import MAX_BYTES, Answer, Reply
from .answersigning import ANSWER
from .gate import Gate, has_effect, too_large
from .remember import Delivery, remembered
from .wsgi import KEY, header_pairs, target_of

View = Callable[[Any], Any]


def django_middleware(gate: Gate) -> Callable[[View], View]:
    """Middleware that lets only genuine calls through, and each side effect once, as
    WsgiReceiver does. Put it before all that changes responses. A view finds the call's
    Delivery in `request.META["countersign"]`. With SqlTransactions over
    `transaction.atomic()` a view's changes by the ORM are the effect."""

    def middleware(get_response: View) -> View:
        def receive(request: Any) -> Any:
            length = str(request.META.get("CONTENT_LENGTH") or "0")
            if not length.isdecimal() or int(length) > MAX_BYTES:
                return _response(too_large())
            admitted = gate.admit(request.method, target_of(request.META), header_pairs(request.META), request.body)
            if isinstance(admitted, Reply):
                return _response(admitted)
            aside = run(gate.aside(admitted, request.body, _do))
            if aside is not None:
                return _response(aside)
            request.META[KEY] = Delivery(admitted, request.body)
            if not has_effect(admitted.method) and not gate.signs(admitted.method):
                return get_response(request)
            given: list[tuple[Any, Answer]] = []

            def handle(delivery: Delivery) -> Answer:
                request.META[KEY] = delivery
                response = get_response(request)
                given.append((response, _answer(response)))
                return given[0][1]

            if has_effect(admitted.method):
                reply = run(remembered(gate.remembering, admitted, request.body, handle, _do))
            else:
                reply = gate.read(handle(request.META[KEY]))
            if not given or reply.answer is not given[0][1]:
                return _response(gate.signed(admitted, request.body, reply))
            response, signature = given[0][0], gate.signature(admitted, request.body, reply)
            del response[ANSWER]
            if signature:
                response[ANSWER] = signature
            return response

        return receive

    return middleware


def _do(work: Callable[..., Any], *args: Any) -> Any:
    return work(*args)


def _answer(response: Any) -> Answer:
    body = b"".join(response.streaming_content) if response.streaming else bytes(response.content)
    if response.streaming:
        response.streaming_content = [body]
    return Answer(response.status_code, response.get("Content-Type", ""), body)


def _response(reply: Reply) -> Any:
    http = import_module("django.http")  # here, for who has no Django
    response = http.HttpResponse(reply.answer.body, status=reply.answer.status, content_type=reply.answer.content_type)
    for name, value in reply.headers.items():
        if name != "Connection":  # a server's own
            response[name] = value
    return response
