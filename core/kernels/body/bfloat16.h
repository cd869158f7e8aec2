/*
** Packing of operands rounded to bfloat16: to nearest, ties to even. As with the processor's
** instructions, NaN remains NaN, and magnitudes below 2^-126 become 0. Elements are packed as pairs
** of bfloat16 if tiles multiply pairs, otherwise as floats with the same values. Included by
** operand.h.
*/
#if MULTIPLIES_PAIRS

static inline __m512 load_floats(const REAL *x, int64_t count)
{
  const __mmask16 mask = count >= LANES ? 0xFFFF : count <= 0 ? 0 : (__mmask16)((1 << count) - 1);
  return _mm512_maskz_loadu_ps(mask, x);
}

/* Pairs of adjacent elements: `count` elements, padded with zeros. */
static inline PackedVector pack_row(const REAL *x, int64_t count)
{
  return (PackedVector)_mm512_cvtne2ps_pbh(load_floats(x + LANES, count - LANES),
                                           load_floats(x, count));
}

/* Pairs of an element and the one below it: `count` columns of min(rows, 2) rows, padded. */
static inline PackedVector pack_below(const REAL *x, int64_t line, int64_t rows, int64_t count)
{
  const __m512i pairs = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  const __m512 top = load_floats(x, rows > 0 ? count : 0);
  const __m512 bottom = load_floats(x + line, rows > 1 ? count : 0);
  return (PackedVector)_mm512_permutexvar_epi16(pairs, (__m512i)_mm512_cvtne2ps_pbh(bottom, top));
}
#else
static inline PackedVector rounded(Vector x)
{
  typedef uint32_t Bits __attribute__((vector_size(VECTOR_BYTES)));
  const Bits bits = (Bits)x, magnitude = bits & 0x7FFFFFFF;
  const Bits is_nan = (Bits)(magnitude > 0x7F800000), is_tiny = (Bits)(magnitude < 0x800000);
  const Bits nearest = bits + 0x7FFF + (bits >> 16 & 1);
  const Bits number = (is_tiny & bits & 0x80000000) | (~is_tiny & nearest);
  return (PackedVector)(((is_nan & (bits | 0x400000)) | (~is_nan & number)) & 0xFFFF0000);
}

static inline PackedVector pack_row(const REAL *x, int64_t count)
{
  if (count >= LANES)
    return rounded(*(const Vector *)x);
  REAL row[LANES] = {0};
  Vector whole;
  if (count > 0)
    memcpy(row, x, (size_t)count * sizeof *row);
  memcpy(&whole, row, sizeof whole);
  return rounded(whole);
}

static inline PackedVector pack_below(const REAL *x, int64_t line, int64_t rows, int64_t count)
{
  (void)line;
  return pack_row(x, rows > 0 ? count : 0);
}
#endif

/* Stride of packed rows, padded: powers of two, as n often is, cause conflicts in the cache. */
static inline int64_t padded(int64_t n)
{
  return round_up(n, LANES) + LANES;
}

static inline int64_t left_room(int64_t m, int64_t inner)
{
  const int64_t depth = packed_depth(inner);
  return larger(round_up(m, LEFT_STEP) * padded(depth), depth * padded(m));
}

static inline int64_t right_room(int64_t inner, int64_t n)
{
  return packed_depth(inner) * round_up(n, STEP);
}

/* A, stored by columns, packed by rows. */
static inline Left pack_transposed(int64_t m, int64_t depth, int64_t inner, Strided a, Packed *room)
{
  const int64_t line = padded(depth);
  for (int64_t i = 0; i < m; i += LANES)
    for (int64_t p = 0; p < depth; p += LANES) {
      PackedVector rows[LANES];
      for (int64_t q = 0; q < LANES; q++)
        rows[q] = pack_below(a.data + (p + q) * DEPTH * a.across + i, a.across,
                             inner - (p + q) * DEPTH, m - i);
      transpose_block(rows);
      for (int64_t q = 0; q < LANES; q++)
        *(PackedVector *)(room + (i + q) * line + p) = rows[q];
    }
  return (Left){room, line, 1};
}

/* A[m, inner], stored by rows or by columns. */
static Left pack_left(int64_t m, int64_t inner, Strided a, Packed *room)
{
  const int64_t depth = packed_depth(inner);
  const int64_t line = padded(a.across == 1 ? depth : m);
  for (int64_t i = 0; a.across == 1 && i < m; i++)
    for (int64_t p = 0; p < depth; p += LANES)
      *(PackedVector *)(room + i * line + p) =
          pack_row(a.data + i * a.down + p * DEPTH, inner - p * DEPTH);
  if (a.across == 1)
    return (Left){room, line, 1};
  if (LEFT_STEP > 1)
    return pack_transposed(m, depth, inner, a, room);
  for (int64_t p = 0; p < depth; p++)
    for (int64_t i = 0; i < m; i += LANES)
      *(PackedVector *)(room + p * line + i) =
          pack_below(a.data + p * DEPTH * a.across + i, a.across, inner - p * DEPTH, m - i);
  return (Left){room, 1, line};
}

/* B[inner, n] from rows `line` apart, padded with zeros. */
static Right pack_right(int64_t inner, int64_t n, const REAL *b, int64_t line, Packed *room)
{
  const int64_t depth = packed_depth(inner), whole = round_up(n, STEP);
  for (int64_t p = 0; p < depth; p++)
    for (int64_t j = 0; j < whole; j += LANES)
      *(PackedVector *)(room + (j / STEP * depth + p) * STEP + j % STEP) =
          pack_below(b + p * DEPTH * line + j, line, inner - p * DEPTH, n - j);
  return (Right){room, STEP, depth * STEP};
}

static inline Right copy_right(int64_t inner, int64_t n, const REAL *b, int64_t line, Packed *room)
{
  return pack_right(inner, n, b, line, room);
}
