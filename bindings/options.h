/* Option tables. Their rows are the source of checks, of documentation and of `roper.options`. */
#ifndef RPL_OPTIONS_H
#define RPL_OPTIONS_H

#include <stddef.h>

#include "bindings/handle.h"

typedef enum RplKind {
  RPL_BOOLEAN,
  RPL_NUMBER,  /* finite */
  RPL_INTEGER, /* from `smallest` to `largest`; required if the default is smaller */
  RPL_WORD,    /* a string, one of `choices` unless they are NULL; the value points into Lua */
  RPL_OTHER    /* read by the function itself, with rpl_option_push */
} RplKind;

/* An option of a function. */
typedef struct RplRow {
  const char *name; /* NULL after the last row */
  RplKind kind;
  size_t field;     /* offset of the value in the struct that rpl_options fills */
  double standard;  /* default of booleans, numbers and integers */
  const char *word; /* default of a word without choices; with choices it is the first */
  const char *text; /* documentation */
  int64_t smallest, largest;
  const char *const *choices; /* ends with NULL */
  const char *type;           /* in the notation of LuaLS, of an option of kind RPL_OTHER */
  const char *shown;          /* its default in the documentation */
} RplRow;

/* Rows whose values are fields of the same name. */
#define RPL_FIELD(s, option) .name = #option, .field = offsetof(s, option)
#define RPL_BOOLEAN_ROW(s, option, standard_, text_)                                               \
  {                                                                                                \
    RPL_FIELD(s, option), .kind = RPL_BOOLEAN, .standard = (standard_), .text = (text_)            \
  }
#define RPL_NUMBER_ROW(s, option, standard_, text_)                                                \
  {                                                                                                \
    RPL_FIELD(s, option), .kind = RPL_NUMBER, .standard = (standard_), .text = (text_)             \
  }
#define RPL_INTEGER_ROW(s, option, least, standard_, most, text_)                                  \
  {                                                                                                \
    RPL_FIELD(s, option), .kind = RPL_INTEGER, .smallest = (least), .standard = (standard_),       \
                          .largest = (most), .text = (text_)                                       \
  }
#define RPL_CHOICE_ROW(s, option, choices_, text_)                                                 \
  {                                                                                                \
    RPL_FIELD(s, option), .kind = RPL_WORD, .choices = (choices_), .text = (text_)                 \
  }

/* An option table at a stack index; index is 0 if there is none. */
typedef struct RplOptions {
  lua_State *L;
  int index;
  const char *function;
} RplOptions;

/*
** Fill `values` from the table at `index`, or with defaults if it is nil or absent. Raises for an
** option that is not in `rows`, or has another kind of value. Words remain on the stack.
*/
RplOptions rpl_options(lua_State *L, int index, const char *function, const RplRow *rows,
                       void *values);

/* Push the row in the form of roper.options.rows. */
void rpl_push_row(lua_State *L, const RplRow *row);

/* Add a class of options to the list `options` of the module table on top of the stack. */
void rpl_declare_options(lua_State *L, const char *name, const char *parent, const RplRow *rows);

/* NULL if absent; a userdata on the stack holds the tensor. */
RpTensor *rpl_option_tensor(const RplOptions *options, const char *name);
/* Push the option's value, or nil if absent, and return its type. Does not call metamethods. */
int rpl_option_push(const RplOptions *options, const char *name);

#endif
