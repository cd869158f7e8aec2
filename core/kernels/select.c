#include <stdlib.h>
#include <string.h>

#include "core/base/machine.h"
#include "core/base/optional.h"
#include "core/kernels/kernels.h"

/* A build may lack kernels for other machines. */
extern const RpKernels rp_kernels_int32;
extern const RpKernels rp_kernels_portable_float32 RP_OPTIONAL,
    rp_kernels_portable_float64 RP_OPTIONAL;
extern const RpKernels rp_kernels_v3_float32 RP_OPTIONAL, rp_kernels_v3_float64 RP_OPTIONAL;
extern const RpKernels rp_kernels_v4_float32 RP_OPTIONAL, rp_kernels_v4_float64 RP_OPTIONAL;
extern const RpProducts rp_products_portable_float32 RP_OPTIONAL,
    rp_products_portable_float64 RP_OPTIONAL;
extern const RpProducts rp_products_v3_float32 RP_OPTIONAL, rp_products_v3_float64 RP_OPTIONAL;
extern const RpProducts rp_products_v4_float32 RP_OPTIONAL, rp_products_v4_float64 RP_OPTIONAL;
extern const RpProducts rp_products_portable_bfloat16 RP_OPTIONAL,
    rp_products_v3_bfloat16 RP_OPTIONAL;
extern const RpProducts rp_products_v4_bfloat16 RP_OPTIONAL,
    rp_products_avx512bf16_bfloat16 RP_OPTIONAL;
extern const RpProducts rp_products_amx_bfloat16 RP_OPTIONAL;

/* Every processor of arm64 has NEON, so the compiler uses it in the portable kernels. */
#ifdef __aarch64__
#define PORTABLE "neon"
#else
#define PORTABLE "portable"
#endif

typedef struct Tables {
  const char *name;
  const RpKernels *kernels[RP_DTYPES];
  const RpProducts *products[RP_DTYPES];
  const RpProducts *rounded_products; /* of float32 with bfloat16 operands */
} Tables;

static const Tables tables[RP_TARGETS] = {
    [RP_TARGET_PORTABLE] = {PORTABLE,
                            {&rp_kernels_portable_float32, &rp_kernels_portable_float64,
                             &rp_kernels_int32},
                            {&rp_products_portable_float32, &rp_products_portable_float64},
                            &rp_products_portable_bfloat16},
    [RP_TARGET_V3] = {"x86-64-v3",
                      {&rp_kernels_v3_float32, &rp_kernels_v3_float64, &rp_kernels_int32},
                      {&rp_products_v3_float32, &rp_products_v3_float64},
                      &rp_products_v3_bfloat16},
    [RP_TARGET_V4] = {"x86-64-v4",
                      {&rp_kernels_v4_float32, &rp_kernels_v4_float64, &rp_kernels_int32},
                      {&rp_products_v4_float32, &rp_products_v4_float64},
                      &rp_products_v4_bfloat16},
    [RP_TARGET_AVX512_BF16] = {.name = "avx512-bf16",
                               .rounded_products = &rp_products_avx512bf16_bfloat16},
    [RP_TARGET_AMX] = {.name = "amx-bf16", .rounded_products = &rp_products_amx_bfloat16},
};

/* The instruction set that ROPER_KERNELS names: RP_TARGETS if it is not set or empty, -1 if there
   is none of this name. */
static int named_target(void)
{
  const char *name = getenv("ROPER_KERNELS");
  if (name == NULL || name[0] == '\0')
    return RP_TARGETS;
  if (strcmp(name, "portable") == 0)
    return RP_TARGET_PORTABLE;
  int i = RP_TARGETS - 1;
  while (i >= 0 && strcmp(name, tables[i].name) != 0)
    i--;
  return i;
}

/* The best instruction set that may be used: the machine's, or ROPER_KERNELS if that is lower. */
static RpTarget limit_target(void)
{
  const int named = named_target(), best = (int)rp_machine_target();
  return (RpTarget)(named < best ? named : best);
}

/* The best instruction set up to `limit` in this build, or -1. */
static int best_built(RpTarget limit, RpPrecision operands)
{
  int i = (int)limit;
  while (i >= 0 && (operands == RP_FLOAT32_OPERANDS ? tables[i].kernels[RP_FLOAT32] == NULL
                                                    : tables[i].rounded_products == NULL))
    i--;
  return i;
}

/* The instruction set in use, determined once. */
static int target_of(RpPrecision operands)
{
  static _Atomic int chosen[2] = {-2, -2};
  if (chosen[operands] == -2)
    chosen[operands] = best_built(limit_target(), operands);
  return chosen[operands];
}

RpStatus rp_kernels_check(void)
{
  if (named_target() < 0)
    return rp_fail(
        RP_BAD_ARGUMENT,
        "ROPER_KERNELS: expected portable, x86-64-v3, x86-64-v4, avx512-bf16 or amx-bf16, "
        "got \"%s\"",
        getenv("ROPER_KERNELS"));
  if (target_of(RP_FLOAT32_OPERANDS) >= 0 && target_of(RP_BFLOAT16_OPERANDS) >= 0)
    return RP_OK;
  return rp_fail(RP_BAD_ARGUMENT,
                 "roper: expected kernels for %s or a lower instruction set; this build has none; "
                 "run: make all",
                 tables[limit_target()].name);
}

const char *rp_kernels_name(RpPrecision operands)
{
  return tables[target_of(operands)].name;
}

const RpKernels *rp_kernels(RpDtype dtype)
{
  return tables[target_of(RP_FLOAT32_OPERANDS)].kernels[dtype];
}

const RpProducts *rp_products(RpDtype dtype)
{
  const RpPrecision precision = rp_matmul_precision();
  if (dtype == RP_FLOAT32 && precision == RP_BFLOAT16_OPERANDS)
    return tables[target_of(precision)].rounded_products;
  return tables[target_of(RP_FLOAT32_OPERANDS)].products[dtype];
}
