-- tide doc: Markdown files run, compared with what they record, rewritten, rendered.
local t = require "tap"
local shell = require "shell"
local quote = shell.quote

local path = t.tmp "lesson.md"

-- Runs `tide doc` with options on a file of that text: what it prints, its exit status, and the file afterwards.
local function doc(options, text)
  shell.write(path, text)
  local out, status = shell.output(("%s doc %s %s 2>&1"):format(quote(arg[-1]), options, quote(path)))
  return out, status, shell.read(path)
end

-- A fence.
local function fence(info, text) return "```" .. info .. "\n" .. text .. "\n```\n" end

local sum = fence("lua", "local x = 20\ny = 22") .. "Text.\n" .. fence("lua", "print(x)\nx + y") .. "\n"

t.test("a file that records what it prints passes", function()
  local out, status = doc("--check", sum .. fence("out", "20\n42"))
  t.eq(out, path .. ": 2 blocks, as recorded\n")
  t.eq(status, 0)
end)

t.test("one character of an output changed: a difference at its block", function()
  local out, status = doc("--check", sum .. fence("out", "20\n43"))
  t.eq(status, 1)
  t.has(out, path .. ":6: the output is not as recorded")
  t.has(out, "  20\n- 43\n+ 42\n")
end)

t.test("an output that is not recorded, and one that no longer comes", function()
  t.eq(select(2, doc("--check", sum)), 1)
  t.eq(select(2, doc("--check", fence("lua", "x = 1") .. fence("out", "1"))), 1)
end)

t.test("--update records, once and for all", function()
  local _, status, text = doc("--update", sum .. "After.\n")
  t.eq(status, 0)
  t.eq(text, sum:gsub("\n$", "") .. "\n" .. fence("out", "20\n42") .. "\nAfter.\n")
  local out = doc("--update", text)
  t.has(out, "is up to date")
  t.eq(select(2, doc("--check", text)), 0)
end)

t.test("blanks at the ends of lines do not count, others do", function()
  t.eq(select(3, doc("--update", fence("lua", "print 'a  \\n b'"))):match "out\n(.-)\n```", "a\n b")
  t.eq(select(2, doc("--check", fence("lua", "print 'a  \\n b'") .. fence("out", "a \n b  "))), 0)
  t.eq(select(2, doc("--check", fence("lua", "print 'a  \\n b'") .. fence("out", "a\nb"))), 1)
end)

t.test("blank lines at the end of an output do not count", function()
  local _, _, text = doc("--update", fence("lua", "print 'x\\n\\n'"))
  t.eq(text, fence("lua", "print 'x\\n\\n'") .. "\n" .. fence("out", "x"))
  t.eq(select(2, doc("--check", text)), 0)
end)

t.test("--update drops what is no longer printed, and makes room for marks", function()
  t.eq(select(3, doc("--update", fence("lua", "x = 1") .. "\n" .. fence("out", "1") .. "end\n")),
    fence("lua", "x = 1") .. "end\n")
  t.has(select(3, doc("--update", fence("lua", "print '```'"))), "````out\n```\n````\n")
end)

t.test("a block fails only where its fence says `error`", function()
  local bad = "error('no', 0)"
  local out, status = doc("--check", fence("lua", bad) .. fence("out", "no"))
  t.eq(status, 1)
  t.has(out, ":1: this block fails")
  t.eq(select(2, doc("--check", fence("lua error", bad) .. fence("out", "no"))), 0)
  t.has(doc("--check", fence("lua error", "x = 1")), ":1: this block is to fail and does not")
  t.has(doc("--check", fence("lua eror", "x = 1")), "there is no flag 'eror'")
end)

t.test("a block that fails is not recorded", function()
  local _, status, text = doc("--update", fence("lua", "error 'no'"))
  t.eq(status, 1)
  t.eq(text, fence("lua", "error 'no'"))
end)

t.test("hidden blocks run, skipped ones do not", function()
  local text = fence("lua hide", "x = 1 print(x)") .. fence("lua skip", "x = 2") .. fence("out", "what it would print")
  t.eq(select(2, doc("--check", text .. fence("lua", "x") .. fence("out", "1"))), 0)
  t.eq(select(3, doc("--update", text)), text)
end)

t.test("transcripts: each input, its output, errors, commands, the shell", function()
  local text = fence("tide", "tide> x = 1\ntide> x +\n  ..> 1\n2\ntide> !echo from outside\nfrom outside\n" ..
    "tide> nil + 1\ntide:3:1:5: error: this value is nil: arithmetic takes numbers and tensors\n" ..
    "     1 | nil + 1\n       |     ^")
  t.eq(doc("--check", text), path .. ": 4 blocks, as recorded\n")
  local out = doc("--check", (text:gsub("\nfrom outside", "\nfrom inside")))
  t.has(out, path .. ":6: the output is not as recorded")
  t.eq(select(3, doc("--update", (text:gsub("\n2\n", "\n3\n4\n")))), text)
end)

t.test("a document does not end the program", function()
  t.has(doc("--check", fence("lua", "os.exit(0)")), "a document does not exit")
end)

t.test("wrong words are told", function()
  t.eq(select(2, doc("--chek", "")), 2)
  local out, status = shell.output(quote(arg[-1]) .. " doc --check no-such.md 2>&1")
  t.eq(status, 1)
  t.has(out, "no-such.md: No such file")
end)

local lesson = "# A <b>step</b> & more\n\nText with `code`.\n\n" .. fence("lua", [[
k = tide.kernel { A = i8[4][4], function(A) for i, j in grid(4, 4) do A[i][j] = 1 end end }
s = tide.schedule(k)
s:reorder("j", "i")]]) .. fence("lua error", "s:split('q', 2)") .. fence("lua hide", "print 'unseen'")

t.test("without libcmark a page is refused and says what to install", function()
  local none = t.tmp "none"
  shell.plant(none, { ["libcmark.so"] = "", ["libcmark.so.0.30.2"] = "" })
  shell.write(path, lesson)
  local command = ("LD_LIBRARY_PATH=%s %s doc %s 2>&1"):format(quote(none), quote(arg[-1]), quote(path))
  local out, status = shell.output(command)
  shell.output("rm -r " .. quote(none))
  t.eq(status, 1)
  t.has(out, "apt-get install libcmark-dev")
end)

if doc("", lesson):find "libcmark%-dev" then
  t.skip("pages", "libcmark is not installed")
else
  t.test("a page holds prose, code, outputs and differences, and nothing from elsewhere", function()
    local page, status = doc("", lesson)
    t.eq(status, 0)
    t.has(page, "<title>A &lt;b&gt;step&lt;/b&gt; &amp; more</title>")
    t.has(page, "<p>Text with <code>code</code>.</p>")
    t.has(page, '<span class="k">for</span> i, j <span class="k">in</span>')
    t.has(page, '<span class="del">-     for i = 0, 3 do</span>')
    t.has(page, '<span class="ok">proved: strict</span>')
    t.has(page, '<pre class="out bad">')
    t.ok(not page:find "unseen")
    t.ok(not page:find "https?://" and not page:find "<script")
  end)
end

t.test("a notebook is JSON with the cells and outputs of the document", function()
  local book, status = doc("--ipynb", lesson)
  t.eq(status, 0)
  local read = [=[
import json, sys
b = json.load(sys.stdin)
ids = set(c["id"] for c in b["cells"])
def letter(c):
  return c["cell_type"][0] + (c["outputs"][0]["output_type"][:2] if c.get("outputs") else "")
print(b["nbformat"], len(ids), [letter(c) for c in b["cells"]], b["cells"][2]["metadata"]["tags"])
]=]
  shell.write(path, book)
  local said = shell.output(("python3 -c %s <%s 2>&1"):format(quote(read), quote(path)))
  t.eq(said, "4 4 ['m', 'cex', 'cer', 'cst'] ['raises-exception']\n")
end)

t.test("a file that cannot be rewritten stays as it was, and that is an error", function()
  local path = t.tmp "full.md"
  local text = fence("lua", "print(('x'):rep(2000))")
  shell.write(path, text)
  local out, status = shell.output(("(trap '' XFSZ; ulimit -f 1; %s doc --update %s 2>&1 | cat)"):format(
    quote(arg[-1]), quote(path)))
  t.eq(status, 0)
  t.has(out, "cannot write " .. path)
  t.eq(shell.read(path), text)
end)

t.done()
