/* safetensors files: a JSON header, then named arrays without gaps. */
#ifndef RP_SAFETENSORS_H
#define RP_SAFETENSORS_H

#include <stddef.h>

#include "core/tensor/tensor.h"

typedef struct RpNamedTensor {
  const char *name;
  RpTensor *tensor;
} RpNamedTensor;

typedef struct RpMetadata {
  const char *key, *value;
} RpMetadata;

/* The contents of a file. Strings are UTF-8. */
typedef struct RpSafetensors {
  size_t tensor_count, metadata_count;
  RpNamedTensor *tensors;
  RpMetadata *metadata;
  struct json_t *header; /* of a loaded file: owns all its strings */
} RpSafetensors;

/*
** Read a file with dtypes F32, F64, F16, BF16, I32, I64, U8 and BOOL; F16 and BF16 become
** float32, I64 and U8 int32, and BOOL a mask. Tensors are in the order of their data in the
** file. The caller releases the contents with rp_safetensors_release. RP_BAD_FILE, with
** *contents empty, for a file that does not follow the format, for other dtypes and for an
** integer that does not fit int32.
*/
RpStatus rp_safetensors_load(const char *path, RpSafetensors *contents);

/* Release tensors, arrays and strings of a loaded file; *contents is empty afterwards. */
void rp_safetensors_release(RpSafetensors *contents);

/*
** Write a file, which appears complete or not at all; masks are written as BOOL. Arrays are
** sorted by descending element size, then by name, and metadata by key, so that the same
** contents give the same bytes. RP_BAD_ARGUMENT for a string that is not UTF-8, for a repeated
** name or key, and for a tensor named "__metadata__".
*/
RpStatus rp_safetensors_save(const char *path, const RpSafetensors *contents);

#endif
