"""Packages with entry points, made in a folder as if they were installed there."""

import os
import pathlib
import subprocess
import sys


def install(
    folder: pathlib.Path, package: str, code: str, group: str, *points: str
) -> None:
    """Put a package in a folder.

    Args:
        folder: that is on the path.
        package: name of the distribution; its module is called so with underscores.
        code: of that module.
        group: of its entry points.
        points: each `name = attribute` of the module.
    """
    module = package.replace("-", "_")
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8"
    )
    lines = [point.replace(" = ", f" = {module}:") for point in points]
    info.joinpath("entry_points.txt").write_text(
        "\n".join([f"[{group}]", *lines, ""]), encoding="utf-8"
    )


def run(folder: pathlib.Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the packages of a folder."""
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *command],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
