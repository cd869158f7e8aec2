/*
** JSON parsing and printing with jansson, safe when memory runs out. jansson does
** not check all of its allocations: a failure can drop a digit of a number that it
** reads or a name from text that it writes, or end the process. These functions
** report every failed allocation.
*/
#ifndef RP_JSON_H
#define RP_JSON_H

#include <jansson.h>

#include "core/base/status.h"

/*
** Call this before building values: rp_json_print and rp_json_status report the
** allocations that fail after it.
*/
void rp_json_begin(void);

/* RP_OUT_OF_MEMORY if an allocation of jansson failed since rp_json_begin, in this thread. */
RpStatus rp_json_status(void);

/*
** Parse `length` bytes of text with jansson's `flags`; the caller releases *tree
** with json_decref. RP_OUT_OF_MEMORY; or RP_BAD_FILE, without a message, for text
** that is not JSON: *error contains the reason and the location. *tree is NULL
** after an error.
*/
RpStatus rp_json_parse(const char *text, size_t length, size_t flags, json_t **tree,
                       json_error_t *error);

/*
** The text of a value, printed with jansson's `flags`; the caller frees it with
** free(). NULL with RP_OUT_OF_MEMORY, also if an allocation failed while the
** value was built, or with RP_BAD_ARGUMENT for a value that contains itself.
*/
char *rp_json_print(const json_t *tree, size_t flags);

#endif
