/* The parts of the engine that only pages have. */
#ifndef RPW_PAGE_H
#define RPW_PAGE_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#define RPW_EXPORT(name) __attribute__((export_name(#name)))
#define RPW_IMPORT(name) __attribute__((import_module("roper"), import_name(#name)))

/* Nanoseconds of a clock that is never set. */
int64_t rpw_now(void);

/*
** Pause running code about every `milliseconds`, or never if that is 0. With `suspends`, a pause
** calls the import `rest`, which suspends the whole stack; otherwise a hook yields the coroutine in
** which the code runs.
*/
void rpw_set_pauses(int milliseconds, bool suspends);

/* Code is about to run, after a pause or for a new request. */
void rpw_proceed(void);

/* The functions of luv that roper uses, except those for processes, signals and terminals. */
int luaopen_luv(lua_State *L);

#endif
