-- polybench.lua - the thirty kernels of examples/polybench, for tests.
package.path = "examples/polybench/?.lua;" .. package.path
return require "suite"
