/* Processor and BLAS: the properties of the machine that affect results and timings. */
#ifndef RP_MACHINE_H
#define RP_MACHINE_H

/* Precision to which the operands of float32 matrix products are rounded; sums stay float32. */
typedef enum RpPrecision { RP_FLOAT32_OPERANDS, RP_BFLOAT16_OPERANDS } RpPrecision;

/* The current precision, shared by all threads. Default: RP_FLOAT32_OPERANDS, no rounding. */
RpPrecision rp_matmul_precision(void);
void rp_set_matmul_precision(RpPrecision precision);

/*
** Instruction sets that kernels are built for; each includes the ones before it. Those after
** x86-64-v4 are used only for products with bfloat16 operands.
*/
typedef enum RpTarget {
  RP_TARGET_PORTABLE,
  RP_TARGET_V3,
  RP_TARGET_V4,
  RP_TARGET_AVX512_BF16,
  RP_TARGET_AMX,
  RP_TARGETS
} RpTarget;

/* The best instruction set that the processor has and the operating system allows to use. */
RpTarget rp_machine_target(void);

/* The processor's name as the operating system reports it, or "unknown". */
const char *rp_machine_name(void);

/*
** The library of matrix products: "OpenBLAS" and the kernels that it chose, such as "OpenBLAS
** Haswell"; "other BLAS"; or "no BLAS" if the kernels compute all products.
*/
const char *rp_blas_name(void);

#endif
