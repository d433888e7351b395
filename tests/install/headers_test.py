#!/usr/bin/env python3
"""Every public header compiles alone, with every warning, including itself twice."""
import argparse
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "libfedsim" / "include"
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]


def compile_alone(compiler, header):
    text = f'#include "fedsim/{header.name}"\n' * 2 + "int main() {}\n"
    done = subprocess.run([compiler, *FLAGS, f"-I{INCLUDE}", "-x", "c++", "-"], input=text,
                          capture_output=True, text=True)
    return header.name, done.returncode, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    a = parser.parse_args()
    headers = sorted((INCLUDE / "fedsim").glob("*.hpp"))
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda h: compile_alone(a.compiler, h), headers))
    bad = [r for r in results if r[1] != 0]
    for name, _, text in bad:
        print(f"{name} does not compile alone:\n{text}")
    print(f"{len(results) - len(bad)} of {len(results)} public headers compile alone")
    return 1 if bad or not results else 0


if __name__ == "__main__":
    sys.exit(main())
