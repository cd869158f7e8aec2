#include "core/base/machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "core/base/optional.h"
#include "core/base/system.h"

static _Atomic RpPrecision precision = RP_FLOAT32_OPERANDS;

RpPrecision rp_matmul_precision(void)
{
  return precision;
}

void rp_set_matmul_precision(RpPrecision chosen)
{
  precision = chosen;
}

#if defined(__x86_64__) && defined(__GNUC__)
/* cpuid also reports instructions that __builtin_cpu_supports of Clang 14 does not know. */
static bool has_x86_64_v3(void)
{
  enum { MOVBE = 1 << 22, F16C = 1 << 29, LZCNT = 1 << 5 };
  unsigned a, b, basic, extended, d;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __get_cpuid(1, &a, &b, &basic, &d) && (basic & MOVBE) && (basic & F16C) &&
         __get_cpuid(0x80000001, &a, &b, &extended, &d) && (extended & LZCNT);
}

static bool has_x86_64_v4(void)
{
  return has_x86_64_v3() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/* True if the processor has AMX tiles and the operating system lets this process use them. */
static bool may_use_tiles(void)
{
  enum { AMX_BF16 = 1 << 22, AMX_TILE = 1 << 24 };
  unsigned a, b, c, features;
  return __get_cpuid_count(7, 0, &a, &b, &c, &features) && (features & AMX_BF16) &&
         (features & AMX_TILE) && rp_system_allows_amx();
}
#endif

RpTarget rp_machine_target(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  if (has_x86_64_v4() && __builtin_cpu_supports("avx512bf16"))
    return may_use_tiles() ? RP_TARGET_AMX : RP_TARGET_AVX512_BF16;
  if (has_x86_64_v4())
    return RP_TARGET_V4;
  if (has_x86_64_v3())
    return RP_TARGET_V3;
#endif
  return RP_TARGET_PORTABLE;
}

const char *rp_machine_name(void)
{
  static char name[128];
  if (name[0] != '\0')
    return name;
  rp_system_processor(name, sizeof name);
  if (name[0] == '\0')
    strcpy(name, "unknown");
  return name;
}

#if RP_BLAS
/* Other BLAS libraries have no such function. */
extern char *openblas_get_corename(void) RP_OPTIONAL;

const char *rp_blas_name(void)
{
  static char name[64];
  if (openblas_get_corename == NULL)
    return "other BLAS";
  snprintf(name, sizeof name, "OpenBLAS %s", openblas_get_corename());
  return name;
}
#else
const char *rp_blas_name(void)
{
  return "no BLAS";
}
#endif
