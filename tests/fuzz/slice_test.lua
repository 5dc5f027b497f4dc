-- slice_test.lua - a slice of the fuzzer's campaign, with a fixed seed: its own TAP is this test's.
package.path = "tests/fuzz/?.lua;" .. package.path
local campaign = require "campaign"

local STEPS, SEED = 5000, 20
local folder = os.getenv "TMPDIR" or "/tmp"
local command = ("'%s' --tap --cc 40 --out '%s/found' %d %d 2>&1"):format(
  campaign.program(arg[-1]), folder, STEPS, SEED)
local _, _, status = os.execute(command)
os.execute(("cat '%s'/found/*.lua 2>/dev/null | sed 's/^/# /'; rm -rf '%s/found'"):format(folder,
  folder))
os.exit(status)
