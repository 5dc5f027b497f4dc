-- viewer.lua - the page that s:html writes: what it holds, and what it does in a browser without a network.
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local i8, i16, grid, quote = tide.i8, tide.i16, tide.grid, shell.quote

local M, N, K = 4, 4, 4
local gemm = tide.kernel {
  A = i8[M][K], B = i8[K][N], C = i16[M][N],
  function(A, B, C)
    for i, j in grid(M, N, "PE") do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end,
}

-- The product as a systolic array: kernel, buffers, design.
local function systolic()
  local s = tide.schedule(gemm)
  s:buffer_at("A", "j")
  s:buffer_at("B", "j")
  s:unfold "PE"
  s:relay("A_j", "PE", { axis = 1 })
  s:relay("B_j", "PE", { axis = 0 })
  return s
end

local path = t.tmp "page.html"

-- The page of x.
local function page_of(x)
  x:html(path)
  return shell.read(path)
end

t.test("the same page each time, with nothing from elsewhere", function()
  local page = page_of(systolic())
  t.eq(page_of(systolic()), page)
  t.ok(#page < 200 * 1024)
  t.ok(not page:gsub('xmlns=\\?"[^"]*"', ""):find "https?://")
  t.has(page, "default-src 'none'")
end)

t.test("the data is JSON: stages, lines, types, sources, graphs", function()
  page_of(systolic())
  local said = shell.output(("python3 -c %s <%s 2>&1"):format(quote [=[
import json, re, sys
d = json.loads(re.search(r'id="data">(.*?)</script>', sys.stdin.read(), re.S).group(1))
print(d["name"], len(d["stages"]), d["stages"][1]["call"], len(d["graphs"]), d["sources"][0]["name"])
print([l[0].strip() for l in (d["lines"][n] for n in d["stages"][0]["lines"]) if "C[i]" in l[0]])
]=], quote(path)))
  t.eq(said, 'gemm 6 buffer_at("A", "j") 3 tests/repl/viewer.lua\n' ..
    "['C[i][j] = C[i][j] + A[i][k] * B[k][j]']\n")
end)

t.test("a kernel and a design have a page of one stage", function()
  t.has(page_of(gemm), "<title>gemm - Tide</title>")
  local d = load(tostring(systolic()))()
  t.has(page_of(d), '"graphs": ["<svg')
end)

t.test("text that could end the script does not", function()
  local odd = tide.kernel { x = i8[4], function(x)
    for i in grid(4) do x[i] = 1 end -- </script><script>alert(1)
  end }
  t.ok(not page_of(odd):find("</script><script>alert", 1, true))
end)

t.test("a long schedule stays below 200 KB", function()
  local n = 60
  local wide = tide.kernel { A = tide.f32[n][n], B = tide.f32[n][n], function(A, B)
    for i, j in grid(n, n) do
      local x = A[i][j]
      for _ = 1, 3 do x = x * x + A[j][i] * 0.5 - B[i][j] / (1.0 + x) end
      B[i][j] = x
    end
  end }
  local s = tide.schedule(wide)
  for _ = 1, 10 do s:reorder("j", "i"):reorder("i", "j") end
  local page = page_of(s)
  t.ok(#page < 200 * 1024, #page .. " bytes")
  t.has(page, "</html>")
end)

t.test("a program of 1,000 lines: types of names, not of expressions, to stay below 200 KB", function()
  local function program(n)
    local lines = {}
    for i = 1, n do lines[i] = ("x[%d] = x[%d] * x[%d] + x[%d]"):format(i, i - 1, i * 7 % n, i * 13 % n) end
    return load(("local tide = require 'tide' return tide.kernel { x = tide.i32[%d], function(x)\n%s\nend }"):format(
      n + 1, table.concat(lines, "\n")))()
  end
  local short, long = page_of(program(100)), page_of(program(1000))
  t.ok(#long < 200 * 1024, #long .. " bytes")
  t.has(short, '"tide.int(65), stored as i32"')
  t.ok(not long:find("stored as i32", 1, true))
  t.has(long, '"x", 0]')
end)

t.test("a page that cannot be written is an error of the call", function()
  local e = t.fails(function() gemm:html "no-such-folder/x.html" end)
  t.has(tostring(e), "no-such-folder/x.html")
  t.fails(function() gemm:html {} end, { kind = "usage", code = "argument" })
end)

t.test("without a path the page is returned", function()
  t.eq(gemm:html(), require "tide.tool.viewer".page(gemm))
end)

local browser = shell.output "command -v chromium chromium-browser google-chrome":match "[^\n]+"
if not browser then
  t.skip("in a browser", "chromium is not installed")
  t.done()
end

local drive = [=[
const say = (name, value) => report.push(name + ': ' + value)
const text = list => [...list].map(e => e.textContent).join('|')
const code = word => [...document.querySelectorAll('.cell [data-at]')].filter(e => e.textContent === word)
const over = e => { e.dispatchEvent(new MouseEvent('mouseover', { bubbles: true })); return $('tip').hidden ? '' :
  $('tip').innerText.replace(/\s+/g, ' ') }
const stages = $('stages').children
say('stages', stages.length)
stages[1].click()
say('step 1 adds', text(document.querySelectorAll('.cell.ins')))
say('step 1 drops', text(document.querySelectorAll('.cell.del')))
$('against').value = 0
stages[2].click()
$('against').value = 0
$('against').dispatchEvent(new Event('change'))
say('2 against 0 drops', text(document.querySelectorAll('.cell.del')))
say('2 against 0 adds', document.querySelectorAll('.cell.ins').length)
$('beside').click()
say('side by side', document.querySelectorAll('.two .row').length === data.stages[2].lines.length)
$('beside').click()
$('against').value = -1
$('against').dispatchEvent(new Event('change'))
say('against nothing', document.querySelectorAll('.ins.cell, .del.cell').length)
stages[0].click()
say('type of *', over(code('*')[0]))
say('type of A', over(code('A').pop()))
say('type of +', over(code('+')[0]))
say('marked', text(document.querySelectorAll('.in')))
code('k')[0].click()
const painted = () => [...document.querySelectorAll('main .w[style]')]
say('coloured', text(painted()))
stages[1].click()
say('coloured in step 1', new Set(painted().map(e => e.textContent + e.style.background)).size)
code('k')[0].click()
say('coloured no more', painted().length)
document.querySelector('#stages .w').click()
code('i')[0].click()
say('two colours', new Set(painted().map(e => e.style.background)).size)
$('clear').click()
stages[0].click()
const rows = [...document.querySelectorAll('.row')]
rows.find(row => row.textContent.includes('for k =')).querySelector('a').click()
say('source', document.querySelector('.row.here .cell').textContent.trim())
document.querySelector('[data-tab=graph]').click()
say('no graph', $('graph').textContent)
stages[5].click()
say('graph', /PE\[M\]\[N\]/.test($('graph').textContent))
document.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp' }))
say('up', $('stages').querySelector('[aria-current] .no').textContent)
say('requests', performance.getEntriesByType('resource').length)
]=]

-- What the page says after a script has used it, line by line, {name = value}.
local function use(page, script)
  local used = t.tmp "used.html"
  shell.write(used, (page:gsub("</body>", function()
    return "<script>const report = []\ntry {" .. script .. "} catch (e) { report.push('error: ' + e.stack) }\n" ..
      "document.body.replaceChildren(element('pre', { id: 'report' }, report.join('\\n')))</script></body>"
  end)))
  local profile = quote(t.tmp "profile")
  local out = shell.output(("%s --headless --no-sandbox --disable-gpu --user-data-dir=%s --proxy-server=127.0.0.1:9 " ..
    "--virtual-time-budget=5000 --dump-dom file://%s 2>/dev/null"):format(quote(browser), profile,
    quote(used)))
  local said = {}
  local report = out:match '<pre id="report">(.-)</pre>' or "error: no report\n" .. out:sub(1, 2000)
  report = report:gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&amp;", "&")
  for line in report:gmatch "[^\n]+" do
    local name, value = line:match "^(.-): (.*)$"
    if name then said[name] = value end
  end
  return said
end

local said = use(page_of(systolic()), drive)

-- One test of what the page said.
local function says(name, want)
  t.test("in a browser: " .. name, function() t.eq(said[name], want, said.error) end)
end

says("stages", "6")
says("step 1 adds", "        local A_j = i8[K]()|        for k_init = 0, K - 1 do|" ..
  "          A_j[k_init] = A[i][k_init]|        end|          C[i][j] = C[i][j] + A_j[k] * B[k][j]")
says("step 1 drops", "          C[i][j] = C[i][j] + A[i][k] * B[k][j]")
says("2 against 0 drops", "          C[i][j] = C[i][j] + A[i][k] * B[k][j]")
says("2 against 0 adds", "9")
says("side by side", "true")
says("against nothing", "0")
says("type of *", "A[i][k] * B[k][j] : i16")
says("type of A", "A[i][k] : i8 A : i8[M][K] line 6: A = i8[M][K],")
says("type of +", "C[i][j] + A[i][k] * B[k][j] : tide.int(17), stored as i16")
says("marked", "C|[|i|]|[|j|]|+|A|[|i|]|[|k|]|*|B|[|k|]|[|j|]")
says("coloured", "k|k|k")
says("coloured in step 1", "1")
says("coloured no more", "0")
says("two colours", "2")
says("source", "for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end")
says("no graph", "This is a kernel: only a design has tasks to draw.")
says("graph", "true")
says("up", "4")
says("requests", "0")

-- The texts for targets, on a kernel whose loops are known.
local function pipelined()
  local s = tide.schedule(gemm)
  s:pipeline("k", 2)
  s:buffer_at("C", "i")
  return s
end

said = use(page_of(pipelined()), [=[
const say = (name, value) => report.push(name + ': ' + value)
const tab = name => document.querySelector(`[data-tab=${name}]`).click()
const cell = e => e.querySelector('.cell').firstChild ? e.textContent.replace(/^\d+/, '').trim() : ''
say('verdicts', [...document.querySelectorAll('#stages .facts')].map(e => e.lastChild.textContent).join('|'))
$('stages').children[2].click()
say('address', location.hash)
say('interval', [...document.querySelectorAll('.ii')].map(e => e.textContent).find(x => x.includes('II ')))
for (const target of ['hls', 'cpu']) {
  tab(target)
  const [left, right] = document.querySelectorAll('.beside .lines')
  const linked = [...left.querySelectorAll('.linked')]
  say(target + ' linked', linked.length)
  const wrong = linked.filter(e => {
    const other = right.querySelector(`[data-pair="${e.dataset.pair}"]`)
    return !other || other.querySelector('.cell').style.borderColor !== e.querySelector('.cell').style.borderColor ||
      about(e.querySelector('.cell').textContent.replace(/II .*|not flat.*/, '')) !==
      about(other.querySelector('.cell').textContent)
  })
  say(target + ' wrong', wrong.length)
  linked[0].dispatchEvent(new MouseEvent('mouseenter'))
  say(target + ' lit', document.querySelectorAll('.lit').length)
  const last = [...right.querySelectorAll('.linked')].pop()
  last.dispatchEvent(new MouseEvent('mouseenter'))
  say(target + ' back', left.querySelector(`[data-pair="${last.dataset.pair}"]`).classList.contains('lit'))
  say(target + ' for', cell(linked[0]).split(' ')[0] + ', ' + cell(right.querySelector('.linked')).split(' ')[0])
}
const boxes = [...document.querySelectorAll('body, main, .beside > div, header')]
const wide = boxes.filter(e => e.scrollWidth > e.clientWidth)
say('overflow', wide.map(e => e.tagName).join(' ') + '.')
location.hash = '#step-1'
dispatchEvent(new HashChangeEvent('hashchange'))
say('followed', $('stages').querySelector('[aria-current] .no').textContent)
]=])
says("verdicts", said.verdicts and said.verdicts:match "|proved: .*|proved: .*" and said.verdicts)
says("address", "#step-2")
t.test("in a browser: the interval and its cause stand at the loop", function()
  t.ok((said.interval or ""):find "^II %d+, ", said.error)
end)
for _, target in ipairs { "hls", "cpu" } do
  t.test("in a browser: lines linked both ways: " .. target, function()
    t.ok(tonumber(said[target .. " linked"]) >= 8, said.error)
    t.eq({ said[target .. " wrong"], said[target .. " lit"], said[target .. " back"], said[target .. " for"] },
      { "0", "2", "true", "for, for" })
  end)
end
says("overflow", ".")
says("followed", "1")

t.done()
