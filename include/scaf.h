/*
 * scaf.h: for programs with threads of their own, and for runtimes that libscaf has no port for.
 *
 * OpenMP programs need none of this: `scaf run PROGRAM` is all. It narrows a program's own threads, too, onto
 * fewer CPUs. With this file the program learns how many are to run, so that no two share a CPU.
 *
 *     uint32_t pool = scaf_register("images", 8);       8 threads, were it alone on the machine
 *     for (;;) {
 *         uint32_t threads = scaf_dop(pool);            1 to 8: so many are to run now
 *         struct scaf_work work;
 *         scaf_begin(&work, pool, (uintptr_t)sharpen, threads);
 *         ... sharpen a thousand tiles on so many threads ...
 *         scaf_end(&work, 1000);
 *     }
 *
 * Include this file; nothing needs to be linked, but -ldl with glibc before 2.34. Each function looks for
 * libscaf in the process at its first call. `scaf run` puts it there; else link with -lscaf, or dlopen()
 * libscaf.so with RTLD_GLOBAL before. Without libscaf, or while no daemon answers, the program has no limit.
 *
 * Errors: none to handle. No function aborts, prints or changes errno, whatever it is given.
 * Threads: any thread may call any function at any time. A signal handler may call scaf_dop and scaf_managed
 * after each has been called once elsewhere. None may be called between vfork and exec.
 * Fork: a child keeps its pools and their numbers. It is a program of its own: scaf_dop attaches it.
 * Time: scaf_dop takes 25 ns, scaf_begin and scaf_end together 65 ns; the first to find a daemon, up to 2 ms.
 *
 * C99 or C++11, gcc or clang, x86-64 Linux.
 */
#ifndef SCAF_H
#define SCAF_H

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>

/* The version of this interface. Within a version functions are added, never changed or taken away. */
#define SCAF_API_VERSION 1

/* Most threads of a pool; as an answer it means: no limit. */
#define SCAF_MOST_THREADS 65535u

/* Pools of a process at a time. */
#define SCAF_MOST_POOLS 32u

/* Work in progress. Its content is libscaf's; it may be copied and moved. */
struct scaf_work {
    uint64_t opaque[8];
};

/* How libscaf is found. */

typedef void (*scaf_function_)(void);

static inline void scaf_absent_(void)
{
}

/* The function of that name, or a null pointer; cached in `known`. */
static inline scaf_function_ scaf_find_(scaf_function_ *known, const char *name)
{
    scaf_function_ found = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!found) {
        void *address = dlsym((void *)0, name); /* among all that the process sees */
        if (address)
            memcpy(&found, &address, sizeof found);
        else
            found = scaf_absent_;
        __atomic_store_n(known, found, __ATOMIC_RELAXED);
    }
    return found == scaf_absent_ ? (scaf_function_)0 : found;
}

/* The functions. */

/* The version of the interface that libscaf in this process has; 0 without libscaf. */
static inline uint32_t scaf_api_version(void)
{
    static scaf_function_ known;
    scaf_function_ function = scaf_find_(&known, "scaf_api_version");
    return function ? ((uint32_t(*)(void))function)() : 0;
}

/*
 * Registers a pool of threads. It need not have threads yet.
 *   name     its name in `scaf ps -v`, of which the first 23 bytes count. May be null.
 *   threads  threads that it runs alone on the machine, 1 to SCAF_MOST_THREADS: usually its CPUs.
 * Returns the pool's number, at least 1; or 0, no pool, if there is no libscaf, `threads` is out of range, or
 * there are SCAF_MOST_POOLS pools already. All other functions take 0 for a pool, and limit nothing then.
 * From here on the program is managed, if a daemon is there.
 */
static inline uint32_t scaf_register(const char *name, uint32_t threads)
{
    static scaf_function_ known;
    scaf_function_ function = scaf_find_(&known, "scaf_register");
    return function ? ((uint32_t(*)(const char *, uint32_t))function)(name, threads) : 0;
}

/*
 * Unregisters the pool: its number may be used again for another one. A scaf_wait on it ends within a
 * second. After the last pool, with nothing else to be managed, the program keeps one CPU's share.
 */
static inline void scaf_unregister(uint32_t pool)
{
    static scaf_function_ known;
    scaf_function_ function = scaf_find_(&known, "scaf_unregister");
    if (function)
        ((void (*)(uint32_t))function)(pool);
}

/*
 * How many threads of the pool are to run now: 1 to as many as it was registered with; all while the program
 * isn't managed; SCAF_MOST_THREADS for no pool. Take the smaller of this and the threads that you have.
 */
static inline uint32_t scaf_dop(uint32_t pool)
{
    static scaf_function_ known;
    scaf_function_ function = scaf_find_(&known, "scaf_dop");
    return function ? ((uint32_t(*)(uint32_t))function)(pool) : SCAF_MOST_THREADS;
}

/*
 * Waits until scaf_dop(pool) isn't `seen` any more, and returns it.
 *   timeout_ms  longest wait in milliseconds; 0 doesn't wait, a negative one waits for as long as it takes.
 * Returns `seen` when the time is over, or sooner, as after a signal; for no pool within a second. Another
 * DoP is noticed in 0.1 ms; that a daemon was killed or is back, within a second or two. A thread that
 * follows the grant this way costs nothing while nothing changes, but for a look a second.
 */
static inline uint32_t scaf_wait(uint32_t pool, uint32_t seen, int32_t timeout_ms)
{
    static scaf_function_ known;
    scaf_function_ function = scaf_find_(&known, "scaf_wait");
    if (function)
        return ((uint32_t(*)(uint32_t, uint32_t, int32_t))function)(pool, seen, timeout_ms);
    if (seen == SCAF_MOST_THREADS) {
        int before = errno;
        poll((struct pollfd *)0, 0, timeout_ms >= 0 && timeout_ms < 1000 ? timeout_ms : 1000);
        errno = before;
    }
    return SCAF_MOST_THREADS;
}

/* Whether a daemon manages the program now: 1 or 0. */
static inline int scaf_managed(void)
{
    static scaf_function_ known;
    scaf_function_ function = scaf_find_(&known, "scaf_managed");
    return function ? ((int (*)(void))function)() : 0;
}

/*
 * From scaf_exact(1) to scaf_exact(0), results keep every bit that they have without us, as under `scaf run
 * --exact`: teams aren't resized, loops aren't parked, BLAS libraries have their own number of threads. The
 * process has fewer CPUs all the same, so it may be slower beside others. For regions and calls that begin
 * within, on any thread; calls of it nest. oneTBB is left as it is. A child that was forked within stays
 * exact.
 */
static inline void scaf_exact(int on)
{
    static scaf_function_ known;
    scaf_function_ function = scaf_find_(&known, "scaf_exact");
    if (function)
        ((void (*)(int))function)(on);
}

/*
 * Parallel work begins. The daemon learns from it that the program is parallel now, and its speedup on more
 * CPUs. Policies that go by speedups take a program without it for serial, and give it about one CPU.
 *   work     written.
 *   pool     whose threads do it.
 *   kind     any number that is the same for work of the same kind: best the address of the function that the
 *            threads run, which is known again in the next run.
 *   threads  how many do it, clamped to 1 to SCAF_MOST_THREADS.
 * Work of 1 to 100 ms is best. In shorter work the calls take a noticeable part. Of longer work nothing is
 * learned until it ends, and nothing at all if the grant changed meanwhile. Where a thread's pieces of work
 * lie within each other, only the innermost are measured, and none within an OpenMP region.
 */
static inline void scaf_begin(struct scaf_work *work, uint32_t pool, uint64_t kind, uint32_t threads)
{
    static scaf_function_ known;
    scaf_function_ function = scaf_find_(&known, "scaf_begin");
    if (function)
        ((void (*)(struct scaf_work *, uint32_t, uint64_t, uint32_t))function)(work, pool, kind, threads);
    else
        memset(work, 0, sizeof *work);
}

/*
 * The work has ended. Call it once for each scaf_begin, on the same thread if possible: otherwise its time
 * counts, but nothing is learned of its speedup.
 *   units  how much work it was, in units that take the same time each (tiles, rows, bytes); below 2^44. 0 if
 *          all work of that kind is the same amount.
 */
static inline void scaf_end(struct scaf_work *work, uint64_t units)
{
    static scaf_function_ known;
    scaf_function_ function = scaf_find_(&known, "scaf_end");
    if (function)
        ((void (*)(struct scaf_work *, uint64_t))function)(work, units);
}

#endif
