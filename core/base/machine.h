/* Threads, processor and BLAS: what a result or a timing depends on. */
#ifndef RP_MACHINE_H
#define RP_MACHINE_H

#include "core/base/status.h"

/* Threads that kernels use: 1 at least. At first OMP_NUM_THREADS, or one a core. */
int rp_threads(void);

/*
** More than these are refused: 64, or four for each processor. Nobody gains from
** more, and OpenMP ends the process where the system does not give it a thread.
*/
int rp_most_threads(void);

/* Set it; RP_BAD_ARGUMENT outside 1 .. rp_most_threads(). */
RpStatus rp_set_threads(int threads);

/* What operands of products of float32 matrices are rounded to; sums are float32. */
typedef enum RpPrecision { RP_FLOAT32_OPERANDS, RP_BFLOAT16_OPERANDS } RpPrecision;

/* The one that holds, for all threads; at first none are rounded. */
RpPrecision rp_matmul_precision(void);
void rp_set_matmul_precision(RpPrecision precision);

/*
** Instruction sets that kernels are built for, each with all before it. Those after x86-64-v4 are
** for products with operands of bfloat16 alone.
*/
typedef enum RpTarget {
  RP_TARGET_PORTABLE,
  RP_TARGET_V3,
  RP_TARGET_V4,
  RP_TARGET_AVX512_BF16,
  RP_TARGET_AMX,
  RP_TARGETS
} RpTarget;

/* The best that the processor has and the system allows. */
RpTarget rp_machine_target(void);

/* The processor's name as the system gives it; "unknown" where it gives none. */
const char *rp_machine_name(void);

/* The kernel family OpenBLAS runs with, such as "Cooperlake" or "Haswell". */
const char *rp_blas_core(void);

#endif
