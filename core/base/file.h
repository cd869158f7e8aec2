/*
** Sequential file reading, and atomic file writing: a file appears complete or
** not at all. Messages begin with the caller's `function`, unless it is "", and
** contain the path and the reason.
*/
#ifndef RP_FILE_H
#define RP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"

typedef struct RpFileReader {
  const char *function, *path; /* borrowed */
  int descriptor;
  int64_t size; /* in bytes */
} RpFileReader;

/*
** Open the regular file at `path`; the caller closes it with rp_file_close.
** RP_BAD_FILE if it is missing, unreadable, a folder, a pipe or a device. Never
** waits for the other end of a pipe.
*/
RpStatus rp_file_open(RpFileReader *reader, const char *function, const char *path);

/*
** Read the next `bytes` bytes; RP_BAD_FILE if the file has fewer left,
** RP_INTERRUPTED after Ctrl-C.
*/
RpStatus rp_file_read(RpFileReader *reader, void *data, size_t bytes);

void rp_file_close(RpFileReader *reader);

/*
** A file that is being written, under a temporary name in the folder of `path`.
** An existing file at `path` is not changed before rp_file_finish.
*/
typedef struct RpFileWriter RpFileWriter;

/*
** Begin a file, and remove the temporary files for `path` that killed processes
** left. NULL with RP_BAD_FILE if the folder is missing or not writable,
** or if `path` exists and is not a regular file; NULL when out of memory.
*/
RpFileWriter *rp_file_create(const char *function, const char *path);

/* Append `bytes` bytes; RP_INTERRUPTED after Ctrl-C. */
RpStatus rp_file_write(RpFileWriter *writer, const void *data, size_t bytes);

/* Overwrite `bytes` bytes that rp_file_write has written, beginning at `offset`. */
RpStatus rp_file_overwrite(RpFileWriter *writer, int64_t offset, const void *data, size_t bytes);

/*
** Begin to verify a file: return to its start. From now on rp_file_write compares
** its data with the file instead of writing them, and returns RP_BAD_FILE if they
** differ. The caller repeats all of its writes.
*/
RpStatus rp_file_reread(RpFileWriter *writer);

/*
** Finish a file and free the writer. If `status` (of all writes so far) is RP_OK,
** the content is flushed to disk and the file is renamed to `path`; otherwise, or
** if that fails, the temporary file is removed. Returns `status`, or the first
** error of this function. A symbolic link at `path` is replaced, not followed.
*/
RpStatus rp_file_finish(RpFileWriter *writer, RpStatus status);

/*
** Write a whole file with permissions 0644, verify it and flush it. If another
** process removes the temporary file, it is written again. If `created` is not
** NULL, a file at `path` is left unchanged, and *created is false. Errors like
** those of rp_file_create and rp_file_write, without a function's name.
*/
RpStatus rp_file_put(const char *path, const void *data, size_t bytes, bool *created);

/* Flush a file, or the entries of a folder, to the disk. */
RpStatus rp_file_flush(const char *path);

/*
** Open the file at `path`, creating it if it is missing, and lock it against
** other processes until *descriptor is closed or this process ends. Does not
** wait: if another process holds the lock, *descriptor is -1 and the result RP_OK.
** RP_BAD_FILE if the file cannot be opened or locked.
*/
RpStatus rp_file_lock(const char *function, const char *path, int *descriptor);

#endif
