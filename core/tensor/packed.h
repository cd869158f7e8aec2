/*
** Packed little-endian arrays inside a file: what npy and safetensors files
** share. Integers wider or narrower than int32 become int32 on reading, booleans
** a mask.
*/
#ifndef RP_PACKED_H
#define RP_PACKED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/file.h"
#include "core/tensor/tensor.h"

/* An element type as files know it. */
typedef struct RpPackedType {
  const char *npy, *safetensors; /* its name in each format */
  RpDtype dtype;                 /* what it becomes in memory */
  int64_t size;                  /* bytes of an element in the file */
  bool is_mask;                  /* booleans */
} RpPackedType;

enum { RP_PACKED_TYPES = 6 };

extern const RpPackedType rp_packed_types[RP_PACKED_TYPES];

/* The type that the elements of a tensor are written as: booleans for a mask, else its dtype. */
const RpPackedType *rp_packed_type(const RpTensor *tensor);

/* Bytes that an array of this type and shape takes in a file; false where no tensor is as large. */
bool rp_packed_bytes(const RpPackedType *type, int rank, const int64_t *shape, int64_t *bytes);

/*
** Read the next array of the file as a new tensor; `what` names it in
** messages. NULL with RP_BAD_FILE when the file ends before or an integer
** does not fit int32. The shape must have passed rp_packed_bytes.
*/
RpTensor *rp_packed_read(RpFileReader *reader, const char *what, const RpPackedType *type, int rank,
                         const int64_t *shape);

/* Append the elements of the tensor in row-major order. */
RpStatus rp_packed_write(RpFileWriter *writer, RpTensor *tensor);

#endif
