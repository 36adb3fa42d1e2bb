"""The tests of a framework are played where it is installed: `make frameworks` does that."""

from __future__ import annotations

from importlib.util import find_spec

NEEDS = {"test_langgraph.py": "langgraph", "test_openai_agents.py": "agents", "test_crewai.py": "crewai"}
collect_ignore = [name for name, package in NEEDS.items() if find_spec(package) is None]
