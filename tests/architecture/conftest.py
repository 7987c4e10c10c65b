"""What the architecture tests look at: the modules of the package, and the files that git would carry."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGE = CHECKOUT / "acp_agent"


@dataclass(frozen=True)
class Module:
    """One module of the package, parsed."""

    path: Path
    tree: ast.Module

    @property
    def name(self) -> str:
        parts = list(self.path.relative_to(CHECKOUT).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def imports(self) -> Iterator[tuple[str, int]]:
        """Every module named in an import, wherever it stands, with its line; relative ones made absolute."""
        package = self.name if self.path.stem == "__init__" else self.name.rpartition(".")[0]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.name, node.lineno
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    above = package.split(".")[: len(package.split(".")) - node.level + 1]
                    base = ".".join([*above, base] if base else above)
                for alias in node.names:
                    yield f"{base}.{alias.name}", node.lineno


@pytest.fixture(scope="session")
def modules() -> tuple[Module, ...]:
    """Every module of the package, in the order of their paths."""
    paths = sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)
    return tuple(Module(path, ast.parse(path.read_text(encoding="utf-8"), str(path))) for path in paths)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The directory that holds the project."""
    return CHECKOUT


@pytest.fixture(scope="session")
def carried_files() -> tuple[Path, ...]:
    """The files of the project: those that git tracks or would track; without git, all but hidden directories."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0 and listed.stdout:
        names = {name.decode() for name in listed.stdout.split(b"\0") if name}
        return tuple(sorted(path for name in names if (path := CHECKOUT / name).is_file()))
    skipped = {"__pycache__", "build", "dist", ".peers"}
    return tuple(
        path
        for path in sorted(CHECKOUT.rglob("*"))
        if path.is_file()
        and not any(
            part in skipped or (part.startswith(".") and part != ".ci")
            for part in path.relative_to(CHECKOUT).parts
        )
    )
