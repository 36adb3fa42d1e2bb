"""The real service on a store of its own, with the example shop registered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from countersign import Countersign, exactjson

from .binary import REPOSITORY
from .process import Program

BOOTSTRAP = "bootstrap-token-of-the-python-tests"
SHOP_SECRET = "secret-of-the-python-tests-of-32-bytes"
PROJECT = "default-shop"


def example(name: str) -> Any:
    """A document of docs/example."""
    return exactjson.decode((REPOSITORY / "docs/example" / name).read_bytes())


@dataclass(frozen=True)
class Service:
    url: str
    admin: Countersign
    operator: Countersign
    approver: Countersign
    operator_token: str
    process: Program

    def register_shop(self, shop: str, project: str = PROJECT) -> None:
        """Brings the project to where LIVE runs may use it, and stores the model."""
        document = example("project.json")
        document["baseUrl"] = shop
        saved = self.admin.save_project(project, document)
        self.admin.check_project_health(project)
        self.admin.enable_project(project, {"expectedRevision": saved["revision"]})
        self.operator.save_model("refund-agent", example("model.json"))


def start_service(binary: str, programs: list[Program], folder: Path, *origins: str) -> Service:
    """Starts the service for projects at these origins."""
    program = Program(
        [binary, "serve"],
        {
            "SVC_PLATFORM_LISTEN": "127.0.0.1:0",
            "SVC_PLATFORM_STORE": str(folder / "store"),
            "SVC_PLATFORM_BOOTSTRAP_TOKEN": BOOTSTRAP,
            "SVC_PLATFORM_CONNECTION_ORIGINS": ",".join(origins),
            "SVC_PLATFORM_SIGNING_ENV_ALLOWLIST": "SHOP_SECRET",
            "SHOP_SECRET": SHOP_SECRET,
        },
    )
    programs.append(program)
    admin = Countersign(program.url, BOOTSTRAP)
    operator = admin.create_token({"name": "operator", "roles": ["OPERATOR"]})["token"]
    approver = admin.create_token({"name": "approver", "roles": ["APPROVER"]})["token"]
    return Service(program.url, admin, Countersign(program.url, operator), Countersign(program.url, approver), operator, program)
