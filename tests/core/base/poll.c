/* The interrupt flag on a system without signals: prints it before and after the third look. */
#include <stdio.h>

#include "core/base/interrupt.h"

static void look(void)
{
  static int looks;
  if (++looks == 3)
    rp_interrupt_raise();
}

int main(void)
{
  printf("%d ", rp_interrupted());
  rp_interrupt_poll = look;
  for (int i = 0; i < 4; i++)
    printf("%d ", rp_interrupt_status());
  printf("%s\n", rp_message());
  return 0;
}
