"""The wire: messages that are broken, forged or heard before are ignored with a line, and the kernel goes on."""
import hashlib
import hmac
import json
import os
import random
import subprocess
import sys
import tempfile
import time

import zmq
from jupyter_client.connect import write_connection_file

MARK = b"<IDS|MSG>"
ERRORS = tempfile.TemporaryFile()


class Raw:
    """A kernel that is talked to in frames."""

    def __init__(self, **settings):
        settings.setdefault("key", b"a secret")
        self.file, self.config = write_connection_file(tempfile.mktemp(suffix=".json"), **settings)
        self.process = subprocess.Popen([sys.argv[1], "kernel", self.file], stdin=subprocess.DEVNULL, stderr=ERRORS)
        self.context = zmq.Context()
        self.shell = self.connect(zmq.DEALER, "shell_port")
        self.control = self.connect(zmq.DEALER, "control_port")
        self.beat = self.connect(zmq.REQ, "hb_port")
        self.asked = 0

    def connect(self, kind, port, **options):
        socket = self.context.socket(kind)
        socket.linger, socket.rcvtimeo = 0, 10000
        for name, value in options.items():
            setattr(socket, name, value)
        if kind == zmq.SUB:
            socket.subscribe(b"")
        joint = "-" if self.config["transport"] == "ipc" else ":"
        socket.connect("%s://%s%s%d" % (self.config["transport"], self.config["ip"], joint, self.config[port]))
        return socket

    def sign(self, parts):
        key = self.config["key"].encode() if isinstance(self.config["key"], str) else self.config["key"]
        return hmac.new(key, b"".join(parts), hashlib.sha256).hexdigest().encode() if key else b""

    def header(self, kind):
        self.asked += 1
        return json.dumps({"msg_id": str(self.asked), "msg_type": kind, "session": "raw", "username": "u",
                           "date": "", "version": "5.3"}).encode()

    def frames(self, kind, content):
        parts = [self.header(kind), b"{}", b"{}", json.dumps(content).encode()]
        return [MARK, self.sign(parts)] + parts

    def reply(self, socket, asked=None):
        """The next message, its type and content; or the next that answers a request of that number."""
        while True:
            frames = socket.recv_multipart()
            at = frames.index(MARK)
            assert frames[at + 1] == self.sign(frames[at + 2:at + 6]), "the reply's signature is wrong"
            if asked is None or json.loads(frames[at + 3]).get("msg_id") == str(asked):
                return json.loads(frames[at + 2])["msg_type"], json.loads(frames[at + 5])

    def ask(self, kind, content=None, socket=None):
        socket = socket or self.shell
        socket.send_multipart(self.frames(kind, content or {}))
        return self.reply(socket, self.asked)

    def subscribe(self, **options):
        """A socket that hears what is published from now on."""
        sub = self.connect(zmq.SUB, "iopub_port", **options)
        while not sub.poll(50):
            self.ask("kernel_info_request")
        while self.reply(sub, self.asked)[1].get("execution_state") != "idle":
            pass
        return sub

    def is_well(self):
        """Whether it answers, Lua included; a cell behind one that failed is asked again."""
        status = "aborted"
        while status == "aborted":
            content = {"code": "1 + 1", "silent": True, "allow_stdin": False}
            status = self.ask("execute_request", content)[1]["status"]
        return status == "ok"

    def close(self):
        self.ask("shutdown_request", {"restart": False}, self.control)
        assert self.process.wait(5) == 0, "exit status"
        os.unlink(self.file)


k = Raw()


def log():
    """The lines that the kernel wrote since."""
    time.sleep(0.05)
    ERRORS.seek(log.read)
    lines = ERRORS.read().decode()
    log.read = ERRORS.tell()
    ERRORS.seek(0, 2)
    return lines


log.read = 0


def ignored(frames, why):
    """States that a message is ignored with a line that says why."""
    log()
    k.shell.send_multipart(frames)
    assert k.is_well()
    said = log()
    assert "ignored: " + why in said, "%r is not in %r" % (why, said)


def signed(*parts):
    return [MARK, k.sign(parts)] + list(parts)


def test_a_wrong_signature_a_missing_one_and_none():
    good = k.frames("kernel_info_request", {})
    ignored([MARK, b"0" * 64] + good[2:], "its signature is wrong")
    ignored([MARK, b""] + good[2:], "its signature is wrong")
    ignored([MARK, good[1][:-1] + b"Z"] + good[2:], "its signature is wrong")
    ignored([MARK, good[1]] + good[2:5] + [b'{"a": 1}'], "its signature is wrong")


def test_a_message_heard_before():
    good = k.frames("kernel_info_request", {})
    k.shell.send_multipart(good)
    assert k.reply(k.shell)[0] == "kernel_info_reply"
    ignored(good, "it was heard before")


def test_too_few_parts_and_no_mark():
    good = k.frames("kernel_info_request", {})
    for n in range(1, len(good)):
        ignored(good[:n], "it has too few parts")
    ignored(good[1:], "it has too few parts")
    ignored([b""], "it has too few parts")


def test_wrong_json():
    header = k.header("kernel_info_request")
    for bad in (b"", b"{", b"[]", b"nul", b'"x"', b"{}{}", b'{"a": "\xff"}', b'{"a": "\\ud800"}', b"[" * 100000):
        ignored(signed(k.header("kernel_info_request"), b"{}", b"{}", bad), "its content is no JSON object")
        ignored(signed(bad, b"{}", b"{}", b"{}"), "a part of it is no JSON object")
        ignored(signed(header, bad, b"{}", b"{}"), "a part of it is no JSON object")
    ignored(signed(b'{"msg_type": 1}', b"{}", b"{}", b"{}"), "its header has no msg_type")
    ignored(signed(b'{"msg_typ": ""}', b"{}", b"{}", b"{}"), "its header has no msg_type")


def test_wrong_requests():
    ignored(k.frames("no_such_request", {}), "there is no no_such_request here")
    ignored(k.frames("execute_request", {}), "execute_request without code")
    ignored(k.frames("complete_request", {"code": 1}), "complete_request without code")
    log()
    k.control.send_multipart(k.frames("execute_request", {"code": "1"}))
    assert k.is_well()
    assert "there is no execute_request here" in log()


def test_fields_of_wrong_kinds():
    wrong = (None, -1, 2**62, 1e300, "x", [], {}, True, "\0")
    for value in wrong:
        k.ask("execute_request", {"code": "1", "silent": value, "store_history": value, "allow_stdin": value})
        k.ask("complete_request", {"code": "é", "cursor_pos": value})
        k.ask("inspect_request", {"code": "é", "cursor_pos": value, "detail_level": value})
        for kind in ("tail", "range", "search", value):
            k.ask("history_request", {"hist_access_type": kind, "n": value, "pattern": value, "session": value,
                                      "start": value, "stop": value, "output": value, "unique": value})
        k.ask("comm_info_request", {"target_name": value})
    assert k.is_well()


def test_comms_are_closed_at_once():
    sub = k.subscribe()
    k.shell.send_multipart(k.frames("comm_open", {"comm_id": "c", "target_name": "t", "data": {}}))
    types = [k.reply(sub)[0] for _ in range(3)]
    assert types == ["status", "comm_close", "status"], types


def mutated(random_, frames):
    """The frames with a few changes, and how they are signed then: rightly, most of the time."""
    parts = [bytearray(f) for f in frames[2:]]
    for _ in range(random_.randint(1, 4)):
        part = random_.choice(parts)
        at = random_.randint(0, len(part))
        what = random_.randint(0, 4)
        if what == 0 and part:
            part[at % len(part)] = random_.randint(0, 255)
        elif what == 1:
            part[at:at] = random_.choice([b"{", b"[", b'"', b"\0", b"\xff", b"9" * 30, b"null", b"\\u0000", b","])
        elif what == 2:
            del part[at:at + random_.randint(1, 20)]
        elif what == 3:
            random_.shuffle(parts)
        else:
            parts.insert(random_.randint(0, len(parts)), bytearray(part))
    parts = [bytes(p) for p in parts]
    signature = k.sign(parts[:4]) if random_.random() < 0.9 else os.urandom(random_.randint(0, 80))
    return [MARK, signature] + parts


def test_3000_random_messages():
    random_ = random.Random(1)
    requests = [("execute_request", {"code": "x = 1", "silent": True, "allow_stdin": False}),
                ("complete_request", {"code": "tide.é", "cursor_pos": 6}),
                ("inspect_request", {"code": "s:split(", "cursor_pos": 3, "detail_level": 0}),
                ("history_request", {"hist_access_type": "search", "pattern": "[a-", "n": 3}),
                ("is_complete_request", {"code": "for"}), ("comm_info_request", {}), ("kernel_info_request", {}),
                ("comm_open", {"comm_id": "x"}), ("input_reply", {"value": "x"})]
    for n in range(3000):
        frames = mutated(random_, k.frames(*random_.choice(requests)))
        k.shell.send_multipart(frames[:random_.randint(1, len(frames))] if random_.random() < 0.1 else frames)
        if n % 500 == 499:
            assert k.is_well()
            log()


def test_the_heart_beats_during_a_cell():
    k.shell.send_multipart(k.frames("execute_request", {"code": "while true do end", "allow_stdin": False}))
    for beat in (b"ping", b"", b"x" * 100000):
        k.beat.send(beat)
        assert k.beat.recv() == beat
    assert k.ask("kernel_info_request", socket=k.control)[1]["implementation"] == "tide"
    assert k.ask("interrupt_request", socket=k.control)[1] == {"status": "ok"}
    assert k.reply(k.shell)[1]["ename"] == "interrupted"


def test_a_front_end_that_does_not_read_neither_blocks_a_cell_nor_fills_the_memory():
    slow = k.subscribe(rcvhwm=1, rcvbuf=4096)
    code = "local line = ('x'):rep(9999) for i = 1, 25000 do print(line) end"
    k.shell.rcvtimeo = 60000
    reply = k.ask("execute_request", {"code": code, "allow_stdin": False})[1]
    with open("/proc/%d/status" % k.process.pid) as f:
        most = [int(line.split()[1]) for line in f if line.startswith("VmHWM")][0]
    assert reply["status"] == "ok"
    assert most < 200000 or "san" in sys.argv[1], "%d KiB" % most
    slow.close()
    assert k.is_well()


def test_ipc_without_a_key():
    other = Raw(transport="ipc", ip=tempfile.mktemp(), key=b"")
    kind, content = other.ask("execute_request", {"code": "1"})
    assert content["status"] == "ok"
    other.ask("shutdown_request", {}, other.control)
    assert other.process.wait(5) == 0


def test_a_shutdown_during_a_cell_and_a_parent_that_dies():
    k.shell.send_multipart(k.frames("execute_request", {"code": "pcall(function() while true do end end)"}))
    time.sleep(0.2)
    k.close()
    script = "tide=$1; shift; \"$tide\" kernel \"$1\" >/dev/null 2>&1 & echo $!; sleep 0.5"
    file, _ = write_connection_file(tempfile.mktemp(suffix=".json"))
    pid = int(subprocess.check_output(["sh", "-c", script, "sh", sys.argv[1], file],
                                      env={**os.environ, "JPY_PARENT_PID": "1"}))
    for _ in range(50):
        if not os.path.exists("/proc/%d" % pid):
            break
        time.sleep(0.1)
    assert not os.path.exists("/proc/%d" % pid), "it lives on"


if __name__ == "__main__":
    from client import main
    main(dict(globals()))
