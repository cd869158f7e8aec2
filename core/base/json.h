/*
** JSON text to jansson's values and back. jansson does not look at every
** allocation of its own: one that fails may leave a digit out of a number it
** reads or a name out of text it writes, or end the process. Here each counts.
*/
#ifndef RP_JSON_H
#define RP_JSON_H

#include <jansson.h>

#include "core/base/status.h"

/*
** Begin to build values: what was refused before is forgotten. All that is
** built until rp_json_print, or rp_json_status, is theirs to judge.
*/
void rp_json_begin(void);

/* RP_OUT_OF_MEMORY where jansson was refused memory since rp_json_begin, in this thread. */
RpStatus rp_json_status(void);

/*
** Parse `length` bytes of text, by jansson's `flags`. RP_OUT_OF_MEMORY, or
** RP_BAD_FILE for text that is no JSON: *error says where and why, the caller
** words the message. *tree is NULL then, else the caller's to json_decref.
*/
RpStatus rp_json_parse(const char *text, size_t length, size_t flags, json_t **tree,
                       json_error_t *error);

/*
** The text of a value, by jansson's `flags`; the caller frees it by free. NULL
** with RP_OUT_OF_MEMORY, also where building the value was refused memory, or
** RP_BAD_ARGUMENT for a value that contains itself.
*/
char *rp_json_print(const json_t *tree, size_t flags);

#endif
