/*
** `multiply_ahead` with AMX tiles (TDPBF16PS): 2 x 2 tiles of 16 x 16 sums, from two
** tiles of 16 rows of A and two of 16 columns of B, each 16 pairs deep. Included by
** micro.h.
*/
enum {
  SIDE = 16,             /* rows of a tile, and 4-byte numbers in each row */
  BLOCK = 2 * SIDE,      /* rows and columns of a block of C; equals STEP */
  INNER_STEP = 2 * SIDE, /* operands are padded to a multiple of this many terms of the inner sum */
  LEFT_STEP = BLOCK,     /* A is padded to a multiple of this many rows */
  WIDTH_STEP = BLOCK,    /* narrower blocks of C are copied */
  /* A block of packed operands, held in the L2 cache: 2 MB on every processor with AMX. */
  HELD_ROWS = 192,
  HELD_COLUMNS = 1024,
  HELD_TERMS = 512,
  GRADIENT_ROWS = 128 /* terms of a block of dW */
};

/* Configure the thread's tiles at the start of a parallel region. */
static inline void enter_tiles(void)
{
  struct {
    uint8_t palette, start, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  } shape = {.palette = 1};
  for (int i = 0; i < 8; i++) {
    shape.bytes[i] = SIDE * sizeof(Packed);
    shape.rows[i] = SIDE;
  }
  _tile_loadconfig(&shape);
}

/* Release the tiles at the end of the region: context switches then need not save them. */
static inline void leave_tiles(void)
{
  _tile_release();
}

/* C[BLOCK, BLOCK] (+)= BLOCK rows of A, `down` apart, times one strip of B. */
static inline void multiply_tiles(int64_t depth, const Packed *a, int64_t down, const Packed *b,
                                  bool accumulate, REAL *c, int64_t ldc)
{
  const size_t row = (size_t)down * sizeof(Packed), line = STEP * sizeof(Packed);
  const size_t to = (size_t)ldc * sizeof(REAL);
  if (accumulate) {
    _tile_loadd(0, c, to);
    _tile_loadd(1, c + SIDE, to);
    _tile_loadd(2, c + SIDE * ldc, to);
    _tile_loadd(3, c + SIDE * ldc + SIDE, to);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int64_t p = 0; p < depth; p += SIDE) {
    _tile_loadd(4, a + p, row);
    _tile_loadd(5, a + SIDE * down + p, row);
    _tile_loadd(6, b + p * STEP, line);
    _tile_loadd(7, b + p * STEP + SIDE, line);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, to);
  _tile_stored(1, c + SIDE, to);
  _tile_stored(2, c + SIDE * ldc, to);
  _tile_stored(3, c + SIDE * ldc + SIDE, to);
}

/* C (+)= alpha times the part of a block that lies inside C. */
static inline void add_block(int64_t rows, int64_t columns, REAL alpha, const REAL *block,
                             bool accumulate, REAL *c, int64_t ldc)
{
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      c[i * ldc + j] = alpha * block[i * BLOCK + j] + (accumulate ? c[i * ldc + j] : 0);
}

/* Prefetches nothing: on a Xeon with AMX, a linear layer took 1.2 times as long with prefetches. */
static inline void multiply_ahead(int64_t m, int64_t n, int64_t inner, REAL alpha, Left a, Right b,
                                  bool accumulate, REAL *c, int64_t ldc, Causal causal,
                                  Ahead *ahead)
{
  (void)ahead;
  for (int64_t i = 0; i < m; i += BLOCK)
    for (int64_t left = 0; left < n; left += BLOCK) {
      int64_t from = 0, to = inner;
      if (!needs_tile(causal, i, BLOCK, left, &from, &to))
        continue;
      from = from / INNER_STEP * (INNER_STEP / DEPTH);
      to = (to + INNER_STEP - 1) / INNER_STEP * (INNER_STEP / DEPTH);
      const int64_t rows = m - i < BLOCK ? m - i : BLOCK;
      const int64_t columns = n - left < BLOCK ? n - left : BLOCK;
      const bool direct = rows == BLOCK && columns == BLOCK && alpha == 1;
      REAL block[BLOCK * BLOCK], *corner = c + i * ldc + left;
      multiply_tiles(to - from, a.data + i * a.down + from, a.down,
                     b.data + left / STEP * b.side + from * STEP, direct && accumulate,
                     direct ? corner : block, direct ? ldc : BLOCK);
      if (!direct)
        add_block(rows, columns, alpha, block, accumulate, corner, ldc);
    }
}
