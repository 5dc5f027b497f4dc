"""All tests of jupyter_kernel_test."""
import sys
import unittest

from jupyter_kernel_test import KernelTests


class TideTests(KernelTests):
    kernel_name = "tide"
    language_name = "lua"
    file_extension = ".lua"
    code_hello_world = "print 'hello, world'"
    code_stderr = "local _ = io.stderr:write 'oops'"
    completion_samples = [{"text": "tide.schedu", "matches": {"schedule"}},
                          {"text": "tide.no_such_name", "matches": set()}]
    complete_code_samples = ["1 + 1", "local x = 2", "for i = 1, 2 do print(i) end", "?split", ":check"]
    incomplete_code_samples = ["function f()", "print(1,", "s = [[", "for i = 1, 2 do\n  print(i)"]
    invalid_code_samples = ["x = = 1", "end", "1 +* 2"]
    code_page_something = "?split"
    code_generate_error = "error 'no'"
    code_execute_result = [{"code": "1 + 2", "result": "3"}, {"code": "'a' .. 'b'", "result": '"ab"'},
                           {"code": "i8[2](1)", "result": "i8[2] {1, 1}"}]
    code_display_data = [{"code": "require 'tide.display'.show '<svg ></svg>'", "mime": "image/svg+xml"}]
    code_history_pattern = "1?+*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "tide.kernel"
    code_clear_output = "require 'tide.display'.clear()"


class Tap(unittest.TestResult):
    """Prints each test as it ends; one that is skipped counts as failed."""

    def point(self, state, test, why=""):
        print("%s %d - %s" % (state, self.testsRun, test.id().split(".")[-1]), flush=True)
        if why:
            print("# " + str(why).rstrip().replace("\n", "\n# "), flush=True)

    def addSuccess(self, test):
        self.point("ok", test)

    def addSkip(self, test, reason):
        self.point("not ok", test, "skipped " + reason)

    def addSubTest(self, test, subtest, outcome):
        super().addSubTest(test, subtest, outcome)
        if outcome:
            self.point("not ok", test, self._exc_info_to_string(outcome, test))

    def addFailure(self, test, error):
        self.point("not ok", test, self._exc_info_to_string(error, test))

    addError = addFailure


suite = unittest.defaultTestLoader.loadTestsFromTestCase(TideTests)
suite.run(Tap())
print("1..%d" % suite.countTestCases())
sys.stdout.flush()
