// SPDX-License-Identifier: MIT
//
// The C functions, types and constants of Apple's systems that the package, its tests and its examples use. Written by
// hand: layouts and values count only as far as a type checker looks at them. Whatever a C target includes on an Apple
// system leads here.

#ifndef CURLEW_STUB_DARWIN_H
#define CURLEW_STUB_DARWIN_H

#include <stddef.h>
#include <stdint.h>

#define NOT_ON_TV_AND_WATCH __attribute__((availability(tvos, unavailable), availability(watchos, unavailable)))
#define ONLY_ON_MACOS \
    __attribute__((availability(ios, unavailable), availability(tvos, unavailable), \
                   availability(watchos, unavailable), availability(visionos, unavailable)))

// MARK: Types

typedef int64_t off_t;
typedef int32_t pid_t;
typedef uint16_t mode_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef int32_t dev_t;
typedef uint64_t ino_t;
typedef uint16_t nlink_t;
typedef int64_t blkcnt_t;
typedef int32_t blksize_t;
typedef long ssize_t;
typedef long time_t;
typedef int32_t suseconds_t;
typedef unsigned int nfds_t;
typedef uint32_t socklen_t;
typedef uint8_t sa_family_t;
typedef uint16_t in_port_t;
typedef uint32_t in_addr_t;
typedef uint32_t sigset_t;
typedef struct FILE FILE;

// MARK: Errors

int *__error(void);
#ifndef __swift__
#define errno (*__error())
#endif
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define EBADF 9
#define ENOMEM 12
#define EACCES 13
#define EEXIST 17
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENOTTY 25
#define EMFILE 24
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30
#define EPIPE 32
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define EINPROGRESS 36
#define ENOTSUP 45
#define EADDRINUSE 48
#define ENETDOWN 50
#define ENETUNREACH 51
#define ECONNABORTED 53
#define ECONNRESET 54
#define ETIMEDOUT 60
#define ECONNREFUSED 61
#define ELOOP 62
#define EHOSTUNREACH 65
#define ENFILE 23
#define EADDRNOTAVAIL 49
#define ENETRESET 52
#define ENOTCONN 57
#define EHOSTDOWN 64
#define ECANCELED 89
#define EDQUOT 69
char *strerror(int);

// MARK: Memory and strings

void *malloc(size_t);
void *calloc(size_t, size_t);
void free(void *);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
void *memchr(const void *, int, size_t);
void *memmem(const void *, size_t, const void *, size_t);
size_t strlen(const char *);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
char *strncpy(char *, const char *, size_t);
char *strdup(const char *);
char *getenv(const char *);
int setenv(const char *, const char *, int);
int unsetenv(const char *);
double strtod(const char *, char **);
void arc4random_buf(void *, size_t);
double floor(double);
double ceil(double);
double exp(double);
double log(double);
double pow(double, double);

// MARK: Programs

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
void exit(int) __attribute__((noreturn));
void _exit(int) __attribute__((noreturn));
void abort(void) __attribute__((noreturn));
pid_t getpid(void);
uid_t getuid(void);
uid_t geteuid(void);
pid_t waitpid(pid_t, int *, int);
int kill(pid_t, int);
char ***_NSGetEnviron(void);
void *dlsym(void *, const char *);

typedef void *posix_spawnattr_t;
typedef void *posix_spawn_file_actions_t;
#define POSIX_SPAWN_SETSIGMASK 0x0008
#define POSIX_SPAWN_CLOEXEC_DEFAULT 0x4000
int posix_spawn(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                char *const[], char *const[]) NOT_ON_TV_AND_WATCH;
int posix_spawnp(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                 char *const[], char *const[]) NOT_ON_TV_AND_WATCH;
int posix_spawn_file_actions_init(posix_spawn_file_actions_t *) NOT_ON_TV_AND_WATCH;
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *) NOT_ON_TV_AND_WATCH;
int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *, int, const char *, int, mode_t) NOT_ON_TV_AND_WATCH;
int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *, int) NOT_ON_TV_AND_WATCH;
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *, int, int) NOT_ON_TV_AND_WATCH;
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *) ONLY_ON_MACOS;
int posix_spawnattr_init(posix_spawnattr_t *) NOT_ON_TV_AND_WATCH;
int posix_spawnattr_destroy(posix_spawnattr_t *) NOT_ON_TV_AND_WATCH;
int posix_spawnattr_setflags(posix_spawnattr_t *, short) NOT_ON_TV_AND_WATCH;
int posix_spawnattr_setsigmask(posix_spawnattr_t *, const sigset_t *) NOT_ON_TV_AND_WATCH;

#define SIGHUP 1
#define SIGINT 2
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGBUS 10
#define SIGSEGV 11
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGWINCH 28
void (*signal(int, void (*)(int)))(int);
int raise(int);
int sigemptyset(sigset_t *);
int sigaddset(sigset_t *, int);
#define SIG_UNBLOCK 2
int pthread_sigmask(int, const sigset_t *, sigset_t *);

// MARK: Files

struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
struct timeval {
    time_t tv_sec;
    suseconds_t tv_usec;
};
struct stat {
    dev_t st_dev;
    mode_t st_mode;
    nlink_t st_nlink;
    ino_t st_ino;
    uid_t st_uid;
    gid_t st_gid;
    dev_t st_rdev;
    struct timespec st_atimespec;
    struct timespec st_mtimespec;
    struct timespec st_ctimespec;
    struct timespec st_birthtimespec;
    off_t st_size;
    blkcnt_t st_blocks;
    blksize_t st_blksize;
    uint32_t st_flags;
    uint32_t st_gen;
    int32_t st_lspare;
    int64_t st_qspare[2];
};
struct dirent {
    uint64_t d_ino;
    uint64_t d_seekoff;
    uint16_t d_reclen;
    uint16_t d_namlen;
    uint8_t d_type;
    char d_name[1024];
};
typedef struct {
    int __dd_fd;
} DIR;

#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x0004
#define O_APPEND 0x0008
#define O_NOFOLLOW 0x0100
#define O_CREAT 0x0200
#define O_TRUNC 0x0400
#define O_EXCL 0x0800
#define O_DIRECTORY 0x00100000
#define O_CLOEXEC 0x01000000
#define F_GETFD 1
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define F_FULLFSYNC 51
#define F_BARRIERFSYNC 85
#define FD_CLOEXEC 1
#define F_OK 0
#define X_OK 1
#define W_OK 2
#define R_OK 4
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
#define SEEK_SET 0
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
// Variadic, so Swift does not see them: the module's Swift half has them.
int open(const char *, int, ...);
int fcntl(int, int, ...);
int ioctl(int, unsigned long, ...);
int close(int);
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
ssize_t pread(int, void *, size_t, off_t);
ssize_t pwrite(int, const void *, size_t, off_t);
off_t lseek(int, off_t, int);
int truncate(const char *, off_t);
int ftruncate(int, off_t);
int fsync(int);

// <sys/statvfs.h>
struct statvfs {
    unsigned long f_bsize;
    unsigned long f_frsize;
    unsigned int f_blocks;
    unsigned int f_bfree;
    unsigned int f_bavail;
    unsigned int f_files;
    unsigned int f_ffree;
    unsigned int f_favail;
    unsigned long f_fsid;
    unsigned long f_flag;
    unsigned long f_namemax;
};
int fstatvfs(int, struct statvfs *);
// Not `fdatasync`: the library has the function, and no header declares it.
int flock(int, int);
int access(const char *, int);
int chmod(const char *, mode_t);
int fchmod(int, mode_t);
mode_t umask(mode_t);
int mkdir(const char *, mode_t);
int rename(const char *, const char *);
int unlink(const char *);
int link(const char *, const char *);
int rmdir(const char *);
int stat(const char *, struct stat *);
int lstat(const char *, struct stat *);
int chown(const char *, uid_t, gid_t);
int mkfifo(const char *, mode_t);
int fstat(int, struct stat *);
DIR *opendir(const char *);
struct dirent *readdir(DIR *);
int closedir(DIR *);
int pipe(int[2]);
int isatty(int);
int mkstemp(char *);

// MARK: Clocks

// The macros of these names are renamed constants in Swift.
typedef enum {
    _CLOCK_REALTIME __attribute__((swift_name("CLOCK_REALTIME"))) = 0,
    _CLOCK_MONOTONIC __attribute__((swift_name("CLOCK_MONOTONIC"))) = 6,
    _CLOCK_UPTIME_RAW __attribute__((swift_name("CLOCK_UPTIME_RAW"))) = 8,
    _CLOCK_THREAD_CPUTIME_ID __attribute__((swift_name("CLOCK_THREAD_CPUTIME_ID"))) = 16,
    _CLOCK_PROCESS_CPUTIME_ID __attribute__((swift_name("CLOCK_PROCESS_CPUTIME_ID"))) = 12,
} clockid_t;
int clock_gettime(clockid_t, struct timespec *);
time_t time(time_t *);
unsigned int alarm(unsigned int);

// MARK: Sockets

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 30
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOL_SOCKET 0xffff
#define SO_REUSEADDR 0x0004
#define SO_LINGER 0x0080
#define SO_RCVBUF 0x1002
#define SO_SNDTIMEO 0x1005
#define SO_RCVTIMEO 0x1006
#define SO_NOSIGPIPE 0x1022
#define SOMAXCONN 128
#define MSG_PEEK 0x2
#define MSG_NOSIGNAL 0x80000
#define SHUT_RD 0
#define SHUT_WR 1
#define SHUT_RDWR 2
#define IPPROTO_TCP 6
#define TCP_NODELAY 0x01
#define POLLIN 0x0001
#define POLLOUT 0x0004
#define POLLERR 0x0008
#define POLLHUP 0x0010
struct linger {
    int l_onoff;
    int l_linger;
};
struct pollfd {
    int fd;
    short events;
    short revents;
};
struct sockaddr {
    uint8_t sa_len;
    sa_family_t sa_family;
    char sa_data[14];
};
struct in_addr {
    in_addr_t s_addr;
};
struct sockaddr_in {
    uint8_t sin_len;
    sa_family_t sin_family;
    in_port_t sin_port;
    struct in_addr sin_addr;
    char sin_zero[8];
};
struct in6_addr {
    uint8_t __u6_addr[16];
};
struct sockaddr_in6 {
    uint8_t sin6_len;
    sa_family_t sin6_family;
    in_port_t sin6_port;
    uint32_t sin6_flowinfo;
    struct in6_addr sin6_addr;
    uint32_t sin6_scope_id;
};
extern const struct in6_addr in6addr_loopback;
int socket(int, int, int);
int socketpair(int, int, int, int *);
int accept(int, struct sockaddr *, socklen_t *);
int bind(int, const struct sockaddr *, socklen_t);
int connect(int, const struct sockaddr *, socklen_t);
int listen(int, int);
int shutdown(int, int);
int getsockname(int, struct sockaddr *, socklen_t *);
int getpeername(int, struct sockaddr *, socklen_t *);
int setsockopt(int, int, int, const void *, socklen_t);
ssize_t recv(int, void *, size_t, int);
ssize_t send(int, const void *, size_t, int);
int poll(struct pollfd *, nfds_t, int);
int inet_pton(int, const char *, void *);
const char *inet_ntop(int, const void *, char *, socklen_t);
#define INET6_ADDRSTRLEN 46

// MARK: Queues of events

#define EVFILT_READ (-1)
#define EV_ADD 0x0001
#define EV_CLEAR 0x0020
#define EV_ERROR 0x4000
#define EV_EOF 0x8000
#define NOTE_LOWAT 0x00000001
struct kevent {
    uintptr_t ident;
    int16_t filter;
    uint16_t flags;
    uint32_t fflags;
    intptr_t data;
    void *udata;
};
#define EV_SET(place, a, b, c, d, e, f) \
    (*(place) = (struct kevent){.ident = (a), .filter = (b), .flags = (c), .fflags = (d), .data = (e), .udata = (f)})
int kqueue(void);
int kevent(int, const struct kevent *, int, struct kevent *, int, const struct timespec *);

// MARK: Loaded images

typedef struct {
    const char *dli_fname;
    void *dli_fbase;
    const char *dli_sname;
    void *dli_saddr;
} Dl_info;
int dladdr(const void *, Dl_info *);

// MARK: Threads

typedef struct _opaque_pthread_t {
    long opaque;
} *pthread_t;
typedef struct {
    long opaque;
} pthread_attr_t;
typedef struct {
    long opaque;
} pthread_mutex_t;
typedef struct {
    long opaque;
} pthread_cond_t;
#define PTHREAD_CREATE_DETACHED 2
int pthread_attr_init(pthread_attr_t *_Nonnull);
int pthread_attr_destroy(pthread_attr_t *_Nonnull);
int pthread_attr_setdetachstate(pthread_attr_t *_Nonnull, int);
int pthread_attr_setstacksize(pthread_attr_t *_Nonnull, size_t);
void *_Nonnull pthread_get_stackaddr_np(pthread_t _Nonnull);
size_t pthread_get_stacksize_np(pthread_t _Nonnull);
int pthread_create(pthread_t _Nullable *_Nonnull, const pthread_attr_t *_Nullable,
                   void *_Nullable (*_Nonnull)(void *_Nullable), void *_Nullable);
pthread_t _Nonnull pthread_self(void);
int pthread_equal(pthread_t _Nullable, pthread_t _Nullable);

// MARK: Terminals

typedef unsigned long tcflag_t;
typedef unsigned long speed_t;
typedef unsigned char cc_t;
struct termios {
    tcflag_t c_iflag;
    tcflag_t c_oflag;
    tcflag_t c_cflag;
    tcflag_t c_lflag;
    cc_t c_cc[20];
    speed_t c_ispeed;
    speed_t c_ospeed;
};
struct winsize {
    unsigned short ws_row;
    unsigned short ws_col;
    unsigned short ws_xpixel;
    unsigned short ws_ypixel;
};
#define TCSAFLUSH 2
#define TIOCGWINSZ 0x40087468
int tcgetattr(int, struct termios *);
int tcsetattr(int, int, const struct termios *);
void cfmakeraw(struct termios *);

#endif
