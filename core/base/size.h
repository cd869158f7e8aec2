/*
** Products of sizes. A number of elements or bytes computed from sizes that a user
** or a file provides is checked with rp_size_product. Products of some of these
** sizes then need no other check.
*/
#ifndef RP_SIZE_H
#define RP_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* The largest product: a number of bytes or elements that pointers can address. */
#define RP_LARGEST_SIZE (INT64_MAX / 4)

/*
** Set *product to the product of `count` sizes >= 0, with each 0 counted as 1.
** False, with *product undefined, for a negative size or a product above
** RP_LARGEST_SIZE.
*/
bool rp_size_product(int count, const int64_t *sizes, int64_t *product);

#endif
