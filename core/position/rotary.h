/*
** Rotary position encoding (RoFormer, Su et al. 2021, eq. 13-16; for values and
** output, RoPER): frequencies, and tables of cosines and sines for any positions.
** Angles (position * theta), cosines and sines are computed in float64, even for
** tables in float32.
*/
#ifndef RP_ROTARY_H
#define RP_ROTARY_H

#include "core/kernels/kernels.h"
#include "core/tensor/tensor.h"

/* Bits for the four tensors of attention; any subset can be rotated. */
enum { RP_ROTATE_QUERY = 1, RP_ROTATE_KEY = 2, RP_ROTATE_VALUE = 4, RP_ROTATE_OUTPUT = 8 };

enum { RP_MAX_PAIRS = 4096, RP_MAX_COORDINATES = 16 };

/* 2^53, the largest absolute position. Beyond it, float64 cannot represent every integer. */
#define RP_FARTHEST_POSITION 9007199254740992.0

/*
** A rotary scheme, immutable after rp_rotary_init. For each part it caches the last
** table that was made for consecutive positions (without a list). Layers, training
** steps of equal length, and parts with equal tables share it.
**
** Pair t of a query at position p is rotated by p[coordinate_t] theta_t and
** multiplied by magnitude exp(growth_t (p - centre)); pair t of a key, by
** magnitude exp(-growth_t (p - centre)). Values and output are only rotated.
*/
typedef struct RpRotary {
  int64_t dim;         /* features of a query or key vector */
  int64_t pairs;       /* rotated pairs of features of queries and keys */
  int64_t value_pairs; /* the same for values and output */
  double base;         /* 0 if frequencies were given as a list */
  bool interleaved;    /* pairs (2t, 2t+1), else (t, t + pairs) */
  bool last;           /* rotate the last features, else the first */
  unsigned parts;      /* RP_ROTATE_... */
  int coordinates;     /* number of coordinates of a position */
  double magnitude, centre;
  RpTensor *theta, *value_theta; /* float64 [pairs], [value_pairs] */
  RpTensor *growth;              /* float64 [pairs], or NULL */
  RpTensor *coordinate;          /* int32 [pairs], from 0, or NULL for the only one */
  struct RpRotaryKept *kept;     /* a table for each part */
} RpRotary;

/* Options of a scheme. Lists are packed tensors of one axis, or NULL. */
typedef struct RpRotaryOptions {
  int64_t dim;
  double base;                     /* theta_t = base^(-2t / rotated) */
  double fraction, value_fraction; /* rotated / dim, for q and k and for v and o; rotated is even */
  const RpTensor *frequencies;     /* instead: theta_t of each pair, float64, for all four parts */
  const char *pairing;             /* "half" or "interleaved" */
  const char *rotate;              /* letters of "qkvo" */
  bool last;
  double magnitude, centre;   /* default 1 and 0 */
  const RpTensor *growth;     /* of each pair, float64 */
  const RpTensor *coordinate; /* of each pair, int32 from 0 */
} RpRotaryOptions;

/* Check the options and fill *rotary; RP_BAD_ARGUMENT if one is invalid. */
RpStatus rp_rotary_init(RpRotary *rotary, const RpRotaryOptions *options);

/* Fill *copy with the same scheme restricted to `letters`; RP_BAD_ARGUMENT for wrong letters. */
RpStatus rp_rotary_only(RpRotary *copy, const RpRotary *rotary, const char *letters);

/* Release the tensors of a scheme. A scheme of zero bytes is allowed. */
void rp_rotary_clear(RpRotary *rotary);

/* Number of rotated pairs of a part (one RP_ROTATE_... bit), and their frequencies. */
int64_t rp_rotary_pairs(const RpRotary *rotary, unsigned part);
const double *rp_rotary_theta(const RpRotary *rotary, unsigned part);

/* The factor of pair t of a part at position p. */
double rp_rotary_magnitude(const RpRotary *rotary, unsigned part, int64_t t, double p);

/* The index, from 0, of the coordinate by which pair t is rotated. */
int rp_rotary_coordinate(const RpRotary *rotary, int64_t t);

/*
** Positions of a [batch, heads, time, ...] tensor. `list` is packed float64: [time] or
** [1 or batch, time], with one number for all coordinates, or [1 or batch, time,
** coordinates]. If it is NULL, positions are offset, offset + 1, ... in every
** coordinate.
*/
typedef struct RpPositions {
  RpTensor *list;
  double offset;
} RpPositions;

/* RP_BAD_ARGUMENT if the list has another shape, or if a position is not finite or beyond 2^53. */
RpStatus rp_positions_check(const RpPositions *positions, int coordinates, int64_t batch,
                            int64_t time);

/* Coordinate c of the position at index i (from 0) of a batch row. */
double rp_position_at(const RpPositions *positions, int64_t batch, int64_t time, int64_t i, int c);

/* Cosines and sines for positions; `table` points into the two tensors. */
typedef struct RpRotaryTable {
  RpTensor *cosine, *sine; /* [1 or batch, time, pairs] */
  RpTable table;
} RpRotaryTable;

/*
** Make the table of a part in `dtype` for `batch` rows of `time` positions, with
** inverse magnitudes if `inverse`. If the part has no pairs, the table is empty and
** rotates nothing. The caller releases it. Errors as for rp_positions_check, and
** RP_BAD_ARGUMENT for a position so far from the centre that its magnitude overflows.
*/
RpStatus rp_rotary_table(const RpRotary *rotary, unsigned part, bool inverse, RpDtype dtype,
                         const RpPositions *positions, int64_t batch, int64_t time,
                         RpRotaryTable *table);

/* True if two parts have equal tables for equal positions. */
bool rp_rotary_alike(const RpRotary *rotary, unsigned part, unsigned other);

/* Add a reference to a table, which the new owner must release. */
RpRotaryTable rp_rotary_table_retain(const RpRotaryTable *table);

void rp_rotary_table_release(RpRotaryTable *table);

#endif
