// 1024 x i32 through one core by locks, buffer descriptors and flows.
"builtin.module"() ({
  "aie.device"() <{device = 5 : i32, sym_name = "main"}> ({
    %shim = "aie.tile"() <{col = 0 : i32, row = 0 : i32}> : () -> index
    %comp = "aie.tile"() <{col = 0 : i32, row = 2 : i32}> : () -> index
    %ib0 = "aie.buffer"(%comp) <{sym_name = "in_buff_0"}> : (index) -> memref<256xi32>
    %ib1 = "aie.buffer"(%comp) <{sym_name = "in_buff_1"}> : (index) -> memref<256xi32>
    %ip = "aie.lock"(%comp) <{init = 2 : i32, lockID = 0 : i32, sym_name = "in_prod"}> : (index) -> index
    %ic = "aie.lock"(%comp) <{init = 0 : i32, lockID = 1 : i32, sym_name = "in_cons"}> : (index) -> index
    "aie.flow"(%shim, %comp) <{dest_bundle = 1 : i32, dest_channel = 0 : i32, source_bundle = 1 : i32, source_channel = 0 : i32}> : (index, index) -> ()
    "aie.flow"(%comp, %shim) <{dest_bundle = 1 : i32, dest_channel = 0 : i32, source_bundle = 1 : i32, source_channel = 0 : i32}> : (index, index) -> ()
    "aie.shim_dma_allocation"() <{channel_dir = 1 : i32, channel_index = 0 : i64, col = 0 : i64, sym_name = @in}> : () -> ()
    "aie.shim_dma_allocation"() <{channel_dir = 0 : i32, channel_index = 0 : i64, col = 0 : i64, sym_name = @out}> : () -> ()
    %mem = "aie.mem"(%comp) ({
      %s0 = "aie.dma_start"()[^in0, ^chain] <{channel_dir = 0 : i32, channel_index = 0 : i32, repeat_count = 0 : i32}> : () -> i1
    ^in0:
      "aie.use_lock"(%ip) <{action = 2 : i32, value = 1 : i32}> : (index) -> ()
      "aie.dma_bd"(%ib0) <{len = 256 : i32, offset = 0 : i32}> : (memref<256xi32>) -> ()
      "aie.use_lock"(%ic) <{action = 1 : i32, value = 1 : i32}> : (index) -> ()
      "aie.next_bd"()[^in1] : () -> ()
    ^in1:
      "aie.use_lock"(%ip) <{action = 2 : i32, value = 1 : i32}> : (index) -> ()
      "aie.dma_bd"(%ib1) <{len = 256 : i32, offset = 0 : i32}> : (memref<256xi32>) -> ()
      "aie.use_lock"(%ic) <{action = 1 : i32, value = 1 : i32}> : (index) -> ()
      "aie.next_bd"()[^in0] : () -> ()
    ^chain:
      %s1 = "aie.dma_start"()[^out0, ^end] <{channel_dir = 1 : i32, channel_index = 0 : i32, repeat_count = 0 : i32}> : () -> i1
    ^out0:
      "aie.use_lock"(%ic) <{action = 2 : i32, value = 1 : i32}> : (index) -> ()
      "aie.dma_bd"(%ib0) <{dimensions = #aie<bd_dim_layout_array[<size = 16, stride = 16>, <size = 16, stride = 1>]>, len = 256 : i32, offset = 0 : i32}> : (memref<256xi32>) -> ()
      "aie.use_lock"(%ip) <{action = 1 : i32, value = 1 : i32}> : (index) -> ()
      "aie.next_bd"()[^out1] : () -> ()
    ^out1:
      "aie.use_lock"(%ic) <{action = 2 : i32, value = 1 : i32}> : (index) -> ()
      "aie.dma_bd"(%ib1) <{len = 256 : i32, offset = 0 : i32}> : (memref<256xi32>) -> ()
      "aie.use_lock"(%ip) <{action = 1 : i32, value = 1 : i32}> : (index) -> ()
      "aie.next_bd"()[^out0] : () -> ()
    ^end:
      "aie.end"() : () -> ()
    }) : (index) -> index
    "aie.runtime_sequence"() <{sym_name = "sequence"}> ({
    ^bb0(%A: memref<1024xi32>, %B: memref<1024xi32>):
      "aiex.npu.dma_memcpy_nd"(%A) <{id = 0 : i64, metadata = @in, operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0, 0, 0>, static_sizes = array<i64: 1, 1, 1, 1024>, static_strides = array<i64: 0, 0, 0, 1>}> : (memref<1024xi32>) -> ()
      "aiex.npu.dma_memcpy_nd"(%B) <{id = 1 : i64, issue_token = true, metadata = @out, operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0, 0, 0>, static_sizes = array<i64: 1, 1, 1, 1024>, static_strides = array<i64: 0, 0, 0, 1>}> : (memref<1024xi32>) -> ()
      "aiex.npu.dma_wait"() <{symbol = @out}> : () -> ()
    }) : () -> ()
    "aie.end"() : () -> ()
  }) : () -> ()
}) : () -> ()
