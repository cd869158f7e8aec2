/* Parts of error messages: values, lists of names, suggestions for misspelt names. */
#ifndef RPL_MESSAGE_H
#define RPL_MESSAGE_H

#include <lua.h>

/*
** Push the value at `index` as text for messages, and return the text: with quotes around a string;
** the type of a table, function or object.
*/
const char *rpl_push_shown(lua_State *L, int index);

/* Push a list of names; the last element of the array is NULL. */
void rpl_push_names(lua_State *L, const char *const *names);

/* Push the names in the list at `names`, separated by commas, and return the text. */
const char *rpl_push_joined(lua_State *L, int names);

/*
** Push the end of a message about an unknown name and return it: `; did you mean "rope"?`, or ""
** if no name in the list at `names` is similar. If `lead` is not NULL, it ends with all names:
** `; did you mean "rope"? It takes rope, none`.
*/
const char *rpl_push_hint(lua_State *L, const char *wanted, int names, const char *lead);

/* The name in the list at `names` that is most similar to `wanted`, or NULL. */
const char *rpl_nearest(lua_State *L, const char *wanted, int names);

#endif
