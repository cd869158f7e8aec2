/* No terminal. */
#ifndef RPW_IOCTL_H
#define RPW_IOCTL_H

struct winsize {
  unsigned short ws_row, ws_col;
};

enum { TIOCGWINSZ = 0 };

static inline int ioctl(int descriptor, int request, struct winsize *size)
{
  return (void)descriptor, (void)request, (void)size, -1;
}

#endif
