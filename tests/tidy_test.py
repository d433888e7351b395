#!/usr/bin/env python3
"""House rules as a test: sizes, ban list, room order, map, docs pages, deviations, blobs.

    python3 tests/tidy_test.py              findings as file:line: message; exit 1 with any
    python3 tests/tidy_test.py --write-map  rewrites the list of files in libfedsim/README.md

Python's standard library only. Function length is found by counting braces outside comments and
texts; it is a heuristic that errs on the side of silence.
"""
import pathlib
import re
import subprocess
import sys

MAX_HEADER, MAX_SOURCE, MAX_FUNCTION, MAX_COLUMNS = 200, 600, 70, 100
MAX_BLOB = 1 << 20
MAP = "libfedsim/README.md"
FIDELITY = "docs/reference/fidelity.md"
MAP_BEGIN, MAP_END = "<!-- files: begin -->", "<!-- files: end -->"

# pattern, where it is banned (regex on the path), where it is allowed all the same, what instead
BANS = [
    (r"\bs?rand\s*\(|std::random_device|std::mt19937", r"\.(cpp|hpp)$", r"^tests/",
     "draw(seed, stream, entity, n) of base/rng.hpp"),
    (r"\btime\s*\(\s*(NULL|nullptr|0)\s*\)|\bgettimeofday\b|\bclock_gettime\b", r"^libfedsim/",
     "", "simulated time (SimTime)"),
    (r"\b(system_clock|steady_clock|high_resolution_clock)\b", r"^libfedsim/",
     r"^libfedsim/src/result/run\.cpp$", "simulated time; only result/run.cpp times a run"),
    (r"std::\w+_distribution\b", r"\.(cpp|hpp)$", "", "the draws of base/rng.hpp"),
    (r"\bgetenv\b", r"^libfedsim/", "", "an option that the caller passes"),
    (r"(?<![\w:])(std::)?(printf|puts|putchar)\s*\(|std::(cout|cerr|clog)\b", r"^libfedsim/",
     "", "log() of log.hpp or a returned text"),
    (r"\b(std::)?(exit|abort|quick_exit|_Exit|terminate)\s*\(", r"^libfedsim/", "",
     "InputError or FEDSIM_CHECK"),
    (r"\bcatch\s*\(\s*\.\.\.\s*\)", r"\.(cpp|hpp)$", r"^(bindings|tests)/",
     "a catch of what you expect"),
    (r"\blong double\b", r"\.(cpp|hpp)$", "", "double, or integers"),
    (r"\bassert\s*\(", r"^(libfedsim|apps|bindings)/.*\.(cpp|hpp)$", "",
     "FEDSIM_CHECK or FEDSIM_DCHECK"),
    (r"\busing namespace std\b", r"\.(cpp|hpp)$", "", "std:: in full"),
    (r"\b(TODO|FIXME|XXX)\b", r"\.(cpp|hpp|py|cmake)$|CMakeLists\.txt$",
     r"^tests/tidy_test\.py$", "do it, or write it down in docs/explanation/limits.md"),
    (r"-ffast-math|-Ofast\b", r"CMake|\.cmake$", "", "-ffp-contract=off and plain -O3"),
]
CODE = (".cpp", ".hpp", ".py", ".sh", ".cmake", ".md", ".pyi", ".toml")


def tracked(root):
    """Files of the repository: tracked, and new ones that git does not ignore."""
    try:
        command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"]
        out = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        names = [n for n in out.split("\0") if n]
    except (OSError, subprocess.CalledProcessError):
        skip = {".git", "build", ".venv", "__pycache__", "dist"}
        names = [str(p.relative_to(root)) for p in root.rglob("*")
                 if p.is_file() and not skip & set(p.relative_to(root).parts)]
    return sorted(n for n in set(names) if (root / n).is_file())


def strip_cpp(text):
    """C++ text with comments, strings and character literals blanked out; line numbers stay."""
    pattern = re.compile(
        r'R"([^()\\ ]{0,16})\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/'
        r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'')
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def is_function(head):
    """Does the text before a brace begin a function's body? Lambdas, initialisers do not."""
    head = head.strip()
    if re.search(r"\b(namespace|class|struct|union|enum)\b", head.split("(")[0]) or "(" not in head:
        return False
    return not re.search(r"(=|,|\(|return)$", head)


def functions(text):
    """(first line, last line) of every function body's definition, outermost only."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", lambda m: re.sub(r"[^\n]", " ", m[0]),
                  strip_cpp(text), flags=re.M)
    stack, head, line, start = [], "", 1, None
    for c in text:
        if c == "\n":
            line += 1
        if c == "{":
            inside = any(kind == "function" for kind, _ in stack)
            kind = "function" if not inside and is_function(head) else "block"
            stack.append((kind, start or line))
            head, start = "", None
        elif c == "}":
            if stack:
                kind, first = stack.pop()
                if kind == "function":
                    yield first, line
            head, start = "", None
        elif c == ":" and head.strip() in ("public", "private", "protected"):
            head, start = "", None
        elif c == ";" and head.count("(") <= head.count(")"):
            head, start = "", None
        else:
            if start is None and not c.isspace():
                start = line
            head += c


def check_cpp(name, text, lines, report):
    header = name.endswith(".hpp")
    limit = MAX_HEADER if header else MAX_SOURCE
    if len(lines) > limit:
        kind = "header" if header else "source"
        report(name, len(lines), f"{len(lines)} lines, at most {limit} in a {kind}")
    for first, last in functions(text):
        if last - first + 1 > MAX_FUNCTION:
            size = last - first + 1
            report(name, first, f"a function of {size} lines, at most {MAX_FUNCTION}")
    if not lines or not lines[0].startswith("//"):
        report(name, 1, "the first line must be a comment that says what this file is")
    if header and "#pragma once" not in text:
        report(name, 1, "a header needs #pragma once")


def check_python(name, lines, report):
    """Length of Python functions, by indentation."""
    if len(lines) > MAX_SOURCE:
        report(name, len(lines), f"{len(lines)} lines, at most {MAX_SOURCE} in a source")
    for i, line in enumerate(lines):
        m = re.match(r"( *)(async )?def \w", line)
        if not m:
            continue
        inner = (m[1] + " ", m[1] + ")")
        end = next((j for j in range(i + 1, len(lines))
                    if lines[j].strip() and not lines[j].startswith(inner)), len(lines))
        while end > i and not lines[end - 1].strip():
            end -= 1
        if end - i > MAX_FUNCTION:
            report(name, i + 1, f"a function of {end - i} lines, at most {MAX_FUNCTION}")


def check_lines(name, text, lines, report):
    columns = name.endswith((".cpp", ".hpp", ".py", ".pyi"))
    for i, line in enumerate(lines, 1):
        if columns and len(line) > MAX_COLUMNS:
            report(name, i, f"{len(line)} columns, at most {MAX_COLUMNS}")
        if "\t" in line:
            report(name, i, "a tab; use spaces")
        if line != line.rstrip():
            report(name, i, "blanks at the end of the line")
    if text and not text.endswith("\n"):
        report(name, len(lines), "no newline at the end of the file")


def check_bans(name, text, lines, report):
    plain = strip_cpp(text).splitlines() if name.endswith((".cpp", ".hpp")) else lines
    for pattern, where, allowed, instead in BANS:
        if not re.search(where, name) or (allowed and re.search(allowed, name)):
            continue
        source = lines if "TODO" in pattern else plain
        for i, line in enumerate(source, 1):
            m = re.search(pattern, line)
            if m:
                report(name, i, f"'{m[0].strip()}' is banned; use {instead}")


# An absolute path under a root that is not every system's: it is somebody's machine.
SYSTEM_ROOTS = "usr|etc|dev|bin|lib|tmp|var|proc|sys|opt|nonexistent"
MACHINE_PATH = re.compile(
    rf"(?<![\w.}}>$*)/<])/(?!(?:{SYSTEM_ROOTS})\b)[a-z]\w*/\w|/home/\w|/Users/\w"
    rf"|-[IL]/(?!(?:{SYSTEM_ROOTS})\b)[a-z]"
)


def check_places(name, text, lines, report):
    """No path of anybody's machine. Tests that look for reference data name FEDSIM_SHARED."""
    if name == "tests/tidy_test.py":
        return
    for i, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            report(name, i, "a path of somebody's machine")
        if re.search(r"(?<![\w-])shared/", line) and "FEDSIM_SHARED" not in text:
            report(name, i, "'shared/': only tests that look for it through FEDSIM_SHARED name it")


def check_includes(name, lines, rooms, report):
    public = name.startswith("libfedsim/include/")
    parts = name.split("/")
    room = parts[2] if name.startswith("libfedsim/src/") and len(parts) > 3 else None
    for i, line in enumerate(lines, 1):
        m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not m:
            continue
        target, other = m[2], m[2].split("/")[0]
        if public and (m[1] == '"') != target.startswith("fedsim/"):
            report(name, i, f'{target}: a public header includes std headers and "fedsim/..."')
        if public and re.match(r"(boost|Eigen|spdlog|fmt|nlohmann|toml\+\+|CLI)/", target):
            report(name, i, f"{target}: no third-party library in a public header")
        if room in rooms and other in rooms and rooms.index(other) > rooms.index(room):
            report(name, i, f"room {room} includes {target}, a later room of FEDSIM_ROOMS")
        if room and re.match(r"(pybind11|CLI)/|Python\.h|nccl\.h|cuda", target):
            report(name, i, f"{target}: only bindings/, apps/ and bench/calibrate know that")


def first_sentence(path):
    """What a file says about itself in its first lines, as one clause for the map."""
    words = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//"):
            break
        text = line[2:].strip()
        if not text:
            break
        words.append(text)
    text = re.sub(r"\s+", " ", " ".join(words))
    text = re.split(r"(?<=[a-z)\]0-9])\.(?:\s|$)", text)[0].rstrip(".")
    return text.replace("|", "\\|")


def mapped_files(names):
    return [n for n in names if re.match(r"libfedsim/(src|include)/.*\.(cpp|hpp)$", n)]


def write_map(root, names, rooms):
    out, last = [], None

    def order(name):
        room = name.split("/")[2]
        return (rooms.index(room) + 1 if room in rooms else 0, name)

    for name in sorted(mapped_files(names), key=order):
        short = name[len("libfedsim/"):]
        folder = short.rsplit("/", 1)[0]
        if folder != last:
            out += ["", f"### `{folder}/`", ""]
            last = folder
        out.append(f"- `{short}` - {first_sentence(root / name)}")
    path = root / MAP
    text = path.read_text()
    before, rest = text.split(MAP_BEGIN, 1)
    after = rest.split(MAP_END, 1)[1]
    path.write_text(before + MAP_BEGIN + "\n" + "\n".join(out[1:]) + "\n\n" + MAP_END + after)


def check_map(root, names, report):
    text = (root / MAP).read_text() if (root / MAP).exists() else ""
    listed = set(re.findall(r"^- `((?:src|include)/[^`]+)` - \S", text, flags=re.M))
    have = {n[len("libfedsim/"):] for n in mapped_files(names)}
    for short in sorted(have - listed):
        report(MAP, 0, f"{short} is not in the map; run python3 tests/tidy_test.py --write-map")
    for short in sorted(listed - have):
        report(MAP, 0, f"{short} is in the map and not in the tree")


def check_pages(name, lines, report):
    fence, titles = False, []
    for i, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fence = not fence
        elif not fence and line.startswith("# "):
            titles.append(i)
    if len(titles) != 1:
        second = titles[1] if len(titles) > 1 else 1
        report(name, second, f"{len(titles)} h1 titles; a page has one")
    if fence:
        report(name, len(lines), "a code block is not closed")


def check_deviations(texts, report):
    """Markers in the code and rows in the fidelity page name the same deviations."""
    marked = {}
    for name, text in texts.items():
        if re.match(r"(libfedsim|apps|bindings)/.*\.(cpp|hpp)$", name):
            for i, line in enumerate(text.splitlines(), 1):
                for m in re.finditer(r"// Deviation (D-\d{3}):", line):
                    marked.setdefault(m[1], (name, i))
                if re.search(r"//\s*deviation\b(?! D-\d{3}:)", line, flags=re.I):
                    report(name, i, "write it as '// Deviation D-012: ...'")
    rows = {}
    for i, line in enumerate(texts.get(FIDELITY, "").splitlines(), 1):
        m = re.match(r"\|\s*(D-\d{3})\s*\|", line)
        if m and m[1] in rows:
            report(FIDELITY, i, f"{m[1]} has two rows")
        if m:
            rows[m[1]] = i
    for key in sorted(set(marked) - set(rows)):
        report(*marked[key], f"{key} has no row in {FIDELITY}")
    for key in sorted(set(rows) - set(marked)):
        report(FIDELITY, rows[key], f"{key} is marked nowhere in the code")


def collect(root):
    findings = []

    def report(name, line, message):
        findings.append(f"{name}:{line}: {message}")

    names = tracked(root)
    cmake = (root / "libfedsim/CMakeLists.txt").read_text()
    rooms = re.search(r"set\(FEDSIM_ROOMS ([^)]*)\)", cmake)[1].split()
    texts = {}
    for name in names:
        size = (root / name).stat().st_size
        if size > MAX_BLOB:
            report(name, 0, f"{size} bytes, at most {MAX_BLOB} in a file")
        script = name.startswith(("scripts/", ".ci/")) or name.endswith("CMakeLists.txt")
        data = name.startswith("traces/") and not name.endswith(".md")
        if data or not (name.endswith(CODE) or script):
            continue
        texts[name] = text = (root / name).read_text(encoding="utf-8")
        lines = text.splitlines()
        check_lines(name, text, lines, report)
        check_bans(name, text, lines, report)
        check_places(name, text, lines, report)
        if name.endswith((".cpp", ".hpp")):
            check_cpp(name, text, lines, report)
            check_includes(name, lines, rooms, report)
        if name.endswith(".py"):
            check_python(name, lines, report)
        if re.match(r"docs/.*\.md$", name) and not name.startswith("docs/changes/") or name in (
                "README.md", "CONTRIBUTING.md", "CHANGELOG.md", MAP):
            check_pages(name, lines, report)
    check_map(root, names, report)
    check_deviations(texts, report)
    return findings, names, rooms


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    if "--write-map" in sys.argv[1:]:
        _, names, rooms = collect(root)
        write_map(root, names, rooms)
        return 0
    findings, names, _ = collect(root)
    for line in findings:
        print(line)
    print(f"tidy: {len(names)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
