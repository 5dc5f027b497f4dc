-- [slow] slice_test.lua - a slice of the fuzzer's campaign, with a fixed seed: its own TAP is this test's.
local STEPS, SEED = 7000, 20

-- The fuzzer that belongs to a tide: ./tide to build/release, build/san/tide to build/san.
local program = (arg[-1]:match "^(.*build/%w+)/tide$" or "build/release") .. "/tests/fuzz/fuzz"
local folder = os.getenv "TMPDIR" or "/tmp"
local command = ("'%s' --tap --cc 40 --out '%s/found' %d %d 2>&1"):format(program, folder,
  STEPS, SEED)
local _, _, status = os.execute(command)
os.execute(("cat '%s'/found/*.lua 2>/dev/null | sed 's/^/# /'; rm -rf '%s/found'"):format(folder,
  folder))
os.exit(status)
