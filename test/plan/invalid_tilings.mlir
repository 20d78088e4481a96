// RUN: freestone-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a micro-kernel has an even number of rows up to 62, not 13}}
#odd = #tile.micro_kernel<rows = 13, vectors = 2, lanes = 16, unroll = 2>

// -----

// expected-error @+1 {{lanes are a power of two up to 64, not 12}}
#lanes = #tile.micro_kernel<rows = 14, vectors = 2, lanes = 12, unroll = 2>

// -----

// expected-error @+1 {{a turn of a micro-kernel has 2, 4 or 8 steps, not 3}}
#unroll = #tile.micro_kernel<rows = 14, vectors = 2, lanes = 16, unroll = 3>

// -----

// expected-error @+1 {{most_rows is a multiple of the 14 of a step, not 30}}
#rows = #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 30, least_tiles = 32>, body = []>

// -----

// expected-error @+1 {{elements is at least 1, not 0}}
#share = #tile.share<elements = 0, most_rows = 28, least_tiles = 32>

// -----

// expected-error @+1 {{step is a multiple of the 16 of a unit, not 72}}
#depth = #tile.blocks<axis = 3, step = 72, unit = 16, dealt = false, body = []>

// -----

// expected-error @+1 {{tiles that are together or alternate, or a share for all sizes, are of blocks that are dealt}}
#together = #tile.blocks<axis = 2, step = 32, dealt = false, together = 4, body = []>

// -----

// expected-error @+1 {{a copy of at most 4096 elements is kept for no tiles}}
#kept = #tile.packed<compute = 0, input = 0, most = 4096>

// -----

// expected-error @+1 {{a word has 1 or 2 steps of k, not 4}}
#words = #tile.multiply<compute = 0, columns = 2, word_steps = 4>

// -----

// expected-error @+1 {{a copy is kept whole up to a number of elements}}
#whole = #tile.packed<compute = 0, input = 1, kept = 2, whole = true>

// -----

// expected-error @+1 {{together is at least 1, not 0}}
#together = #tile.packed<compute = 0, input = 1, together = 0>

// -----

// expected-error @+1 {{an element has 1 part, or 3 on tiles, not 3}}
#parts = #tile.dot_product_kernel<unit = vectors, groups = 10, parts = 3>

// -----

// expected-error @+1 {{a tree has a kernel of multiply-adds or of dot products, not #tile.share<elements = 1, most_rows = 1, least_tiles = 1>}}
#kernel = #tile.tree<kernel = #tile.share<elements = 1, most_rows = 1, least_tiles = 1>, body = []>

// -----

// expected-error @+1 {{the area of a tile holds its row of 112 pixels, not 56}}
#area = #tile.convolution<
  kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, pixels = 112, area = 56, panels = 8, channels = 21,
  least_tiles = 32, prefetch_channels = 8, in_place = 1024>

// -----

// expected-error @+1 {{a block of registers has at most 64 vectors, not 4 x 8 x 4}}
#block = #tile.window<channels = 4, rows = 8, vectors = 4, lanes = 8, pixels = 512, copy = 4096>

// -----

// expected-error @+1 {{pixels is a multiple of the 8 lanes of a vector, not 100}}
#pixels = #tile.window<channels = 1, rows = 4, vectors = 2, lanes = 8, pixels = 100, copy = 4096>

// -----

// expected-error @+1 {{run_loops, lanes and accumulators have an entry for every pass, not 2, 1 and 1}}
#passes = #tile.rows<row_loops = 1, rows = 4, run_loops = [1, 1], lanes = [16], accumulators = [4]>

// -----

// expected-error @+1 {{accumulators are 1 to 16, 1 where lanes are 1, not 0}}
#accumulators = #tile.rows<row_loops = 1, rows = 4, run_loops = [1], lanes = [16], accumulators = [0]>

// -----

// expected-error @+1 {{accumulators are 1 to 16, 1 where lanes are 1, not 2}}
#accumulators = #tile.rows<row_loops = 1, rows = 4, run_loops = [1], lanes = [1], accumulators = [2]>

// -----

// expected-error @+1 {{rows together are a power of two up to 32, not 3}}
#three = #tile.rows<row_loops = 1, rows = 4, run_loops = [1], lanes = [16], accumulators = [1], together = 3, short_row = 64>

// -----

// expected-error @+1 {{16 rows together are the lanes of a vector, which has 8}}
#wide = #tile.rows<row_loops = 1, rows = 4, run_loops = [1], lanes = [8], accumulators = [1], together = 16, short_row = 64>

// -----

// expected-error @+1 {{short_row is at least 1, not 0}}
#none = #tile.rows<row_loops = 1, rows = 4, run_loops = [1], lanes = [8], accumulators = [1], together = 4>

// -----

// expected-error @+1 {{rows in blocks, of packed operands or without a loop do not go together}}
#alone = #tile.rows<row_loops = 0, rows = 1, run_loops = [1], lanes = [8], accumulators = [1], together = 4, short_row = 64>

// -----

// expected-error @+1 {{what prefetches rows is a pass behind the first of several rows, not 1}}
#single = #tile.rows<row_loops = 1, rows = 4, run_loops = [1], lanes = [8], accumulators = [1], prefetching = 1>

// -----

// expected-error @+1 {{columns is at least 1, not 0}}
#columns = #tile.map<rows = 1, columns = 0, lanes = 16, vectors = 1>

// -----

// expected-error @+1 {{a block has the 8 columns of a vector, or all 64, not 3}}
#width = #tile.transposition<across = 0, rows = 64, columns = 64, width = 3, lanes = 8>

// -----

// expected-error @+1 {{rows is a multiple of the 8 rows of a block, not 20}}
#block = #tile.transposition<across = 0, rows = 20, columns = 64, width = 8, lanes = 8>

// -----

// expected-error @+1 {{a plan needs a tiling, not 4 : i64}}
#plan = #tile.plan<4, tiles = 1, scratch = 0, reads = [], writes = []>

// -----

// expected-error @+1 {{ends of segments must ascend, not go from 9 to 8}}
#ends = #tile.map<rows = 1, columns = 64, lanes = 16, vectors = 1, ends = [9, 8]>

// -----

#all = #tile.map<rows = 1, columns = 64, lanes = 16, vectors = 1>
// expected-error @+1 {{a variant is chosen by a size that a run brings, not by #sym.expr<4>}}
#constant = #tile.variant<size = 4, most = 16, tiling = #all>

// -----

// expected-error @+1 {{a variant needs a tiling, not 4 : i64}}
#number = #tile.variant<size = s0, most = 16, tiling = 4>

// -----

#all = #tile.map<rows = 1, columns = 64, lanes = 16, vectors = 1>
// expected-error @+1 {{a variant for #sym.expr<s0> of at most 16 is never chosen after one of at most 16}}
#late = #tile.choice<[<size = s0, most = 16, tiling = #all>, <size = s0, most = 16, tiling = #all>], otherwise = #all>

// -----

#all = #tile.map<rows = 1, columns = 64, lanes = 16, vectors = 1>
// expected-error @+1 {{what suits all other sizes needs a tiling, not #tile.edge}}
#other = #tile.choice<[<size = s0, most = 8, tiling = #all>], otherwise = #tile.edge<level = 1, elements = 64, kept = true>>

// -----

#map = #tile.map<rows = 1, columns = 64, lanes = 16, vectors = 1>
#window = #tile.window<channels = 1, rows = 4, vectors = 2, lanes = 8, pixels = 512, copy = 4096>
#choice = #tile.choice<[<size = s0, most = 8, tiling = #window>], otherwise = #map>
// expected-error @+1 {{a stage is a contraction, a convolution, a window or a choice of these, not #tile.choice}}
#stages = #tile.stages<stages = [#window, #choice], edges = [<level = 1, elements = 64, kept = true>], row_unit = 1, least_tiles = 1>

// -----

// expected-error @+1 {{a block of results has at most 32, not 8 x 5}}
#block = #tile.rows<row_loops = 2, rows = 1, run_loops = [1], lanes = [16], accumulators = [8], block_rows = 8, block_columns = 5>

// -----

// expected-error @+1 {{operand 1 is packed for vectors of one width along rows, but there are none}}
#packed = #tile.rows<row_loops = 2, rows = 1, run_loops = [1, 1], lanes = [16, 1], accumulators = [8, 1], packed = 1>
