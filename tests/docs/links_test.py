#!/usr/bin/env python3
"""Links of the repository's pages resolve: files and titles; web addresses are not tried.

Paths in backticks that begin with the name of one of our folders must exist too.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pages():
    skip = {"build", ".venv", ".git"}
    return sorted(p for p in ROOT.rglob("*.md") if not skip & set(p.relative_to(ROOT).parts))


def without_code(text):
    text = re.sub(r"^( *)```.*?^\1```", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(path):
    """The names under which titles of a page can be linked to, as forges make them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)
    found = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", t.lower().strip()).replace(" ", "-") for t in found}


def main():
    bad = checked = 0
    for page in pages():
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            checked += 1
            name, _, anchor = target.partition("#")
            path = (page.parent / name).resolve() if name else page
            if not path.exists() or ROOT not in path.parents:
                print(f"{page.relative_to(ROOT)}: {target} is not there")
                bad += 1
            elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                print(f"{page.relative_to(ROOT)}: {target}: no such title")
                bad += 1
        for path in re.findall(r"`((?:tests|docs|scripts|traces|libfedsim|apps)/[\w./-]+)`",
                               page.read_text()):
            checked += 1
            if "/changes/" not in path and not (ROOT / path).exists():
                print(f"{page.relative_to(ROOT)}: `{path}` is not there")
                bad += 1
    print(f"{checked} links, {bad} broken")
    return 1 if bad or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
