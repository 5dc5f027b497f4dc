// MLIR-AIE, dialect v1.3
"builtin.module"() ({
  "aie.device"() <{device = 4 : i32, sym_name = "main"}> ({
    "func.func"() <{function_type = (memref<4xi32>, memref<4xi32>) -> (), sym_name = "core_0", sym_visibility = "private"}> ({
    }) : () -> ()
    %shim_0 = "aie.tile"() <{col = 0 : i32, row = 0 : i32}> : () -> index
    %core_0_2 = "aie.tile"() <{col = 0 : i32, row = 2 : i32}> : () -> index
    "aie.objectfifo"(%shim_0, %core_0_2) <{dimensionsFromStreamPerConsumer = #aie<bd_dim_layout_array_array[[]]>, dimensionsToStream = #aie<bd_dim_layout_array[]>, elemNumber = 2 : i32, elemType = !aie.objectfifo<memref<4xi32>>, sym_name = "Z"}> : (index, index) -> ()
    "aie.objectfifo"(%core_0_2, %shim_0) <{dimensionsFromStreamPerConsumer = #aie<bd_dim_layout_array_array[[]]>, dimensionsToStream = #aie<bd_dim_layout_array[]>, elemNumber = 2 : i32, elemType = !aie.objectfifo<memref<4xi32>>, sym_name = "Y"}> : (index, index) -> ()
    %core_0_2_1 = "aie.core"(%core_0_2) <{link_with = "kernels.o", stack_size = 1024 : i32}> ({
      %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
      %ever = "arith.constant"() <{value = 9223372036854775807 : index}> : () -> index
      %c1 = "arith.constant"() <{value = 1 : index}> : () -> index
      %c3 = "arith.constant"() <{value = 3 : index}> : () -> index
      "scf.for"(%c0, %ever, %c1) ({
      ^bb0(%launch: index):
        "scf.for"(%c0, %c3, %c1) ({
        ^bb0(%k: index):
          %x_view = "aie.objectfifo.acquire"() <{objFifo_name = @Z, port = 1 : i32, size = 1 : i32}> : () -> !aie.objectfifosubview<memref<4xi32>>
          %x = "aie.objectfifo.subview.access"(%x_view) <{index = 0 : i32}> : (!aie.objectfifosubview<memref<4xi32>>) -> memref<4xi32>
          %o_view = "aie.objectfifo.acquire"() <{objFifo_name = @Y, port = 0 : i32, size = 1 : i32}> : () -> !aie.objectfifosubview<memref<4xi32>>
          %o = "aie.objectfifo.subview.access"(%o_view) <{index = 0 : i32}> : (!aie.objectfifosubview<memref<4xi32>>) -> memref<4xi32>
          "func.call"(%o, %x) <{callee = @core_0}> : (memref<4xi32>, memref<4xi32>) -> ()
          "aie.objectfifo.release"() <{objFifo_name = @Y, port = 0 : i32, size = 1 : i32}> : () -> ()
          "aie.objectfifo.release"() <{objFifo_name = @Z, port = 1 : i32, size = 1 : i32}> : () -> ()
          "scf.yield"() : () -> ()
        }) : (index, index, index) -> ()
        "scf.yield"() : () -> ()
      }) : (index, index, index) -> ()
      "aie.end"() : () -> ()
    }) : (index) -> index
    "aie.runtime_sequence"() <{sym_name = "sequence"}> ({
    ^bb0(%A: memref<12xi32>, %B: memref<12xi32>):
      "aiex.npu.dma_memcpy_nd"(%A) <{id = 0 : i64, issue_token = true, metadata = @Z, operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0, 0, 0>, static_sizes = array<i64: 1, 1, 1, 12>, static_strides = array<i64: 0, 0, 0, 1>}> : (memref<12xi32>) -> ()
      "aiex.npu.dma_memcpy_nd"(%B) <{id = 4 : i64, issue_token = true, metadata = @Y, operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0, 0, 0>, static_sizes = array<i64: 1, 1, 1, 12>, static_strides = array<i64: 0, 0, 0, 1>}> : (memref<12xi32>) -> ()
      "aiex.npu.dma_wait"() <{symbol = @Y}> : () -> ()
      "aiex.npu.dma_wait"() <{symbol = @Z}> : () -> ()
    }) : () -> ()
    "aie.end"() : () -> ()
  }) : () -> ()
}) : () -> ()
