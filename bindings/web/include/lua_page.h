/* Included before every file of Lua: what wasi-libc lacks, and the calls that let a page pause. */
#ifndef RPW_LUA_PAGE_H
#define RPW_LUA_PAGE_H

#include <stdio.h>

struct lua_State;

/* Called by the virtual machine after each jump and call: see web.mk. */
extern int rpw_jumps_left;
void rpw_look(struct lua_State *L);

static inline void rpw_poll(struct lua_State *L)
{
  if (--rpw_jumps_left < 0)
    rpw_look(L);
}

#define LUA_TMPNAMBUFSIZE 32
int rpw_tmpnam(char *name);
#define lua_tmpnam(name, failed) ((failed) = rpw_tmpnam(name))

FILE *rpw_tmpfile(void);
#define tmpfile rpw_tmpfile

/* There is no shell. */
static inline int rpw_system(const char *command)
{
  return command == NULL ? 0 : -1;
}
#define system rpw_system

#endif
