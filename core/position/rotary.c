#include "core/position/rotary.h"

#include <math.h>
#include <string.h>

#include "core/base/interrupt.h"

/* fraction * dim as a number of pairs, or RP_BAD_ARGUMENT. */
static RpStatus count_pairs(const char *name, double fraction, int64_t dim, int64_t *pairs)
{
  if (!(fraction >= 0 && fraction <= 1))
    return rp_fail(RP_BAD_ARGUMENT, "rope: %s: expected a number from 0 to 1, got %g", name,
                   fraction);
  const double rotated = fraction * (double)dim, whole = rint(rotated);
  if (fabs(rotated - whole) > 1e-9 * (double)dim || fmod(whole, 2) != 0)
    return rp_fail(RP_BAD_ARGUMENT,
                   "rope: %s %g of %lld features rotates %g of them: expected an even whole number",
                   name, fraction, (long long)dim, rotated);
  *pairs = (int64_t)whole / 2;
  return RP_OK;
}

static RpStatus parse_parts(const char *rotate, unsigned *parts)
{
  *parts = 0;
  for (const char *letter = rotate; *letter != '\0'; letter++) {
    const char *known = strchr("qkvo", *letter);
    const unsigned bit = known != NULL ? 1u << (known - "qkvo") : 0;
    if (bit == 0 || (*parts & bit) != 0)
      return rp_fail(RP_BAD_ARGUMENT,
                     "rope: rotate: expected letters of \"qkvo\", each at most once, got \"%s\"",
                     rotate);
    *parts |= bit;
  }
  return RP_OK;
}

RpStatus rp_rotary_init(RpRotary *rotary, int64_t dim, double base, const char *pairing,
                        double fraction, double value_fraction, const char *rotate)
{
  if (dim < 1 || dim > 2 * RP_MAX_PAIRS)
    return rp_fail(RP_BAD_ARGUMENT, "rope: dim: expected 1 to %d features, got %lld",
                   2 * RP_MAX_PAIRS, (long long)dim);
  if (!(base > 0) || !isfinite(base))
    return rp_fail(RP_BAD_ARGUMENT, "rope: base: expected a positive finite number, got %g", base);
  *rotary = (RpRotary){.dim = dim, .base = base};
  rotary->interleaved = strcmp(pairing, "interleaved") == 0;
  if (!rotary->interleaved && strcmp(pairing, "half") != 0)
    return rp_fail(RP_BAD_ARGUMENT,
                   "rope: pairing: expected \"half\" or \"interleaved\", got \"%s\"", pairing);
  RpStatus status = count_pairs("fraction", fraction, dim, &rotary->pairs);
  if (status == RP_OK)
    status = count_pairs("value_fraction", value_fraction, dim, &rotary->value_pairs);
  return status == RP_OK ? parse_parts(rotate, &rotary->parts) : status;
}

double rp_rotary_theta(const RpRotary *rotary, int64_t pairs, int64_t t)
{
  return pow(rotary->base, -(double)t / (double)pairs);
}

RpStatus rp_positions_check(const RpPositions *positions, int64_t batch, int64_t time)
{
  const RpTensor *list = positions->list;
  if (list == NULL)
    return isfinite(positions->offset)
               ? RP_OK
               : rp_fail(RP_BAD_ARGUMENT, "positions: expected a finite offset, got %g",
                         positions->offset);
  const bool shared = list->rank == 1 && list->shape[0] == time;
  const bool each =
      list->rank == 2 && list->shape[1] == time && (list->shape[0] == batch || list->shape[0] == 1);
  if (!shared && !each)
    return rp_fail(RP_BAD_ARGUMENT, "positions: expected shape [%lld] or [%lld, %lld], got %s",
                   (long long)time, (long long)batch, (long long)time, rp_tensor_shape_text(list));
  const double *position = rp_tensor_data(list);
  for (int64_t i = 0; i < rp_tensor_count(list); i++)
    if (!isfinite(position[i]))
      return rp_fail(RP_BAD_ARGUMENT, "positions: expected finite numbers, got %g at place %lld",
                     position[i], (long long)i + 1);
  return RP_OK;
}

/*
** The cosine and sine of position * theta. The product rounds, by 1e-11 at
** position 131072: the turn is made for what it lost, too, so that rotations
** compose to rounding error wherever they are.
*/
static void turn(double position, double theta, double *cosine, double *sine)
{
  const double angle = position * theta, lost = fma(position, theta, -angle);
  const double c = cos(angle), s = sin(angle), dc = cos(lost), ds = sin(lost);
  *cosine = c * dc - s * ds;
  *sine = s * dc + c * ds;
}

static void fill_table(const RpRotary *rotary, int64_t rows, const RpPositions *positions,
                       RpRotaryTable *table)
{
  const int64_t pairs = table->table.pairs;
  const double *list = positions->list != NULL ? rp_tensor_data(positions->list) : NULL;
  double theta[RP_MAX_PAIRS];
  for (int64_t t = 0; t < pairs; t++)
    theta[t] = rp_rotary_theta(rotary, pairs, t);
  void *cosine = rp_tensor_data(table->cosine), *sine = rp_tensor_data(table->sine);
  const bool single = table->cosine->dtype == RP_FLOAT32;
#pragma omp parallel for schedule(static) if (rows * pairs > 1 << 10)
  for (int64_t row = 0; row < rows; row++) {
    if (rp_interrupted())
      continue;
    const double position = list != NULL ? list[row] : positions->offset + (double)row;
    for (int64_t t = 0; t < pairs; t++) {
      const int64_t at = row * pairs + t;
      double c, s;
      turn(position, theta[t], &c, &s);
      if (single) {
        ((float *)cosine)[at] = (float)c;
        ((float *)sine)[at] = (float)s;
      } else {
        ((double *)cosine)[at] = c;
        ((double *)sine)[at] = s;
      }
    }
  }
}

RpStatus rp_rotary_table(const RpRotary *rotary, int64_t pairs, RpDtype dtype,
                         const RpPositions *positions, int64_t batch, int64_t time,
                         RpRotaryTable *table)
{
  *table = (RpRotaryTable){.table = {.pairs = pairs, .interleaved = rotary->interleaved}};
  if (rp_positions_check(positions, batch, time) != RP_OK)
    return RP_BAD_ARGUMENT;
  if (pairs == 0)
    return RP_OK;
  const bool each =
      positions->list != NULL && positions->list->rank == 2 && positions->list->shape[0] > 1;
  const int64_t shape[] = {each ? batch : 1, time, pairs};
  table->cosine = rp_tensor_new(dtype, 3, shape);
  table->sine = rp_tensor_new(dtype, 3, shape);
  if (table->cosine == NULL || table->sine == NULL) {
    rp_rotary_table_release(table);
    return RP_OUT_OF_MEMORY;
  }
  fill_table(rotary, shape[0] * time, positions, table);
  if (rp_interrupted()) {
    rp_rotary_table_release(table);
    return rp_interrupt_status();
  }
  table->table.cosine = rp_tensor_data(table->cosine);
  table->table.sine = rp_tensor_data(table->sine);
  table->table.batch_stride = each ? time * pairs : 0;
  return RP_OK;
}

void rp_rotary_table_release(RpRotaryTable *table)
{
  rp_tensor_release(table->cosine);
  rp_tensor_release(table->sine);
  *table = (RpRotaryTable){.table = {.pairs = 0}};
}
