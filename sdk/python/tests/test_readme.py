"""The README's programs are right: each is typed, runs against the service, and prints what
its comments `# -> ...` say."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.process import ended, run_to_end
from support.service import SHOP_SECRET, Service, start_service
from support.shop import Shop

HOME = Path(__file__).parent.parent
BLOCKS = re.findall(r"^```python\n(.*?)^```$", (HOME / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def fresh(binary: str, tmp_path_factory: pytest.TempPathFactory, shop: Shop) -> Iterator[Service]:
    """A service of its own: the programs say how many runs there are."""
    with ended() as programs:
        service = start_service(binary, programs, tmp_path_factory.mktemp("readme"), shop.url)
        service.register_shop(shop.url)
        yield service


@pytest.mark.parametrize("n", range(len(BLOCKS)))
def test_a_program_prints_what_it_says(fresh: Service, tmp_path: Path, n: int) -> None:
    program = tmp_path / "program.py"
    program.write_text(BLOCKS[n], encoding="utf-8")
    env = {
        "COUNTERSIGN_URL": fresh.url,
        "COUNTERSIGN_TOKEN": fresh.operator_token,
        "SHOP_SECRET": SHOP_SECRET,
        "PYTHONPATH": str(HOME),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    said = re.findall(r"# -> (.*)$", BLOCKS[n], re.MULTILINE)
    assert run_to_end([sys.executable, str(program)], env, cwd=str(tmp_path)) == (0, "\n".join(said) + "\n")


def test_the_programs_are_typed(tmp_path: Path) -> None:
    for n, block in enumerate(BLOCKS):
        (tmp_path / f"program{n}.py").write_text(block, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10", "--cache-dir", "/dev/null", str(tmp_path)]
    status, text = run_to_end(command, {"MYPYPATH": str(HOME)}, cwd=str(tmp_path))
    assert status == 0, text
    assert len(BLOCKS) > 8


def test_the_core_needs_nothing_but_pythons_own_library() -> None:
    own = set(sys.stdlib_module_names) | {"countersign"}
    framework = {"adapters/langgraph.py", "adapters/openai_agents.py", "adapters/crewai.py", "types.py"}
    for path in (HOME / "countersign").rglob("*.py"):
        if str(path.relative_to(HOME / "countersign")) in framework:
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            found = re.match(r"\s*(?:from|import) ([A-Za-z_][A-Za-z0-9_]*)", line)
            assert found is None or found[1] in own, f"{path}: {line}"


def test_the_package_is_built_of_all_its_parts() -> None:
    folders = {path.parent for path in (HOME / "countersign").rglob("*.py")}
    assert all((folder / "__init__.py").exists() for folder in folders)
    assert (HOME / "countersign/py.typed").exists()
    assert f'version = "{__import__("countersign").__version__}"' in (HOME / "pyproject.toml").read_text()
