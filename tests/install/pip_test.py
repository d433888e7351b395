#!/usr/bin/env python3
"""`pip install .` into a fresh environment without any optional package, then a run from there.

What is imported must lie in that environment: neither the build tree nor the clone will do. The
flags are those of the release preset, so that ccache knows most objects already.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = """
import fedsim, pathlib, sys
assert pathlib.Path(sys.prefix) in pathlib.Path(fedsim.__file__).parents, fedsim.__file__
for name in ("numpy", "pandas", "polars", "pyarrow", "matplotlib"):
    assert name not in sys.modules, name + " was imported"
folder = pathlib.Path(fedsim.__file__).parent
assert (folder / "py.typed").exists(), "py.typed is missing"
assert list(folder.glob("*.pyi")), "the stubs are missing"
print("fedsim", fedsim.__version__, "imports without optional packages")
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    a = parser.parse_args()
    if not (ROOT / "pyproject.toml").exists():
        print("no pyproject.toml")
        return 77
    work = a.build / "pip-test"
    shutil.rmtree(work, ignore_errors=True)
    subprocess.run(["/usr/bin/python3", "-m", "venv", work / "venv"], check=True)
    python = work / "venv" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
               "--no-deps", "--config-settings=cmake.define.FEDSIM_WERROR=ON", ROOT]
    subprocess.run(install, check=True, env={**os.environ, "CCACHE_BASEDIR": str(ROOT)})
    subprocess.run([python, "-W", "error", "-c", CHECK], check=True, cwd=work)
    shown = subprocess.run([python, "-m", "pip", "show", "slurm-fedsim"], check=True, text=True,
                           capture_output=True).stdout
    print(shown.splitlines()[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
