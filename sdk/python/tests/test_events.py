"""Server-sent events, wherever the stream is cut into parts."""

from __future__ import annotations

import pytest

from countersign import CountersignConnectionError
from countersign.events import Event, Events

STREAM = '\ufeff: hello\n\nid: 1\nevent: run\ndata: {"a":\ndata:1}\n\ndata: größe\r\n\r\nid:\0\ndata\r\rdata: cut off\n'.encode()
WANT = [Event("1", "run", '{"a":\n1}'), Event("1", "message", "größe"), Event("1", "message", "")]


@pytest.mark.parametrize("size", range(1, 20))
def test_events_are_the_same_in_parts_of_any_size(size: int) -> None:
    reader = Events()
    assert [event for at in range(0, len(STREAM), size) for event in reader.feed(STREAM[at : at + size])] == WANT


def test_an_event_without_end_is_given_up() -> None:
    reader = Events()
    with pytest.raises(CountersignConnectionError, match="too long"):
        for _ in range(200):
            reader.feed(b"data: " + b"x" * (1 << 16))


def test_a_stream_of_comments_may_go_on_for_ever() -> None:
    reader = Events()
    for _ in range(300):
        assert reader.feed((b":" + b"x" * (1 << 15) + b"\n\n")) == []
