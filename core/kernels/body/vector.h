/* Vectors of the width of the instruction set, and the tiles of products that its registers hold.
 */
#ifndef RP_BODY_VECTOR_H
#define RP_BODY_VECTOR_H

#include <stdint.h>

/* A tile has TILE_VECTORS vectors of C; a wide one has WIDE in a row. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, TILE_VECTORS = 24, WIDE = 4 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32, TILE_VECTORS = 12, WIDE = 4 };
#elif defined(__aarch64__)
enum { VECTOR_BYTES = 16, TILE_VECTORS = 16, WIDE = 4 };
#else
enum { VECTOR_BYTES = 16, TILE_VECTORS = 8, WIDE = 2 };
#endif
enum { LANES = VECTOR_BYTES / (int)sizeof(REAL) };

typedef REAL Vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL)), may_alias));

#if REAL_IS_FLOAT
typedef int32_t Picks __attribute__((vector_size(VECTOR_BYTES)));
#else
typedef int64_t Picks __attribute__((vector_size(VECTOR_BYTES)));
#endif

/* SHUFFLE(a, b, indices): elements of two vectors, by indices into both, concatenated. */
#ifdef __clang__ /* has no builtin for indices in a variable, but recognizes a loop */
#define SHUFFLE(a, b, indices) ((__typeof__(a))shuffle((Picks)(a), (Picks)(b), indices))
static inline __attribute__((always_inline)) Picks shuffle(Picks a, Picks b, Picks indices)
{
  Picks y = {0};
  UNROLL(16)
  for (int lane = 0; lane < LANES; lane++)
    y[lane] = indices[lane] < LANES ? a[indices[lane]] : b[indices[lane] - LANES];
  return y;
}
#else
#define SHUFFLE __builtin_shuffle
#endif

/* Each lane plus the one whose number differs in one bit, a constant. */
static inline __attribute__((always_inline)) Vector add_across(const int bit, Vector x)
{
  Picks other = {0};
  UNROLL(16)
  for (int lane = 0; lane < LANES; lane++)
    other[lane] = (lane ^ bit) % LANES;
  return x + SHUFFLE(x, x, other);
}

/* The sum of the lanes of a vector. */
static inline REAL lane_sum(Vector x)
{
  x = LANES > 8 ? add_across(8, x) : x;
  x = LANES > 4 ? add_across(4, x) : x;
  x = LANES > 2 ? add_across(2, x) : x;
  return add_across(1, x)[0];
}

#endif
