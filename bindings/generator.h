/* The random generator of the process, used by functions without an explicit seed. */
#ifndef RPL_GENERATOR_H
#define RPL_GENERATOR_H

#include <stdint.h>

/* A fresh seed from the generator; advances it by one. */
uint64_t rpl_next_seed(void);

#endif
