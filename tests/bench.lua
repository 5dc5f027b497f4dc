-- bench.lua - what the benchmarks share: medians, the machine, tables of figures beside their
-- targets and peers.
--   local b = require "bench"
--   b.row("verify gemm 256^3", b.median(9, f), "ms", 250, "PEQC ~770 s")
--   b.done()
local bench = {rows = {}}

local function first_line(command)
  local pipe = assert(io.popen(command .. " 2>/dev/null"))
  local line = pipe:read "l"
  pipe:close()
  return line or "?"
end

--- CPU milliseconds of one call of f.
function bench.once(f)
  local start = os.clock()
  f()
  return (os.clock() - start) * 1000
end

--- The median, least and greatest of a list of numbers.
function bench.spread(list)
  table.sort(list)
  return list[(#list + 1) // 2], list[1], list[#list]
end

--- The median of n calls of f, in CPU milliseconds.
function bench.median(n, f)
  local list = {}
  for i = 1, n do list[i] = bench.once(f) end
  return (bench.spread(list))
end

--- The median wall time of n runs of a shell command, in milliseconds.
function bench.command(n, command)
  local list = {}
  for i = 1, n do
    local pipe = assert(io.popen(("a=$(date +%%s%%N); %s >/dev/null 2>&1; b=$(date +%%s%%N); echo $((b - a))")
      :format(command)))
    list[i] = pipe:read "n" / 1e6
    pipe:close()
  end
  return (bench.spread(list))
end

--- The median wall time of n runs of a Lua program by this tide, in milliseconds, with a new cache.
function bench.fresh(n, program)
  return bench.command(n, ("c=$(mktemp -d); XDG_CACHE_HOME=$c '%s' -e '%s'; rm -r $c"):format(arg[-1], program))
end

--- What a C compiler takes for an empty file, in milliseconds: started, assembled, linked.
function bench.compiler()
  return bench.command(5, "d=$(mktemp -d); echo 'int x;' > $d/x.c; "
    .. "cc -O3 -shared -fPIC -nostdlib $d/x.c -o $d/x.so; rm -r $d")
end

--- One figure: its unit, the target (nil: none; at most that, or with `least` at least), what peers
--- reach.
function bench.row(name, value, unit, target, peer, least)
  local missed = target and (least and value < target or not least and value > target)
  bench.rows[#bench.rows + 1] = {name, value, unit, target, peer, missed = missed}
end

--- Says what is in the way of the last figure: printed below it if it is missed.
function bench.why(text)
  bench.rows[#bench.rows].why = text
end

--- Prints the table under the state of the machine.
function bench.done(title)
  print(("%s\ncommit %s, load %s, %s"):format(title, first_line "git rev-parse --short HEAD",
    first_line "cut -d' ' -f1-3 /proc/loadavg", first_line "cc --version"))
  print(("%-52s %10s %10s  %s"):format("", "measured", "target", "peers"))
  for _, r in ipairs(bench.rows) do
    local target = r[4] and ("%8.3g"):format(r[4]) or ""
    local missed = r.missed and not r.why and " missed" or ""
    print(("%-52s %8.3g %-2s %7s  %s%s"):format(r[1], r[2], r[3], target, r[5] or "", missed))
    if r.missed and r.why then print("  missed: " .. r.why) end
  end
  bench.rows = {}
end

return bench
