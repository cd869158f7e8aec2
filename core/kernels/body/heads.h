/* Rows of one (batch, head) unit, packed for matrix products and rotated while packing. */
#ifndef RP_BODY_HEADS_H
#define RP_BODY_HEADS_H

#include "core/kernels/body/operand.h"
#include "core/kernels/body/row.h"

enum { AHEAD = 24 }; /* rows between prefetching and reading */

/* One unit's view of an operand: the address of row 0 and the stride of rows. */
typedef struct Rows {
  REAL *data;
  int64_t stride;
} Rows;

/* Reserve the next elements of `memory`; if that is NULL, only count them. */
static REAL *reserve(REAL *memory, int64_t *used, int64_t elements)
{
  REAL *start = memory != NULL ? memory + *used : NULL;
  *used += round_up(elements, 64 / (int64_t)sizeof(REAL));
  return start;
}

static Rows unit_rows(const RpHeads *x, int64_t b, int64_t h)
{
  return (Rows){(REAL *)x->data + b * x->batch + h * x->head, x->time};
}

/* Prefetch a row: rows of a head are too far apart for the processor's own prefetching. */
static inline void prefetch_row(Rows x, int64_t i, int64_t features)
{
  for (int64_t f = 0; f < features; f += 64 / (int64_t)sizeof(REAL))
    __builtin_prefetch(x.data + i * x.stride + f);
}

/* Pack rows first .. first + count - 1, rotated and padded with zeros to `width`. */
static Rows pack_rows(const RpTable *table, int64_t batch, int64_t first, int64_t count,
                      int64_t features, int64_t width, Rows x, REAL *packed)
{
  const RpTable local = *table;
  for (int64_t i = 0; i < count; i++) {
    prefetch_row(x, first + i + AHEAD, features);
    rotate_vector(&local, false, batch, first + i, features, x.data + (first + i) * x.stride,
                  packed + i * width);
    for (int64_t f = features; f < width; f++)
      packed[i * width + f] = 0;
  }
  return (Rows){packed, width};
}

/* The inverse of pack_rows: write packed rows back, rotated by the inverse rotation. */
static void unpack_rows(const RpTable *table, int64_t batch, int64_t first, int64_t count,
                        int64_t features, int64_t width, const REAL *packed, Rows y)
{
  const RpTable local = *table;
  for (int64_t i = 0; i < count; i++)
    rotate_vector(&local, true, batch, first + i, features, packed + i * width,
                  y.data + (first + i) * y.stride);
}

#endif
