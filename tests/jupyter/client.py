"""A kernel under test: cells, what they put out, and TAP."""
import os
import signal
import time
import traceback

from jupyter_client.manager import start_new_kernel


class Kernel:
    """A kernel that was started for a test file; `client` and `manager` are jupyter_client's."""

    def __init__(self):
        self.manager, self.client = start_new_kernel(kernel_name="tide")

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel()

    def pid(self):
        return self.manager.provisioner.process.pid

    def interrupt(self):
        os.kill(self.pid(), signal.SIGINT)

    def finish(self, asked, timeout=30):
        """The reply to a request that was sent, and the messages about it until it was done."""
        messages, end = [], time.monotonic() + timeout
        while True:
            m = self.client.get_iopub_msg(timeout=end - time.monotonic())
            if m["parent_header"].get("msg_id") != asked:
                continue
            if m["msg_type"] == "status" and m["content"]["execution_state"] == "idle":
                break
            messages.append(m)
        while True:
            reply = self.client.get_shell_msg(timeout=end - time.monotonic())
            if reply["parent_header"].get("msg_id") == asked:
                return reply["content"], messages

    def run(self, code, **options):
        """The reply to a cell, and its messages."""
        options.setdefault("allow_stdin", False)
        return self.finish(self.client.execute(code, **options))

    def ask(self, request, *words):
        """The content of the reply to a request of jupyter_client's that shows nothing."""
        return self.finish(getattr(self.client, request)(*words))[0]

    def running(self, code):
        """Sends a cell and waits until it printed something; its number."""
        asked = self.client.execute(code, allow_stdin=False)
        while True:
            m = self.client.get_iopub_msg(timeout=10)
            if m["parent_header"].get("msg_id") == asked and m["msg_type"] == "stream":
                return asked


def of_type(messages, *types):
    return [m["content"] for m in messages if m["msg_type"] in types]


def text(messages, name="stdout"):
    """All that a cell wrote to a stream."""
    return "".join(c["text"] for c in of_type(messages, "stream") if c["name"] == name)


def shown(messages):
    """The forms of what a cell showed."""
    return [c["data"] for c in of_type(messages, "execute_result", "display_data")]


def equal(got, want):
    assert got == want, "got %r, want %r" % (got, want)


def holds(whole, part):
    assert part in whole, "%r is not in %r" % (part, whole)


def main(tests, *arguments):
    """Runs the functions whose names begin with test_, and prints TAP."""
    tests = [(n, f) for n, f in tests.items() if n.startswith("test_")]
    for number, (name, function) in enumerate(tests, 1):
        try:
            function(*arguments)
            state = "ok"
        except Exception:
            state = "not ok"
            print("# " + traceback.format_exc().rstrip().replace("\n", "\n# "), flush=True)
        print("%s %d - %s" % (state, number, name[5:].replace("_", " ")), flush=True)
    print("1..%d" % len(tests), flush=True)
