-- What directives of a mapping must be before any step is taken: chains of what a Func reads or computes, by stages
-- that are defined nowhere else; relays and buffers of what goes through; loops that are removed and kept.
local affine = require "tide.t2s.define.affine"
local carried = require "tide.t2s.map.carried"
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"
local func = require "tide.t2s.define.func"

local legal = {}

local fail, position = expr.fail, directives.position
local chains, each = directives.chains, directives.each

local function refuse(place, code, text, help, kind) fail(place, code, text, help, kind) end

-- The Funcs of a nest: a system's are several.
local function funcs_of(def) return def.group or { def } end

-- How often the lines of a Func read a Param or Func: the references that differ in text.
local function reads(main, base)
  local list, seen = {}, {}
  for _, s in ipairs(main.stages) do
    local left = expr.text(s.lhs)
    expr.walk(s.rhs, function(y)
      local text = y.op == "ref" and y.base == base and expr.text(y)
      if text and text ~= left and not seen[text] then
        seen[text] = true
        list[#list + 1] = text
      end
    end)
  end
  return list
end

-- Checks the stages of a chain: Funcs of their own, each once, HOST where the chain ends.
local function check_stages(m, def, c, far)
  local seen = {}
  for n, stage in ipairs(c.stages) do
    local place = c.place
    if m.main[stage] or #stage.stages > 0 then
      refuse(place, "t2s-isolate", ("%s has a definition: a stage is a Func that has none"):format(stage.name),
        ("%s is isolated into a Func of its own"):format(c.of.base.name))
    end
    if seen[stage] then
      refuse(place, "t2s-isolate", ("%s stands twice in the chain of %s"):format(stage.name, c.of.base.name))
    end
    seen[stage] = true
    if stage.host and n > 1 and n == #c.stages and far and not c.stages[1].host then
      refuse(place, "t2s-isolate", ("HOST Func %s stands nearer to %s than %s"):format(stage.name, def.name,
        c.stages[n - 1].name), "a chain is written from its far end, which is on the host, to the near one")
    end
  end
end

-- Checks that what goes through stages goes one way: no two chains have two stages in different orders, and one that is
-- no driver has one operand.
local function check_shared(all, driver)
  local before, owner = {}, {}
  for _, c in ipairs(all) do
    for n, stage in ipairs(c.stages) do
      for k = 1, n - 1 do
        local first = c.stages[k]
        if before[stage] and before[stage][first] then
          refuse(c.place, "t2s-isolate", ("%s is behind %s here, and before it in another chain"):format(stage.name,
            first.name), "stages form no cycle")
        end
        before[first] = before[first] or {}
        before[first][stage] = true
      end
    end
  end
  for _, c in ipairs(all) do
    for _, stage in ipairs(c.stages) do
      if owner[stage] and stage ~= driver and owner[stage].kind ~= c.kind then
        refuse(c.place, "t2s-isolate", ("%s is in a producer and in a consumer chain"):format(stage.name),
          "a Func for each", "unsupported")
      end
      owner[stage] = owner[stage] or c
    end
  end
end

-- Checks the chains of a Func; returns them.
local function check_chains(m, def)
  local main, all, seen = m.main[def], {}, {}
  local carries = main.carried
  for _, kind in ipairs { "isolate_producer_chain", "isolate_consumer_chain" } do
    for _, c in ipairs(chains(def, kind)) do
      local base, produces = c.of.base, kind == "isolate_producer_chain"
      c.kind = kind
      all[#all + 1] = c
      local own = position(funcs_of(def), base)
      local texts = reads(main, base)
      if produces and #texts == 0 and not (carries and own) then
        refuse(c.place, "t2s-isolate", ("%s reads no %s"):format(def.name, base.name), own
          and "its own sums stay where they are: its results leave by a consumer chain" or nil)
      end
      if produces and #texts > 1 and not own and not carries then
        refuse(c.place, "t2s-isolate", ("%s reads %s in several places: %s"):format(def.name, base.name,
          table.concat(texts, ", ")), "a Func that computes one of them apart", "unsupported")
      end
      if not produces and not own then
        refuse(c.place, "t2s-isolate", ("%s does not compute %s"):format(def.name, base.name),
          ("what a Func reads has producers: isolate_producer_chain(%s, ..)"):format(base.name))
      end
      if seen[kind .. base.name] then
        refuse(c.place, "t2s-isolate", ("%s of %s is isolated already"):format(base.name, def.name),
          "a longer chain has all its stages")
      end
      seen[kind .. base.name] = true
      check_stages(m, def, c, not produces)
    end
  end
  check_shared(all, carries and carried.driver_of(def) or nil)
  return all
end

-- Checks relays: of what goes through, each way once.
local function check_relays(def, has, carries)
  local seen = {}
  for d in each(def, "relay") do
    local base, way = directives.relayed(def, d)
    if not has[base] then
      refuse(d.place, "t2s-relay", ("%s is not isolated: nothing feeds it to %s or takes it from there"):format(
        base.name, def.name), "isolate it into a Func first")
    end
    local key = base.name .. (carries and ":" .. table.concat(way, ","):gsub("%s", "") or "")
    if seen[key] then
      refuse(d.place, "t2s-relay", ("%s of %s is relayed already"):format(base.name, def.name))
    end
    seen[key] = true
  end
end

-- Checks that what a stage has buffers of goes through it.
local function check_buffers(stage, has)
  for _, name in ipairs { "buffer", "linebuffer" } do
    for d in each(stage, name) do
      local x = d.args[1]
      local traced = getmetatable(x) and getmetatable(x).__traced
      x = traced and traced(x) or x
      if not (expr.is(x) and x.op == "ref" and has[x.base]) then
        refuse(d.place, "t2s-buffer", ("%s passes on no %s"):format(stage.name, expr.is(x) and expr.text(x)
          or func.record(d.args[1]) and func.record(d.args[1]).name or "that"), "a stage buffers what goes through it")
      end
    end
  end
end

-- Checks that what a Func that computes has buffers of is its own result.
local function check_own_buffers(def)
  for _, name in ipairs { "buffer", "linebuffer" } do
    for d in each(def, name) do
      local x = d.args[1]
      local traced = getmetatable(x) and getmetatable(x).__traced
      x = traced and traced(x) or x
      local own = name == "buffer" and expr.is(x) and x.op == "ref" and position(funcs_of(def), x.base)
      if not own and not (expr.is(x) and x.op == "ref") then
        refuse(d.place, "t2s-buffer", ("%s takes a Param or a Func"):format(name))
      end
      if not own then
        refuse(d.place, "t2s-buffer", ("%s computes; a stage of its chain keeps %s"):format(def.name, x.base.name),
          ("isolate %s into a Func, which buffers it"):format(x.base.name), "unsupported")
      end
    end
  end
end

-- Checks the loops that stage n of a producer chain removes: the operand does not depend on them, and the next stage
-- keeps what it gets in a loop around them.
local function check_removed(m, def, c, n)
  local stage, near, main = c.stages[n], c.stages[n + 1] or def, m.main[def]
  local set, place = directives.removed(stage)
  local uses = directives.uses_of(main, c.of.base)
  local first
  for v in pairs(set) do
    local k = position(main.tile_order, v, "var")
    if not k then
      directives.no_loop(place, "t2s-remove", stage.name, v, main.tile_order)
    end
    if uses[v] then
      refuse(place, "t2s-remove", ("%s of %s depends on %s"):format(c.of.base.name, stage.name, v),
        "only loops that the operand does not depend on are removed")
    end
    local time = main.tile_order[k].loop and not position(directives.unrolled(def), v)
    if time and (not first or k < first) then first = k end
  end
  if not first or stage.host then return end
  local kept = directives.buffers_of(near, c.of.base, main)[1]
    or directives.buffer_of(near, c.of.base, "linebuffer")
  local v = main.tile_order[first].var
  if not kept then
    refuse(place, "t2s-remove", ("%s sends %s once for all %s, and %s keeps none"):format(stage.name, c.of.base.name, v,
      near.name), ("%s:buffer(%s, ..) in a loop around %s"):format(near.name, c.of.base.name, v))
  end
  local at = kept.var and position(main.tile_order, kept.var, "var")
  if at and at >= first then
    refuse(kept.place, "t2s-buffer", ("%s keeps %s in loop %s, which is inside %s, which %s removes"):format(near.name,
      c.of.base.name, kept.var, v, stage.name), ("a loop around %s"):format(v))
  end
end

-- Checks that Funcs that another one merges leave the directives to it.
local function check_merged(def)
  for _, g in ipairs(funcs_of(def)) do
    local d = g ~= def and g.directives[1]
    if d then
      refuse(d.place, "t2s-merge", ("%s is an equation of the system that %s merges"):format(g.name, def.name),
        ("%s:%s(..)"):format(def.name, d.name))
    end
  end
end

--- Checks that it is known how often the loops that a Func has in space run, where sizes decide it.
function legal.check_extents(m, def)
  local list, place = directives.unrolled(def)
  for _, v in ipairs(list) do
    local order = m.main[def].tile_order
    local x = order[position(order, v, "var") or 0]
    local lo, hi = x and x.lo and affine.of(x.lo, m.values), x and x.hi and affine.of(x.hi, m.values)
    local open = not (x and x.size) and lo and hi and affine.sub(hi, lo)
    for name in pairs(open and open.t or {}) do
      if m.program.sizes[name] and not m.program.values[name] then
        refuse(place, "t2s-const", ("%s of %s is in space, and %s has no value"):format(v, def.name, name),
          ("t2s.design(F, {%s = 4}), or a tile of %s in space"):format(name, v))
      end
    end
  end
end

-- Checks the loops that a Func has in space.
local function check_space(def)
  local list, place = directives.unrolled(def)
  for n, v in ipairs(list) do
    if position(list, v) < n then refuse(place, "t2s-unroll", ("%s is unrolled twice"):format(v)) end
  end
  if def.host and #list > 0 then
    refuse(place, "t2s-unroll", ("%s runs on the host, which has no PEs"):format(def.name), "without t2s.HOST it has")
  end
end

-- Checks that no Var stands twice in a reorder.
local function check_reorder(def)
  for d in each(def, "reorder") do
    local seen = {}
    for n = 1, d.args.n do
      local v = directives.var_name(d.args[n], d.place, "reorder")
      if seen[v] then refuse(d.place, "t2s-reorder", ("%s stands twice"):format(v)) end
      seen[v] = true
    end
  end
end

--- Checks the directives of the Funcs of a mapping, which are tiled, and those of their stages.
function legal.check(m, order)
  for _, def in ipairs(order) do
    local main = m.main[def]
    local all, has, through = check_chains(m, def), {}, {}
    for _, g in ipairs(funcs_of(def)) do has[g] = main.carried or nil end
    for _, c in ipairs(all) do
      has[c.of.base] = true
      for _, stage in ipairs(c.stages) do
        through[stage] = through[stage] or {}
        through[stage][c.of.base] = true
      end
    end
    local _, removes = directives.removed(def)
    if removes then
      refuse(removes, "t2s-remove", ("%s computes, and all its loops are of its definition"):format(def.name),
        "stages of chains have loops that they do not need")
    end
    if def.host then
      refuse(def.stages[1].place, "t2s-func", ("HOST Func %s computes"):format(def.name),
        "HOST is said of stages that load and store", "unsupported")
    end
    check_relays(def, has, main.carried)
    check_own_buffers(def)
    check_merged(def)
    check_space(def)
    check_reorder(def)
    for _, c in ipairs(all) do
      for n, stage in ipairs(c.stages) do
        check_relays(stage, through[stage], main.carried)
        check_buffers(stage, through[stage])
        check_space(stage)
        check_reorder(stage)
        if c.kind == "isolate_producer_chain" and not main.carried then check_removed(m, def, c, n) end
      end
    end
  end
end

return legal
