/*
** Rotary position encoding (RoFormer, Su et al. 2021, eq. 13-16, and RoPER for
** values and output): the frequencies, and tables of cosine and sine for any
** positions. Angles, cosines and sines are computed in float64 from the product
** position * theta, whatever the dtype of the table.
*/
#ifndef RP_ROTARY_H
#define RP_ROTARY_H

#include "core/kernels/kernels.h"
#include "core/tensor/tensor.h"

/* Which of attention's four tensors are rotated; any subset. */
enum { RP_ROTATE_QUERY = 1, RP_ROTATE_KEY = 2, RP_ROTATE_VALUE = 4, RP_ROTATE_OUTPUT = 8 };

enum { RP_MAX_PAIRS = 4096 };

/* A scheme. Immutable once made, so a table made from it is never stale. */
typedef struct RpRotary {
  int64_t dim;         /* features of a query or key vector */
  int64_t pairs;       /* rotated features of queries and keys, halved */
  int64_t value_pairs; /* the same for values and output */
  double base;
  bool interleaved; /* pairs (2t, 2t+1), else (t, t + pairs) */
  unsigned parts;   /* RP_ROTATE_... */
} RpRotary;

/*
** Check and fill *rotary. `dim` features, of which fraction * dim (an even
** whole number) are rotated in queries and keys and value_fraction * dim in
** values and output; theta_t = base^(-2t / rotated). `rotate` holds letters of
** "qkvo". RP_BAD_ARGUMENT says which of these does not fit.
*/
RpStatus rp_rotary_init(RpRotary *rotary, int64_t dim, double base, const char *pairing,
                        double fraction, double value_fraction, const char *rotate);

/* theta_t for 0 <= t < pairs: base^(-t / pairs). */
double rp_rotary_theta(const RpRotary *rotary, int64_t pairs, int64_t t);

/*
** Positions of a [batch, heads, time, ...] tensor: `list` float64, packed,
** [time] or [batch, time]; or NULL for offset, offset + 1, ...
*/
typedef struct RpPositions {
  RpTensor *list;
  double offset;
} RpPositions;

/* RP_BAD_ARGUMENT when the list has another shape than [time] or [batch, time], or is not finite.
 */
RpStatus rp_positions_check(const RpPositions *positions, int64_t batch, int64_t time);

/* Cosines and sines for positions; fills `table`, which borrows from the tensors returned in it. */
typedef struct RpRotaryTable {
  RpTensor *cosine, *sine; /* [1 or batch, time, pairs] */
  RpTable table;
} RpRotaryTable;

/*
** Make the table of `pairs` pairs in `dtype` for `batch` rows of `time`
** positions. Fails as rp_positions_check does. With 0 pairs the table is empty and rotates nothing.
*/
RpStatus rp_rotary_table(const RpRotary *rotary, int64_t pairs, RpDtype dtype,
                         const RpPositions *positions, int64_t batch, int64_t time,
                         RpRotaryTable *table);

void rp_rotary_table_release(RpRotaryTable *table);

#endif
