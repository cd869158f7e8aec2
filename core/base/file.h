/*
** Files read from front to back, and files written whole or not at all.
** Messages begin with the `function` the caller names, and have the path.
*/
#ifndef RP_FILE_H
#define RP_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"

typedef struct RpFileReader {
  const char *function, *path; /* borrowed */
  int descriptor;
  int64_t size; /* in bytes */
} RpFileReader;

/*
** Open the regular file at `path`. RP_BAD_FILE for a missing or unreadable
** one, a folder, a pipe or a device; never waits for a pipe's other end. On
** RP_OK the caller closes it with rp_file_close.
*/
RpStatus rp_file_open(RpFileReader *reader, const char *function, const char *path);

/*
** Read the next `bytes` bytes; RP_BAD_FILE when the file ends before,
** RP_INTERRUPTED at Ctrl-C.
*/
RpStatus rp_file_read(RpFileReader *reader, void *data, size_t bytes);

void rp_file_close(RpFileReader *reader);

/*
** A file in the making. It has a temporary name beside `path`; what is at
** `path` stays untouched until rp_file_finish has succeeded.
*/
typedef struct RpFileWriter RpFileWriter;

/*
** Begin a file. NULL with RP_BAD_FILE when the folder is missing or takes no
** file, or when `path` is there and not a regular file.
*/
RpFileWriter *rp_file_create(const char *function, const char *path);

/* Append `bytes` bytes; RP_INTERRUPTED at Ctrl-C. */
RpStatus rp_file_write(RpFileWriter *writer, const void *data, size_t bytes);

/* Write `bytes` bytes over those at `offset`, which rp_file_write wrote. */
RpStatus rp_file_overwrite(RpFileWriter *writer, int64_t offset, const void *data, size_t bytes);

/*
** Go back to the start: from now on rp_file_write compares what it is given with
** what the file holds, RP_BAD_FILE where that differs. The caller writes all once
** more.
*/
RpStatus rp_file_reread(RpFileWriter *writer);

/*
** End a file, and free the writer. Where `status` (of all writes so far) is
** RP_OK the content is flushed to the disk and takes the place of `path` in one
** step; else, or when that fails, the temporary file is removed. Returns the
** status of the whole. A symbolic link at `path` is replaced, not followed.
*/
RpStatus rp_file_finish(RpFileWriter *writer, RpStatus status);

/*
** Open the file at `path`, made empty if missing, and lock it against other
** processes until *descriptor is closed, by the end of this one at the latest.
** Does not wait: where another has the lock, *descriptor is -1.
*/
RpStatus rp_file_lock(const char *function, const char *path, int *descriptor);

#endif
