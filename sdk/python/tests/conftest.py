from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))

from support.binary import build  # noqa: E402
from support.calling import CALLERS, Caller  # noqa: E402
from support.process import Program, ended  # noqa: E402
from support.service import Service, start_service  # noqa: E402
from support.shop import Shop  # noqa: E402


@pytest.fixture(scope="session")
def binary(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory)


@pytest.fixture(scope="session")
def programs() -> Iterator[list[Program]]:
    """Those that are to end with the tests."""
    with ended() as started:
        yield started


@pytest.fixture(scope="session")
def shop() -> Iterator[Shop]:
    """A shop behind the receiver kit."""
    with Shop() as started:
        yield started


@pytest.fixture(scope="session")
def service(binary: str, programs: list[Program], shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Service:
    """The real service, on a store of its own, with the shop registered."""
    started = start_service(binary, programs, tmp_path_factory.mktemp("store"), shop.url)
    started.register_shop(shop.url)
    return started


@pytest.fixture(params=sorted(CALLERS))
def caller(request: pytest.FixtureRequest) -> Caller:
    """Both clients keep each rule."""
    return CALLERS[request.param]
