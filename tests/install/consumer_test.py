#!/usr/bin/env python3
"""Installs the build into a folder, builds tests/install/consumer against it and runs it.

The folder is moved before it is used: nothing in the package may remember where it was made.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = "jobs 2 rejected 1 allocations 2 distinct_gpus 12 naive 18"


def run(*argv, **more):
    print("+", *argv, flush=True)
    return subprocess.run([str(a) for a in argv], check=True, **more)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--command", action="store_true", help="the command is part of the build")
    a = parser.parse_args()
    work = a.build / "install-test"
    shutil.rmtree(work, ignore_errors=True)
    run(a.cmake, "--build", a.build, "--target", "libfedsim/all",
        *(["apps/all"] if a.command else []))
    run(a.cmake, "--install", a.build, "--prefix", work / "made", stdout=subprocess.DEVNULL)
    (work / "made").rename(work / "prefix")
    run(a.cmake, "-G", "Ninja", "-S", HERE / "consumer", "-B", work / "consumer",
        f"-DCMAKE_PREFIX_PATH={work / 'prefix'}", f"-DCMAKE_CXX_COMPILER={a.compiler}",
        "-DCMAKE_CXX_STANDARD=20", f"-DCMAKE_CXX_FLAGS={os.environ.get('CXXFLAGS', '')}")
    run(a.cmake, "--build", work / "consumer")
    got = run(work / "consumer" / "consumer", capture_output=True, text=True).stdout
    print(got, end="")
    if not got.startswith(EXPECTED):
        print("expected:", EXPECTED)
        return 1
    if a.command:
        version = run(work / "prefix/bin/fedsim", "--version", capture_output=True, text=True)
        print(version.stdout, end="")
        if not version.stdout.startswith("fedsim "):
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
