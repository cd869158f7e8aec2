/* What lua-readline leaves to be said to GNU readline, where the process holds it (lua5.4 does). */
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#include "bindings/check.h"
#include "core/base/interrupt.h"

/* Readline's own; at no address without it. */
extern int rl_done __attribute__((weak));
extern int (*rl_event_hook)(void) __attribute__((weak));
extern const char *rl_basic_quote_characters __attribute__((weak));
extern void (*rl_prep_term_function)(int) __attribute__((weak));
extern void rl_prep_terminal(int) __attribute__((weak));
extern int (*rl_getc_function)(FILE *) __attribute__((weak));
extern int rl_getc(FILE *) __attribute__((weak));

/*
** Keys typed before a Ctrl-C stay: where the terminal throws them away, readline,
** which has just counted them, may wait for them where its event hook is not called.
*/
static void prepare_terminal(int meta)
{
  struct termios terminal;
  rl_prep_terminal(meta);
  if (tcgetattr(STDIN_FILENO, &terminal) != 0)
    return;
  terminal.c_lflag |= NOFLSH;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal);
}

/* Readline calls this ten times a second while it waits for a key. */
static int end_line(void)
{
  if (rp_interrupted()) {
    tcflush(STDIN_FILENO, TCIFLUSH);
    rl_done = 1;
  }
  return 0;
}

/* A key; one from before a Ctrl-C is dropped, and the line ends. */
static int next_key(FILE *stream)
{
  const int key = rl_getc(stream);
  if (!rp_interrupted())
    return key;
  tcflush(STDIN_FILENO, TCIFLUSH);
  return '\n';
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
  if (&rl_prep_term_function != NULL)
    rl_prep_term_function = prepare_terminal;
  if (&rl_getc_function != NULL)
    rl_getc_function = next_key;
  if (&rl_basic_quote_characters != NULL)
    rl_basic_quote_characters = NULL;
  return 0;
}

void rpl_open_readline(lua_State *L)
{
  static const luaL_Reg functions[] = {{"prepare_readline", prepare_readline}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
