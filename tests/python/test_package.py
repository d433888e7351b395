"""The package: no optional package needed, stub equals module, examples run, command starts."""

import ast
import doctest
import importlib
import inspect
import os
import pathlib
import subprocess
import sys

import fedsim as fs
import pytest
from fedsim import _core

PACKAGE = pathlib.Path(fs.__file__).parent

# What pybind11 or Python itself adds to every class.
OBJECT = set(dir(object)) | {"__module__", "__dict__", "__weakref__", "__static_attributes__"}


def test_import_needs_nothing():
    code = (
        "import sys\n"
        "for name in ('numpy', 'pandas', 'polars', 'pyarrow', 'tqdm', 'matplotlib'):\n"
        "    sys.modules[name] = None\n"
        "import fedsim as fs\n"
        "table = fs.run(fs.Federation.of(a='1x8'), [fs.Job('J', time='1h')], progress=True).jobs\n"
        "assert table.to_pydict()['state'] == ['COMPLETED'] and '1 rows' in repr(table)\n"
        "for use in (lambda: table['jobid'], table.to_pandas, table.to_polars):\n"
        "    try:\n"
        "        use()\n"
        "    except ImportError as error:\n"
        "        assert 'pip install' in str(error) and 'to_pydict' in str(error), error\n"
        "    else:\n"
        "        raise SystemExit('no ImportError')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def _stub():
    tree = ast.parse((PACKAGE / "_core.pyi").read_text())
    top, members = set(), {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign):
            top.add(node.target.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            top.add(node.name)
        if isinstance(node, ast.ClassDef):
            names = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            names |= {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
            members[node.name] = names
    return top, members


def test_stub_names_equal_module_names():
    top, members = _stub()
    module = {n for n in vars(_core) if n == "__version__" or not n.startswith("__")}
    assert top == module
    for name, stub in members.items():
        cls = getattr(_core, name)
        own = {n for n in vars(cls) if n not in OBJECT or n in ("__eq__", "__hash__", "__init__")}
        hidden = {"__setstate__", "__getstate__", "_pybind11_conduit_v1_", "__repr__", "__str__"}
        if cls.__hash__ is None:
            own.discard("__hash__")
        if name in ("InputError", "InternalError"):
            own -= {"__init__"}
        if "__init__" not in stub:  # made by readers and run() only
            own.discard("__init__")
        stub_only = {"__buffer__"}  # known to Python's type objects since 3.12
        assert stub - stub_only == own - hidden - stub_only, name


def test_stub_signatures_equal_docstrings():
    """First line of a docstring is the signature; its parameters are those of the stub."""
    tree = ast.parse((PACKAGE / "_core.pyi").read_text())
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        doc = getattr(_core, node.name).__doc__ or ""
        text = getattr(_core, node.name).__text_signature__ or doc.split("\n\n")[0]
        call = text[text.index("(") :].replace("\n", " ")
        shown = ast.parse(f"def f{call}: pass").body[0].args
        names = [a.arg for a in shown.args + shown.kwonlyargs]
        assert names == [a.arg for a in node.args.args + node.args.kwonlyargs], node.name


def _typed_copy(folder):
    """The package's text files in a folder of their own: mypy refuses an installed MYPYPATH."""
    target = folder / "typed" / "fedsim"
    target.mkdir(parents=True)
    for path in [*PACKAGE.glob("*.py"), *PACKAGE.glob("*.pyi"), PACKAGE / "py.typed"]:
        (target / path.name).write_text(path.read_text())
    return str(target.parent)


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="no mypy")
def test_mypy(tmp_path):
    code = (
        "import fedsim as fs\n"
        "fed = fs.Federation.of(a='1x8 a100')\n"
        "result: fs.Result = fs.run(fed, [fs.Job('J', gpus=1, time='1h')], seed=1)\n"
        "total: int = result.fingerprint + int(result.jobs['jobid'].sum())\n"
        "fs.Scenario(fed, fs.synth(jobs=3), fidelity='ideal').replace(seed=2)\n"
    )
    (tmp_path / "user.py").write_text(code)
    environment = {**os.environ, "MYPYPATH": _typed_copy(tmp_path)}

    def mypy(*what):
        cache = ["--cache-dir", str(tmp_path / "cache")]
        argv = [sys.executable, "-m", "mypy", "--strict", *cache, *what]
        done = subprocess.run(argv, capture_output=True, text=True, env=environment, cwd=tmp_path)
        return done.returncode, done.stdout + done.stderr

    status, said = mypy("user.py")
    assert status == 0, said
    (tmp_path / "wrong.py").write_text("import fedsim as fs\nfs.jobid.encode('a', 1)\n")
    status, said = mypy("wrong.py")
    assert status == 1 and "arg-type" in said, said
    status, said = mypy("-p", "fedsim")
    assert status == 0, said


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="no mypy")
def test_stubtest(tmp_path):
    environment = {**os.environ, "MYPYPATH": _typed_copy(tmp_path)}
    # pybind11's metaclass, constructors of classes that only functions make, 3.12's __buffer__.
    classes = "|".join(n for n, c in vars(_core).items() if type(c).__name__ == "pybind11_type")
    allowed = tmp_path / "allowed.txt"
    allowed.write_text(rf"fedsim\._core\.({classes})(\.__init__|\.__buffer__)?" + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "fedsim._core", "--allowlist", str(allowed)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _documented():
    for name in fs.__all__:
        thing = getattr(fs, name)
        if name.startswith("__") or isinstance(thing, int):
            continue
        yield name, thing
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    yield f"{name}.{member}", value
        if inspect.ismodule(thing):
            for member in thing.__all__:
                yield f"{name}.{member}", getattr(thing, member)


def test_every_public_name_has_a_docstring():
    plain = [n for n, thing in _documented() if not getattr(thing, "__doc__", None)]
    # Slots of Job and attributes set on exceptions have no docstring of their own.
    assert set(plain) <= {"Job.name", "Job.options", "InputError.diagnostics"}, plain


def test_docstring_examples():
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    seen = 0
    things = dict(_documented()) | {"fedsim": fs}
    for name, thing in things.items():
        doc = getattr(thing, "__doc__", None)
        if not isinstance(doc, str) or ">>>" not in doc:
            continue
        names = {"encode": fs.jobid.encode, "decode": fs.jobid.decode, "Job": fs.Job}
        runner.run(parser.get_doctest(doc, names, name, None, 0))
        seen += 1
    assert seen >= 20 and runner.summarize().failed == 0


def test_signatures_are_visible():
    assert str(inspect.signature(fs.machine)) == "(name, nodes, *, units, gpu_type=None)"
    assert "progress" in inspect.signature(fs.run).parameters


def test_typed():
    assert (PACKAGE / "py.typed").exists()
    assert sum(len(p.read_text().splitlines()) for p in PACKAGE.glob("*.py")) <= 600


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="no attribute 'plots'"):
        fs.plots
    assert "plot" in dir(fs)


def test_command():
    done = subprocess.run(
        [sys.executable, "-m", "fedsim", "--version"], capture_output=True, text=True
    )
    if "not installed" in done.stderr:
        pytest.skip("the command is not built")
    assert done.stdout.strip() == f"fedsim {fs.__version__}"


def test_reference_page_names_everything():
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference" / "python.md"
    text = page.read_text()
    missing = [n for n in fs.__all__ if not n.startswith("__") and n not in text]
    assert missing == []
