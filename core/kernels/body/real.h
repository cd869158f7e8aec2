/* REAL, the dtype that the bodies of float kernels are compiled for, and its functions. */
#ifndef RP_BODY_REAL_H
#define RP_BODY_REAL_H

#include <math.h>

/* Unroll the next loop of at most `count` turns, a constant. Clang does not know gcc's pragma. */
#define PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define UNROLL(count) PRAGMA(clang loop unroll(full))
#else
#define UNROLL(count) PRAGMA(GCC unroll count)
#endif

#if REAL_IS_FLOAT
#define REAL float
#define REAL_C(literal) literal##F
#define REAL_EPSILON 0x1p-23F
#define REAL_MIN 0x1p-126F
#define REAL_MAX 0x1.fffffep127F
#define REAL_ABS fabsf
#define REAL_FLOOR floorf
#define REAL_CEIL ceilf
#define REAL_RINT rintf
#define REAL_SQRT sqrtf
#define REAL_EXP expf
#define REAL_LOG logf
#define REAL_LOG1P log1pf
#define REAL_SIN sinf
#define REAL_COS cosf
#define REAL_TANH tanhf
#define REAL_POW powf
#define REAL_FMOD fmodf
#else
#define REAL double
#define REAL_C(literal) literal
#define REAL_EPSILON 0x1p-52
#define REAL_MIN 0x1p-1022
#define REAL_MAX 0x1.fffffffffffffp1023
#define REAL_ABS fabs
#define REAL_FLOOR floor
#define REAL_CEIL ceil
#define REAL_RINT rint
#define REAL_SQRT sqrt
#define REAL_EXP exp
#define REAL_LOG log
#define REAL_LOG1P log1p
#define REAL_SIN sin
#define REAL_COS cos
#define REAL_TANH tanh
#define REAL_POW pow
#define REAL_FMOD fmod
#endif

#endif
