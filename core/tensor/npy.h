/* NumPy's .npy files (numpy.lib.format), which contain one array each. */
#ifndef RP_NPY_H
#define RP_NPY_H

#include <stdbool.h>

#include "core/tensor/tensor.h"

/*
** Read a file of version 1.0 to 3.0, in C or Fortran order, with element type
** <f4, <f8, <i4, <i8, |u1 or |b1. <i8 and |u1 become int32, and |b1 a mask.
** NULL with RP_BAD_FILE for any other file, for an integer that does not fit int32,
** and if the size of the file does not match its header.
*/
RpTensor *rp_npy_load(const char *path);

/*
** Write version 1.0 in C order, byte for byte as numpy.save does; a mask is written
** as |b1. The file appears complete or not at all.
*/
RpStatus rp_npy_save(const char *path, RpTensor *tensor);

/* Set *is_npy if the file begins with the signature of .npy files. */
RpStatus rp_npy_detect(const char *path, bool *is_npy);

#endif
