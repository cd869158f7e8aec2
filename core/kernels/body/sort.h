/* Sorting of any dtype: a stable merge sort of indices. */
#ifndef RP_BODY_SORT_H
#define RP_BODY_SORT_H

/* True if a sorts before b. NaN counts as larger than all numbers. */
static inline bool is_below(REAL a, REAL b)
{
  return a < b || (IS_NAN(b) && !IS_NAN(a));
}

/* Merge the sorted indices in [first, middle) and [middle, end) of `from` into `to`. */
static void merge(const REAL *key, bool descending, int64_t first, int64_t middle, int64_t end,
                  const int32_t *from, int32_t *to)
{
  int64_t left = first, right = middle;
  for (int64_t at = first; at < end; at++) {
    const bool none_right = right == end, none_left = left == middle;
    const REAL a = none_left ? 0 : key[from[left]], b = none_right ? 0 : key[from[right]];
    const bool is_right =
        none_left || (!none_right && (descending ? is_below(a, b) : is_below(b, a)));
    to[at] = is_right ? from[right++] : from[left++];
  }
}

/* The indices that sort n keys. `indices` and `spare` have room for n; returns one of them. */
static const int32_t *sort_line(int64_t n, const REAL *key, bool descending, int32_t *indices,
                                int32_t *spare)
{
  for (int64_t i = 0; i < n; i++)
    indices[i] = (int32_t)i;
  for (int64_t width = 1; width < n && !rp_interrupted(); width *= 2) {
    for (int64_t first = 0; first < n; first += 2 * width) {
      const int64_t middle = first + width < n ? first + width : n;
      const int64_t end = middle + width < n ? middle + width : n;
      merge(key, descending, first, middle, end, indices, spare);
    }
    int32_t *sorted = spare;
    spare = indices;
    indices = sorted;
  }
  return indices;
}

static RpStatus argsort(int64_t outer, int64_t n, int64_t inner, bool descending, int first,
                        const void *x, int32_t *index)
{
  const int64_t each = n * (int64_t)(sizeof(REAL) + 2 * sizeof(int32_t));
  const int64_t lines = outer * inner;
  if (lines == 0)
    return RP_OK;
  RpTeam team = rp_team(RP_WORK_FUNCTIONS, 4.0 * (double)(lines * n));
  if (lines < team.size)
    team = (RpTeam){(int)lines, team.each * team.size / (double)lines};
  char *memory = rp_alloc(team.size * each);
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t line = 0; line < lines; line++) {
    const int64_t start = line / inner * n * inner + line % inner;
    void *own = memory + rp_system_thread() * each, *after = (REAL *)own + n;
    REAL *key = own;
    int32_t *room = after;
    if (rp_interrupted())
      continue;
    for (int64_t i = 0; i < n; i++)
      key[i] = ((const REAL *)x)[start + i * inner];
    const int32_t *indices = sort_line(n, key, descending, room, room + n);
    for (int64_t i = 0; i < n; i++)
      index[start + i * inner] = indices[i] + first;
  }
  rp_free(memory);
  return rp_interrupt_status();
}

#endif
