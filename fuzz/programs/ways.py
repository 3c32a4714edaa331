"""Ways to learn who or how many one is, or what thread one runs on, in C and C++.

Each is (kind, languages, declarations, expression) under its name. Kinds:

rank    0 to T-1, one for each thread of the team
ticket  the same, but another one each time: for who asks once in each region
key     differs from thread to thread, stays for a thread's life
place   the same, where it is asked in the same function at the same depth of the stack
count   T
procs   the same number for all and in each run, which the program takes for the number of threads
told    the same number for all and in each run
cpu     anything

`T` is the number of threads that the program expects. What is asked outside of regions ends in "outside".
What a way needs of its frame beside that stands behind its kind (frames.py)."""

BOTH = "c c++"


def numbered(first, last):
    """A key that is kept in a thread's state: each thread is given a number when it asks first."""
    return f"""static __thread char has_one; static unsigned long numbers;
static unsigned long asked_state(void) {{
    if (!has_one) {{ unsigned long n = __atomic_add_fetch(&numbers, 1, __ATOMIC_SEQ_CST); has_one = 1;
        {first} }}
    {last} }}"""


def locked(declarations, lock, unlock):
    """A ticket that is drawn under a lock."""
    return f"""static long tickets; {declarations}
static long draw(void) {{ {lock}; long mine = tickets++ % T; {unlock}; return mine; }}"""


WAYS = {
    "omp_get_thread_num": ("rank", BOTH, "", "omp_get_thread_num()"),
    "omp_get_ancestor_thread_num": ("rank", BOTH, "", "omp_get_ancestor_thread_num(omp_get_level())"),
    "affinity_format_rank": ("rank", BOTH, """static long in_format(void) { char text[32] = "";
    omp_capture_affinity(text, sizeof text, "%n"); return atol(text); }""", "in_format()"),
    "index_of_static_loop": ("rank each open", BOTH, """static long by_loop(void) { long me = -1;
#pragma omp for schedule(static, 1)
    for (int i = 0; i < N; i++) me = i;
    return me; }""", "by_loop()"),
    "first_of_static_block": ("rank each open", BOTH, """static long by_block(void) { long first = 1 << 20;
#pragma omp for schedule(static)
    for (int i = 0; i < 60; i++) if (i < first) first = i;
    return first / (60 / T); }""", "by_block()"),
    "thread_local_rank": ("rank", BOTH, """static __thread long where; static long *at_rank(void) {
    where = omp_get_thread_num(); return &where; }""", "*at_rank()"),

    "ticket": ("ticket", BOTH, "static long tickets;",
        "__atomic_fetch_add(&tickets, 1, __ATOMIC_SEQ_CST) % T"),
    "ticket_by_omp": ("ticket", BOTH, """static long tickets;
static long draw(void) { long mine;
#pragma omp atomic capture
    mine = tickets++;
    return mine % T; }""", "draw()"),
    "ticket_by_omp_block": ("ticket", BOTH, """static long tickets;
static long draw(void) { long mine;
#pragma omp atomic capture seq_cst
    { mine = tickets; tickets += 1; }
    return mine % T; }""", "draw()"),
    "ticket_by_critical": ("ticket", BOTH, """static long tickets;
static long draw(void) { long mine;
#pragma omp critical(drawing)
    mine = tickets++;
    return mine % T; }""", "draw()"),
    "ticket_by_mutex": ("ticket", BOTH, locked("static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;",
        "pthread_mutex_lock(&m)", "pthread_mutex_unlock(&m)"), "draw()"),
    "ticket_by_recursive_mutex": ("ticket", BOTH, locked(
        "static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;",
        "pthread_mutex_lock(&m); pthread_mutex_lock(&m)",
        "pthread_mutex_unlock(&m); pthread_mutex_unlock(&m)"), "draw()"),
    "ticket_by_errorcheck_mutex": ("ticket", BOTH, locked(
        "static pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;",
        "while (pthread_mutex_trylock(&m)) sched_yield()",
        "if (pthread_mutex_lock(&m) == EDEADLK) pthread_mutex_unlock(&m)"), "draw()"),
    "ticket_by_rwlock": ("ticket", BOTH, locked("static pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER;",
        "pthread_rwlock_wrlock(&m)", "pthread_rwlock_unlock(&m)"), "draw()"),
    "ticket_by_semaphore": ("ticket", BOTH, locked("""static sem_t m;
__attribute__((constructor)) static void make_sem(void) { sem_init(&m, 0, 1); }""",
        "sem_wait(&m)", "sem_post(&m)"), "draw()"),
    "ticket_by_omp_lock": ("ticket", BOTH, locked("""static omp_lock_t m;
__attribute__((constructor)) static void make_lock(void) { omp_init_lock(&m); }""",
        "omp_set_lock(&m)", "omp_unset_lock(&m)"), "draw()"),
    "ticket_by_omp_nest_lock": ("ticket", BOTH, locked("""static omp_nest_lock_t m;
__attribute__((constructor)) static void make_it(void) { omp_init_nest_lock(&m); }""",
        "omp_set_nest_lock(&m); omp_set_nest_lock(&m)",
        "omp_unset_nest_lock(&m); omp_unset_nest_lock(&m)"), "draw()"),
    "ticket_by_spin_lock": ("ticket", BOTH, locked("static char m;",
        "while (__atomic_test_and_set(&m, __ATOMIC_ACQUIRE)) sched_yield()",
        "__atomic_clear(&m, __ATOMIC_RELEASE)"), "draw()"),
    "ticket_by_exchange": ("ticket", BOTH, """static long tickets;
static long draw(void) { long had = __atomic_load_n(&tickets, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(&tickets, &had, had + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) ;
    return had % T; }""", "draw()"),
    "ticket_by_xadd": ("ticket", BOTH, """static long tickets; static long draw(void) { long mine = 1;
    __asm__ volatile("lock xaddq %0, %1" : "+r"(mine), "+m"(tickets) : : "memory"); return mine % T; }""",
        "draw()"),
    "ticket_by_std_atomic": ("ticket", "c++", "static std::atomic<long> tickets;", "tickets++ % T"),
    "ticket_by_stdatomic.h": ("ticket", "c", "static _Atomic long tickets;",
        "tickets++ % T"),
    "ticket_by_std_mutex": ("ticket", "c++", """static long tickets; static std::mutex m;
static long draw() { std::lock_guard<std::mutex> held(m); return tickets++ % T; }""", "draw()"),
    # The first T reads get what was there before, whoever puts back what when.
    "ticket_by_pipe": ("ticket", BOTH, """static int ends[2]; static char bytes[] = {0, 1, 2, 3};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void fill(void) { pipe(ends); write(ends[1], bytes, N); }
static long draw(void) { char mine = 0; pthread_once(&once, fill); read(ends[0], &mine, 1);
    write(ends[1], &mine, 1); return mine; }""", "draw()"),
    "ticket_by_place_in_file": ("ticket", BOTH, """static int tape = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void fill(void) { char bytes[4800]; for (int i = 0; i < 4800; i++) bytes[i] = i % N;
    tape = open("/tmp", O_TMPFILE | O_RDWR, 0600); write(tape, bytes, sizeof bytes); lseek(tape, 0,
        SEEK_SET); }
static long draw(void) { char mine = 0; pthread_once(&once, fill); read(tape, &mine, 1); return mine; }""",
        "draw()"),

    "gettid": ("key", BOTH, "", "(unsigned long)gettid()"),
    "syscall_gettid": ("key", BOTH, "", "(unsigned long)syscall(SYS_gettid)"),
    "raw_gettid": ("key", BOTH, """static unsigned long raw(void) { long r;
    __asm__ volatile("syscall" : "=a"(r) : "0"((long)SYS_gettid) : "rcx", "r11", "memory");
    return (unsigned long)r; }""", "raw()"),
    "affinity_format_tid": ("key", BOTH, """static unsigned long in_format(void) { char text[32] = "";
    omp_capture_affinity(text, sizeof text, "%i"); return strtoul(text, NULL, 0); }""", "in_format()"),
    "pthread_self": ("key", BOTH, "", "(unsigned long)pthread_self()"),
    "pthread_equal": ("key", BOTH, """static pthread_t members[MOST]; static int listed;
static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;
static unsigned long in_list(void) { pthread_mutex_lock(&listing); int i = 0;
    while (i < listed && !pthread_equal(members[i], pthread_self())) i++;
    if (i == listed) members[listed++] = pthread_self();
    pthread_mutex_unlock(&listing); return i; }""", "in_list()"),
    "thrd_current": ("key", "c", "", "(unsigned long)thrd_current()"),
    "this_thread": ("key", "c++", "",
        "(unsigned long)std::hash<std::thread::id>()(std::this_thread::get_id())"),
    "thread_id_as_text": ("key", "c++", """static unsigned long written() { std::ostringstream text;
    text << std::this_thread::get_id(); return std::stoul(text.str()); }""", "written()"),
    "thread_local_address": ("key", BOTH, "static __thread char mine_is_here;",
        "(unsigned long)&mine_is_here"),
    "thread_local_number": ("key", BOTH, """static __thread unsigned long number;
static unsigned long numbers;
static unsigned long numbered(void) {
    if (!number) number = __atomic_add_fetch(&numbers, 1, __ATOMIC_SEQ_CST);
    return number; }""", "numbered()"),
    "thread_local_object": ("key", "c++", """static std::atomic<unsigned long> objects;
struct object { unsigned long number = ++objects; }; static thread_local object one;""", "one.number"),
    "thread_local_in_function": ("key", "c++", """static std::atomic<unsigned long> objects;
static unsigned long numbered() { thread_local unsigned long number = ++objects; return number; }""",
        "numbered()"),
    "threadprivate_number": ("key", BOTH, """static unsigned long number, numbers;
#pragma omp threadprivate(number)
static unsigned long numbered(void) {
    if (!number) number = __atomic_add_fetch(&numbers, 1, __ATOMIC_SEQ_CST);
    return number; }""", "numbered()"),
    "threadprivate_address": ("key", BOTH, """static unsigned long number;
#pragma omp threadprivate(number)
static unsigned long at_number(void) { return (unsigned long)&number; }""", "at_number()"),
    "errno_address": ("key", BOTH, "", "(unsigned long)&errno"),
    "h_errno_address": ("key", BOTH, "", "(unsigned long)&h_errno"),
    "resolver_address": ("key", BOTH, "", "(unsigned long)__res_state()"),
    "ctype_address": ("key", BOTH, "", "(unsigned long)__ctype_b_loc()"),
    "fs_base": ("key", BOTH, """static unsigned long base(void) { unsigned long at;
    __asm__("mov %%fs:0, %0" : "=r"(at)); return at; }""", "base()"),
    "exception_globals": ("key", "c++", "", "(unsigned long)abi::__cxa_get_globals()"),
    "robust_list": ("key", BOTH, """static unsigned long head(void) { void *at = NULL; size_t size;
    syscall(SYS_get_robust_list, 0, &at, &size); return (unsigned long)at; }""", "head()"),
    "stack_address": ("place", BOTH, """__attribute__((noinline)) static unsigned long page(void) {
    return (unsigned long)__builtin_frame_address(0) >> 16; }""", "page()"),
    "local_address": ("place", BOTH, """__attribute__((noinline)) static unsigned long page(void) {
    volatile char here = 1; return (unsigned long)&here >> 16; }""", "page()"),
    "stack_pointer": ("place", BOTH, """__attribute__((noinline)) static unsigned long page(void) {
    unsigned long at; __asm__ volatile("mov %%rsp, %0" : "=r"(at)); return at >> 16; }""", "page()"),
    "getcontext": ("place", BOTH, """__attribute__((noinline)) static unsigned long page(void) {
    ucontext_t c; getcontext(&c); return (unsigned long)c.uc_mcontext.gregs[REG_RSP] >> 16; }""", "page()"),
    "pthread_getattr_np": ("key", BOTH, """static unsigned long stack(void) {
    pthread_attr_t a; void *low; size_t size; pthread_getattr_np(pthread_self(), &a);
    pthread_attr_getstack(&a, &low, &size); pthread_attr_destroy(&a); return (unsigned long)low; }""",
        "stack()"),
    "pthread_specific": ("key", BOTH, """static pthread_key_t own_key; static unsigned long given;
static pthread_once_t once = PTHREAD_ONCE_INIT; static void make(void) { pthread_key_create(&own_key, NULL); }
static unsigned long specific(void) { pthread_once(&once, make);
    if (!pthread_getspecific(own_key))
        pthread_setspecific(own_key, (void *)__atomic_add_fetch(&given, 1, __ATOMIC_SEQ_CST));
    return (unsigned long)pthread_getspecific(own_key); }""", "specific()"),
    "tss_get": ("key", "c", """static tss_t own_key; static unsigned long given;
static once_flag once = ONCE_FLAG_INIT; static void make(void) { tss_create(&own_key, NULL); }
static unsigned long specific(void) { call_once(&once, make);
    if (!tss_get(own_key)) tss_set(own_key, (void *)__atomic_add_fetch(&given, 1, __ATOMIC_SEQ_CST));
    return (unsigned long)tss_get(own_key); }""", "specific()"),
    "thread_self_link": ("key", BOTH, """static unsigned long link_of(void) { char to[64] = "";
    ssize_t n = readlink("/proc/thread-self", to, 63); const char *at = n > 0 ? strrchr(to, '/') : NULL;
    return at ? strtoul(at + 1, NULL, 10) : 0; }""", "link_of()"),
    "thread_self_stat": ("key", BOTH, """static unsigned long stat_of(void) { char text[64] = "";
    int f = open("/proc/thread-self/stat", O_RDONLY); read(f, text, 63); close(f);
    return strtoul(text, NULL, 10); }""", "stat_of()"),
    "clock_of_thread": ("key", BOTH, """static unsigned long clock_of(void) { clockid_t c = 0;
    pthread_getcpuclockid(pthread_self(), &c); return (unsigned long)(unsigned)c; }""", "clock_of()"),
    "owner_of_recursive_mutex": ("key", BOTH, """
static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static unsigned long owner(void) { pthread_mutex_lock(&m); unsigned long is = m.__data.__owner;
    pthread_mutex_unlock(&m); return is; }""", "owner()"),
    "writer_of_rwlock": ("key", BOTH, """static pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER;
static unsigned long writer(void) { pthread_rwlock_wrlock(&m); unsigned long is = m.__data.__cur_writer;
    pthread_rwlock_unlock(&m); return is; }""", "writer()"),
    # The first of many that a thread holds already, or that nobody does: it keeps it.
    "claimed_recursive_mutex": ("key lasting", BOTH, """static pthread_mutex_t claims[64];
__attribute__((constructor)) static void make_claims(void) { pthread_mutexattr_t a;
    pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    for (int i = 0; i < 64; i++) pthread_mutex_init(&claims[i], &a); }
static unsigned long claimed(void) { int i = 0; while (pthread_mutex_trylock(&claims[i])) i++; return i; }""",
        "claimed()"),
    "malloc_arena": ("key", BOTH, """static __thread void *held_for_ever;
static unsigned long arena(void) { if (!held_for_ever) held_for_ever = malloc(24);
    return (unsigned long)held_for_ever >> 26; }""", "arena()"),
    "name": ("key", BOTH, numbered(
        'char t[16]; snprintf(t, 16, "n%lu", n); pthread_setname_np(pthread_self(), t);',
        'char is[16] = ""; pthread_getname_np(pthread_self(), is, 16); return strtoul(is + 1, NULL, 10);'),
        "asked_state()"),
    "name_by_prctl": ("key", BOTH, numbered('char t[16]; snprintf(t, 16, "n%lu", n); prctl(PR_SET_NAME, t);',
        'char is[16] = ""; prctl(PR_GET_NAME, is); return strtoul(is + 1, NULL, 10);'), "asked_state()"),
    "comm_file": ("key", BOTH, numbered('char t[16]; snprintf(t, 16, "n%lu", n); prctl(PR_SET_NAME, t);',
        """char is[16] = ""; int f = open("/proc/thread-self/comm", O_RDONLY); read(f, is, 15); close(f);
    return strtoul(is + 1, NULL, 10);"""), "asked_state()"),
    "timer_slack": ("key", BOTH, numbered("prctl(PR_SET_TIMERSLACK, 50000 + n);",
        "return prctl(PR_GET_TIMERSLACK);"), "asked_state()"),
    "nice_value": ("key lasting", BOTH, numbered("setpriority(PRIO_PROCESS, gettid(), n);",
        "return getpriority(PRIO_PROCESS, gettid());"), "asked_state()"),
    "signal_mask": ("key", BOTH, numbered("""sigset_t s; sigemptyset(&s);
        for (int i = 0; i < 12; i++) if (n >> i & 1) sigaddset(&s, SIGRTMIN + i);
        pthread_sigmask(SIG_SETMASK, &s, NULL);""", """sigset_t s; pthread_sigmask(SIG_SETMASK, NULL, &s);
    unsigned long is = 0; for (int i = 0; i < 12; i++) is |= (unsigned long)sigismember(&s,
        SIGRTMIN + i) << i;
    return is;"""), "asked_state()"),
    "signal_stack": ("key", BOTH, numbered("""(void)n; stack_t s; memset(&s, 0, sizeof s);
        s.ss_size = 16384; s.ss_sp = malloc(16384); sigaltstack(&s, NULL);""",
        "stack_t s; sigaltstack(NULL, &s); return (unsigned long)s.ss_sp;"), "asked_state()"),
    "locale": ("key", BOTH, numbered('(void)n; uselocale(newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0));',
        "return (unsigned long)uselocale((locale_t)0);"), "asked_state()"),

    "omp_get_num_threads": ("count", BOTH, "", "omp_get_num_threads()"),
    "omp_get_team_size": ("count", BOTH, "", "omp_get_team_size(omp_get_level())"),
    "omp_get_max_threads": ("count", BOTH, "", "omp_get_max_threads()"),
    "affinity_format_count": ("count", BOTH, """static long in_format(void) { char text[32] = "";
    omp_capture_affinity(text, sizeof text, "%N"); return atol(text); }""", "in_format()"),
    "share_of_static_loop": ("count each open", BOTH, """static long by_share(void) { long mine = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < 240; i++) mine++;
    return 240 / mine; }""", "by_share()"),
    "omp_get_max_threads_outside": ("count", BOTH, "static int asked;", "asked = omp_get_max_threads()"),
    "omp_set_num_threads_outside": ("count", BOTH, "static int asked;",
        "omp_set_num_threads(T); asked = omp_get_max_threads()"),
    "getenv_outside": ("count", BOTH, "static int asked;", 'asked = atoi(getenv("OMP_NUM_THREADS"))'),
    "secure_getenv_outside": ("count", BOTH, "static int asked;",
        'asked = atoi(secure_getenv("OMP_NUM_THREADS"))'),
    "environ_outside": ("count", BOTH, "static int asked; extern char **environ;",
        'for (char **e = environ; *e; e++) if (!strncmp(*e, "OMP_NUM_THREADS=", 16)) asked = atoi(*e + 16)'),
    "proc_environ_outside": ("count", BOTH, "static int asked; static char text[65536];",
        """int f = open("/proc/self/environ", O_RDONLY); long n = read(f, text, 65535); close(f);
    for (long i = 0; i < n; i += strlen(text + i) + 1)
        if (!strncmp(text + i, "OMP_NUM_THREADS=", 16)) asked = atoi(text + i + 16)"""),
    "child_told_outside": ("count", BOTH, "static int asked;",
        'FILE *p = popen("echo $OMP_NUM_THREADS", "r"); fscanf(p, "%d", &asked); pclose(p)'),
    "team_before_outside": ("count", BOTH, "static int asked;", """asked = 0;
#pragma omp parallel
#pragma omp single
    asked = omp_get_num_threads()"""),
    "counted_before_outside": ("count", BOTH, "static int asked;", """asked = 0;
#pragma omp parallel
#pragma omp atomic
    asked++"""),
    "summed_before_outside": ("count", BOTH, "static int asked;", """int all = 0;
#pragma omp parallel reduction(+ : all)
    all += 1;
    asked = all"""),
    "highest_before_outside": ("count", BOTH, "static int asked;", """int highest = 0;
#pragma omp parallel reduction(max : highest)
    highest = omp_get_thread_num();
    asked = highest + 1"""),
    "last_of_loop_before_outside": ("count", BOTH, "static int asked;", """int last = 0;
#pragma omp parallel for lastprivate(last) schedule(static)
    for (int i = 0; i < 60; i++) last = omp_get_thread_num();
    asked = last + 1"""),

    "num_procs_outside": ("procs", BOTH, "static int asked;", "asked = omp_get_num_procs()"),
    "sysconf_outside": ("procs", BOTH, "static int asked;", "asked = sysconf(_SC_NPROCESSORS_ONLN)"),
    "sysconf_conf_outside": ("procs", BOTH, "static int asked;", "asked = sysconf(_SC_NPROCESSORS_CONF)"),
    "get_nprocs_outside": ("procs", BOTH, "static int asked;", "asked = get_nprocs()"),
    "sched_getaffinity_outside": ("procs", BOTH, "static int asked;",
        "cpu_set_t s; sched_getaffinity(0, sizeof s, &s); asked = CPU_COUNT(&s)"),
    "pthread_getaffinity_outside": ("procs", BOTH, "static int asked;",
        "cpu_set_t s; pthread_getaffinity_np(pthread_self(), sizeof s, &s); asked = CPU_COUNT(&s)"),
    "hardware_concurrency_outside": ("procs", "c++", "static int asked;",
        "asked = std::thread::hardware_concurrency()"),
    "nproc_of_child_outside": ("procs", BOTH, "static int asked;",
        'FILE *p = popen("nproc --ignore=0", "r"); fscanf(p, "%d", &asked); pclose(p)'),
    "nproc_by_system_outside": ("procs", BOTH, "static int asked;",
        'asked = WEXITSTATUS(system("exit $(nproc)"))'),
    "nproc_by_spawn_outside": ("procs", BOTH, "static int asked; extern char **environ;",
        """pid_t child; int status; char name[] = "sh", c[] = "-c", line[] = "exit $(nproc)";
    char *words[] = {name, c, line, NULL}; posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ);
    waitpid(child, &status, 0); asked = WEXITSTATUS(status)"""),
    "num_procs": ("told", BOTH, "", "omp_get_num_procs()"),
    "sysconf": ("told", BOTH, "", "sysconf(_SC_NPROCESSORS_ONLN)"),
    "affinity_count": ("told", BOTH, """static long allowed(void) { cpu_set_t s;
    sched_getaffinity(0, sizeof s, &s); return CPU_COUNT(&s); }""", "allowed()"),

    "omp_get_thread_limit": ("told", BOTH, "", "omp_get_thread_limit()"),
    "omp_get_num_teams": ("told", BOTH, "", "omp_get_num_teams()"),
    "omp_get_team_num": ("told alone", BOTH, "", "omp_get_team_num()"),
    "omp_get_level": ("told", BOTH, "", "omp_get_level()"),
    "omp_get_active_level": ("told", BOTH, "", "omp_get_active_level()"),
    "omp_in_parallel": ("told", BOTH, "", "omp_in_parallel()"),
    "omp_in_final": ("told", BOTH, "", "omp_in_final()"),
    "omp_get_max_active_levels": ("told", BOTH, "", "omp_get_max_active_levels()"),
    "omp_get_schedule": ("told", BOTH, """static long chosen(void) { omp_sched_t kind; int chunk;
    omp_get_schedule(&kind, &chunk); return (kind & 15) * 100 + chunk; }""", "chosen()"),
    "omp_get_dynamic": ("told", BOTH, "", "omp_get_dynamic()"),
    "omp_get_cancellation": ("told", BOTH, "", "omp_get_cancellation()"),
    "omp_get_proc_bind": ("told", BOTH, "", "omp_get_proc_bind()"),
    "omp_get_num_places": ("told", BOTH, "", "omp_get_num_places()"),
    "omp_get_place_num": ("cpu", BOTH, "", "(unsigned long)(omp_get_place_num() + 1)"),
    "getpid": ("told", BOTH, "", "(getpid() == syscall(SYS_getpid))"),
    "uncaught_exceptions": ("told", "c++", "", "std::uncaught_exceptions()"),
    "is_initial_device": ("told", BOTH, "", "omp_is_initial_device()"),

    "sched_getcpu": ("cpu", BOTH, "", "(unsigned long)sched_getcpu()"),
    "getcpu": ("cpu", BOTH, """static unsigned long cpu(void) { unsigned c = 0;
    syscall(SYS_getcpu, &c, NULL, NULL); return c; }""", "cpu()"),
    "rdtscp": ("cpu", BOTH, """static unsigned long cpu(void) { unsigned a, d, c;
    __asm__ volatile("rdtscp" : "=a"(a), "=d"(d), "=c"(c)); return c & 0xfff; }""", "cpu()"),
}
