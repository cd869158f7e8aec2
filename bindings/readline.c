/* What lua-readline leaves to be said to GNU readline, where the process holds it (lua5.4 does). */
#include "bindings/check.h"
#include "core/base/interrupt.h"

/* Readline's own; at no address without it. */
extern int rl_done __attribute__((weak));
extern int (*rl_event_hook)(void) __attribute__((weak));
extern const char *rl_basic_quote_characters __attribute__((weak));

/* Readline calls this ten times a second while it waits for a key. */
static int end_line(void)
{
  if (rp_interrupted())
    rl_done = 1;
  return 0;
}

/*
** native.prepare_readline()
** Let Ctrl-C end the line that GNU readline reads, which otherwise goes on reading it; let
** completion inside a string not add a quote of its own, as after a folder. Call it once the
** completing function is set. Without GNU readline it does nothing.
*/
static int prepare_readline(lua_State *L)
{
  rpl_check_count(L, "prepare_readline", 0);
  if (&rl_event_hook != NULL)
    rl_event_hook = end_line;
  if (&rl_basic_quote_characters != NULL)
    rl_basic_quote_characters = NULL;
  return 0;
}

void rpl_open_readline(lua_State *L)
{
  static const luaL_Reg functions[] = {{"prepare_readline", prepare_readline}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
