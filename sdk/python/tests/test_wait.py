"""Waiting by events, and where events don't come through."""

from __future__ import annotations

import http.client
import re
import socket
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.calling import Caller
from support.refunds import waiting_run
from support.service import Service

from countersign import CountersignError
from countersign.waiting import is_settled, waiting

Events = Callable[[socket.socket, http.client.HTTPResponse], None]


class Proxy:
    """Passes everything on, but answers for the events what `events` makes of them."""

    def __init__(self, url: str, events: Events) -> None:
        self._upstream = urlsplit(url).netloc
        self._events = events
        self.paths: list[str] = []
        self.last_ids: list[str | None] = []
        self.asked = threading.Condition()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Proxy:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def wait(self, until: Callable[[], bool]) -> None:
        with self.asked:
            self.asked.wait_for(until, 300)

    def reads(self) -> int:
        return sum(not path.endswith("/events") for path in self.paths)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._pass, args=(connection,), daemon=True).start()

    def _pass(self, connection: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(4096)
        lines = head.decode().split("\r\n")
        path = lines[0].split(" ")[1]
        headers = dict(line.split(": ", 1) for line in lines[1:] if line)
        with self.asked:
            self.paths.append(path)
            if path.endswith("/events"):
                self.last_ids.append(headers.get("Last-Event-ID"))
            self.asked.notify_all()
        upstream = http.client.HTTPConnection(self._upstream)
        upstream.request("GET", path, headers=headers)
        answer = upstream.getresponse()
        try:
            if path.endswith("/events"):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
                self._events(connection, answer)
            else:
                body = answer.read()
                connection.sendall(f"HTTP/1.1 {answer.status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        except OSError:
            pass  # the client has gone
        connection.close()
        upstream.close()


def passing(connection: socket.socket, answer: http.client.HTTPResponse) -> None:
    while part := answer.read1(65536):
        connection.sendall(part)


def cutting(connection: socket.socket, answer: http.client.HTTPResponse) -> None:
    connection.sendall(answer.read1(65536))


def deaf(connection: socket.socket, answer: http.client.HTTPResponse) -> None:
    pass


def test_a_run_is_followed_by_its_events_with_one_read_at_its_end(service: Service, caller: Caller) -> None:
    run_id, approve = waiting_run(service)
    seen: list[str] = []
    revisions: list[int] = []

    def on_change(run: Any) -> None:
        revisions.append(run["revision"])
        seen.append(run["status"])
        if len(seen) == 1:
            approve()

    with Proxy(service.url, passing) as proxy:
        cs = caller.make(proxy.url, service.operator_token)
        run = caller.call(lambda: cs.wait_run(run_id, on_change=on_change))
    assert run["status"] == "COMPLETED"
    assert (seen[0], seen[-1]) == ("WAITING_APPROVAL", "COMPLETED")
    assert revisions == sorted(set(revisions))
    assert proxy.reads() == 1


@pytest.mark.parametrize("events", [cutting, deaf])
def test_events_that_are_cut_off_are_asked_for_again_and_the_run_itself_is_read(service: Service, caller: Caller, events: Events) -> None:
    run_id, approve = waiting_run(service)
    with Proxy(service.url, events) as proxy:
        cs = caller.make(proxy.url, service.operator_token)
        ended: list[Any] = []
        thread = threading.Thread(target=lambda: ended.append(caller.call(lambda: cs.wait_run(run_id))))
        thread.start()
        proxy.wait(lambda: len(proxy.last_ids) > 1 and proxy.reads() > 1)
        approve()
        thread.join()
    assert ended[0]["status"] == "COMPLETED"
    assert proxy.last_ids[0] is None
    assert re.fullmatch(r"[1-9][0-9]*", proxy.last_ids[1] or "") and int(proxy.last_ids[1] or 0) < ended[0]["revision"]


def test_waiting_ends_with_its_time_and_the_run_goes_on(service: Service, caller: Caller) -> None:
    run_id, _ = waiting_run(service)
    cs = caller.make(service.url, service.operator_token)
    with pytest.raises(TimeoutError, match="it goes on"):
        caller.call(lambda: cs.wait_run(run_id, timeout=0.05))
    assert service.operator.run(run_id)["status"] == "WAITING_APPROVAL"


def test_a_run_that_is_not_there_ends_the_waiting_at_once(service: Service, caller: Caller) -> None:
    cs = caller.make(service.url, service.operator_token)
    with pytest.raises(CountersignError) as raised:
        caller.call(lambda: cs.wait_run("run-none"))
    assert raised.value.code == "not_found"


def test_the_service_may_be_away_for_a_while_and_is_asked_ever_more_slowly() -> None:
    from countersign import CountersignConnectionError
    from countersign.steps import run

    class Away:
        def __init__(self) -> None:
            self.pauses: list[float] = []

        def follow(self, last_event_id: str | None, settles: Callable[[Any], bool]) -> None:
            raise CountersignConnectionError("away")

        def read(self) -> Any:
            if len(self.pauses) < 8:
                raise CountersignError("unavailable", "stopping", status=503)
            return {"status": "COMPLETED", "revision": 3}

        def sleep(self, seconds: float) -> None:
            self.pauses.append(seconds)

    away = Away()
    assert run(waiting(away, "end", None)) == {"status": "COMPLETED", "revision": 3}
    assert away.pauses == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0]


@pytest.mark.parametrize(
    ("status", "kind", "end", "standstill"),
    [
        ("COMPLETED", None, True, True),
        ("FAILED", None, True, True),
        ("CANCELLED", None, True, True),
        ("RUNNING", None, False, False),
        ("READY", "slot", False, False),
        ("READY", "stop", False, True),
        ("WAITING_APPROVAL", "approval", False, True),
        ("WAITING_APPROVAL", "slot", False, False),
        ("RECOVERY_REQUIRED", "reconcile", False, True),
        ("RECOVERY_REQUIRED", "slot", False, False),
    ],
)
def test_a_run_stands_still_where_only_a_person_moves_it(status: str, kind: str | None, end: bool, standstill: bool) -> None:
    run: Any = {"status": status, **({"waitingFor": {"kind": kind}} if kind else {})}
    assert (is_settled(run, "end"), is_settled(run, "standstill")) == (end, standstill)


def test_a_list_is_one_page_or_all_of_it(service: Service, caller: Caller) -> None:
    for _ in range(5):
        waiting_run(service)
    cs = caller.make(service.url, service.operator_token)
    page = caller.call(lambda: cs.runs(limit=2).page())
    assert len(page.items) == 2 and page.next_offset == 2
    ids = [run["id"] for run in caller.collect(lambda: cs.runs(limit=2))]
    assert len(ids) == len(set(ids)) == page.total
