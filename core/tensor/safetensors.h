/*
** safetensors files: a JSON header, then named arrays back to back.
*/
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

/* What one file holds. Strings are UTF-8. */
typedef struct RpSafetensors {
  size_t tensor_count, metadata_count;
  RpNamedTensor *tensors;
  RpMetadata *metadata;
  struct json_t *header; /* of a loaded file: owns all its strings */
} RpSafetensors;

/*
** Read a file: F32, F64, I32, as int32 also I64 and U8, as masks BOOL. RP_BAD_FILE for
** anything that is not to the letter of the format, for any other dtype and for
** an integer that does not fit int32; *contents is empty then. Tensors come in
** the order of their data. The caller gives the contents back with
** rp_safetensors_release.
*/
RpStatus rp_safetensors_load(const char *path, RpSafetensors *contents);

/* Release tensors, arrays and strings of a loaded file; it is empty afterwards. */
void rp_safetensors_release(RpSafetensors *contents);

/*
** Write a file, which appears whole or not at all; masks as BOOL. Arrays go by descending
** element size, then by name, metadata by key, so that the same contents give
** the same bytes. RP_BAD_ARGUMENT for a string that is not UTF-8, for a name or
** key that comes twice, and for a tensor named "__metadata__".
*/
RpStatus rp_safetensors_save(const char *path, const RpSafetensors *contents);

#endif
