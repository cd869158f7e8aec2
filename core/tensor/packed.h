/*
** Packed little-endian arrays in files, shared by npy and safetensors. Reading
** converts float16 and bfloat16 to float32, int64 and uint8 to int32, and booleans
** to a mask.
*/
#ifndef RP_PACKED_H
#define RP_PACKED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/file.h"
#include "core/tensor/tensor.h"

/* An element type in files. */
typedef struct RpPackedType {
  const char *npy, *safetensors; /* its name in each format; npy may be NULL, for none */
  RpDtype dtype;                 /* in memory */
  int64_t size;                  /* bytes of an element in the file */
  bool is_mask;                  /* for booleans */
} RpPackedType;

enum { RP_PACKED_TYPES = 8 };

extern const RpPackedType rp_packed_types[RP_PACKED_TYPES];

/* The type of a tensor's elements in a file: booleans for a mask, else its dtype. */
const RpPackedType *rp_packed_type(const RpTensor *tensor);

/* Set *bytes to the size of an array of this type and shape in a file; false if no tensor can have
   this shape. */
bool rp_packed_bytes(const RpPackedType *type, int rank, const int64_t *shape, int64_t *bytes);

/*
** Read the next array of the file as a new tensor; `what` is its name in
** messages. NULL with RP_BAD_FILE if the file ends inside the array, or if an
** integer does not fit int32. The shape must have passed rp_packed_bytes.
*/
RpTensor *rp_packed_read(RpFileReader *reader, const char *what, const RpPackedType *type, int rank,
                         const int64_t *shape);

/* Append the elements of the tensor in row-major order. */
RpStatus rp_packed_write(RpFileWriter *writer, RpTensor *tensor);

#endif
