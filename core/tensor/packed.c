#include "core/tensor/packed.h"

#include <inttypes.h>
#include <string.h>

#include "core/tensor/copy.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files and memory share one byte order");

enum {
  CHUNK = 4096,        /* elements converted at a time */
  BOOLEAN = RP_DTYPES, /* indices of types, after those of the dtypes */
  FLOAT16 = BOOLEAN + 3,
  BFLOAT16
};

const RpPackedType rp_packed_types[RP_PACKED_TYPES] = {
    [RP_FLOAT32] = {"<f4", "F32", RP_FLOAT32, 4, false},
    [RP_FLOAT64] = {"<f8", "F64", RP_FLOAT64, 8, false},
    [RP_INT32] = {"<i4", "I32", RP_INT32, 4, false},
    [BOOLEAN] = {"|b1", "BOOL", RP_INT32, 1, true},
    [BOOLEAN + 1] = {"<i8", "I64", RP_INT32, 8, false},
    [BOOLEAN + 2] = {"|u1", "U8", RP_INT32, 1, false},
    [FLOAT16] = {"<f2", "F16", RP_FLOAT32, 2, false},
    [BFLOAT16] = {NULL, "BF16", RP_FLOAT32, 2, false},
};

const RpPackedType *rp_packed_type(const RpTensor *tensor)
{
  return &rp_packed_types[tensor->is_mask ? BOOLEAN : (int)tensor->dtype];
}

bool rp_packed_bytes(const RpPackedType *type, int rank, const int64_t *shape, int64_t *bytes)
{
  int64_t count;
  if (rp_shape_count(type->dtype, rank, shape, &count) != RP_OK)
    return false;
  *bytes = count * type->size; /* at most twice the bytes in memory */
  return true;
}

/* The bits of a float32 with the value of these bits of a float16. */
static uint32_t from_float16(uint16_t bits)
{
  const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7FFF;
  if (rest >= 0x7C00) /* infinity or NaN */
    return sign | 0x7F800000 | (rest & 0x3FF) << 13;
  if (rest >= 0x400)
    return sign | ((rest << 13) + ((127 - 15) << 23));
  const float subnormal = (float)rest * 0x1p-24F;
  uint32_t magnitude;
  memcpy(&magnitude, &subnormal, sizeof magnitude);
  return sign | magnitude;
}

/* Read `count` float16 or bfloat16 elements as float32. */
static RpStatus read_halves(RpFileReader *reader, const RpPackedType *type, int64_t count,
                            float *out)
{
  uint16_t chunk[CHUNK];
  for (int64_t start = 0; start < count; start += CHUNK) {
    const int64_t n = count - start < CHUNK ? count - start : CHUNK;
    RpStatus status = rp_file_read(reader, chunk, (size_t)n * sizeof *chunk);
    if (status != RP_OK)
      return status;
    for (int64_t i = 0; i < n; i++) {
      const bool is_float16 = type == &rp_packed_types[FLOAT16];
      const uint32_t bits = is_float16 ? from_float16(chunk[i]) : (uint32_t)chunk[i] << 16;
      memcpy(&out[start + i], &bits, sizeof bits);
    }
  }
  return RP_OK;
}

/* Read `count` int64, uint8 or boolean elements as int32. */
static RpStatus read_integers(RpFileReader *reader, const char *what, const RpPackedType *type,
                              int64_t count, int32_t *out)
{
  union {
    int64_t wide[CHUNK];
    uint8_t bytes[CHUNK];
  } chunk;
  for (int64_t start = 0; start < count; start += CHUNK) {
    int64_t n = count - start < CHUNK ? count - start : CHUNK;
    RpStatus status = rp_file_read(reader, &chunk, (size_t)(n * type->size));
    if (status != RP_OK)
      return status;
    for (int64_t i = 0; i < n; i++) {
      int64_t value = type->size == 1 ? chunk.bytes[i] : chunk.wide[i];
      if (value < INT32_MIN || value > INT32_MAX)
        return rp_fail(RP_BAD_FILE,
                       "%s: \"%s\": %s: element %" PRId64 " (from 0) is %" PRId64
                       ", which does not fit int32",
                       reader->function, reader->path, what, start + i, value);
      out[start + i] = type->is_mask ? value != 0 : (int32_t)value;
    }
  }
  return RP_OK;
}

RpTensor *rp_packed_read(RpFileReader *reader, const char *what, const RpPackedType *type, int rank,
                         const int64_t *shape)
{
  RpTensor *tensor = rp_tensor_new(type->dtype, rank, shape);
  if (tensor == NULL)
    return NULL;
  int64_t count = rp_tensor_count(tensor);
  void *data = rp_tensor_data(tensor);
  RpStatus status;
  if (type == &rp_packed_types[type->dtype])
    status = rp_file_read(reader, data, (size_t)(count * type->size));
  else if (type->dtype == RP_FLOAT32)
    status = read_halves(reader, type, count, data);
  else
    status = read_integers(reader, what, type, count, data);
  tensor->is_mask = type->is_mask;
  return rp_tensor_unless_failed(status, tensor);
}

/* Write the elements of a mask as one byte each. */
static RpStatus write_booleans(RpFileWriter *writer, const int32_t *value, int64_t count)
{
  uint8_t bytes[CHUNK];
  RpStatus status = RP_OK;
  for (int64_t start = 0; status == RP_OK && start < count; start += CHUNK) {
    const int64_t n = count - start < CHUNK ? count - start : CHUNK;
    for (int64_t i = 0; i < n; i++)
      bytes[i] = value[start + i] != 0;
    status = rp_file_write(writer, bytes, (size_t)n);
  }
  return status;
}

RpStatus rp_packed_write(RpFileWriter *writer, RpTensor *tensor)
{
  RpTensor *packed = rp_tensor_contiguous(tensor);
  if (packed == NULL)
    return rp_last_status();
  const int64_t count = rp_tensor_count(packed);
  RpStatus status = packed->is_mask ? write_booleans(writer, rp_tensor_data(packed), count)
                                    : rp_file_write(writer, rp_tensor_data(packed),
                                                    (size_t)count * rp_dtype_size(packed->dtype));
  rp_tensor_release(packed);
  return status;
}
