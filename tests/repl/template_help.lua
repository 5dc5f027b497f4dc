-- Help and completion on templates at the prompt: what they say is the data of the templates.
local t = require "tap"
local shell = require "shell"
local screen = require "screen"

local session = shell.session

t.test("?nn.gemm: parameters with their defaults, constraints; whether the library is loaded or not", function()
  for _, inputs in ipairs {"?nn.gemm", "?tide.nn.gemm", 'nn = require "tide.nn"\n?nn.gemm'} do
    local text = session(inputs)
    t.has(text, "gemm {M =, N =, K =, T = i8, acc = .., unroll = 1}\n  C = C + A B")
    t.has(text, "\n  K          size: terms of a sum\n")
    t.has(text, "\n  constraint N % unroll == 0\n")
  end
end)

t.test("a short name is that of every library", function()
  local text = session "?softmax"
  t.has(text, "tide.nn.softmax {M =, N =, T = f32}\n")
  t.has(text, "tide.quant.softmax {M =, N =, shift =}\n")
  t.has(session "?nn.softmin", "there is no help on 'nn.softmin'")
end)

t.test("a library lists its templates, a template tells of itself", function()
  t.has(session 'nn = require "tide.nn"\nnn', "\n  relu         Y = max(X, 0).\n")
  t.has(session 'require "tide.nn".relu', "relu {shape =, T = f32}\n  Y = max(X, 0).\n")
end)

t.test("the reference page has them", function()
  local text = shell.output(shell.quote(arg[-1]) .. " doc")
  for _, x in ipairs(require "tide.template".list()) do
    t.has(text, "\n### " .. x.name .. "\n\n    " .. x.template:usage() .. "\n")
    for _, constraint in ipairs(x.template.where) do t.has(text, "constraint " .. constraint) end
  end
end)

if not screen.available() then
  t.skip("completion", "tmux is not installed")
else
  local term = screen.open("env TIDE_HISTORY= " .. arg[-1])
  assert(term:wait "tide>")
  term:type('nn = require "tide.nn"', "Enter")

  -- What the screen shows after Tab; the input is given up.
  local function offers(text, part)
    term:type(text, "Tab")
    local found, all = term:wait(part, 5)
    term:type("", "C-c", "C-l")
    t.ok(found, all)
    return all
  end

  t.test("Tab completes templates, and inside their braces parameters", function()
    offers("nn.maxp", "nn.maxpool2d")
    offers("nn.attention {he", "nn.attention {heads")
    offers("nn.attention{L = 8, D = tonumber('16'), ca", "causal")
    offers("nn.attention({cau", "nn.attention({causal")
    offers("?quant.lay", "?quant.layernorm")
    offers("x = nn.gemm {M = tos", "nn.gemm {M = tostring")
  end)
  term:close()
end

t.done()
