"""The tests of a framework are played where its package is installed."""

from __future__ import annotations

from importlib.util import find_spec

NEEDS = {"test_openai_agents.py": "agents"}
collect_ignore = [name for name, package in NEEDS.items() if find_spec(package) is None]
