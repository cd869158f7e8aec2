#define _GNU_SOURCE /* syscall */
#include "core/base/machine.h"

#include <cblas.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <sys/syscall.h>
#include <unistd.h>
#endif

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
/* True if the processor has AMX tiles and the operating system lets this process use them. */
static bool may_use_tiles(void)
{
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 }; /* Linux's names */
  return __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") &&
         syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}
#endif

RpTarget rp_machine_target(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512bf16"))
    return may_use_tiles() ? RP_TARGET_AMX : RP_TARGET_AVX512_BF16;
  if (__builtin_cpu_supports("x86-64-v4"))
    return RP_TARGET_V4;
  if (__builtin_cpu_supports("x86-64-v3"))
    return RP_TARGET_V3;
#endif
  return RP_TARGET_PORTABLE;
}

const char *rp_machine_name(void)
{
  static char name[128];
  if (name[0] != '\0')
    return name;
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (file != NULL) {
    char line[256];
    while (name[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
      if (strncmp(line, "model name", 10) != 0)
        continue;
      const char *value = strchr(line, ':');
      if (value != NULL)
        sscanf(value + 1, " %127[^\n]", name);
    }
    fclose(file);
  }
  if (name[0] == '\0')
    strcpy(name, "unknown");
  return name;
}

const char *rp_blas_core(void)
{
  return openblas_get_corename();
}
