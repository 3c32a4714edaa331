"""What programs do with what they learnt, what threads do to each other, and how the result gets out.

`who` stands for the way (ways.py), `T` for the number of threads that the program expects, `N` for the size
that its teams have, `work(n)` for a computation whose result is its argument. `result` is what the program
computes. `slot(k)` gives each key a number of its own.

What a use needs of its frame (frames.py): each, open, waits, lasting, bounded, tied; that it has pragmas or
sums is seen by itself."""

SEEN = "static char met[MOST];"
COUNTED = "for (int i = 0; i < MOST; i++) result += met[i], met[i] = 0;"
DONE = "for (int i = 0; i < 64; i++) result += done[i] * (i + 1), done[i] = 0;"
TAKEN = "result += taken; taken = 0;"
TAKE = "__atomic_fetch_add(&taken, {}, __ATOMIC_SEQ_CST);"
WHOEVER = "rank ticket key place"

# name: (kinds of ways, needs, declarations, what each thread does, what is done after the region).
USES = {
    "distinct": (WHOEVER, "each", SEEN, "met[slot(who)] = 1;", COUNTED),
    "locked_distinct": (WHOEVER, "each", SEEN, """int s = slot(who);
#pragma omp critical(meeting)
    met[s] = 1;""", COUNTED),
    "blocks": ("rank ticket", "each", "static int done[MOST];", """long me = who;
    for (long i = me * 8; i < me * 8 + 8; i++) done[i] += 1;""", DONE),
    "strides": ("rank ticket", "each", "static int done[MOST];",
                "for (long i = who; i < 64; i += T) done[i] += 1;", DONE),
    "buckets_kept": ("key", "each lasting", "static long bucket[MOST];", """int s = slot(who);
    if (round % 2 == 0) bucket[s] += round + 1;
    else { long had = bucket[s]; bucket[s] = 0; """ + TAKE.format("had") + " }",
                     "if (round % 2) result += taken, taken = 0;"),
    "largest": ("rank ticket", "each", "static long most;", """long me = who;
    for (long had = most; me > had;)
        if (__atomic_compare_exchange_n(&most, &had, me, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) break;""",
                "result += most; most = 0;"),
    "first_and_last_differ": ("rank ticket", "each", "", """long me = who;
    if (me == 0) """ + TAKE.format(3) + " else if (me == T - 1) " + TAKE.format(5) + " else " +
        TAKE.format(1),
                              TAKEN),
    "mixed_up": ("rank ticket", "each", "", TAKE.format("(unsigned)(who) * 2654435761u % 1009"), TAKEN),
    "seeded": ("rank ticket", "each", "", """unsigned seed = (unsigned)(who) * 17 + 1; long mine = 0;
    for (int i = 0; i < 20; i++) mine += rand_r(&seed) % 100;
    """ + TAKE.format("mine"), TAKEN),
    "partial_sums": ("rank", "each open", "static long own[MOST];", """long me = who; own[me] = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < 64; i++) own[me] += i;
    if (me == 1) """ + TAKE.format("own[1]"), TAKEN),
    "neighbours": ("rank", "each open", "static long own[MOST];", """long me = who; own[me] = round + me;
#pragma omp barrier
    """ + TAKE.format("own[(me + 1) % T] * (me + 1)") + """
#pragma omp barrier""", TAKEN),
    "tree_of_sums": ("rank ticket", "each open", "static long own[MOST];", """long me = who; own[me] = me + 1;
    for (int step = 1; step < T; step *= 2) {
#pragma omp barrier
        if (me % (2 * step) == 0 && me + step < T) own[me] += own[me + step]; }
#pragma omp barrier
    if (me == 0) """ + TAKE.format("own[0]"), TAKEN),
    "turns": ("rank ticket", "each waits", "static long turn;", """long me = who;
    while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != me) sched_yield();
    taken = taken * 31 % 65521 + me + 1; __atomic_store_n(&turn, me + 1, __ATOMIC_SEQ_CST);""",
              TAKEN + " turn = 0;"),
    "blocks_of_file": ("rank ticket", "each", "static int f;\n"
        "__attribute__((constructor)) static void open_it(void) { f = memory_file(); }",
            """char byte = 'x'; pwrite(f, &byte, 1, (who) * 3);""",
        "result += lseek(f, 0, SEEK_END); ftruncate(f, 0);"),
    "rounding_kept": ("rank ticket", "each", "", """int way[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
        FE_TOWARDZERO};
    long me = who; fesetround(way[me % 4]); sched_yield(); """ +
        TAKE.format("(fegetround() == way[me % 4]) * (me + 1)") + " fesetround(FE_TONEAREST);", TAKEN),
    "mask_kept": ("rank ticket", "each", "", """long me = who; sigset_t s, was; sigemptyset(&s);
    sigaddset(&s, SIGRTMIN + me % 8); pthread_sigmask(SIG_SETMASK, &s, &was); sched_yield();
    pthread_sigmask(SIG_SETMASK, &was, &s); """ + TAKE.format("sigismember(&s, SIGRTMIN + me % 8) * (me + "
        "1)"),
                  TAKEN),

    # How it gets out of a region.
    "by_return": (WHOEVER, "each", SEEN + """
__attribute__((noinline)) static int returned(void) { return slot(who); }""", "met[returned()] = 1;",
    COUNTED),
    "by_pointer": (WHOEVER, "each", SEEN + """
__attribute__((noinline)) static void put(unsigned long *to) { *to = who; }""",
                   "unsigned long is; put(&is); met[slot(is)] = 1;", COUNTED),
    "by_callback": (WHOEVER, "each", SEEN + """
static int asks(const void *a, const void *b) { (void)a, (void)b; met[slot(who)] = 1; return 0; }""",
                    "int two[2] = {1, 2}; qsort(two, 2, sizeof *two, asks);", COUNTED),
    "by_shared_memory": (WHOEVER, "each", """static char *shared_;
__attribute__((constructor)) static void map_it(void) {
    shared_ = (char *)mmap(0, MOST, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }""",
                         "shared_[slot(who)] = 1;",
                         "for (int i = 0; i < MOST; i++) result += shared_[i], shared_[i] = 0;"),
    "by_file": (WHOEVER, "each", "static int f; static char all[MOST];\n"
                "__attribute__((constructor)) static void open_it(void) { f = memory_file(); }",
                """char mark = 1; pwrite(f, &mark, 1, slot(who));""",
                "for (long i = pread(f, all, MOST, 0); i > 0; i--) result += all[i - 1];\n    ftruncate(f, "
                "0);"),
    "by_pipe": (WHOEVER, "each", SEEN + """ static int ends[2];
__attribute__((constructor)) static void open_it(void) { pipe(ends); }""",
                "int s = slot(who); write(ends[1], &s, sizeof s);",
                "for (int i = 0, s; i < N; i++) { read(ends[0], &s, sizeof s); met[s] = 1; }\n    " +
                COUNTED),
    "by_output": (WHOEVER, "each", SEEN,
                  'if (!__atomic_exchange_n(&met[slot(who)], 1, __ATOMIC_SEQ_CST)) write(1, "x", 1);',
                  "memset(met, 0, sizeof met);"),
    "by_status_of_child": ("rank ticket key", "each", SEEN, """if (round < 4) {
        int s = slot(who) % 251, status = 0; pid_t child = fork(); if (child == 0) _exit(s);
        waitpid(child, &status, 0); met[WEXITSTATUS(status)] = 1; }""", COUNTED),
    "by_output_of_child": (WHOEVER, "each", SEEN, """if (round < 2) { char line[64]; int s = -1;
        snprintf(line, sizeof line, "echo %d", slot(who)); FILE *p = popen(line, "r");
        fscanf(p, "%d", &s); pclose(p); met[s] = 1; }""", COUNTED),
    "by_lock": (WHOEVER, "each open", """static pthread_mutex_t of[MOST];
__attribute__((constructor)) static void make_locks(void) {
    for (int i = 0; i < MOST; i++) pthread_mutex_init(&of[i], NULL); }""", """int s = slot(who);
    int got = !pthread_mutex_trylock(&of[s]); """ + TAKE.format("got") + """
#pragma omp barrier
    if (got) pthread_mutex_unlock(&of[s]);
#pragma omp barrier""", TAKEN),
    "by_omp_lock": (WHOEVER, "each open", """static omp_lock_t of[MOST];
__attribute__((constructor)) static void make_locks(void) {
    for (int i = 0; i < MOST; i++) omp_init_lock(&of[i]); }""", """int s = slot(who);
    int got = omp_test_lock(&of[s]); """ + TAKE.format("got") + """
#pragma omp barrier
    if (got) omp_unset_lock(&of[s]);
#pragma omp barrier""", TAKEN),
    "by_signal": (WHOEVER, "each", SEEN + """ static __thread int noted;
static void take(int n) { (void)n; met[noted] = 1; }
__attribute__((constructor)) static void handle(void) { signal(SIGUSR1, take); }""",
                  "noted = slot(who); raise(SIGUSR1);", COUNTED),
    "by_errno": (WHOEVER, "each", SEEN, "errno = slot(who) + 1; work(20); met[errno - 1] = 1;", COUNTED),
    "by_longjmp": (WHOEVER, "each", SEEN, """jmp_buf back; int s = setjmp(back);
    if (!s) longjmp(back, slot(who) + 1);
    met[s - 1] = 1;""", COUNTED),
    "by_exception": (WHOEVER, "each c++", SEEN, "try { throw slot(who); } catch (int s) { met[s] = 1; }",
        COUNTED),
    "by_environment": (WHOEVER, "each", "", """char name[32];
    snprintf(name, sizeof name, "HUNT_%d", slot(who)); setenv(name, "1", 1);""",
                       """for (int i = 0; i < MOST; i++) { char name[32]; snprintf(name, sizeof name,
        "HUNT_%d", i);
        if (i > 2000) break; if (getenv(name)) result++, unsetenv(name); }"""),
    "by_length_of_list": (WHOEVER, "each c++", "static std::set<unsigned long> all; static std::mutex "
        "adding;",
                          "{ std::lock_guard<std::mutex> held(adding); all.insert(who); }",
                          "result += all.size(); all.clear();"),

    # Wherever it runs, and however often.
    "same_twice": ("rank key place", "", "", """unsigned long was = who; work(20); sched_yield();
    """ + TAKE.format("was == (unsigned long)(who)"), TAKEN),
    "same_after_taskyield": ("key", "tied", "", """unsigned long was = who;
#pragma omp taskyield
    """ + TAKE.format("was == (unsigned long)(who)"), TAKEN),
    "same_after_barrier": ("key", "each open", "", """unsigned long was = who;
#pragma omp barrier
    """ + TAKE.format("was == (unsigned long)(who)"), TAKEN),
    "in_range": ("rank ticket", "", "", TAKE.format("(who) < T"), TAKEN),
    "at_most_so_many": ("rank key", "bounded", SEEN, "met[slot(who)] = 1;",
                        "for (int i = 0; i < MOST; i++) taken += met[i], met[i] = 0;\n"
                        "    result += taken >= 1 && taken <= N; taken = 0;"),
    "told": ("count procs told", "", "static long said;",
             "__atomic_store_n(&said, (long)(who), __ATOMIC_SEQ_CST);", "result += said;"),
    "told_sum": ("count procs told", "", "", TAKE.format("(long)(who)"), TAKEN),
    "told_reduced": ("count procs told", "", "", "sum += who;", "result += sum;"),
    "told_by_return": ("count procs told", "", """
__attribute__((noinline)) static long said(void) { return who; }""", TAKE.format("said()"), TAKEN),
    "told_by_file": ("count procs told", "", "static int f;\n"
                     "__attribute__((constructor)) static void open_it(void) { f = memory_file(); }",
                     "long is = who; pwrite(f, &is, sizeof is, 0);",
                     "long is = 0; pread(f, &is, sizeof is, 0); result += is;"),
    "told_by_signal": ("count procs told", "local", """static __thread long noted;
static void take(int n) { (void)n; __atomic_fetch_add(&taken, noted, __ATOMIC_SEQ_CST); }
__attribute__((constructor)) static void handle(void) { signal(SIGUSR2, take); }""",
                       "noted = who; raise(SIGUSR2);", TAKEN),
    "repeats": ("count procs told", "", "", "for (int i = 0; i < (int)(who) % 97; i++) " + TAKE.format(1),
                TAKEN),
    "remainders": ("count procs", "", "", "for (int i = 0; i < 24; i++) " +
        TAKE.format("i % (int)(who) == 0"),
                   TAKEN),
    "scratch_of_count": ("count", "", "", """long *mine = (long *)calloc((who) + 1, sizeof(long)), all = 0;
    for (int i = 0; i < (int)(who); i++) mine[i] = i + round;
    for (int i = 0; i < (int)(who); i++) all += mine[i];
    free(mine); """ + TAKE.format("all"), TAKEN),
    "stored_for_later": (WHOEVER + " count told", "", "static unsigned long kept[MOST]; static long many;",
                         "kept[__atomic_fetch_add(&many, 1, __ATOMIC_SEQ_CST)] = who;",
                         "result += many; many = 0;"),
    "weak_scaling": ("count procs", "each", "static long done, said;", """for (int i = 0; i < 10; i++) {
#pragma omp atomic
        done++;
    }
    __atomic_store_n(&said, (long)(who), __ATOMIC_SEQ_CST);""",
        "result += 1000 * done / (said * 10) + said; done = 0;"),
    "weak_scaling_reduced": ("count procs", "each", "static long said;", """samples += 10;
    __atomic_store_n(&said, (long)(who), __ATOMIC_SEQ_CST);""",
        "result += 1000 * samples / (said * 10) + said;"),
    "sized_by_count": ("count", "each", "static int done[MOST];", """int me = omp_get_thread_num();
    int size = 64 / (int)(who), first = me * size, last = me == (int)(who) - 1 ? 64 : first + size;
    for (int i = first; i < last; i++) done[i] += 1;""", DONE),
    "chunks_by_count": ("count", "each open", "static int done[64];",
        """int each_ = 64 / (int)(who) + 1, mine = 0;
#pragma omp for schedule(static, each_)
    for (int i = 0; i < 64; i++) done[i] += ++mine;""", DONE),
    "wait_for_count": ("count", "each waits", "static int arrived;",
        """__atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < (int)(who)) sched_yield();""",
        "result += arrived; arrived = 0;"),
    "wait_for_count_spinning": ("count", "each waits", "static int arrived;",
        """__atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < (int)(who)) ;""", "result += arrived; arrived = 0;"),
    "barrier_of_count": ("count", "each waits", """static pthread_barrier_t all;
__attribute__((constructor)) static void make_barrier(void) {
    pthread_barrier_init(&all, NULL, atoi(getenv("OMP_NUM_THREADS"))); }""", """pthread_barrier_wait(&all);
    """ + TAKE.format("who"), TAKEN),
    "condition_of_count": ("count", "each waits", """static int arrived;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came_ = PTHREAD_COND_INITIALIZER;""", """pthread_mutex_lock(&lock); int of = who;
    if (++arrived == of) pthread_cond_broadcast(&came_);
    while (arrived < of) pthread_cond_wait(&came_, &lock);
    pthread_mutex_unlock(&lock);""", "result += arrived; arrived = 0;"),
    "histogram_by_cpu": ("cpu", "", "static long bucket[MOST];",
        "for (int i = 0; i < 10; i++) __atomic_fetch_add(&bucket[who % MOST], 1, __ATOMIC_SEQ_CST);",
        "for (int i = 0; i < MOST; i++) result += bucket[i], bucket[i] = 0;"),
    "lock_by_cpu": ("cpu", "", """static long total[16]; static pthread_mutex_t of[16];
__attribute__((constructor)) static void make_locks(void) {
    for (int i = 0; i < 16; i++) pthread_mutex_init(&of[i], NULL); }""", """int at = who % 16;
    pthread_mutex_lock(&of[at]); total[at] += round; pthread_mutex_unlock(&of[at]);""",
                    "for (int i = 0; i < 16; i++) result += total[i], total[i] = 0;"),
}

# Uses without a way: what threads do to each other, or carry along: (needs, declarations, body, after).
ALONE = {
    "producer_in_master": ("each open waits", "static int flag;", """
#pragma omp master
    { work(100); __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);
      while (__atomic_load_n(&flag, __ATOMIC_SEQ_CST) != T) sched_yield(); }
    if (omp_get_thread_num() != 0) {
        while (!__atomic_load_n(&flag, __ATOMIC_SEQ_CST)) sched_yield();
        __atomic_fetch_add(&flag, 1, __ATOMIC_SEQ_CST); }""", "result += flag; flag = 0;"),
    "producer_in_single": ("each open waits", "static int flag, gone;", """
#pragma omp single nowait
    { while (__atomic_load_n(&gone, __ATOMIC_SEQ_CST) != T - 1) sched_yield(); flag = 1; }
    __atomic_fetch_add(&gone, 1, __ATOMIC_SEQ_CST);""", "result += gone + flag; gone = flag = 0;"),
    "carried_state": ("each open", "static unsigned long state = 12345;", """unsigned long state_ = state;
#pragma omp for schedule(static)
    for (int i = 0; i < 64; i++) { state_ = state_ * 6364136223846793005ul + 1442695040888963407ul;
        sum += state_ >> 40; }""", "result += sum;"),
    "carried_counter": ("each open", "", """long mine = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < 64; i++) { mine++; sum += mine * mine; }""", "result += sum;"),
    "carried_pointer": ("each open", "static long cells[64];", """long *next = cells;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 64; i++) { __atomic_fetch_add(next++, i, __ATOMIC_SEQ_CST); }""",
                        "for (int i = 0; i < 64; i++) result = result * 31 + cells[i], cells[i] = 0;"),
    "threadprivate_carried": ("each lasting", "static long held;\n#pragma omp threadprivate(held)",
                              "held += round + 1;\n    " + TAKE.format("held"), TAKEN),
    "thread_local_carried": ("each lasting", "static __thread long held;",
                             "held += round + 1;\n    " + TAKE.format("held"), TAKEN),
    "seed_kept": ("each lasting", "static __thread unsigned seed = 7;", TAKE.format("rand_r(&seed) % 1000"),
        TAKEN),
    "engine_kept": ("each lasting c++", "static thread_local std::mt19937 engine(7);",
                    TAKE.format("engine() % 1000"), TAKEN),
    "rand_of_all": ("each", "", TAKE.format("rand() % 1000"), TAKEN),
    "random_of_all": ("each", "", "for (int i = 0; i < 3; i++) " + TAKE.format("random() % 1000"), TAKEN),
    "static_twice": ("each open", "static int owner[64];", """int me = omp_get_thread_num();
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 64; i++) owner[i] = me;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 64; i++) sum += owner[i] == me;""", "result += sum;"),
    "owners_of_loop": ("each open", "static int owner[64];", """
#pragma omp for schedule(static, 5)
    for (int i = 0; i < 64; i++) owner[i] = omp_get_thread_num();""",
                       "for (int i = 0; i < 64; i++) result = result * 31 + owner[i];"),
    "dynamic_shares": ("each open", "", """long mine = 0;
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < 60; i++) mine++;
    """ + TAKE.format("mine * 100 + 1"), TAKEN),
    "counts_in_memory": ("each", "static volatile long repeated;", """
#pragma omp atomic
    repeated++;""", "result += repeated; repeated = 0;"),
    "serial_thread_of_barrier": ("each waits", """static pthread_barrier_t all;
__attribute__((constructor)) static void make_barrier(void) {
    pthread_barrier_init(&all, NULL, atoi(getenv("OMP_NUM_THREADS"))); }""",
        TAKE.format("pthread_barrier_wait(&all) == PTHREAD_BARRIER_SERIAL_THREAD ? 100 : 1"), TAKEN),
    "arrivals_of_semaphore": ("each waits", """static sem_t met_; static int arrived;
__attribute__((constructor)) static void make_it(void) { sem_init(&met_, 0, 0); }""", """
    if (__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST) == T) for (int i = 0; i < T; i++) sem_post(&met_);
    sem_wait(&met_);""", "result += arrived; arrived = 0;"),
    "last_to_come": ("each", "static int arrived;", """
    if (__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST) == T) taken += 1000;""",
                     "result += taken + arrived; taken = arrived = 0;"),
    "appended": ("each", "static int f;\n__attribute__((constructor)) static void open_it(void) {\n"
                 "    f = memory_file(); fcntl(f, F_SETFL, O_APPEND); }",
                 """char line[] = "line\\n"; write(f, line, 5);""",
                 "result += lseek(f, 0, SEEK_END); ftruncate(f, 0);"),
    "counted_by_signals": ("each", """static long signals; static void count(int n) { (void)n;
    __atomic_fetch_add(&signals, 1, __ATOMIC_SEQ_CST); }
__attribute__((constructor)) static void handle(void) { signal(SIGUSR1, count); }""",
                           "raise(SIGUSR1);", "result += signals; signals = 0;"),
    "copied_in": ("each open", "static long held;\n#pragma omp threadprivate(held)", """held = round + 5;
    long mine = 0;
#pragma omp single copyprivate(held)
    held += 3;
    mine = held; """ + TAKE.format("mine"), TAKEN),
    "floating_order": ("each", "static double own[MOST], all;",
                       "own[omp_get_thread_num()] = 1.0 / (omp_get_thread_num() + 3);",
                       "all = 0; for (int i = 0; i < T; i++) all += own[i]; result += (long)(all * 1e9);"),
    "cleaned_up": ("each", "static void clean(void *to) { "
                   "__atomic_fetch_add((long *)to, 2, __ATOMIC_SEQ_CST); }",
                   "pthread_cleanup_push(clean, &taken); work(10); pthread_cleanup_pop(1);", TAKEN),
    "passes_to_unknown": ("sums", "", "sum += opaque(1);", "result += sum;"),
}

OUTS = {
    "printed": 'printf("%lu\\n", result);',
    "status": 'printf("x\\n"); fflush(stdout); return (int)(result % 251);',
    "exit": 'printf("x\\n"); exit((int)(result % 251));',
    "exit_in_region": """fflush(stdout);
#pragma omp parallel
#pragma omp master
    exit((int)(result % 251));""",
    "file": """int f = memory_file(); dprintf(f, "%lu", result);
    char text[32] = ""; pread(f, text, 31, 0); close(f); puts(text);""",
    "memory": """unsigned long *to = (unsigned long *)mmap(0, 4096, PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0); *to = result; pid_t child = fork();
    if (child == 0) { dprintf(1, "%lu\\n", *to); _exit(0); } waitpid(child, NULL, 0);""",
    "child": """char line[64]; snprintf(line, sizeof line, "echo %lu", result); FILE *p = popen(line, "r");
    if (p && fgets(line, sizeof line, p)) fputs(line, stdout); if (p) pclose(p);""",
    "status_of_child": """pid_t child = fork(); if (child == 0) _exit((int)(result % 251));
    int status = 0; waitpid(child, &status, 0); printf("%d\\n", WEXITSTATUS(status));""",
    "system": 'char line[64]; snprintf(line, sizeof line, "echo %lu", result); fflush(stdout); system(line);',
    "exec": """char text[32]; snprintf(text, sizeof text, "%lu", result); fflush(stdout);
    execlp("echo", "echo", text, (char *)NULL);""",
    "environment": """char text[32]; snprintf(text, sizeof text, "%lu", result); setenv("HUNT_SAYS", text, 1);
    fflush(stdout); system("echo $HUNT_SAYS");""",
    "signal": """union sigval v; v.sival_int = (int)(result % 65521); sigset_t s; sigemptyset(&s);
    sigaddset(&s, SIGRTMIN); pthread_sigmask(SIG_BLOCK, &s, NULL); pthread_sigqueue(pthread_self(),
        SIGRTMIN, v);
    siginfo_t i; sigwaitinfo(&s, &i); printf("%d\\n", i.si_value.sival_int);""",
    "killed": 'fflush(stdout); signal(SIGTERM, SIG_DFL); if (result % 3 == 0) raise(SIGTERM);\n'
              '    signal(SIGINT, SIG_DFL); if (result % 3 == 1) raise(SIGINT);',
    "lock": """pthread_mutex_t bits[32]; for (int i = 0; i < 32; i++) { pthread_mutex_init(&bits[i], NULL);
        if (result >> i & 1) pthread_mutex_lock(&bits[i]); }
    for (int i = 0; i < 32; i++) putchar(pthread_mutex_trylock(&bits[i]) ? '1' : '0');
    putchar('\\n');""",
    "pipe": """int ends[2]; pipe(ends); write(ends[1], &result, sizeof result); unsigned long is = 0;
    read(ends[0], &is, sizeof is); printf("%lu\\n", is);""",
    "thread": "pthread_t t; pthread_create(&t, NULL, tell, &result); pthread_join(t, NULL);",
    "at_exit": "last_word = result; atexit(tell_last);",
    "address": """char *at = (char *)malloc(result % 4000 + 8); at[result % 4000] = 'e';
    printf("%ld\\n", (long)((char *)memchr(at, 'e', result % 4000 + 8) >= at) + (long)(result % 4000));""",
    "allocated": """char *many = (char *)calloc(result % 100000 + 1, 1); memset(many, 'x', result % 100000);
    printf("%zu\\n", strlen(many)); free(many);""",
    "in_region": """fflush(stdout);
#pragma omp parallel
#pragma omp single
    printf("%lu\\n", result);""",
}
