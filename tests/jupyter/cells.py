"""Cells: values, errors, interrupts, input, much output, completion, displays, restart."""
import os
import time

from client import Kernel, equal, holds, main, of_type, shown, text

k = Kernel()

DESIGN = """
d = tide.design(function(d)
  local Z = d:stream(i8)
  d.a = task { A = i8[4], function(A) for i in grid(4) do Z:put(A[i]) end end }
  d.b = task { B = i8[4], function(B) for i in grid(4) do B[i] = Z:get() end end }
end)
"""
NEST = """
local k = tide.kernel { A = i8[4][4], function(A) for i, j in grid(4, 4) do A[i][j] = 1 end end }
s = tide.schedule(k)
"""


def test_locals_persist_values_are_shown_and_a_semicolon_silences():
    equal(shown(k.run("local x = 20\nlocal y <const> = 22\nx + y")[1]), [{"text/plain": "42"}])
    equal(shown(k.run("x, y")[1]), [{"text/plain": "20\t22"}])
    equal(shown(k.run("x + y;")[1]), [])
    equal(shown(k.run("_1")[1]), [{"text/plain": "20"}])


def test_an_error_is_drawn_with_its_line_and_the_session_goes_on():
    reply, messages = k.run("print 'before'\ntide.kernel {\n  A = i8[4], function(A) A[4] = 1 end }")
    equal((reply["status"], reply["ename"]), ("error", "index-range"))
    error = of_type(messages, "error")[0]
    equal(error["traceback"], reply["traceback"])
    holds(error["evalue"], "tide:%d:3:" % reply["execution_count"])
    holds("\n".join(error["traceback"]), "^")
    equal(text(messages), "before\n")
    equal(k.run("x")[0]["status"], "ok")


def test_an_error_of_plain_lua_has_its_caret_and_the_name_that_was_meant():
    reply, messages = k.run("local a = 1\ntide.kernal {}")
    equal((reply["status"], reply["ename"]), ("error", "error"))
    holds(reply["evalue"], "tide:%d:2:6: error: 'kernal' is nil, not a function" % reply["execution_count"])
    equal(of_type(messages, "error")[0]["traceback"][1:],
          ["     2 | tide.kernal {}", "       |      ^~~~~~", "help: did you mean 'kernel'?"])


def test_a_syntax_error_and_an_error_that_is_no_text():
    equal(k.run("x = = 1")[0]["status"], "error")
    equal(k.run("error()")[0]["evalue"], "nil")
    equal(k.run("error(setmetatable({}, {__tostring = error}))")[0]["evalue"], "an error that cannot be told")
    equal(k.run("error {code = '\\xFF'}")[0]["ename"], "\ufffd")
    equal(k.run("error('', 0)")[0]["evalue"], "")


def test_commands_help_and_the_shell():
    equal(text(k.run(":check")[1]), "check is quick\n")
    equal(text(k.run("!echo outside; echo wrong >&2")[1]), "outside\n")
    for question in ("?split", "split?", "??split"):
        page = k.run(question)[0]["payload"][0]
        holds(page["data"]["text/plain"], "s:split(loop, factor")
    equal(k.run(":no_such_command")[0]["ename"], "command")


def interrupted(code, stop):
    """Seconds from stop() to the reply of a cell that prints and then runs on."""
    asked = k.running("print 'runs' io.stdout:flush()\n" + code)
    time.sleep(0.2)
    began = time.monotonic()
    stop()
    reply, _ = k.finish(asked)
    took = time.monotonic() - began
    equal((reply["status"], reply["ename"]), ("error", "interrupted"))
    return took


def by_message():
    """The interrupt of front ends that have no signals."""
    k.client.control_channel.send(k.client.session.msg("interrupt_request"))
    equal(k.client.get_control_msg(timeout=5)["content"], {"status": "ok"})


LONG = """
local k = tide.kernel { A = i64[64], function(A)
  for r, i in grid(100000000, 64) do A[i] = A[i] * 3 + r end
end }
"""


def test_an_interrupt_ends_any_cell():
    cells = ("while true do end", "pcall(function() while true do end end) swallowed = true",
             "coroutine.wrap(function() while true do end end)()", LONG + "k:reference(i64[64](0))",
             LONG + "k(i64[64](0))")
    for code in cells:
        for stop in (k.interrupt, by_message):
            took = min(interrupted(code, stop) for _ in range(2))
            print("# %.0f ms: %s" % (took * 1000, code.strip().splitlines()[-1]))
    equal(shown(k.run("1 + 1")[1]), [{"text/plain": "2"}])


def test_an_interrupt_ends_what_a_cell_started():
    for stop in (k.manager.interrupt_kernel, by_message):
        asked = k.running("!echo runs; sleep 20; true")
        stop()
        holds(text(k.finish(asked)[1]), "ended by signal 2")


def test_interrupts_between_cells_do_nothing():
    for _ in range(4):
        k.interrupt()
        by_message()
    time.sleep(0.1)
    equal(shown(k.run("1 + 1")[1]), [{"text/plain": "2"}])


def test_input_is_refused_where_the_front_end_takes_none():
    reply, _ = k.run("io.read()")
    equal(reply["status"], "error")
    holds(reply["evalue"], "this front end takes no input")
    equal(shown(k.run("io.stdin:read()")[1]), [{"text/plain": "nil"}])
    equal(text(k.run("!cat")[1]), "")


def answering(code, answer):
    asked = k.client.execute(code, allow_stdin=True)
    k.client.get_stdin_msg(timeout=5)
    answer()
    return k.finish(asked)


def test_input_is_asked_for():
    _, messages = answering("local a = io.read() a .. '!'", lambda: k.client.input("größe"))
    equal(shown(messages), [{"text/plain": '"größe!"'}])
    equal(shown(answering("io.read 'n' + 1", lambda: k.client.input("41"))[1]), [{"text/plain": "42"}])
    equal(answering("io.read()", k.interrupt)[0]["ename"], "interrupted")
    k.client.input("too late")
    equal(shown(k.run("2")[1]), [{"text/plain": "2"}])


def keep_to(process, cores):
    for thread in os.listdir("/proc/%s/task" % process):
        os.sched_setaffinity(int(thread), cores)


def test_no_interrupt_is_missed_that_comes_before_the_wait_for_input():
    cores = os.sched_getaffinity(0)
    for process in ("self", k.pid()):
        keep_to(process, {min(cores)})
    for _ in range(50):
        equal(answering("io.read()", k.interrupt)[0]["ename"], "interrupted")
    for process in ("self", k.pid()):
        keep_to(process, cores)


def test_100000_lines_arrive_in_order():
    _, messages = k.run("for i = 1, 100000 do print(i) end")
    equal(text(messages), "".join("%d\n" % i for i in range(1, 100001)))
    assert len(messages) < 2000, "%d messages" % len(messages)


def test_output_comes_while_the_cell_runs():
    asked = k.running("io.write 'first\\n' while true do end")
    k.interrupt()
    equal(k.finish(asked)[0]["status"], "error")


def test_text_that_is_not_utf8_and_text_in_pieces():
    equal(text(k.run("io.write('a\\xFFb\\0c\\xE2\\x82')")[1]), "a\ufffdb\0c\ufffd\ufffd")
    equal(text(k.run("for b in ('€'):gmatch '.' do io.write(b) io.stdout:flush() end")[1]), "€")
    equal(k.run("error '\\xFF'")[0]["status"], "error")


def test_completion_counts_code_points():
    k.run(NEST)
    code = 's:split("j", 2) local grüße = "𝒜é" s:reorder("'
    found = k.ask("complete", code, len(code))
    equal((found["matches"], found["cursor_start"], found["cursor_end"]), (["i", "j"], len(code), len(code)))
    found = k.ask("complete", "x = 'é𝒜' .. tide.schedu -- é", 22)
    equal((found["matches"], found["cursor_start"], found["cursor_end"]), (["schedule"], 17, 22))
    equal(k.ask("complete", "tide.schedu", 1000)["matches"], ["schedule"])
    equal(k.ask("complete", "", 0)["status"], "ok")
    holds(k.ask("complete", ":ch", 3)["matches"], "check")


def test_inspection_of_a_name_of_a_call_and_of_nothing():
    for code, cursor in (("local é = s:split", 17), ("s:split('j', ", 13), ("s:spl", 3), ("s:split(f(1), {", 15),
                         ("s:split(f(", 10), ("s:split 'it isn\\'t (", 20)):
        found = k.ask("inspect", code + ("it" if code == "s:spl" else ""), cursor)
        holds(found["data"].get("text/plain", ""), "s:split(loop, factor")
    equal(k.ask("inspect", "no_such_name", 3)["found"], False)
    equal(k.ask("inspect", "", 0)["found"], False)


def test_an_unfinished_cell_has_the_indentation_of_the_prompt():
    reply = k.ask("is_complete", "for i = 1, 2 do\n  if i then")
    equal(reply, {"status": "incomplete", "indent": "    "})


def test_graphs_are_svg_and_steps_are_coloured():
    k.run(DESIGN + NEST)
    forms, = shown(k.run("d:graph()")[1])
    holds(forms["image/svg+xml"], "<svg")
    holds(forms["text/html"], 'src="data:image/svg+xml,%3Csvg class=%22graph%22')
    holds(forms["text/plain"], "2 nodes")
    holds(shown(k.run("d:graph():svg()")[1])[0]["image/svg+xml"], "<svg")
    forms, = shown(k.run("s:reorder('j', 'i')")[1])
    holds(forms["text/html"], '<span style="background')
    holds(forms["text/plain"], "+     for j = 0, 3 do")
    page, = shown(k.run("s:html()")[1])
    holds(page["text/html"], "<iframe")
    equal(shown(k.run("i8[2](1)")[1]), [{"text/plain": "i8[2] {1, 1}"}])


def test_a_run_with_a_clock_shows_its_table_and_its_waves():
    forms, = shown(k.run("m = tide.schedule(d):build { target = 'cpu', timed = true }\nm(i8[4](1), i8[4](0))\nm.report")[1])
    holds(forms["text/html"], "<svg")
    holds(forms["text/plain"], "cycles")
    holds(text(k.run("print(m.report:timeline(40))")[1]), "a")


def test_a_value_is_shown_anew_in_its_place():
    _, messages = k.run("local show = require 'tide.display'.show\n"
                        "show('10 %', { id = 'p' }) show('20 %', { id = 'p' }) show '<svg ></svg>'\n"
                        "require 'tide.display'.clear(true)")
    first, second = of_type(messages, "display_data")[:1] + of_type(messages, "update_display_data")
    equal((first["transient"], first["data"]), ({"display_id": "p"}, {"text/plain": "10 %"}))
    equal((second["transient"], second["data"]), ({"display_id": "p"}, {"text/plain": "20 %"}))
    equal(of_type(messages, "clear_output"), [{"wait": True}])


def test_cells_behind_one_that_fails_are_not_run():
    first = k.client.execute("ran = nil local t = os.clock() while os.clock() < t + .3 do end error 'no'")
    second = k.client.execute("ran = true")
    equal(k.finish(first)[0]["status"], "error")
    equal(k.finish(second)[0]["status"], "aborted")
    equal(shown(k.run("ran")[1]), [{"text/plain": "nil"}])
    first = k.client.execute("local t = os.clock() while os.clock() < t + .3 do end error 'no'", stop_on_error=False)
    second = k.client.execute("ran = true")
    equal([k.finish(first)[0]["status"], k.finish(second)[0]["status"]], ["error", "ok"])


def test_silent_cells_show_nothing_and_have_no_number():
    before = k.run("0")[0]["execution_count"]
    reply, messages = k.run("1 + 1", silent=True)
    equal((reply["execution_count"], messages[1:]), (before, []))
    equal(k.run("0")[0]["execution_count"], before + 1)


def test_a_cell_does_not_end_the_kernel_but_quit_asks_to():
    holds(k.run("os.exit(0)")[0]["evalue"], ":quit")
    equal(k.run(":quit")[0]["payload"], [{"source": "ask_exit", "keepkernel": False}])


def test_a_restart_forgets_everything_also_during_a_cell():
    k.client.execute("while true do end")
    time.sleep(0.3)
    k.manager.restart_kernel()
    k.client.wait_for_ready(timeout=10)
    equal(shown(k.run("x")[1]), [{"text/plain": "nil"}])
    equal(k.run("1")[0]["execution_count"], 2)


main(dict(globals()))
k.close()
