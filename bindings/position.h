/* Position schemes and positions as arguments. */
#ifndef RPL_POSITION_H
#define RPL_POSITION_H

#include "bindings/check.h"
#include "core/position/rotary.h"

#define RPL_ROTARY "roper.rotary"

/* The scheme at `index`; calls no Lua. */
RpRotary *rpl_check_rotary(lua_State *L, int index);

/*
** Positions at a stack index: nil (0, 1, 2, ... from `offset`), a number (the
** same for all of `time`), a list, or a tensor [time], [batch, time] or [batch,
** time, coordinates]. The list is left on the stack, which keeps it alive.
*/
RpPositions rpl_push_positions(lua_State *L, int index, int64_t time, double offset);

#endif
