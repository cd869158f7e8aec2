/* NumPy's .npy files (numpy.lib.format), which contain one array each. */
#ifndef RP_NPY_H
#define RP_NPY_H

#include <stdbool.h>

#include "core/tensor/tensor.h"

/*
** Read a file of version 1.0 to 3.0, in C or Fortran order, with element type
** <f4, <f8, <i4, <i8, |u1 or |b1; the last three become int32, and |b1 a mask.
** NULL with RP_BAD_FILE for anything else, for an integer that does not fit int32,
** and for a file that is shorter or longer than its header says.
*/
RpTensor *rp_npy_load(const char *path);

/*
** Write version 1.0 in C order, byte for byte what numpy.save writes, and a mask
** as |b1. The file appears complete or not at all.
*/
RpStatus rp_npy_save(const char *path, RpTensor *tensor);

/* Set *is_npy if the file begins with the signature of .npy files. */
RpStatus rp_npy_detect(const char *path, bool *is_npy);

#endif
