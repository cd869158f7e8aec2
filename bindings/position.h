/* Position schemes and positions in arguments. */
#ifndef RPL_POSITION_H
#define RPL_POSITION_H

#include "bindings/check.h"
#include "core/position/rotary.h"

#define RPL_ROTARY "roper.rotary"

/* The scheme at `index`; calls no Lua. */
RpRotary *rpl_check_rotary(lua_State *L, int index);

/*
** Read the positions at a stack index: nil for offset, offset + 1, ..., a number (the
** same for all `time` tokens), a list, or a tensor [time], [batch, time] or [batch,
** time, coordinates]. Pushes one value, which keeps the result alive. `what` is the function and
** the argument, for messages.
*/
RpPositions rpl_push_positions(lua_State *L, int index, int64_t time, double offset,
                               const char *what);

#endif
