"""The text around the parts of a program in C or C++."""

HEAD = """#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
MORE_INCLUDES
enum { MOST = 4096 };
static int T, N;
static long taken;
static unsigned long keys[MOST];
static long opaque(long n) { char text[8] = "0"; text[0] += n; return strtol(text, NULL, 10); }
__attribute__((noinline)) static long work(long n) {
    volatile double x = 1;
    for (int i = 0; i < WORK; i++) x *= 1.0000001;
    return n; }
static int warmed[64];
static void warm(void) {
    const char *wait = getenv("WARM_MS");
    double until = omp_get_wtime() + (wait ? atoi(wait) : 0) / 1000.0;
    while (wait && omp_get_wtime() < until) {
#pragma omp parallel for
        for (int i = 0; i < 64; i++) warmed[i] = i;
        usleep(500);
    } }
__attribute__((noinline, unused)) static int slot(unsigned long key) {
    key++;
    for (int i = 0; i < MOST; i++) { unsigned long none = 0;
        if (__atomic_load_n(&keys[i], __ATOMIC_SEQ_CST) == key) return i;
        if (__atomic_compare_exchange_n(&keys[i], &none, key, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return i; }
    return 0; }
static long came;
__attribute__((unused)) static void meet(void) {
    long all = (__atomic_add_fetch(&came, 1, __ATOMIC_SEQ_CST) + N - 1) / N * N;
    while (__atomic_load_n(&came, __ATOMIC_SEQ_CST) < all) sched_yield(); }
__attribute__((unused)) static int memory_file(void) { return (int)syscall(SYS_memfd_create, "hunt", 0); }
__attribute__((unused)) static void *tell(void *result) { printf("%lu\\n", *(unsigned long *)result);
        return 0; }
static unsigned long last_word;
__attribute__((unused)) static void tell_last(void) { printf("%lu\\n", last_word); }
"""

# name: what it is told by, in the text
INCLUDES = {"std::atomic": "atomic", "std::thread": "thread", "std::this_thread": "thread",
    "thrd_": "threads.h",
            "tss_": "threads.h", "std::mutex": "mutex", "std::set": "set", "std::mt19937": "random",
            "std::ostringstream": "sstream", "std::vector": "vector", "std::string": "string",
            "std::stoul": "string", "std::sort": "algorithm", "std::max": "algorithm", "std::array": "array",
            "std::complex": "complex", "std::map": "map", "std::function": "functional",
            "std::accumulate": "numeric", "std::uncaught": "exception", "std::unique_ptr": "memory",
            "abi::": "cxxabi.h", "mmap": "sys/mman.h", "memfd_create(": "sys/mman.h", "waitpid": "sys/wait.h",
            "WEXITSTATUS": "sys/wait.h", "posix_spawn": "spawn.h", "prctl(": "sys/prctl.h",
            "signal": "signal.h",
            "sig": "signal.h", "sem_": "semaphore.h", "setpriority": "sys/resource.h", "locale_t": "locale.h",
            "h_errno": "netdb.h", "__res_state": "resolv.h", "__ctype_b_loc": "ctype.h",
            "ucontext_t": "ucontext.h", "get_nprocs": "sys/sysinfo.h", "jmp_buf": "setjmp.h",
            "fesetround": "fenv.h", "raise(": "signal.h", "clockid_t": "time.h", "_Complex": "complex.h"}

PLUS_HEAD = """struct tally { long many = 0; void add(long n) { many += n; } ~tally() { many = -1; } };
"""

# What frames use beside BODY, by its name in their text.
LOCALS = {
    "f_kept": "long f_kept = 3;", "f_own": "long f_own = 0;", "f_all": "int f_all = 1;",
    "f_most": "long f_most = 0;", "f_bits": "long f_bits = 1;", "f_ones": "long f_ones = ~0l;",
    "f_product": "long f_product = 1;", "f_least": "long f_least = 99;", "f_many": "long f_many[64] = {0};",
    "f_two": "struct two { long a, b; }; struct two f_two = {0, 0};\n"
             "#pragma omp declare reduction(mix : struct two : omp_out.a += omp_in.a) "
             "initializer(omp_priv = {0, 0})",
    "f_of_tasks": "long f_of_tasks = 0;", "f_scanned": "long f_scanned = 0;", "f_last": "long f_last = 0;",
    "f_step": "long f_step = 0;", "f_nothing": "long f_nothing = 0;", "f_shared": "long f_shared = 0;",
    "f_mutex": "static pthread_mutex_t f_mutex = PTHREAD_MUTEX_INITIALIZER;",
    "f_lock": "static omp_lock_t f_lock; if (round == 0) omp_init_lock(&f_lock);",
    "f_nest": "static omp_nest_lock_t f_nest; if (round == 0) omp_init_nest_lock(&f_nest);",
    "f_copied": "static long f_copied;\n#pragma omp threadprivate(f_copied)",
}

# Functions that frames call; what they are made of stands before `main`.
EACH = {
    "each": """__attribute__((noinline)) static void each(long round, long *sum_, long *samples_) {
    long sum = 0, samples = 0;
    { BODY }
    *sum_ += sum; *samples_ += samples; (void)round; }
""",
    "outer": """__attribute__((noinline)) static void outer(long round, long *sum_, long *samples_) {
    long sum = 0, samples = 0;
#pragma omp parallel CLAUSES
    { BODY }
    *sum_ += sum; *samples_ += samples; (void)round; }
""",
    "squared": """#pragma omp declare simd
static double squared(double x) { return x * x; }
""",
    "plain_one": """static long other_one(void) { return 1; }
#pragma omp declare variant(other_one) match(construct = {parallel})
static long plain_one(void) { return 1; }
""",
}

MAIN = """int main(void) {
    unsigned long result = 0;
    T = N = omp_get_max_threads();
    warm();
    { ASK }
    for (long round = 0; round < ROUNDS; round++) {
    long sum = 0, samples = 0; (void)samples; (void)sum;
    REGION
    AFTER
    }
    (void)opaque; (void)taken;
    OUT
    return 0; }
"""
