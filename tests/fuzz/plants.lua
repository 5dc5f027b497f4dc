-- plants.lua - ten faults, each planted in a copy of the tree: lua5.4 tests/fuzz/plants.lua [NAME]
-- The fuzzer must find each within STEPS accepted steps; at the end, the tree as it is, over as
-- many steps as the slowest needed, must have none. Copies lie in build/plants.
package.path = "tests/?.lua;" .. package.path
local shell = require "shell"

local STEPS, SECONDS, SEED = 50000, 1500, 1

-- Where a fault goes: file, the text that is there once, the text that takes its place.
local split, fuse = "interp/rewrite/loop/split.c", "interp/rewrite/loop/fuse.c"
local buffer = "interp/rewrite/array/buffer_at.c"
local plants = {
  {"dropped tail guard", {split, "make_nest(&s, groups, !exact)", "make_nest(&s, groups, false)"}},
  {"zero-filled buffer",
    {buffer, "const TdStmt *load = m->load.any ? move_from(&in, 0) : NULL;",
      "const TdStmt *load = NULL;\n  (void)in;"},
    {buffer, "value ? TD_INIT_VALUE : TD_INIT_NONE", "value ? TD_INIT_VALUE : TD_INIT_FILL"},
    {buffer, "value ? load->expr[1] : NULL, b->loc",
      "td_expr_lit(b->r->store->arena, td_type_scalar(b->type), 0, b->loc), b->loc"}},
  {"wrong lower bound in a merge",
    {fuse, "td_util_same_value(r, at[0].unit, x, td_for_lo(x), td_for_lo(y), &fact[0]) &&", ""}},
  {"unsigned compare",
    {"backends/c/cnum.c", "c = TD_C_I32;\n  }\n  return td_cexpr_fill(w, e->op, td_ops[e->op].c_int, c,",
      "c = TD_C_I32;\n  }\n  return td_cexpr_fill(w, e->op, td_ops[e->op].c_int,\n" ..
      "                       c == TD_C_I32 ? TD_C_U32 : c,"}},
  {"missing WAR pair", {"interp/analysis/order/conflict.c", "!(a->write || b->write)", "!a->write"}},
  {"stale reuse window",
    {"interp/rewrite/array/reuse_at.c", "if (e && e->write) w->pre", "if (e && e->write && !e->read) w->pre"}},
  {"wrong promoted width",
    {"interp/ir/num/promote.c", "case TD_RULE_ADD: return sized(q, c, (Format){j.is_signed, j.w + 1, j.f})",
      "case TD_RULE_ADD: return sized(q, c, (Format){j.is_signed, j.w, j.f})"}},
  {"swapped loop order",
    {split, "td_stmt_for(r->store, s->inner, td_util_const(r, 0), td_util_const(r, s->factor), 1,",
      "td_stmt_for(r->store, s->outer, td_util_const(r, 0), groups, 1,"},
    {split, "td_util_reloop(r, s->loop, s->outer, td_util_const(r, 0), groups, 1,",
      "td_util_reloop(r, s->loop, s->inner, td_util_const(r, 0), td_util_const(r, s->factor), 1,"}},
  {"alias ignored",
    {"interp/affine/touch.c", "for (const TdEnv *env = lw->env; env->up; env = env->up) {",
      "for (const TdEnv *env = lw->env; env->up && !env; env = env->up) {"}},
  {"tail of a triangular nest",
    {split, "if (!forward && varies) lo = td_expr_op2(a, TD_OP_MAX, td_type_index(r->session), begin, lo);",
      "(void)a;"}},
  {"copied expression not asked about",
    {"interp/analysis/order/steady.c", "if (td_walk_expr(e, is_no_load, NULL)) return s.out;",
      "if (td_walk_expr(e, is_no_load, NULL) || e) return s.out;"}},
  {"owner of a state ignored",
    {"interp/rewrite/take.c", "if (p && !r->did.n && !td_owner_check(r, p)) p = NULL;",
      "(void)td_owner_check;"}},
  {"assumption neither proved nor checked",
    {"interp/analysis/range/assume.c", "k->open[i] = k->open[i] || !td_assume_holds(&k->caller, u, i, s, true);",
      "k->open[i] = k->open[i] && !td_assume_holds(&k->caller, u, i, s, true);"}},
  {"faults of moved expressions not asked about",
    {"interp/analysis/order/faults.c", "  return f.found;", "  return NULL;"}},
  {"views that data places not looked at",
    {"interp/analysis/order/apart.c", "return k.open.n;", "return 0;"}},
}

local function run(command, ...) return shell.output(command:format(...)) end

-- Replaces the one place in a file of the copy where `from` stands.
local function plant(folder, file, from, to)
  local text = shell.read(folder .. "/" .. file)
  local at, last = text:find(from, 1, true)
  assert(at and not text:find(from, last + 1, true), file .. " does not hold once: " .. from)
  shell.write(folder .. "/" .. file, text:sub(1, at - 1) .. to .. text:sub(last + 1))
end

-- A copy of the tree with what was built.
local function copy(folder)
  run("rm -rf '%s' && mkdir -p '%s/build' '%s/tests'", folder, folder, folder)
  run("cp -a Makefile VERSION interp backends repl stdlib '%s'", folder)
  run("cp -a tests/fuzz '%s/tests' && cp -a build/release build/gen '%s/build'", folder, folder)
end

-- Builds the fuzzer of a folder and runs it until the first failure; how many accepted steps that
-- took, and what it said; nil when it found nothing.
local function hunt(folder, steps)
  local built = run("cd '%s' && make build/release/tests/fuzz/fuzz 2>&1 || echo NOT BUILT", folder)
  assert(not built:find "NOT BUILT", built)
  local said = run("cd '%s' && nice -n 19 build/release/tests/fuzz/fuzz --first --cc 100 " ..
    "--seconds %d %d %d 2>&1", folder, SECONDS, steps, SEED)
  local after, what = said:match "after (%d+) accepted steps: ([^\n]*)"
  return tonumber(after), what, said
end

local only, number, failed, slowest = arg[1], 0, 0, 0

-- One TAP line.
local function point(good, text)
  number, failed = number + 1, failed + (good and 0 or 1)
  print(("%s %d - %s"):format(good and "ok" or "not ok", number, text))
  io.stdout:flush()
end

for _, fault in ipairs(plants) do
  local name = fault[1]
  if not only or name:find(only, 1, true) then
    local folder = "build/plants/" .. name:gsub(" ", "-")
    copy(folder)
    for i = 2, #fault do plant(folder, table.unpack(fault[i])) end
    local after, what = hunt(folder, STEPS)
    slowest = math.max(slowest, after or STEPS)
    point(after, after and ("%s: found after %d accepted steps (%s)"):format(name, after, what) or
      name .. ": not found")
    if after then run("rm -rf '%s'", folder) end
  end
end
local after, what = hunt(".", slowest + 1)
point(not after, ("the tree as it is: nothing found in %d steps"):format(slowest + 1) ..
  (after and (", but %s after %d"):format(what, after) or ""))
print("1.." .. number)
os.exit(failed == 0, true)
