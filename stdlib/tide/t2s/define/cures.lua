-- What helps, by the code of a refusal that does not say so itself: those of T2S, and those of steps that a mapping
-- takes (tide.t2s.map.schedule), in words of its directives.
return {
  -- Definitions.
  ["t2s-name"] = 'names are words of Lua, each declared once: local i, j = t2s.Var "i j"',
  ["t2s-type"] = 'types are those of Tide: t2s.Param("A", tide.f32, 2)',
  ["t2s-rank"] = "as many indices as dimensions, in each line: C[i][j] of t2s.Param(\"C\", f32, 2)",
  ["t2s-left"] = "each dimension on the left is a Var of its own or a constant: C[i][j] = ..",
  ["t2s-index"] = "what has elements is a Param with a rank or a Func",
  ["t2s-operand"] = "a definition is made of elements, as A[i][k] * B[k][j], and of numbers",
  ["t2s-bounds"] = "C:set_bounds(i, 0, I, j, 0, J): each Var once, by sizes, numbers and Vars around it",
  ["t2s-store"] = "a constant for each dimension, inside the bounds; a Func O[i][j] = D[N - 1][i][j] keeps a part",
  ["t2s-merge"] = "C:merge_ures(X, Y): the last equation merges the others, each once, over the same loops",
  ["t2s-undefined"] = "write its line before it is used: C[i][j] = ..",
  ["t2s-assume"] = "t2s.assume(J:le(16)), t2s.assume.divisible(I, 4): facts of sizes; at other sizes it does not run",
  ["t2s-func"] = 'it is given what t2s.Func "C" returned',
  ["t2s-const"] = "t2s.design(F, {II = 4}) gives values to what t2s.Const and t2s.Param declared",
  ["t2s-option"] = "t2s.design(F, {}, {check = false})",
  ["t2s-kernel"] = "a kernel's streams that it reads and its scalars are given in order, the one that it writes is "
    .. "the value: out[m] = merge(n, a[m], b[m])",
  -- Directives.
  ["t2s-method"] = "C:unroll(i), with a colon",
  ["t2s-directive"] = "C:unroll(i), C:reorder(k, j): Vars of the loops of C",
  ["t2s-isolate"] = "C:isolate_producer_chain(A, far, near), C:isolate_consumer_chain(C, far, near): Funcs of their "
    .. "own, each once",
  ["t2s-relay"] = "C:relay(A, {0, 1}): once, a whole number for each loop in space, all 0 but one, 1 or -1",
  ["t2s-buffer"] = "near:buffer(A, k) of what goes through near, one at each loop",
  ["t2s-remove"] = "far:remove(j): loops of the Func that far feeds, which the operand does not depend on",
  ["t2s-tile"] = "C:tile(i, j, ii, jj, 4, 4): loops, then as many new Vars and sizes for each level; Funcs whose "
    .. "elements pair off have equal tiles",
  ["t2s-reorder"] = "C:reorder(k, j): loops of C, each once, innermost first",
  ["t2s-unroll"] = "C:unroll(ii, jj): loops around the sums of C, each once; a stage has those of what it feeds",
  ["t2s-depth"] = "near:set_min_depth(A, C, 4): of the channel that takes A from near to C",
  ["t2s-compute"] = "F:compute_at(C, i): once, a loop of C, and no mapping of F's own",
  ["t2s-carried"] = "one Func is the driver: isolate_producer_chain(A, drv) and isolate_consumer_chain(A, drv)",
  ["t2s-stensor"] = 'C:feed(A >> t2s.SRAM "keep":scope(k):out(ii)): a Param, then stages of other names',
  ["t2s-transform"] = "C:space_time_transform({i, j}, {p, t}, {1, 0, 1, 1}): once, new Vars, a row for each, the "
    .. "last one is time; inverse = {p, t - p}",
  ["t2s-search"] = "t2s.search(C, {pes = 16, at = {I = 64}}) of a Func whose lines are over Vars",
  ["t2s-design"] = "a smaller mapping, directive by directive, shows which one it is",
  -- Steps.
  carried = "values go along space loops by constant distances, as from A[i - 1][j]: what is read at another index "
    .. "is a Func of its own, or its loops are in time",
  dependence = "what a line reads is computed before: fewer loops in space, another order of loops, or the first "
    .. "value by a select in one line",
  extent = "how often a loop in space runs is a number: a tile of it, or a Const",
  ranges = "bounds that depend on other loops stay inside these: a tile of another loop, or that loop in space",
  way = "each value that another element computes has a relay along the way that it comes",
  scope = "a stage keeps what it needs again in a loop around: near:buffer(A, i)",
  shared = "lines of one Func share a loop around them: give it a Var with one value, as p[b][n]",
  ["not-a-buffer"] = "edges outside of the bounds, as A[i][-1], are no part of results that leave by a chain: a select "
    .. "in the line gives the first value",
  factor = "a tile has one iteration or more: C:tile(i, ii, 4)",
  access = "what is isolated is read in one place: a select, or an edge, in place of a line of its own",
  order = "elements go in the order in which they are read: reorder, or a buffer at a loop around",
}
