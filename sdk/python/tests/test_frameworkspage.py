"""What the manual's page of frameworks shows in Python is what the adapters take."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

import countersign.adapters

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "agents-in-a-framework.md"
SHOWN = re.findall(r"`([a-z]+_tools\(.*?\))`", PAGE.read_text(encoding="utf-8"))


def adapters() -> dict[str, Any]:
    modules = [importlib.import_module(f"countersign.adapters.{m.name}") for m in pkgutil.iter_modules(countersign.adapters.__path__)]
    return {name: f for m in modules for name, f in inspect.getmembers(m, inspect.isfunction) if name.endswith("_tools")}


@pytest.mark.parametrize("shown", SHOWN)
def test_a_call_that_the_page_shows_is_one_that_its_adapter_takes(shown: str) -> None:
    call = ast.parse(shown, mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    inspect.signature(adapters()[call.func.id]).bind(*call.args, **{k.arg: k.value for k in call.keywords if k.arg})


def test_the_page_shows_each_adapter() -> None:
    assert {shown.partition("(")[0] for shown in SHOWN} == set(adapters())
