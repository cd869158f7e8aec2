/* A fault for LD_PRELOAD: fsync of FSYNC=files, FSYNC=folders or FSYNC=all does nothing. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int fsync(int descriptor)
{
  const char *ignored = getenv("FSYNC");
  struct stat about;
  if (ignored == NULL || fstat(descriptor, &about) != 0)
    return -1;
  if (strcmp(ignored, "all") == 0 ||
      strcmp(ignored, S_ISDIR(about.st_mode) ? "folders" : "files") == 0)
    return 0;
  return (int)syscall(SYS_fsync, descriptor);
}
