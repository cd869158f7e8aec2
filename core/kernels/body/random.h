/* Random fills: element i depends on seed, counter and i alone. */
#ifndef RP_BODY_RANDOM_H
#define RP_BODY_RANDOM_H

/* Two elements from each block of four words, 53 bits each. */
static RpStatus uniform(RpRandom random, int64_t n, void *y)
{
#pragma omp parallel for schedule(static) if (n > 1 << 12)
  for (int64_t block = 0; block < (n + 1) / 2; block++) {
    uint32_t words[4];
    rp_philox(random.seed, random.counter + (uint64_t)block, words);
    for (int64_t i = 2 * block; i < 2 * block + 2 && i < n; i++) {
      const REAL value = (REAL)rp_uniform_from(words[2 * (i % 2)], words[2 * (i % 2) + 1]);
      ((REAL *)y)[i] = value < 1 ? value : 1 - REAL_EPSILON / 2; /* float32 can round up to 1 */
    }
  }
  return rp_interrupt_status();
}

/* Box and Muller 1958, in float64: two normals from two uniforms. */
static RpStatus normal(RpRandom random, int64_t n, void *y)
{
#pragma omp parallel for schedule(static) if (n > 1 << 12)
  for (int64_t block = 0; block < (n + 1) / 2; block++) {
    uint32_t words[4];
    rp_philox(random.seed, random.counter + (uint64_t)block, words);
    const double radius = sqrt(-2 * log1p(-rp_uniform_from(words[0], words[1])));
    const double angle = 6.283185307179586477 * rp_uniform_from(words[2], words[3]);
    ((REAL *)y)[2 * block] = (REAL)(radius * cos(angle));
    if (2 * block + 1 < n)
      ((REAL *)y)[2 * block + 1] = (REAL)(radius * sin(angle));
  }
  return rp_interrupt_status();
}

/* Elements first .. first + n - 1 of a mask: y = x / (1 - p), or 0 with probability p. */
static void dropout_row(uint64_t seed, double p, int64_t first, int64_t n, const REAL *x, REAL *y)
{
  const REAL keep = (REAL)(1 / (1 - p));
  const uint64_t threshold = (uint64_t)(p * 0x1p32);
  uint32_t words[4] = {0};
  for (int64_t i = 0; i < n; i++) {
    const uint64_t at = (uint64_t)(first + i);
    if (i == 0 || at % 4 == 0)
      rp_philox(seed, at / 4, words);
    y[i] = words[at % 4] < threshold ? 0 : x[i] * keep;
  }
}

static RpStatus dropout(uint64_t seed, double p, int64_t n, const void *x, void *y)
{
  enum { PIECE = 4096 };
#pragma omp parallel for schedule(static) if (n > PIECE)
  for (int64_t first = 0; first < n; first += PIECE) {
    if (!rp_interrupted())
      dropout_row(seed, p, first, n - first < PIECE ? n - first : PIECE, (const REAL *)x + first,
                  (REAL *)y + first);
  }
  return rp_interrupt_status();
}

#endif
