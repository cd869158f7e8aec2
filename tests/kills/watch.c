/*
** Runs a program, counts the system calls of it and its descendants that change files below a
** folder, and kills before one of them:
**
**   watch FOLDER DISK CALL WHOM COMMAND...
**
** CALL is the number of the call, from 1, or 0 for no kill; a write counts twice, since a kill
** can also leave half of it. "@TIME" kills after so many microseconds. WHOM is "caller",
** "other" (a sibling of the caller), "command" or "all".
**
** DISK is an empty folder, or "-". It gets what would survive a power cut: at each fsync, the
** content of the file as DISK/INODE, or the entries of the folder as DISK/INODE.names. What was
** there before the program started counts as flushed. "-" disables this.
**
** Waits for all descendants. Writes to standard output, which the command does not share (its own
** goes to standard error), the name of each call, and at last a line with tabs: the number of
** calls, the call at which it killed and its path, or "-", the status of the command (128 + n
** after signal n), and how many processes were still running long after the command had ended;
** these are killed. Status 77: the kernel does not allow this.
*/
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ON_PATH, ON_DESCRIPTOR, AT_PATH };
enum { MOST_HELD = 100000, PATIENCE = 60 /* seconds */, UNAVAILABLE = 77 };

typedef struct Call {
  int number;
  const char *name;
  int kind;  /* where its path is */
  int flags; /* argument with flags of open, of which some must be set; 0: none */
} Call;

static const Call calls[] = {
    {SYS_write, "write", ON_DESCRIPTOR, 0},
    {SYS_writev, "writev", ON_DESCRIPTOR, 0},
    {SYS_pwrite64, "pwrite", ON_DESCRIPTOR, 0},
    {SYS_ftruncate, "ftruncate", ON_DESCRIPTOR, 0},
    {SYS_fsync, "fsync", ON_DESCRIPTOR, 0},
    {SYS_fdatasync, "fdatasync", ON_DESCRIPTOR, 0},
    {SYS_openat, "openat", AT_PATH, 2},
    {SYS_renameat, "renameat", AT_PATH, 0},
    {SYS_renameat2, "renameat2", AT_PATH, 0},
    {SYS_linkat, "linkat", AT_PATH, 0},
    {SYS_unlinkat, "unlinkat", AT_PATH, 0},
    {SYS_mkdirat, "mkdirat", AT_PATH, 0},
#ifdef SYS_open
    {SYS_open, "open", ON_PATH, 1},
    {SYS_rename, "rename", ON_PATH, 0},
    {SYS_link, "link", ON_PATH, 0},
    {SYS_unlink, "unlink", ON_PATH, 0},
    {SYS_mkdir, "mkdir", ON_PATH, 0},
    {SYS_rmdir, "rmdir", ON_PATH, 0},
#endif
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static const char *folder, *disk, *whom;
static long count, target;
static double deadline; /* of a kill after some time */
static pid_t command;
static int status = -1;
static char killed[PATH_MAX + 100] = "-";
static int held[MOST_HELD], held_count; /* open files, whose inode numbers are not used again */

static void die(const char *what)
{
  fprintf(stderr, "watch: %s: %s\n", what, strerror(errno));
  exit(1);
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- what survives a power cut ---- */

static FILE *on_disk(ino_t inode, const char *ending)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%lu%s", disk, (unsigned long)inode, ending);
  FILE *file = fopen(path, "w");
  if (file == NULL)
    die(path);
  return file;
}

static void flush_file(int file, ino_t inode)
{
  char block[1 << 16];
  FILE *copy = on_disk(inode, "");
  ssize_t got;
  while ((got = read(file, block, sizeof block)) > 0)
    fwrite(block, 1, (size_t)got, copy);
  fclose(copy);
}

static void flush_folder(int file, ino_t inode)
{
  DIR *scan = fdopendir(dup(file));
  FILE *copy = on_disk(inode, ".names");
  for (struct dirent *entry; (entry = readdir(scan)) != NULL;)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      fprintf(copy, "%lu %s\n", (unsigned long)entry->d_ino, entry->d_name);
  fclose(copy);
  closedir(scan);
}

/* Flush an open file or folder, and take over the descriptor. */
static void flush(int file)
{
  struct stat about;
  if (file < 0 || fstat(file, &about) != 0)
    return;
  if (S_ISDIR(about.st_mode))
    flush_folder(file, about.st_ino);
  else
    flush_file(file, about.st_ino);
  for (int i = 0; i < held_count; i++) {
    struct stat other;
    if (fstat(held[i], &other) == 0 && other.st_ino == about.st_ino) {
      close(file);
      return;
    }
  }
  if (held_count < MOST_HELD)
    held[held_count++] = file;
}

static void flush_all(const char *path)
{
  flush(open(path, O_RDONLY | O_CLOEXEC));
  DIR *scan = opendir(path);
  for (struct dirent *entry; scan != NULL && (entry = readdir(scan)) != NULL;) {
    char inner[PATH_MAX];
    snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
    if (entry->d_type == DT_REG)
      flush(open(inner, O_RDONLY | O_CLOEXEC));
    else if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
      flush_all(inner);
  }
  if (scan != NULL)
    closedir(scan);
}

/* ---- processes ---- */

/* A field of /proc/PID/status, or 0. */
static pid_t field_of(pid_t pid, const char *name)
{
  char path[64], line[256];
  pid_t value = 0;
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *file = fopen(path, "re");
  while (file != NULL && value == 0 && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, name, strlen(name)) == 0)
      value = atoi(line + strlen(name));
  if (file != NULL)
    fclose(file);
  return value;
}

static bool descends(pid_t pid)
{
  for (pid = field_of(pid, "PPid:"); pid > 1; pid = field_of(pid, "PPid:"))
    if (pid == getpid())
      return true;
  return false;
}

/* Kill all descendants, or only children of the command but the caller; returns how many. */
static int kill_descendants(pid_t but)
{
  int number = 0;
  DIR *scan = opendir("/proc");
  for (struct dirent *entry; (entry = readdir(scan)) != NULL;) {
    pid_t pid = atoi(entry->d_name);
    if (pid > 0 && (but == 0 ? descends(pid) : pid != but && field_of(pid, "PPid:") == command))
      number += kill(pid, SIGKILL) == 0;
  }
  closedir(scan);
  return number;
}

static void strike(pid_t caller)
{
  if (strcmp(whom, "all") == 0)
    kill_descendants(0);
  else if (strcmp(whom, "command") == 0 || caller == 0)
    kill(command, SIGKILL);
  else if (strcmp(whom, "caller") == 0 || kill_descendants(caller) == 0)
    kill(caller, SIGKILL);
}

/* ---- system calls ---- */

/* The path of a call in `path`; false if it is not below the folder. */
static bool find_path(const struct seccomp_notif *notice, const Call *call, char *path)
{
  const __u64 *arguments = notice->data.args;
  char link[64], text[PATH_MAX] = "";
  size_t length = 0;
  path[0] = '\0';
  if (call->kind != ON_DESCRIPTOR) {
    struct iovec here = {text, sizeof text - 1};
    struct iovec there = {(void *)(uintptr_t)arguments[call->kind == AT_PATH], sizeof text - 1};
    if (process_vm_readv((pid_t)notice->pid, &here, 1, &there, 1, 0) <
        0) { /* at the end of a page */
      there.iov_len = 4096 - (uintptr_t)there.iov_base % 4096;
      process_vm_readv((pid_t)notice->pid, &here, 1, &there, 1, 0);
    }
  }
  if (text[0] != '/') {
    int descriptor = call->kind == ON_PATH ? AT_FDCWD : (int)arguments[0];
    if (descriptor == AT_FDCWD)
      snprintf(link, sizeof link, "/proc/%d/cwd", notice->pid);
    else
      snprintf(link, sizeof link, "/proc/%d/fd/%d", notice->pid, descriptor);
    ssize_t got = readlink(link, path, PATH_MAX - 1);
    length = got > 0 ? (size_t)got : 0;
    path[length] = '\0';
  }
  if (text[0] != '\0')
    snprintf(path + length, PATH_MAX - length, "%s%s", length > 0 ? "/" : "", text);
  return strncmp(path, folder, strlen(folder)) == 0;
}

/* Write the first half of the data of a write, as a kill in the middle leaves it. */
static void write_half(const struct seccomp_notif *notice, const Call *call)
{
  static char data[1 << 24];
  char path[64];
  const size_t bytes = (size_t)notice->data.args[2] / 2;
  struct iovec here = {data, bytes < sizeof data ? bytes : sizeof data};
  struct iovec there = {(void *)(uintptr_t)notice->data.args[1], here.iov_len};
  if (call->number == SYS_writev ||
      process_vm_readv((pid_t)notice->pid, &here, 1, &there, 1, 0) < 0)
    return;
  snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", notice->pid, (int)notice->data.args[0]);
  long long position = 0;
  unsigned flags = 0;
  FILE *about = fopen(path, "re");
  if (about == NULL || fscanf(about, "pos: %lld flags: %o", &position, &flags) != 2)
    die(path);
  fclose(about);
  snprintf(path, sizeof path, "/proc/%d/fd/%d", notice->pid, (int)notice->data.args[0]);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (call->number == SYS_pwrite64)
    position = (long long)notice->data.args[3];
  else if (flags & O_APPEND)
    position = lseek(file, 0, SEEK_END);
  if (pwrite(file, data, here.iov_len, position) < 0)
    die(path);
  close(file);
}

static bool is_target(const char *name, const char *path)
{
  puts(name);
  if (++count != target)
    return false;
  snprintf(killed, sizeof killed, "%s %s", name, path);
  return true;
}

/* Handle a call; false if its process was killed. */
static bool handle(const struct seccomp_notif *notice)
{
  char path[PATH_MAX];
  const Call *call = calls;
  while (call->number != notice->data.nr)
    call++;
  if (!find_path(notice, call, path))
    return true;
  const pid_t caller = field_of((pid_t)notice->pid, "Tgid:");
  const bool writes = strstr(call->name, "write") != NULL;
  const bool halts = is_target(call->name, path);
  const bool halves = writes && is_target("half of a write", path);
  if (halves && (caller == command || strcmp(whom, "all") == 0 || strcmp(whom, "caller") == 0))
    write_half(notice, call);
  if (halts || halves)
    strike(caller);
  if (disk != NULL && strstr(call->name, "sync") != NULL && !(halts && strcmp(whom, "all") == 0)) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", notice->pid, (int)notice->data.args[0]);
    flush(open(link, O_RDONLY | O_CLOEXEC));
  }
  return true;
}

/* Notify the listener of all calls. */
static int filter(void)
{
  struct sock_filter program[6 * CALLS + 2];
  unsigned short length = 0;
  program[length++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < CALLS; i++) {
    const unsigned char rest = calls[i].flags > 0 ? 4 : 1;
    program[length++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, 0, rest);
    if (calls[i].flags > 0) {
      const size_t place =
          offsetof(struct seccomp_data, args) + (size_t)calls[i].flags * sizeof(__u64);
      program[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)place);
      program[length++] =
          (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT | O_TRUNC, 1, 0);
      program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
  }
  program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog whole = {length, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return -1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                      &whole);
}

/* Send a descriptor to another process, or receive one; -1 if that fails. */
static int pass(int channel, int descriptor)
{
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
  char byte = 0;
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  if (descriptor >= 0) {
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    return sendmsg(channel, &message, 0) > 0 ? descriptor : -1;
  }
  if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) > 0 && message.msg_controllen > 0)
    memcpy(&descriptor, CMSG_DATA(&control.header), sizeof descriptor);
  return descriptor;
}

/* Start the command; returns the listener. */
static int start(char **words)
{
  int channel[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0)
    die("socketpair");
  command = fork();
  if (command == 0) {
    setpgid(0, 0);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    int listener = filter();
    if (listener < 0 || pass(channel[1], listener) < 0)
      _exit(UNAVAILABLE);
    close(listener);
    execvp(words[0], words);
    perror(words[0]);
    _exit(127);
  }
  close(channel[1]);
  int listener = pass(channel[0], -1);
  if (listener < 0)
    exit(UNAVAILABLE);
  close(channel[0]);
  return listener;
}

/* Wait for descendants; false if there are none any more. */
static bool reap(void)
{
  int result;
  pid_t pid;
  while ((pid = waitpid(-1, &result, WNOHANG)) > 0)
    if (pid == command)
      status = WIFSIGNALED(result) ? 128 + WTERMSIG(result) : WEXITSTATUS(result);
  return pid == 0;
}

int main(int argc, char **argv)
{
  if (argc < 6) {
    fprintf(stderr, "usage: watch FOLDER DISK CALL WHOM COMMAND...\n");
    return 2;
  }
  folder = argv[1];
  disk = strcmp(argv[2], "-") != 0 ? argv[2] : NULL;
  whom = argv[4];
  if (argv[3][0] == '@')
    deadline = now() + 1e-6 * atof(argv[3] + 1);
  else
    target = atol(argv[3]);
  const struct rlimit many = {MOST_HELD, MOST_HELD};
  setrlimit(RLIMIT_NOFILE, &many);
  if (disk != NULL)
    flush_all(folder);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  int listener = start(argv + 5), left = 0;
  double ended = 0;
  while (reap()) {
    struct pollfd events = {.fd = listener, .events = POLLIN};
    struct seccomp_notif notice = {0};
    if (poll(&events, 1, 2) > 0 && events.revents & POLLIN &&
        ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notice) == 0 && handle(&notice)) {
      struct seccomp_notif_resp answer = {.id = notice.id,
                                          .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
      ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    if (deadline > 0 && now() >= deadline && status < 0) {
      deadline = 0;
      snprintf(killed, sizeof killed, "time -");
      strike(0);
    }
    if (status >= 0 && ended == 0)
      ended = now();
    if (ended > 0 && now() - ended > PATIENCE)
      left += kill_descendants(0);
  }
  printf("%ld\t%s\t%d\t%d\n", count, killed, status, left);
  return 0;
}
