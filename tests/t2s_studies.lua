-- t2s_studies.lua - studies of the T2S paper under names of a prefix, with parts of their mappings left out or changed.
--   local F, prefix = studies.sgemm {prefix = "q", clamped = true}
local tide = require "tide"
local t2s = require "tide.t2s"
local f32, i32, max, select, stream = tide.f32, tide.i32, tide.max, tide.select, tide.stream
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume
local HOST, DOUBLE = t2s.HOST, t2s.DOUBLE

local studies = {}

--- SGEMM with names of a prefix; `o` leaves out or changes parts of its mapping.
function studies.sgemm(o)
  local q = o.prefix or ""
  local A, B = Param(("%sA %sB"):format(q, q), f32, 2)
  local I, J, K = Param "I J K"
  local II, JJ, KK, III, JJJ, KKK = Const "II JJ KK III JJJ KKK"
  local i, j, k, ii, jj, kk, iii, jjj, kkk = Var((("i j k ii jj kk iii jjj kkk"):gsub("%a+", q .. "%0")))
  local C = Func(q .. "C", f32)
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * B[k][j]
  C:set_bounds(i, 0, I, j, 0, J, k, 0, K)
  if not o.clamped then assume.divisible(I, II, II, III, J, JJ, JJ, JJJ, K, KK, KK, KKK) end
  if o.apart then assume.no_alias(A, B) end
  if not o.plain then C:tile(i, j, k, ii, jj, kk, iii, jjj, kkk, II, JJ, KK, III, JJJ, KKK) end
  local A_load, A_feed, B_load, B_feed, C_coll, C_unld = Func "A_load A_feed B_load B_feed C_coll C_unld"
  local A_ser, B_ser, C_des = Func("A_ser B_ser C_des", HOST)
  C:isolate_producer_chain(A, A_ser, A_load, A_feed)
   :isolate_producer_chain(B, B_ser, B_load, B_feed)
   :isolate_consumer_chain(C, C_des, C_unld, C_coll)
  local names = {i = i, j = j, k = k, ii = ii, jj = jj, kk = kk, iii = iii, jjj = jjj, kkk = kkk}
  C:unroll(table.unpack(o.space and o.space(names) or {ii, jj}))
   :relay(A, o.right or {0, 1}):relay(B, {1, 0}):relay(C, {o.drain or -1, 0})
  A_ser:remove(jjj, jj, j)
  A_load:remove(jjj, o.removed and o.removed(names) or jj)
  A_feed:unroll(ii):relay(A, {1}):buffer(A, ii, not o.single and DOUBLE or nil)
  B_ser:remove(iii, ii, i)
  B_load:remove(iii, ii)
  B_feed:unroll(jj):relay(B, {1}):buffer(B, jj, DOUBLE)
  C_coll:remove(k, kk, kkk):reorder(jj, jjj, iii):unroll(jj):relay(C, {-1})
  C_unld:remove(k, kk, kkk):reorder(table.unpack(o.order and o.order(names) or {jj, jjj, iii}))
  for _, f in ipairs(o.lanes and {C, A_load, A_feed, B_load, B_feed} or {}) do f:vectorize(kkk) end
  C_des:remove(k, kk, kkk):reorder(jj, jjj, iii)
  return C, q
end

--- Convolution and ReLU with names of a prefix, by the mapping of the paper; `o` changes parts of it.
function studies.convolution(o)
  local q = o.prefix or ""
  local input, weight, bias = Param(q .. "input", i32, 3), Param(q .. "weight", i32, 4), Param(q .. "bias", i32, 1)
  local Nof, Noy, Nox, Nif, Nky, Nkx = Param "Nof Noy Nox Nif Nky Nkx"
  local S, Tof, Toy, Pof, Poy, Pox = Const "S Tof Toy Pof Poy Pox"
  local no, y, x, ni, ky, kx = Var((("no y x ni ky kx"):gsub("%a+", q .. "%0")))
  local noo, yy, xx, nooo, yyy = Var((("noo yy xx nooo yyy"):gsub("%a+", q .. "%0")))
  local names = {no = no, y = y, x = x, yy = yy, ni = ni}
  local conv, relu = Func((("conv relu"):gsub("%a+", q .. "%0")))
  conv[no][y][x] = 0
  conv[no][y][x] = conv[no][y][x] + input[ni][y * S + ky][x * S + kx] * weight[no][ni][ky][kx]
  relu[no][y][x] = tide.max(conv[no][y][x] + bias[no], 0)
  conv:set_bounds(no, 0, Nof, y, 0, Noy, x, 0, Nox, ni, 0, Nif, ky, 0, Nky, kx, 0, Nkx)
  relu:set_bounds(no, 0, Nof, y, 0, Noy, x, 0, Nox)
  if not o.clamped then assume.divisible(Nof, Tof, Tof, Pof, Noy, Toy, Toy, Poy, Nox, Pox) end
  for _, f in ipairs {conv, relu} do
    f:tile(no, y, noo, yy, nooo, yyy, Tof, Toy, Pof, Poy):tile(x, xx, Pox)
    f:reorder(xx, nooo, yyy, yy, x, noo, y, no)
  end
  if o.turned then relu:reorder(nooo, xx) end
  local i_load, i_feed, w_load, w_feed, b_feed = Func "i_load i_feed w_load w_feed b_feed"
  relu:isolate_producer_chain(bias, b_feed)
  conv:isolate_producer_chain(input, i_load, i_feed):isolate_producer_chain(weight, w_load, w_feed)
  relu:unroll(xx, nooo):relay(bias, {1, 0})
  conv:unroll(xx, nooo, o.summed and ky or yyy):relay(input, {0, 1, 0}):relay(weight, {1, 0, 0})
  i_load:remove(noo, o.used and y or nooo)
  i_feed:buffer(input, y):linebuffer(input, yy)
  w_load:remove(y, x, yy, xx, yyy)
  w_feed:buffer(weight, no)
  if o.read then conv:buffer(conv, y) end
  if o.kept then relu:buffer(relu, o.kept(names), o.double) end
  return relu, q
end

--- What an element of such a table is.
studies.cells = {
  local_ = function(up, left, diag, a, b) return max(max(0, diag + select(a:eq(b), 2, -1)), max(up - 1, left - 1)) end,
  common = function(up, left, diag, a, b) return select(a:eq(b), diag + 1, max(up, left)) end,
}

--- The array of a table of two strings with names of a prefix; `o` leaves out or changes parts.
function studies.align(o)
  local q = o.prefix or ""
  local T, S = Param(("%sT %sS"):format(q, q), i32, 1)
  local I, J = Param "I J"
  local II, JJ, MAX_J = Const "II JJ MAX_J"
  local i, j, ii, jj = Var((("i j ii jj"):gsub("%a+", q .. "%0")))
  local A, driver = Func(("%sA %sdriver"):format(q, q))
  local cell = o.cell or studies.cells.local_
  A[-1][-1] = 0
  A[i][-1] = 0
  A[-1][j] = 0
  A[i][j] = cell(A[i - 1][j], A[i][j - 1], A[i - 1][j - 1], T[i], S[j])
  A:set_bounds(i, 0, I, j, 0, J)
  if o.store ~= false then A:store(I - 1, J - 1) end
  if o.divisible ~= false then assume.divisible(I, II, J, JJ) end
  assume(J:le(MAX_J))
  A:tile(i, j, ii, jj, II, JJ)
  local isolated = {S, T, A}
  for k = 1, 3 do A:isolate_producer_chain(isolated[(k + (o.turn or 0)) % 3 + 1], driver) end
  if o.other then A:isolate_consumer_chain(A, Func "other") else A:isolate_consumer_chain(A, driver) end
  A:unroll(table.unpack(o.turned and {jj, ii} or {ii, jj}))
  local ways = {{A, 1, 0}, {A, 0, 1}, {A, 1, 1}, {T, 0, 1}, {S, 1, 0}}
  if o.right_first then ways[1], ways[2] = ways[2], ways[1] end
  for k = 1, #ways do
    local w = ways[(k + (o.first or 0) - 1) % #ways + 1]
    if o.without ~= (k + (o.first or 0) - 1) % #ways + 1 then
      A:relay(w[1], o.turned and {w[3], w[2]} or {w[2], w[3]})
    end
  end
  if o.wrong then A:relay(o.wrong(T, S, A)) end
  return A, q
end

--- A batch of such tables without a driver, pair after pair; `o.depth`: of the channels between elements,
--- `o.most`: pairs.
function studies.batch(o)
  local T, S = Param("T S", i32, 2)
  local B, I, J = Param "B I J"
  local II, JJ = Const "II JJ"
  local b, i, j, ii, jj = Var "b i j ii jj"
  local A = Func "A"
  A[b][i][j] = max(max(0, select(i:eq(0), 0, select(j:eq(0), 0, A[b][i - 1][j - 1]))
    + select(T[b][i]:eq(S[b][j]), 2, -1)),
    max(select(i:eq(0), 0, A[b][i - 1][j]) - 1, select(j:eq(0), 0, A[b][i][j - 1]) - 1))
  A:set_bounds(b, 0, B, i, 0, I, j, 0, J)
  assume(B:le(o.most or 32))
  assume(J:le(128))
  assume.divisible(I, II, J, JJ)
  A:tile(i, j, ii, jj, II, JJ):reorder(b, jj, ii, j, i)
  A:unroll(ii, jj):relay(A, {1, 0}):relay(A, {0, 1}):relay(A, {1, 1})
  if o.depth then A:set_min_depth(A, A, o.depth) end
  return A
end

--- PairHMM, a batch of pairs: three recurrences in one nest.
function studies.pairs(o)
  local P = Param("P", f32, 3)
  local B, I, J = Param "B I J"
  local II, JJ = Const "II JJ"
  local b, i, j, ii, jj = Var "b i j ii jj"
  local M, X, Y = Func("M X Y", f32)
  M[b][i][j] = select(i:eq(0), 0.0, select(j:eq(0), 0.0,
    P[b][i][j] * (0.9 * M[b][i - 1][j - 1] + 0.05 * (X[b][i - 1][j - 1] + Y[b][i - 1][j - 1]))))
  X[b][i][j] = select(i:eq(0), 0.0, 0.1 * M[b][i - 1][j] + 0.2 * X[b][i - 1][j])
  Y[b][i][j] = select(j:eq(0), select(i:eq(0), 1.0, 0.5), 0.1 * M[b][i][j - 1] + 0.2 * Y[b][i][j - 1])
  Y:merge_ures(M, X)
  Y:set_bounds(b, 0, B, i, 0, I, j, 0, J)
  assume(B:le(o.most or 32))
  assume(J:le(128))
  assume.divisible(I, II, J, JJ)
  Y:tile(i, j, ii, jj, II, JJ):reorder(b, jj, ii, j, i):unroll(ii, jj)
  Y:relay(M, {1, 0}):relay(M, {0, 1}):relay(M, {1, 1}):relay(X, {1, 0}):relay(X, {1, 1})
  Y:relay(Y, {0, 1}):relay(Y, {1, 1})
  for _, f in ipairs(o.depth and {M, X, Y} or {}) do Y:set_min_depth(f, Y, o.depth) end
  return Y
end

--- A capsule convolution: 4 x 4 matrices per point, five reductions; columns and rows of points are summed in turn.
function studies.capsule()
  local P, W = Param("P", f32, 5), Param("W", f32, 6)
  local H, V, O = Param "H V O"
  local OO, C, KX, KY = Const "OO", Param "C KX KY"
  local h, v, o, oo, m, n, c, kx, ky, r = Var "h v o oo m n c kx ky r"
  local Q, p_feed, w_feed = Func("Q", f32), Func "p_feed w_feed"
  Q[h][v][o][m][n] = 0
  Q[h][v][o][m][n] = Q[h][v][o][m][n] + P[h + kx][v + ky][c][m][r] * W[kx][ky][c][o][r][n]
  Q:set_bounds(h, 0, H, v, 0, V, o, 0, O, m, 0, 4, n, 0, 4, c, 0, C, kx, 0, KX, ky, 0, KY, r, 0, 4)
  assume.divisible(O, OO)
  Q:tile(o, oo, OO):reorder(n, v, r, ky, kx, c, o, h):unroll(oo, m)
  Q:isolate_producer_chain(P, p_feed):isolate_producer_chain(W, w_feed):relay(P, {1, 0}):relay(W, {0, 1})
  p_feed:unroll(m)
  w_feed:unroll(oo)
  return Q
end

-- What the lines of an example in front of the first that begins with `stop` declare under these names.
local function of_example(file, stop, names)
  local from = assert(io.open("examples/" .. file))
  local text = from:read "a"
  from:close()
  return assert(load(text:sub(1, text:find("\n" .. stop, 1, true)) .. "return " .. names, "=" .. file))()
end

--- An element of a tree of merges: two sorted rows of n tokens.
studies.merge = of_example("81_t2s_merge_sort.lua", "local input", "merge")

--- A tree of merges with names of a prefix; `o` changes parts of its mapping.
function studies.tree(o)
  local q = o.prefix or ""
  local input = Param(q .. "input", stream(i32), 1)
  local L, S = Const "L S"
  local l, m = Var((("l m"):gsub("%a+", q .. "%0")))
  local out, loader = Func((("out loader"):gsub("%a+", q .. "%0")), stream(i32))
  out[0][m] = studies.merge(S, input[2 * m], input[2 * m + 1])
  out[l][m] = studies.merge(S << l, out[l - 1][2 * m], out[l - 1][2 * m + 1])
  out:set_bounds(l, 0, L, m, 0, 1 << (L - 1 - l)):store(L - 1, 0)
  out:isolate_producer_chain(input, loader)
  out:unroll(table.unpack(o.space and o.space(l, m) or {l, m}))
  if o.relay ~= false then out:relay(out, o.relay and o.relay(m) or {1, m // 2 - m}) end
  if not o.shallow then out:set_min_depth(out, out, S << (l + 1)) end
  loader:set_min_depth(input, out, o.leaf or S)
  if o.turns then loader:reorder(m, l) end
  if o.each then loader:unroll(o.each(l, m)) end
  return out, q
end

--- Rows of tokens, each sorted.
function studies.sorted_rows(streams, tokens, seed)
  local rows = tide.random(i32[streams][tokens], seed, {lo = 0, hi = 50})
  for s = 0, streams - 1 do
    local row = rows[s]:table()
    table.sort(row)
    rows[s]:set(tide.tensor(i32[tokens], row))
  end
  return rows
end

--- A sparse matrix times a vector: rows in lanes, under names of a prefix.
function studies.spmv(o)
  local q = o.prefix or ""
  local v, x = Param(q .. "v", f32, 2), Param(q .. "x", f32, 1)
  local at, len = Param(("%sat %slen"):format(q, q), i32, 2)
  local number, reader, T, R, LANES, BANKS = of_example("84_t2s_spmv.lua", "local term",
    "number, reader, T, R, LANES, BANKS")
  local n, p, pp, m = Var((("n p pp m"):gsub("%a+", q .. "%0")))
  local term, owner, load = Func(q .. "term", f32), Func(q .. "owner", i32), Func(q .. "load")
  local sum = Func(q .. "sum", f32)
  term[n][p] = v[n][p] * x[at[n][p]]
  owner[n][p] = number(len)
  sum[m] = 0
  sum[owner[n][p]] = sum[owner[n][p]] + term[n][p]
  term:set_bounds(n, 0, T, p, 0, LANES)
  owner:set_bounds(n, 0, T, p, 0, LANES)
  sum:set_bounds(m, 0, R + 1, n, 0, T, p, 0, LANES)
  term:isolate_producer_chain(at, load):isolate_producer_chain(v, load)
  owner:isolate_producer_chain(len, load)
  sum:tile(p, pp, BANKS):unroll(pp):buffer(sum)
  term:unroll(p):buffer(x)
  load:define_extern(reader)
  return sum, q
end

--- Arguments by name of it: rows of random lengths, T steps of lanes in all.
function studies.rows(q, T, lanes, most, columns, seed)
  local len, rows = i32[T][lanes](0), 0
  for p = 0, lanes - 1 do
    local drawn, left, n = tide.random(i32[T], seed + p, {lo = 1, hi = most + 1}), T, 0
    while left > 0 do
      len[n][p] = math.min(drawn[n], left)
      left, n, rows = left - len[n][p], n + 1, rows + 1
    end
  end
  return {[q .. "v"] = tide.random(f32[T][lanes], seed), [q .. "at"] = tide.random(i32[T][lanes], seed,
    {lo = 0, hi = columns}), [q .. "len"] = len, [q .. "x"] = tide.random(f32[columns], seed + 1), T = T, R = rows,
    [q .. "sum"] = f32[rows + 1](0)}
end

return studies
