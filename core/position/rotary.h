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

enum { RP_MAX_PAIRS = 4096, RP_MAX_COORDINATES = 16 };

/* 2^53: how far from 0 a position may lie. Beyond, float64 does not tell it from the next one. */
#define RP_FARTHEST_POSITION 9007199254740992.0

/*
** A scheme. Immutable once made, so a table made from it is never stale: of parts
** that are alike it keeps the last one without a list of positions, which all
** layers and steps of one length share.
**
** Pair t of a query at position p turns by p[coordinate_t] theta_t, and is
** multiplied by magnitude exp(growth_t (p - centre)); that of a key by
** magnitude exp(-growth_t (p - centre)). Values and output turn alone.
*/
typedef struct RpRotary {
  int64_t dim;         /* features of a query or key vector */
  int64_t pairs;       /* rotated features of queries and keys, halved */
  int64_t value_pairs; /* the same for values and output */
  double base;         /* 0 where frequencies were listed */
  bool interleaved;    /* pairs (2t, 2t+1), else (t, t + pairs) */
  bool last;           /* the last features turn, else the first */
  unsigned parts;      /* RP_ROTATE_... */
  int coordinates;     /* numbers in a position */
  double magnitude, centre;
  RpTensor *theta, *value_theta; /* float64 [pairs], [value_pairs] */
  RpTensor *growth;              /* float64 [pairs], or NULL */
  RpTensor *coordinate;          /* int32 [pairs], from 0, or NULL for the only one */
  struct RpRotaryKept *kept;     /* a table for each part */
} RpRotary;

/* What makes a scheme; lists are float64 or int32, of one axis, packed, or NULL. */
typedef struct RpRotaryOptions {
  int64_t dim;
  double base;                     /* theta_t = base^(-2t / rotated), */
  double fraction, value_fraction; /* with this share of dim rotated, an even number; */
  const RpTensor *frequencies;     /* or theta_t itself, a pair each, for all four parts */
  const char *pairing;             /* "half" or "interleaved" */
  const char *rotate;              /* letters of "qkvo" */
  bool last;
  double magnitude, centre;   /* 1 and 0 where nothing is magnified */
  const RpTensor *growth;     /* a pair each */
  const RpTensor *coordinate; /* a pair each, from 0 */
} RpRotaryOptions;

/* Check the options and fill *rotary. RP_BAD_ARGUMENT says which of them does not fit. */
RpStatus rp_rotary_init(RpRotary *rotary, const RpRotaryOptions *options);

/* Fill *copy with the same scheme, of which only `letters` turn; RP_BAD_ARGUMENT for others. */
RpStatus rp_rotary_only(RpRotary *copy, const RpRotary *rotary, const char *letters);

/* Give up what a scheme holds; one full of zeros holds nothing. */
void rp_rotary_clear(RpRotary *rotary);

/* How many pairs of a part (one RP_ROTATE_... bit) turn, and their frequencies. */
int64_t rp_rotary_pairs(const RpRotary *rotary, unsigned part);
const double *rp_rotary_theta(const RpRotary *rotary, unsigned part);

/* What pair t of a part is multiplied by at position p. */
double rp_rotary_magnitude(const RpRotary *rotary, unsigned part, int64_t t, double p);

/* The coordinate of a position that pair t reads, from 0. */
int rp_rotary_coordinate(const RpRotary *rotary, int64_t t);

/*
** Positions of a [batch, heads, time, ...] tensor: `list` float64, packed,
** [time] or [1 or batch, time], each for every coordinate, or [1 or batch, time,
** coordinates]; or NULL for offset, offset + 1, ..., in every coordinate.
*/
typedef struct RpPositions {
  RpTensor *list;
  double offset;
} RpPositions;

/* RP_BAD_ARGUMENT when the list has another shape, or a position is not finite or too far. */
RpStatus rp_positions_check(const RpPositions *positions, int coordinates, int64_t batch,
                            int64_t time);

/* Coordinate c of the position at place i of a batch row. */
double rp_position_at(const RpPositions *positions, int64_t batch, int64_t time, int64_t i, int c);

/* Cosines and sines for positions; fills `table`, which borrows from the tensors returned in it. */
typedef struct RpRotaryTable {
  RpTensor *cosine, *sine; /* [1 or batch, time, pairs] */
  RpTable table;
} RpRotaryTable;

/*
** Make the table of a part in `dtype` for `batch` rows of `time` positions; of
** the inverse magnitudes where `inverse`. Fails as rp_positions_check does. With
** 0 pairs the table is empty and rotates nothing.
*/
RpStatus rp_rotary_table(const RpRotary *rotary, unsigned part, bool inverse, RpDtype dtype,
                         const RpPositions *positions, int64_t batch, int64_t time,
                         RpRotaryTable *table);

/* Do the tables of two parts agree wherever their positions do? */
bool rp_rotary_alike(const RpRotary *rotary, unsigned part, unsigned other);

/* The same table, for another owner to release. */
RpRotaryTable rp_rotary_table_retain(const RpRotaryTable *table);

void rp_rotary_table_release(RpRotaryTable *table);

#endif
