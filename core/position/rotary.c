#include "core/position/rotary.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/base/threads.h"
#include "core/tensor/copy.h"

/* A cached table for positions offset, offset + 1, ...; initially empty. */
struct RpRotaryKept {
  RpRotaryTable table;
  double offset;
  bool inverse;
};

enum { PARTS = 4 };

/* The even number of features, of `dim`, that is nearest to `rotated`. */
static long long nearest_even(double rotated, int64_t dim)
{
  const long long even = 2 * llrint(rotated / 2);
  return even > dim ? even - 2 : even;
}

/* Set *pairs to fraction * dim / 2; RP_BAD_ARGUMENT if that is not an integer. */
static RpStatus count_pairs(const char *name, double fraction, int64_t dim, int64_t *pairs)
{
  if (!(fraction >= 0 && fraction <= 1))
    return rp_fail(RP_BAD_ARGUMENT, "rope: %s: expected a number from 0 to 1, got %g", name,
                   fraction);
  const double rotated = fraction * (double)dim, whole = rint(rotated);
  if (fabs(rotated - whole) > 1e-9 * (double)dim || fmod(whole, 2) != 0)
    return rp_fail(RP_BAD_ARGUMENT,
                   "rope: %s: expected a fraction that rotates an even number of features, got %g, "
                   "which rotates %g of %lld; the nearest is %lld / %lld",
                   name, fraction, rotated, (long long)dim, nearest_even(rotated, dim),
                   (long long)dim);
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

/* RP_OK if the list has the dtype and one finite number for each of `count` pairs. */
static RpStatus check_list(const char *name, const RpTensor *list, RpDtype dtype, int64_t count)
{
  if (list->dtype != dtype || list->rank != 1 || list->shape[0] != count)
    return rp_fail(RP_BAD_ARGUMENT, "rope: %s: expected %s [%lld], one for each pair, got %s %s",
                   name, rp_dtype_name(dtype), (long long)count, rp_dtype_name(list->dtype),
                   rp_tensor_shape_text(list));
  const double *number = dtype == RP_FLOAT64 ? rp_tensor_data(list) : NULL;
  for (int64_t t = 0; number != NULL && t < count; t++)
    if (!isfinite(number[t]))
      return rp_fail(RP_BAD_ARGUMENT, "rope: %s: expected finite numbers, got %g as element %lld",
                     name, number[t], (long long)t + 1);
  return RP_OK;
}

static RpStatus check_numbers(const RpRotaryOptions *o)
{
  if (o->dim < 1 || o->dim > 2 * RP_MAX_PAIRS)
    return rp_fail(RP_BAD_ARGUMENT, "rope: dim: expected 1 to %d features, got %lld",
                   2 * RP_MAX_PAIRS, (long long)o->dim);
  if (!(o->base > 0) || !isfinite(o->base))
    return rp_fail(RP_BAD_ARGUMENT, "rope: base: expected a positive finite number, got %g",
                   o->base);
  if (!(o->magnitude > 0) || !isfinite(o->magnitude))
    return rp_fail(RP_BAD_ARGUMENT, "rope: magnitude: expected a positive finite number, got %g",
                   o->magnitude);
  if (!isfinite(o->centre))
    return rp_fail(RP_BAD_ARGUMENT, "rope: centre: expected a finite number, got %g", o->centre);
  if (strcmp(o->pairing, "half") != 0 && strcmp(o->pairing, "interleaved") != 0)
    return rp_fail(RP_BAD_ARGUMENT,
                   "rope: pairing: expected \"half\" or \"interleaved\", got \"%s\"", o->pairing);
  return RP_OK;
}

/* Set the numbers of pairs, from the listed frequencies or from the fractions. */
static RpStatus count_rotated(RpRotary *rotary, const RpRotaryOptions *o)
{
  if (o->frequencies == NULL) {
    RpStatus status = count_pairs("fraction", o->fraction, o->dim, &rotary->pairs);
    return status == RP_OK
               ? count_pairs("value_fraction", o->value_fraction, o->dim, &rotary->value_pairs)
               : status;
  }
  const int64_t count = rp_tensor_count(o->frequencies);
  if (count > o->dim / 2)
    return rp_fail(RP_BAD_ARGUMENT,
                   "rope: frequencies: expected at most %lld, one for each pair of %lld features, "
                   "got %lld",
                   (long long)(o->dim / 2), (long long)o->dim, (long long)count);
  rotary->pairs = rotary->value_pairs = count;
  return check_list("frequencies", o->frequencies, RP_FLOAT64, count);
}

static RpStatus check_lists(RpRotary *rotary, const RpRotaryOptions *o)
{
  RpStatus status = RP_OK;
  rotary->coordinates = 1;
  if (o->growth != NULL)
    status = check_list("growth", o->growth, RP_FLOAT64, rotary->pairs);
  if (status != RP_OK || o->coordinate == NULL)
    return status;
  if (rotary->pairs != rotary->value_pairs)
    return rp_fail(RP_BAD_ARGUMENT, "rope: coordinates: expected value_fraction equal to fraction");
  status = check_list("coordinates", o->coordinate, RP_INT32, rotary->pairs);
  const int32_t *coordinate = rp_tensor_data(o->coordinate);
  for (int64_t t = 0; status == RP_OK && t < rotary->pairs; t++) {
    if (coordinate[t] < 0 || coordinate[t] >= RP_MAX_COORDINATES)
      return rp_fail(RP_BAD_ARGUMENT, "rope: coordinates: expected numbers from 1 to %d, got %d",
                     RP_MAX_COORDINATES, coordinate[t] + 1);
    if (coordinate[t] >= rotary->coordinates)
      rotary->coordinates = coordinate[t] + 1;
  }
  return status;
}

/* theta_t = base^(-t / pairs) for t < pairs. */
static RpTensor *powers(double base, int64_t pairs)
{
  RpTensor *theta = rp_tensor_new(RP_FLOAT64, 1, &pairs);
  for (int64_t t = 0; theta != NULL && t < pairs; t++)
    ((double *)rp_tensor_data(theta))[t] = pow(base, -(double)t / (double)pairs);
  return theta;
}

/* RP_OK if no angle of these frequencies overflows at any position. */
static RpStatus check_angles(const RpTensor *theta)
{
  const double *data = rp_tensor_data(theta);
  for (int64_t t = 0; t < rp_tensor_count(theta); t++)
    if (!isfinite(data[t] * RP_FARTHEST_POSITION))
      return rp_fail(
          RP_BAD_ARGUMENT,
          "rope: expected frequencies up to %g, beyond which angles overflow, got %g for "
          "pair %lld",
          DBL_MAX / RP_FARTHEST_POSITION, data[t], (long long)t + 1);
  return RP_OK;
}

static RpTensor *copy_of(const RpTensor *list)
{
  return rp_tensor_convert(list, list->dtype);
}

/* An empty cache of tables, one per part. */
static struct RpRotaryKept *new_kept(void)
{
  struct RpRotaryKept *kept = rp_alloc_array(PARTS, sizeof *kept);
  for (int i = 0; kept != NULL && i < PARTS; i++)
    kept[i] = (struct RpRotaryKept){.offset = 0};
  return kept;
}

RpStatus rp_rotary_init(RpRotary *rotary, const RpRotaryOptions *o)
{
  RpRotary made = {.dim = o->dim,
                   .base = o->frequencies == NULL ? o->base : 0,
                   .interleaved = strcmp(o->pairing, "interleaved") == 0,
                   .last = o->last,
                   .magnitude = o->magnitude,
                   .centre = o->centre};
  RpStatus status = check_numbers(o);
  if (status == RP_OK)
    status = count_rotated(&made, o);
  if (status == RP_OK)
    status = check_lists(&made, o);
  if (status == RP_OK)
    status = parse_parts(o->rotate, &made.parts);
  if (status != RP_OK)
    return status;
  const bool listed = o->frequencies != NULL;
  made.theta = listed ? copy_of(o->frequencies) : powers(o->base, made.pairs);
  made.value_theta = listed && made.theta != NULL ? rp_tensor_retain(made.theta)
                                                  : powers(o->base, made.value_pairs);
  made.growth = o->growth != NULL ? copy_of(o->growth) : NULL;
  made.coordinate = o->coordinate != NULL ? copy_of(o->coordinate) : NULL;
  made.kept = new_kept();
  if (made.theta == NULL || made.value_theta == NULL || made.kept == NULL ||
      (o->growth != NULL && made.growth == NULL) ||
      (o->coordinate != NULL && made.coordinate == NULL)) {
    rp_rotary_clear(&made);
    return RP_OUT_OF_MEMORY;
  }
  status = check_angles(made.theta);
  if (status == RP_OK)
    status = check_angles(made.value_theta);
  if (status == RP_OK)
    *rotary = made;
  else
    rp_rotary_clear(&made);
  return status;
}

RpStatus rp_rotary_only(RpRotary *copy, const RpRotary *rotary, const char *letters)
{
  unsigned parts;
  RpStatus status = parse_parts(letters, &parts);
  if (status != RP_OK)
    return status;
  struct RpRotaryKept *kept = new_kept();
  if (kept == NULL)
    return RP_OUT_OF_MEMORY;
  *copy = *rotary;
  copy->parts &= parts;
  copy->kept = kept;
  RpTensor *const held[] = {copy->theta, copy->value_theta, copy->growth, copy->coordinate};
  for (int i = 0; i < 4; i++)
    if (held[i] != NULL)
      rp_tensor_retain(held[i]);
  return RP_OK;
}

void rp_rotary_clear(RpRotary *rotary)
{
  rp_tensor_release(rotary->theta);
  rp_tensor_release(rotary->value_theta);
  rp_tensor_release(rotary->growth);
  rp_tensor_release(rotary->coordinate);
  for (int i = 0; rotary->kept != NULL && i < PARTS; i++)
    rp_rotary_table_release(&rotary->kept[i].table);
  rp_free(rotary->kept);
  *rotary = (RpRotary){0};
}

static bool is_of_scores(unsigned part)
{
  return (part & (RP_ROTATE_QUERY | RP_ROTATE_KEY)) != 0;
}

int64_t rp_rotary_pairs(const RpRotary *rotary, unsigned part)
{
  return is_of_scores(part) ? rotary->pairs : rotary->value_pairs;
}

const double *rp_rotary_theta(const RpRotary *rotary, unsigned part)
{
  return rp_tensor_data(is_of_scores(part) ? rotary->theta : rotary->value_theta);
}

double rp_rotary_magnitude(const RpRotary *rotary, unsigned part, int64_t t, double p)
{
  if (!is_of_scores(part) || rotary->growth == NULL)
    return is_of_scores(part) ? rotary->magnitude : 1;
  const double exponent = ((double *)rp_tensor_data(rotary->growth))[t] * (p - rotary->centre);
  return rotary->magnitude * exp(part == RP_ROTATE_QUERY ? exponent : -exponent);
}

int rp_rotary_coordinate(const RpRotary *rotary, int64_t t)
{
  return rotary->coordinate != NULL ? ((int32_t *)rp_tensor_data(rotary->coordinate))[t] : 0;
}

bool rp_rotary_alike(const RpRotary *rotary, unsigned part, unsigned other)
{
  if (is_of_scores(part) == is_of_scores(other))
    return rotary->growth == NULL || part == other || !is_of_scores(part);
  return rotary->pairs == rotary->value_pairs && rotary->growth == NULL && rotary->magnitude == 1;
}

/* True if each row of the batch has its own positions. */
static bool is_each(const RpTensor *list)
{
  return list != NULL && list->rank > 1 && list->shape[0] > 1;
}

RpStatus rp_positions_check(const RpPositions *positions, int coordinates, int64_t batch,
                            int64_t time)
{
  const RpTensor *list = positions->list;
  if (list == NULL)
    return fabs(positions->offset) + (double)time <= RP_FARTHEST_POSITION
               ? RP_OK
               : rp_fail(RP_BAD_ARGUMENT,
                         "positions: expected a finite offset, and positions up to 2^53, got %g",
                         positions->offset);
  const int64_t all[] = {batch, time, coordinates};
  const int most = coordinates > 1 ? 3 : 2; /* maximum number of axes */
  const bool fits = list->rank == 1
                        ? list->shape[0] == time
                        : list->rank > 1 && list->rank <= most && list->shape[1] == time &&
                              (list->shape[0] == batch || list->shape[0] == 1) &&
                              (list->rank < 3 || list->shape[2] == coordinates);
  if (!fits)
    return rp_fail(RP_BAD_ARGUMENT, "positions: expected shape %s or %s, got %s",
                   rp_shape_text(1, &time), rp_shape_text(most, all), rp_tensor_shape_text(list));
  const double *position = rp_tensor_data(list);
  for (int64_t i = 0; i < rp_tensor_count(list); i++)
    if (!(fabs(position[i]) <= RP_FARTHEST_POSITION))
      return rp_fail(RP_BAD_ARGUMENT,
                     "positions: expected finite numbers up to 2^53, got %g as element %lld",
                     position[i], (long long)i + 1);
  return RP_OK;
}

double rp_position_at(const RpPositions *positions, int64_t batch, int64_t time, int64_t i, int c)
{
  const RpTensor *list = positions->list;
  if (list == NULL)
    return positions->offset + (double)i;
  const int64_t row = is_each(list) ? batch * time + i : i;
  return ((const double *)rp_tensor_data(list))[list->rank == 3 ? row * list->shape[2] + c : row];
}

/*
** The cosine and sine of position * theta. A second rotation corrects the rounding
** error of the product, which is about 1e-11 at position 131072. Rotations then
** compose up to rounding error at any position.
*/
static void cosine_sine(double position, double theta, double *cosine, double *sine)
{
  const double angle = position * theta, lost = fma(position, theta, -angle);
  const bool is_tiny = fabs(lost) < 0x1p-27; /* cos rounds to 1, sin to `lost` */
  const double c = cos(angle), s = sin(angle);
  const double dc = is_tiny ? 1 : cos(lost), ds = is_tiny ? lost : sin(lost);
  *cosine = c * dc - s * ds;
  *sine = s * dc + c * ds;
}

static void fill_table(const RpRotary *rotary, unsigned part, bool inverse, int64_t rows,
                       int64_t time, const RpPositions *positions, RpRotaryTable *table)
{
  const int64_t pairs = table->table.pairs;
  const double *theta = rp_rotary_theta(rotary, part);
  void *cosine = rp_tensor_data(table->cosine), *sine = rp_tensor_data(table->sine);
  const bool single = table->cosine->dtype == RP_FLOAT32;
  const RpTeam team = rp_team(RP_WORK_FUNCTIONS, (double)(rows * pairs));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t row = 0; row < rows; row++) {
    if (rp_interrupted())
      continue;
    for (int64_t t = 0; t < pairs; t++) {
      const double position =
          rp_position_at(positions, row / time, time, row % time, rp_rotary_coordinate(rotary, t));
      const double magnitude = rp_rotary_magnitude(rotary, part, t, position);
      const int64_t at = row * pairs + t;
      double c, s;
      cosine_sine(position, theta[t], &c, &s);
      c = inverse ? c / magnitude : c * magnitude;
      s = inverse ? s / magnitude : s * magnitude;
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

/* RP_BAD_ARGUMENT if a position is so far from the centre that its magnitude overflows. */
static RpStatus check_growth(const RpRotary *rotary, const RpRotaryTable *table)
{
  const RpTensor *const both[] = {table->cosine, table->sine};
  for (int i = 0; rotary->growth != NULL && i < 2; i++)
    for (int64_t at = 0; at < rp_tensor_count(both[i]); at++) {
      const void *data = rp_tensor_data(both[i]);
      if (!isfinite(both[i]->dtype == RP_FLOAT32 ? (double)((const float *)data)[at]
                                                 : ((const double *)data)[at]))
        return rp_fail(RP_BAD_ARGUMENT,
                       "positions: expected positions near the centre %g, got one whose magnitude "
                       "overflows %s",
                       rotary->centre, rp_dtype_name(both[i]->dtype));
    }
  return RP_OK;
}

/* The cache slot of a part: that of the first part with equal tables. */
static struct RpRotaryKept *kept_for(const RpRotary *rotary, unsigned part)
{
  int i = 0;
  while (!rp_rotary_alike(rotary, part, 1u << i))
    i++;
  return &rotary->kept[i];
}

RpStatus rp_rotary_table(const RpRotary *rotary, unsigned part, bool inverse, RpDtype dtype,
                         const RpPositions *positions, int64_t batch, int64_t time,
                         RpRotaryTable *table)
{
  const int64_t pairs = rp_rotary_pairs(rotary, part);
  *table = (RpRotaryTable){.table = {.pairs = pairs, .interleaved = rotary->interleaved}};
  table->table.first = rotary->last && pairs > 0 ? rotary->dim - 2 * pairs : 0;
  if (rp_positions_check(positions, rotary->coordinates, batch, time) != RP_OK)
    return RP_BAD_ARGUMENT;
  if (pairs == 0)
    return RP_OK;
  struct RpRotaryKept *kept = positions->list == NULL ? kept_for(rotary, part) : NULL;
  const RpTensor *before = kept != NULL ? kept->table.cosine : NULL;
  if (before != NULL && before->dtype == dtype && before->shape[1] == time &&
      kept->offset == positions->offset && kept->inverse == inverse) {
    *table = rp_rotary_table_retain(&kept->table);
    return RP_OK;
  }
  const bool each = is_each(positions->list);
  const int64_t shape[] = {each ? batch : 1, time, pairs};
  table->cosine = rp_tensor_new(dtype, 3, shape);
  table->sine = rp_tensor_new(dtype, 3, shape);
  if (table->cosine == NULL || table->sine == NULL) {
    rp_rotary_table_release(table);
    return RP_OUT_OF_MEMORY;
  }
  fill_table(rotary, part, inverse, shape[0] * time, time, positions, table);
  const RpStatus status = rp_interrupted() ? rp_interrupt_status() : check_growth(rotary, table);
  if (status != RP_OK) {
    rp_rotary_table_release(table);
    return status;
  }
  table->table.cosine = rp_tensor_data(table->cosine);
  table->table.sine = rp_tensor_data(table->sine);
  table->table.time_stride = pairs;
  table->table.batch_stride = each ? time * pairs : 0;
  if (kept != NULL) {
    rp_rotary_table_release(&kept->table);
    *kept = (struct RpRotaryKept){rp_rotary_table_retain(table), positions->offset, inverse};
  }
  return RP_OK;
}

RpRotaryTable rp_rotary_table_retain(const RpRotaryTable *table)
{
  rp_tensor_retain(table->cosine);
  rp_tensor_retain(table->sine);
  return *table;
}

void rp_rotary_table_release(RpRotaryTable *table)
{
  rp_tensor_release(table->cosine);
  rp_tensor_release(table->sine);
  *table = (RpRotaryTable){.table = {.pairs = 0}};
}
