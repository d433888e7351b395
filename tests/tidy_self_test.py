#!/usr/bin/env python3
"""tidy_test.py finds what it says it finds: each rule on a small good and a small bad text."""
import sys
import unittest

import tidy_test


def findings(check, *arguments):
    out = []
    check(*arguments, lambda name, line, message: out.append((line, message)))
    return out


def body(lines):
    return "// A file.\nint f(int a) {\n" + "  a += 1;\n" * (lines - 3) + "  return a;\n}\n"


class Functions(unittest.TestCase):
    def lengths(self, text):
        return [last - first + 1 for first, last in tidy_test.functions(text)]

    def test_counts_signature_and_braces(self):
        self.assertEqual(self.lengths(body(70)), [70])

    def test_sees_functions_in_namespaces_and_classes(self):
        text = "namespace a {\nclass B {\n public:\n  int f() const {\n    return 1;\n  }\n};\n}\n"
        self.assertEqual(self.lengths(text), [3])

    def test_braces_in_texts_and_comments_do_not_count(self):
        text = 'int f() {\n  auto a = "{{{";  // {{\n  char c = \'{\';\n}\nint g() {\n}\n'
        self.assertEqual(self.lengths(text), [4, 2])

    def test_digit_separators_are_not_characters(self):
        self.assertEqual(self.lengths("int f() {\n  return 1'000'000;\n}\n"), [3])

    def test_tables_are_not_functions(self):
        self.assertEqual(self.lengths("const T kTable[] = {\n  {f(1)},\n  {f(2)},\n};\n"), [])

    def test_raw_texts(self):
        self.assertEqual(self.lengths('int f() {\n  g(R"(}}\n{)");\n}\n'), [4])


class Rules(unittest.TestCase):
    def cpp(self, name, text):
        return findings(tidy_test.check_cpp, name, text, text.splitlines())

    def bans(self, name, text):
        return findings(tidy_test.check_bans, name, text, text.splitlines())

    def test_function_of_71_lines(self):
        self.assertEqual(self.cpp("a.cpp", body(70)), [])
        self.assertEqual(self.cpp("a.cpp", body(71))[0][0], 2)

    def test_header_of_201_lines(self):
        text = "// A file.\n#pragma once\n" + "int a;\n" * 198
        self.assertEqual(self.cpp("a.hpp", text), [])
        self.assertEqual(len(self.cpp("a.hpp", text + "int a;\n")), 1)

    def test_clock_only_in_run_cpp(self):
        text = "auto t = std::chrono::steady_clock::now();\n"
        self.assertEqual(len(self.bans("libfedsim/src/engine/loop.cpp", text)), 1)
        self.assertEqual(self.bans("libfedsim/src/result/run.cpp", text), [])
        self.assertEqual(self.bans("libfedsim/src/base/a.cpp", "// no steady_clock here\n"), [])

    def test_printing(self):
        self.assertEqual(len(self.bans("libfedsim/src/base/a.cpp", 'std::printf("x");\n')), 1)
        self.assertEqual(self.bans("libfedsim/src/base/a.cpp", 'std::snprintf(b, 9, "x");\n'), [])
        self.assertEqual(self.bans("apps/a.cpp", 'std::printf("x");\n'), [])

    def test_catch_all_only_at_the_edge(self):
        self.assertEqual(len(self.bans("apps/a.cpp", "} catch (...) {\n")), 1)
        self.assertEqual(self.bans("bindings/src/a.cpp", "} catch (...) {\n"), [])

    def test_room_order(self):
        rooms = ["base", "sched", "fed"]
        up = findings(tidy_test.check_includes, "libfedsim/src/sched/a.cpp",
                      ['#include "fed/lock.hpp"'], rooms)
        down = findings(tidy_test.check_includes, "libfedsim/src/fed/a.cpp",
                        ['#include "sched/pass.hpp"', '#include "fedsim/ids.hpp"'], rooms)
        self.assertEqual((len(up), down), (1, []))

    def test_public_headers_are_std_only(self):
        name = "libfedsim/include/fedsim/a.hpp"
        bad = ["#include <boost/graph.hpp>", '#include "base/rng.hpp"', "#include <fedsim/ids.hpp>"]
        good = ["#include <vector>", '#include "fedsim/ids.hpp"']
        self.assertEqual(len({line for line, _ in findings(
            tidy_test.check_includes, name, bad, [])}), 3)
        self.assertEqual(findings(tidy_test.check_includes, name, good, []), [])

    def test_one_title(self):
        page = ["# One", "```", "# not a title", "```"]
        self.assertEqual(findings(tidy_test.check_pages, "a.md", page), [])
        self.assertEqual(len(findings(tidy_test.check_pages, "a.md", page + ["# Two"])), 1)

    def test_lines(self):
        text = "int a;\t\nint b; \n" + "x" * 101
        self.assertEqual(len(findings(
            tidy_test.check_lines, "a.cpp", text, text.splitlines())), 5)

    def test_deviations_both_ways(self):
        code = {"libfedsim/src/a.cpp": "// Deviation D-001: why\n"}
        row = {tidy_test.FIDELITY: "| D-001 | what | test |\n"}
        self.assertEqual(findings(tidy_test.check_deviations, {**code, **row}), [])
        self.assertEqual(len(findings(tidy_test.check_deviations, code)), 1)
        self.assertEqual(len(findings(tidy_test.check_deviations, row)), 1)


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False, verbosity=0).result.wasSuccessful() else 1)
