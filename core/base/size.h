/*
** Products of sizes. What counts elements or bytes from sizes that a user or a
** file gives goes through rp_size_product; a product of fewer of the same sizes
** then needs no check.
*/
#ifndef RP_SIZE_H
#define RP_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* The most that a product may be: bytes and elements that pointers can still be counted by. */
#define RP_LARGEST_SIZE (INT64_MAX / 4)

/*
** The product of `count` sizes from 0 on, each of 0 counted as 1. False, with
** *product undefined, for a negative size and for a product above
** RP_LARGEST_SIZE.
*/
bool rp_size_product(int count, const int64_t *sizes, int64_t *product);

#endif
