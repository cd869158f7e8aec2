#include "core/base/machine.h"
#include "core/kernels/kernels.h"

extern const RpKernels rp_kernels_int32;
extern const RpKernels rp_kernels_portable_float32, rp_kernels_portable_float64;
extern const RpProducts rp_products_portable_float32, rp_products_portable_float64;
extern const RpProducts rp_products_portable_bfloat16;
#ifdef __x86_64__
extern const RpKernels rp_kernels_v3_float32, rp_kernels_v3_float64;
extern const RpKernels rp_kernels_v4_float32, rp_kernels_v4_float64;
extern const RpProducts rp_products_v3_float32, rp_products_v3_float64;
extern const RpProducts rp_products_v4_float32, rp_products_v4_float64;
extern const RpProducts rp_products_v3_bfloat16, rp_products_v4_bfloat16;
extern const RpProducts rp_products_avx512bf16_bfloat16, rp_products_amx_bfloat16;
#endif

static const RpKernels *const kernels[][RP_DTYPES] = {
    [RP_TARGET_PORTABLE] = {&rp_kernels_portable_float32, &rp_kernels_portable_float64,
                            &rp_kernels_int32},
#ifdef __x86_64__
    [RP_TARGET_V3] = {&rp_kernels_v3_float32, &rp_kernels_v3_float64, &rp_kernels_int32},
    [RP_TARGET_V4] = {&rp_kernels_v4_float32, &rp_kernels_v4_float64, &rp_kernels_int32},
#endif
};

static const RpProducts *const products[][RP_DTYPES] = {
    [RP_TARGET_PORTABLE] = {&rp_products_portable_float32, &rp_products_portable_float64},
#ifdef __x86_64__
    [RP_TARGET_V3] = {&rp_products_v3_float32, &rp_products_v3_float64},
    [RP_TARGET_V4] = {&rp_products_v4_float32, &rp_products_v4_float64},
#endif
};

static const RpProducts *const rounded_products[] = {
    [RP_TARGET_PORTABLE] = &rp_products_portable_bfloat16,
#ifdef __x86_64__
    [RP_TARGET_V3] = &rp_products_v3_bfloat16,
    [RP_TARGET_V4] = &rp_products_v4_bfloat16,
    [RP_TARGET_AVX512_BF16] = &rp_products_avx512bf16_bfloat16,
    [RP_TARGET_AMX] = &rp_products_amx_bfloat16,
#endif
};

const RpKernels *rp_kernels(RpDtype dtype)
{
  return kernels[rp_machine_target(RP_FLOAT32_OPERANDS)][dtype];
}

const RpProducts *rp_products(RpDtype dtype)
{
  const RpPrecision precision = rp_matmul_precision();
  if (dtype == RP_FLOAT32 && precision == RP_BFLOAT16_OPERANDS)
    return rounded_products[rp_machine_target(precision)];
  return products[rp_machine_target(RP_FLOAT32_OPERANDS)][dtype];
}
