/* Element types. */
#ifndef RP_DTYPE_H
#define RP_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

enum { RP_MAX_RANK = 8 };

typedef enum RpDtype { RP_FLOAT32, RP_FLOAT64, RP_INT32, RP_DTYPES } RpDtype;

/* "float32", "float64" or "int32". */
const char *rp_dtype_name(RpDtype dtype);

/* Set *dtype to the dtype with this name; false if there is none. */
bool rp_dtype_from_name(const char *name, RpDtype *dtype);

/* Bytes of one element: 4, 8, 4. */
size_t rp_dtype_size(RpDtype dtype);

/* True for float32 and float64. */
bool rp_dtype_is_float(RpDtype dtype);

#endif
