// A product of 64^3 i16 on one core, tiles of 32^3.
"builtin.module"() ({
  "aie.device"() <{device = 5 : i32, sym_name = "main"}> ({
    "func.func"() <{function_type = (memref<32x32xi16>) -> (), sym_name = "zero_i16", sym_visibility = "private"}> ({
    }) : () -> ()
    "func.func"() <{function_type = (memref<32x32xi16>, memref<32x32xi16>, memref<32x32xi16>) -> (), sym_name = "matmul_i16_i16", sym_visibility = "private"}> ({
    }) : () -> ()
    %shim = "aie.tile"() <{col = 0 : i32, row = 0 : i32}> : () -> index
    %memt = "aie.tile"() <{col = 0 : i32, row = 1 : i32}> : () -> index
    %comp = "aie.tile"() <{col = 0 : i32, row = 2 : i32}> : () -> index
    "aie.objectfifo"(%shim, %memt) <{dimensionsFromStreamPerConsumer = #aie<bd_dim_layout_array_array[[]]>, dimensionsToStream = #aie<bd_dim_layout_array[]>, disable_synchronization = false, elemNumber = 2 : i32, elemType = !aie.objectfifo<memref<1024xi16>>, plio = false, sym_name = "inA", via_DMA = false}> : (index, index) -> ()
    "aie.objectfifo"(%memt, %comp) <{dimensionsFromStreamPerConsumer = #aie<bd_dim_layout_array_array[[]]>, dimensionsToStream = #aie<bd_dim_layout_array[<size = 8, stride = 128>, <size = 8, stride = 4>, <size = 4, stride = 32>, <size = 4, stride = 1>]>, disable_synchronization = false, elemNumber = 2 : i32, elemType = !aie.objectfifo<memref<32x32xi16>>, plio = false, sym_name = "memA", via_DMA = false}> : (index, index) -> ()
    "aie.objectfifo.link"() <{dst_offsets = [], fifoIns = [@inA], fifoOuts = [@memA], src_offsets = []}> : () -> ()
    "aie.objectfifo"(%shim, %memt) <{dimensionsFromStreamPerConsumer = #aie<bd_dim_layout_array_array[[]]>, dimensionsToStream = #aie<bd_dim_layout_array[]>, disable_synchronization = false, elemNumber = 2 : i32, elemType = !aie.objectfifo<memref<1024xi16>>, plio = false, sym_name = "inB", via_DMA = false}> : (index, index) -> ()
    "aie.objectfifo"(%memt, %comp) <{dimensionsFromStreamPerConsumer = #aie<bd_dim_layout_array_array[[]]>, dimensionsToStream = #aie<bd_dim_layout_array[<size = 8, stride = 128>, <size = 8, stride = 4>, <size = 4, stride = 32>, <size = 4, stride = 1>]>, disable_synchronization = false, elemNumber = 2 : i32, elemType = !aie.objectfifo<memref<32x32xi16>>, plio = false, sym_name = "memB", via_DMA = false}> : (index, index) -> ()
    "aie.objectfifo.link"() <{dst_offsets = [], fifoIns = [@inB], fifoOuts = [@memB], src_offsets = []}> : () -> ()
    "aie.objectfifo"(%comp, %memt) <{dimensionsFromStreamPerConsumer = #aie<bd_dim_layout_array_array[[]]>, dimensionsToStream = #aie<bd_dim_layout_array[]>, disable_synchronization = false, elemNumber = 2 : i32, elemType = !aie.objectfifo<memref<32x32xi16>>, plio = false, sym_name = "memC", via_DMA = false}> : (index, index) -> ()
    "aie.objectfifo"(%memt, %shim) <{dimensionsFromStreamPerConsumer = #aie<bd_dim_layout_array_array[[]]>, dimensionsToStream = #aie<bd_dim_layout_array[<size = 8, stride = 128>, <size = 4, stride = 4>, <size = 8, stride = 16>, <size = 4, stride = 1>]>, disable_synchronization = false, elemNumber = 2 : i32, elemType = !aie.objectfifo<memref<1024xi16>>, plio = false, sym_name = "outC", via_DMA = false}> : (index, index) -> ()
    "aie.objectfifo.link"() <{dst_offsets = [], fifoIns = [@memC], fifoOuts = [@outC], src_offsets = []}> : () -> ()
    %core = "aie.core"(%comp) <{link_with = "mm_32x32x32.o", stack_size = 1024 : i32}> ({
      %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
      %c1 = "arith.constant"() <{value = 1 : index}> : () -> index
      %c2 = "arith.constant"() <{value = 2 : index}> : () -> index
      %c4 = "arith.constant"() <{value = 4 : index}> : () -> index
      %cmax = "arith.constant"() <{value = 9223372036854775807 : index}> : () -> index
      "scf.for"(%c0, %cmax, %c1) ({
      ^bb0(%launch: index):
        "scf.for"(%c0, %c4, %c1) ({
        ^bb0(%ctile: index):
          %sc = "aie.objectfifo.acquire"() <{objFifo_name = @memC, port = 0 : i32, size = 1 : i32}> : () -> !aie.objectfifosubview<memref<32x32xi16>>
          %vc = "aie.objectfifo.subview.access"(%sc) <{index = 0 : i32}> : (!aie.objectfifosubview<memref<32x32xi16>>) -> memref<32x32xi16>
          "func.call"(%vc) <{callee = @zero_i16}> : (memref<32x32xi16>) -> ()
          "scf.for"(%c0, %c2, %c1) ({
          ^bb0(%ktile: index):
            %sa = "aie.objectfifo.acquire"() <{objFifo_name = @memA, port = 1 : i32, size = 1 : i32}> : () -> !aie.objectfifosubview<memref<32x32xi16>>
            %va = "aie.objectfifo.subview.access"(%sa) <{index = 0 : i32}> : (!aie.objectfifosubview<memref<32x32xi16>>) -> memref<32x32xi16>
            %sb = "aie.objectfifo.acquire"() <{objFifo_name = @memB, port = 1 : i32, size = 1 : i32}> : () -> !aie.objectfifosubview<memref<32x32xi16>>
            %vb = "aie.objectfifo.subview.access"(%sb) <{index = 0 : i32}> : (!aie.objectfifosubview<memref<32x32xi16>>) -> memref<32x32xi16>
            "func.call"(%va, %vb, %vc) <{callee = @matmul_i16_i16}> : (memref<32x32xi16>, memref<32x32xi16>, memref<32x32xi16>) -> ()
            "aie.objectfifo.release"() <{objFifo_name = @memA, port = 1 : i32, size = 1 : i32}> : () -> ()
            "aie.objectfifo.release"() <{objFifo_name = @memB, port = 1 : i32, size = 1 : i32}> : () -> ()
            "scf.yield"() : () -> ()
          }) : (index, index, index) -> ()
          "aie.objectfifo.release"() <{objFifo_name = @memC, port = 0 : i32, size = 1 : i32}> : () -> ()
          "scf.yield"() : () -> ()
        }) : (index, index, index) -> ()
        "scf.yield"() : () -> ()
      }) : (index, index, index) -> ()
      "aie.end"() : () -> ()
    }) : (index) -> index
    "aie.runtime_sequence"() <{sym_name = "sequence"}> ({
    ^bb0(%A: memref<4096xi16>, %B: memref<4096xi16>, %C: memref<4096xi16>):
      "aiex.npu.dma_memcpy_nd"(%C) <{id = 0 : i64, issue_token = true, metadata = @outC, operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0, 0, 0>, static_sizes = array<i64: 2, 2, 32, 32>, static_strides = array<i64: 2048, 32, 64, 1>}> : (memref<4096xi16>) -> ()
      "aiex.npu.dma_memcpy_nd"(%A) <{id = 1 : i64, metadata = @inA, operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0, 0, 0>, static_sizes = array<i64: 2, 2, 32, 32>, static_strides = array<i64: 0, 32, 64, 1>}> : (memref<4096xi16>) -> ()
      "aiex.npu.dma_memcpy_nd"(%B) <{id = 2 : i64, metadata = @inB, operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0, 0, 0>, static_sizes = array<i64: 2, 2, 32, 32>, static_strides = array<i64: 32, 2048, 64, 1>}> : (memref<4096xi16>) -> ()
      "aiex.npu.dma_memcpy_nd"(%A) <{id = 3 : i64, metadata = @inA, operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0, 0, 2048>, static_sizes = array<i64: 2, 2, 32, 32>, static_strides = array<i64: 0, 32, 64, 1>}> : (memref<4096xi16>) -> ()
      "aiex.npu.dma_memcpy_nd"(%B) <{id = 4 : i64, metadata = @inB, operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0, 0, 0>, static_sizes = array<i64: 2, 2, 32, 32>, static_strides = array<i64: 32, 2048, 64, 1>}> : (memref<4096xi16>) -> ()
      "aiex.npu.dma_wait"() <{symbol = @outC}> : () -> ()
    }) : () -> ()
    "aie.end"() : () -> ()
  }) : () -> ()
}) : () -> ()
