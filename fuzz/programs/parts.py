"""The parts of which programs are made: ways to learn who one is, uses of that, constructs, ways out.

C and C++ parts are texts in which `who` stands for the way, `T` for the number of threads that the program
expects, and `work(n)` for a computation whose result is its argument. Each program is deterministic without
scaf for a given OMP_NUM_THREADS, by construction; hunt.py discards what isn't."""

# name: (kind, languages, declarations, expression).
# rank: 0 to T-1, one for each thread. key: differs from thread to thread, stays for a thread's life.
# count: T. Asked outside of regions where the name ends in "outside".
WAYS = {
    "omp_get_thread_num": ("rank", "c c++", "", "omp_get_thread_num()"),
    "omp_get_ancestor_thread_num": ("rank", "c c++", "", "omp_get_ancestor_thread_num(1)"),
    "ticket": ("rank", "c c++", "static long tickets;",
        "__atomic_fetch_add(&tickets, 1, __ATOMIC_SEQ_CST) % T"),
    "ticket_by_omp": ("rank", "c c++", """static long tickets;
static long draw(void) { long mine;
#pragma omp atomic capture
    mine = tickets++;
    return mine % T; }""", "draw()"),
    "ticket_by_critical": ("rank", "c c++", """static long tickets;
static long draw(void) { long mine;
#pragma omp critical(drawing)
    mine = tickets++;
    return mine % T; }""", "draw()"),
    "ticket_by_lock": ("rank", "c c++", """static long tickets;
static pthread_mutex_t drawing = PTHREAD_MUTEX_INITIALIZER;
static long draw(void) { pthread_mutex_lock(&drawing); long mine = tickets++ % T;
    pthread_mutex_unlock(&drawing); return mine; }""", "draw()"),
    "ticket_by_std_atomic": ("rank", "c++", "static std::atomic<long> tickets;", "tickets++ % T"),
    "gettid": ("key", "c c++", "", "(unsigned long)gettid()"),
    "syscall_gettid": ("key", "c c++", "", "(unsigned long)syscall(SYS_gettid)"),
    "raw_gettid": ("key", "c c++", """static unsigned long raw(void) { long r;
    __asm__ volatile("syscall" : "=a"(r) : "0"((long)SYS_gettid) : "rcx", "r11", "memory");
    return (unsigned long)r; }""", "raw()"),
    "pthread_self": ("key", "c c++", "", "(unsigned long)pthread_self()"),
    "thrd_current": ("key", "c", "", "(unsigned long)thrd_current()"),
    "this_thread": ("key", "c++", "",
        "(unsigned long)std::hash<std::thread::id>()(std::this_thread::get_id())"),
    "thread_local_address": ("key", "c c++", "static __thread char mine_is_here;",
        "(unsigned long)&mine_is_here"),
    "thread_local_number": ("key", "c c++", """static __thread unsigned long number;
static unsigned long numbers;
static unsigned long numbered(void) {
    if (!number) number = __atomic_add_fetch(&numbers, 1, __ATOMIC_SEQ_CST);
    return number; }""", "numbered()"),
    "threadprivate_number": ("key", "c c++", """static unsigned long number, numbers;
#pragma omp threadprivate(number)
static unsigned long numbered(void) {
    if (!number) number = __atomic_add_fetch(&numbers, 1, __ATOMIC_SEQ_CST);
    return number; }""", "numbered()"),
    "errno_address": ("key", "c c++", "", "(unsigned long)&errno"),
    "stack_address": ("key", "c c++", """__attribute__((noinline)) static unsigned long page(void) {
    return (unsigned long)__builtin_frame_address(0) >> 16; }""", "page()"),
    "pthread_getattr_np": ("key", "c c++", """static unsigned long stack(void) {
    pthread_attr_t a; void *low; size_t size; pthread_getattr_np(pthread_self(), &a);
    pthread_attr_getstack(&a, &low, &size); pthread_attr_destroy(&a); return (unsigned long)low; }""",
        "stack()"),
    "pthread_specific": ("key", "c c++", """static pthread_key_t own_key; static unsigned long given;
static pthread_once_t once = PTHREAD_ONCE_INIT; static void make(void) { pthread_key_create(&own_key, NULL); }
static unsigned long specific(void) { pthread_once(&once, make);
    if (!pthread_getspecific(own_key))
        pthread_setspecific(own_key, (void *)__atomic_add_fetch(&given, 1, __ATOMIC_SEQ_CST));
    return (unsigned long)pthread_getspecific(own_key); }""", "specific()"),
    "thread_self_link": ("key", "c c++", """static unsigned long link_of(void) { char to[64] = "";
    ssize_t n = readlink("/proc/thread-self", to, 63); const char *at = n > 0 ? strrchr(to, '/') : NULL;
    return at ? strtoul(at + 1, NULL, 10) : 0; }""", "link_of()"),
    "fs_base": ("key", "c c++", """static unsigned long base(void) { unsigned long at;
    __asm__("mov %%fs:0, %0" : "=r"(at)); return at; }""", "base()"),
    "omp_get_num_threads": ("count", "c c++", "", "omp_get_num_threads()"),
    "omp_get_team_size": ("count", "c c++", "", "omp_get_team_size(1)"),
    "omp_get_max_threads": ("count", "c c++", "", "omp_get_max_threads()"),
    "omp_get_max_threads_outside": ("count", "c c++", "static int asked;", "asked = omp_get_max_threads()"),
    "getenv_outside": ("count", "c c++", "static int asked;", 'asked = atoi(getenv("OMP_NUM_THREADS"))'),
    "team_before_outside": ("count", "c c++", "static int asked;", """asked = 0;
#pragma omp parallel
#pragma omp single
    asked = omp_get_num_threads()"""),
    "counted_before_outside": ("count", "c c++", "static int asked;", """asked = 0;
#pragma omp parallel
#pragma omp atomic
    asked++"""),
    "num_procs_outside": ("procs", "c c++", "static int asked;", "asked = omp_get_num_procs()"),
    "sysconf_outside": ("procs", "c c++", "static int asked;", "asked = sysconf(_SC_NPROCESSORS_ONLN)"),
    "sched_getaffinity_outside": ("procs", "c c++", "static int asked;",
        "cpu_set_t s; sched_getaffinity(0, sizeof s, &s); asked = CPU_COUNT(&s)"),
    "hardware_concurrency_outside": ("procs", "c++", "static int asked;",
        "asked = std::thread::hardware_concurrency()"),
    "sched_getcpu": ("cpu", "c c++", "", "(unsigned long)sched_getcpu()"),
    "getcpu": ("cpu", "c c++", """static unsigned long cpu(void) { unsigned c = 0;
    syscall(SYS_getcpu, &c, NULL, NULL); return c; }""", "cpu()"),
}

# name: (kinds of ways, declarations, what each thread does, what is done after the region); `result` is what
# the program computes. `slot(k)` gives each key a number of its own.
USES = {
    "distinct": ("rank key", "static char met[MOST];", "met[slot(who)] = 1;",
                 "for (int i = 0; i < MOST; i++) result += met[i], met[i] = 0;"),
    "locked_distinct": ("rank key", "static char met[MOST];", """int s = slot(who);
#pragma omp critical(meeting)
    met[s] = 1;""", "for (int i = 0; i < MOST; i++) result += met[i], met[i] = 0;"),
    "blocks": ("rank", "static int done[MOST];", """long me = who;
    for (long i = me * 8; i < me * 8 + 8; i++) done[i] += 1;""",
               "for (int i = 0; i < MOST; i++) result += done[i] * (i + 1), done[i] = 0;"),
    "strides": ("rank", "static int done[MOST];", """for (long i = who; i < 64; i += T) done[i] += 1;""",
                "for (int i = 0; i < MOST; i++) result += done[i] * (i + 1), done[i] = 0;"),
    "buckets_kept": ("key", "static long bucket[MOST];", """int s = slot(who);
    if (round % 2 == 0) bucket[s] += round + 1;
    else { long had = bucket[s]; bucket[s] = 0; __atomic_fetch_add(&taken, had, __ATOMIC_SEQ_CST); }""",
                     "if (round % 2) result += taken, taken = 0;"),
    "weak_scaling": ("count procs", "static long done;", """for (int i = 0; i < 10; i++) {
#pragma omp atomic
        done++;
    }""", "result += 1000 * done / (T * 10); done = 0;"),
    "weak_scaling_reduced": ("count procs", "", "samples += 10;", "result += 1000 * samples / (T * 10);"),
    "sized_by_count": ("count", "static int done[MOST];", """int me = omp_get_thread_num();
    int size = 64 / (int)(who), first = me * size, last = me == (int)(who) - 1 ? 64 : first + size;
    for (int i = first; i < last; i++) done[i] += 1;""",
                       "for (int i = 0; i < 64; i++) result += done[i] * (i + 1), done[i] = 0;"),
    "wait_for_count": ("count", "static int arrived;", """__atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < T) sched_yield();""",
        "result += arrived; arrived = 0;"),
    "wait_for_count_spinning": ("count", "static int arrived;",
        """__atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < T) ;""", "result += arrived; arrived = 0;"),
    "barrier_of_count": ("count", """static pthread_barrier_t all;
__attribute__((constructor)) static void make_barrier(void) {
    pthread_barrier_init(&all, NULL, atoi(getenv("OMP_NUM_THREADS"))); }""", """pthread_barrier_wait(&all);
    __atomic_fetch_add(&taken, 1, __ATOMIC_SEQ_CST);""", "result += taken; taken = 0;"),
    "condition_of_count": ("count", """static int arrived;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;""", """pthread_mutex_lock(&lock);
    if (++arrived == T) pthread_cond_broadcast(&came);
    while (arrived < T) pthread_cond_wait(&came, &lock);
    pthread_mutex_unlock(&lock);""", "result += arrived; arrived = 0;"),
    "histogram_by_cpu": ("cpu", "static long bucket[MOST];",
        "for (int i = 0; i < 10; i++) __atomic_fetch_add(&bucket[who % MOST], 1, __ATOMIC_SEQ_CST);",
        "for (int i = 0; i < MOST; i++) result += bucket[i], bucket[i] = 0;"),
    "stored_for_later": ("rank key count", "static unsigned long kept[MOST]; static long many;", """
    kept[__atomic_fetch_add(&many, 1, __ATOMIC_SEQ_CST)] = who;""", "result += many; many = 0;"),
}

# Uses without a way: what threads do to each other, or carry along.
ALONE = {
    "producer_in_master": ("static int flag;", """
#pragma omp master
    { work(100); __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);
      while (__atomic_load_n(&flag, __ATOMIC_SEQ_CST) != T) sched_yield(); }
    if (omp_get_thread_num() != 0) {
        while (!__atomic_load_n(&flag, __ATOMIC_SEQ_CST)) sched_yield();
        __atomic_fetch_add(&flag, 1, __ATOMIC_SEQ_CST); }""", "result += flag; flag = 0;"),
    "producer_in_single": ("static int flag, gone;", """
#pragma omp single nowait
    { while (__atomic_load_n(&gone, __ATOMIC_SEQ_CST) != T - 1) sched_yield(); flag = 1; }
    __atomic_fetch_add(&gone, 1, __ATOMIC_SEQ_CST);""", "result += gone + flag; gone = flag = 0;"),
    "carried_state": ("static unsigned long state = 12345;", """
#pragma omp for schedule(static) firstprivate(state_)
    for (int i = 0; i < 64; i++) { state_ = state_ * 6364136223846793005ul + 1442695040888963407ul;
        sum += state_ >> 40; }""", "result += sum;"),
    "carried_counter": ("", """long mine = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < 64; i++) { mine++; sum += mine * mine; }""", "result += sum;"),
    "threadprivate_carried": ("static long held;\n#pragma omp threadprivate(held)", """held += round + 1;
#pragma omp atomic
    taken += held;""", "result += taken; taken = 0;"),
    "static_twice": ("static int owner[64];", """int me = omp_get_thread_num();
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 64; i++) owner[i] = me;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 64; i++) sum += owner[i] == me;""", "result += sum;"),
    "counts_in_memory": ("static volatile long repeated;", """
#pragma omp atomic
    repeated++;""", "result += repeated; repeated = 0;"),
    "passes_to_unknown": ("", """sum += opaque(1);""", "result += sum;"),
}

# What the region is like around a thread's doing: texts with BODY.
FRAMES = {
    "parallel": "#pragma omp parallel CLAUSES\n    { BODY }",
    "called": "#pragma omp parallel CLAUSES\n    { each(round, &sum, &samples); }",
    "barrier_before": "#pragma omp parallel CLAUSES\n    { work(50);\n#pragma omp barrier\n    BODY }",
    "between_loops": """#pragma omp parallel CLAUSES
    {
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 8; i++) work(20);
    BODY
#pragma omp barrier
#pragma omp for schedule(static)
    for (int i = 0; i < 8; i++) work(20);
    }""",
    "after_single": "#pragma omp parallel CLAUSES\n    {\n#pragma omp single\n    work(50);\n    BODY }",
    "with_tasks": """#pragma omp parallel CLAUSES
    {
#pragma omp single nowait
    for (int i = 0; i < 6; i++) {
#pragma omp task
        work(20); }
    BODY
#pragma omp taskwait
    }""",
    "in_inner_function": "outer(round, &sum, &samples);",
}

OUTS = {
    "printed": 'printf("%lu\\n", result);',
    "status": 'printf("x\\n"); fflush(stdout); return (int)(result % 251);',
    "file": """char name[] = "/tmp/hunt-XXXXXX"; int f = mkstemp(name); dprintf(f, "%lu", result);
    char text[32] = ""; pread(f, text, 31, 0); close(f); unlink(name); puts(text);""",
    "child": """char line[64]; snprintf(line, sizeof line, "echo %lu", result); FILE *p = popen(line, "r");
    if (p && fgets(line, sizeof line, p)) fputs(line, stdout); if (p) pclose(p);""",
    "allocated": """char *many = (char *)calloc(result % 100000 + 1, 1); memset(many, 'x', result % 100000);
    printf("%zu\\n", strlen(many)); free(many);""",
}

# Right at any size: (declarations, the region, what is done after it).
PURE = {
    "sum": ("", "#pragma omp parallel for SCHEDULE reduction(+ : sum) CLAUSES\n"
            "    for (int i = 0; i < 256; i++) sum += work(i) * round;", "result += sum;"),
    "max": ("", "#pragma omp parallel for SCHEDULE reduction(max : sum) CLAUSES\n"
            "    for (int i = 0; i < 256; i++) { long v = work(i) * 7919 % 251; if (v > sum) sum = v; }",
            "result += sum;"),
    "fill": ("static long cells[256];", "#pragma omp parallel for SCHEDULE CLAUSES\n"
             "    for (int i = 0; i < 256; i++) cells[i] += work(i) + round;",
             "for (int i = 0; i < 256; i++) result = result * 31 + cells[i];"),
    "two_loops": ("static long cells[256], more[256];", """#pragma omp parallel CLAUSES
    {
#pragma omp for SCHEDULE
    for (int i = 0; i < 256; i++) cells[i] = work(i) + round;
#pragma omp for SCHEDULE
    for (int i = 0; i < 256; i++) more[i] = cells[255 - i] * 3;
    }""", "for (int i = 0; i < 256; i++) result = result * 31 + more[i];"),
    "collapse": ("static long cells[256];", "#pragma omp parallel for collapse(2) SCHEDULE CLAUSES\n"
                 "    for (int i = 0; i < 16; i++)\n"
                 "        for (int j = 0; j < 16; j++) cells[i * 16 + j] += work(i) + j;",
                 "for (int i = 0; i < 256; i++) result = result * 31 + cells[i];"),
    "single_between": ("static long cells[256], pivot;", """#pragma omp parallel CLAUSES
    {
#pragma omp for SCHEDULE
    for (int i = 0; i < 256; i++) cells[i] += work(i) + pivot;
#pragma omp single
    pivot = cells[17] % 1000;
#pragma omp for SCHEDULE
    for (int i = 0; i < 256; i++) cells[i] += pivot;
    }""", "for (int i = 0; i < 256; i++) result = result * 31 + cells[i];"),
    "tasks": ("static long cells[64];", """#pragma omp parallel CLAUSES
#pragma omp single
    for (int i = 0; i < 64; i++) {
#pragma omp task firstprivate(i)
        cells[i] += work(i) + round; }""", "for (int i = 0; i < 64; i++) result = result * 31 + cells[i];"),
    "taskloop": ("static long cells[64];", """#pragma omp parallel CLAUSES
#pragma omp single
#pragma omp taskloop grainsize(4)
    for (int i = 0; i < 64; i++) cells[i] += work(i) + round;""",
                 "for (int i = 0; i < 64; i++) result = result * 31 + cells[i];"),
    "ordered": ("static long log_[256], at;", """at = 0;
#pragma omp parallel for ordered SCHEDULE CLAUSES
    for (int i = 0; i < 128; i++) { long v = work(i);
#pragma omp ordered
        log_[at++] = v; }""", "for (int i = 0; i < at; i++) result = result * 31 + log_[i];"),
    "critical": ("static long total;", """#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 64; i++) { long v = work(i);
#pragma omp critical
        total += v; }""", "result += total;"),
    "atomic": ("static long total;", """#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 64; i++) { long v = work(i);
#pragma omp atomic
        total += v; }""", "result += total;"),
    "lastprivate": ("", "long last = 0;\n#pragma omp parallel for lastprivate(last) SCHEDULE CLAUSES\n"
                    "    for (int i = 0; i < 256; i++) last = work(i) * 3;", "result += last;"),
    "private_array": ("static long cells[256];", """#pragma omp parallel CLAUSES
    { long own[8];
#pragma omp for SCHEDULE
    for (int i = 0; i < 256; i++) { for (int j = 0; j < 8; j++) own[j] = work(i) + j;
        cells[i] = own[i % 8]; }
    }""", "for (int i = 0; i < 256; i++) result = result * 31 + cells[i];"),
    "allocated": ("static long cells[256];", """#pragma omp parallel CLAUSES
    { long *own = (long *)malloc(8 * sizeof *own);
#pragma omp for SCHEDULE
    for (int i = 0; i < 256; i++) { for (int j = 0; j < 8; j++) own[j] = work(i) + j;
        cells[i] = own[i % 8]; }
    free(own); }""", "for (int i = 0; i < 256; i++) result = result * 31 + cells[i];"),
    "mathematics": ("static double cells[256];", "#pragma omp parallel for SCHEDULE CLAUSES\n"
                    "    for (int i = 0; i < 256; i++) cells[i] = sqrt(work(i) + round) + floor(sin(i) * 8);",
                    "for (int i = 0; i < 256; i++) result = result * 31 + (long)(cells[i] * 16);"),
    "matrix": ("static double a[24][24], b[24][24], c[24][24];",
               """#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 24; i++) for (int j = 0; j < 24; j++) { a[i][j] = i + j; b[i][j] = i - j; }
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 24; i++) for (int j = 0; j < 24; j++) { double s = 0;
        for (int k = 0; k < 24; k++) s += a[i][k] * b[k][j];
        c[i][j] = s; }""", "for (int i = 0; i < 24; i++) result = result * 31 + (long)c[i][i];"),
    "minimum": ("", "sum = 1 << 20;\n#pragma omp parallel for SCHEDULE reduction(min : sum) CLAUSES\n"
                "    for (int i = 0; i < 256; i++) {\n"
                "        long v = work(i) * 7919 % 251 + 1; if (v < sum) sum = v; }",
                "result += sum;"),
    "doubles": ("static double cells[256];", """for (int i = 0; i < 256; i++) cells[i] = i % 16;
    double total = 0, most = -1, product = 1;
#pragma omp parallel for SCHEDULE reduction(+ : total) reduction(max : most) reduction(* : product) CLAUSES
    for (int i = 0; i < 256; i++) { total += cells[i] * 2; most = cells[i] > most ? cells[i] : most;
        product *= i % 64 ? 1 : 3; }""", "result += (long)(total + most + product);"),
    "bits": ("", """unsigned long all = ~0ul, any = 0, odd = 0;
#pragma omp parallel for SCHEDULE reduction(& : all) reduction(| : any) reduction(^ : odd) CLAUSES
    for (int i = 0; i < 256; i++) { all &= ~(i & 4ul); any |= 1ul << (work(i) % 60); odd ^= i * 31ul; }""",
             "result += all + any + odd;"),
    "dot_and_axpy": ("static double x[512], y[512];", """double dot = 0, scale = round + 1;
#pragma omp parallel CLAUSES
    {
#pragma omp for SCHEDULE
    for (int i = 0; i < 512; i++) { x[i] = i % 7; y[i] = i % 5; }
#pragma omp for SCHEDULE reduction(+ : dot)
    for (int i = 0; i < 512; i++) dot += x[i] * y[i];
#pragma omp for SCHEDULE
    for (int i = 0; i < 512; i++) y[i] += scale * dot * x[i];
    }""", "for (int i = 0; i < 512; i++) result = result * 31 + (long)y[i];"),
    "stencil": ("static double now_[66][66], then[66][66];", """for (int i = 0; i < 66; i++) now_[0][i] = i;
    for (int k = 0; k < 3; k++) {
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 1; i < 65; i++) for (int j = 1; j < 65; j++)
        then[i][j] = 0.25 * (now_[i - 1][j] + now_[i + 1][j] + now_[i][j - 1] + now_[i][j + 1]);
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 1; i < 65; i++) for (int j = 1; j < 65; j++) now_[i][j] = then[i][j];
    }""", "for (int i = 0; i < 66; i++) result = result * 31 + (long)(1024 * now_[i][i]);"),
    "rows_by_pointer": ("static double *rows[32]; static int width = 40;", """
    for (int i = 0; i < 32 && !rows[i]; i++) rows[i] = (double *)calloc(width, sizeof(double));
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 32; i++) { double *row = rows[i];
        for (int j = 0; j < width; j++) row[j] += i * j + round; }""",
                        "for (int i = 0; i < 32; i++) result = result * 31 + (long)rows[i][i];"),
    "sparse_rows": ("static int first[65], column[64 * 5]; static double value[64 * 5], x[64], y[64];", """
    for (int i = 0, k = 0; i < 64; i++) { first[i] = k;
        for (int j = i % 3; j < 64 && k < (i + 1) * 5; j += 13) column[k] = j, value[k++] = i + j;
        first[i + 1] = k; }
    for (int i = 0; i < 64; i++) x[i] = i % 9;
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 64; i++) { double s = 0;
        for (int k = first[i]; k < first[i + 1]; k++) s += value[k] * x[column[k]];
        y[i] = s; }""", "for (int i = 0; i < 64; i++) result = result * 31 + (long)y[i];"),
    "mandelbrot": ("static int counts[24][24];", """
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 24; i++) for (int j = 0; j < 24; j++) {
        double cr = i / 12.0 - 1.5, ci = j / 12.0 - 1, zr = 0, zi = 0; int k = 0;
        while (k < 60 && zr * zr + zi * zi < 4) {
            double t = zr * zr - zi * zi + cr; zi = 2 * zr * zi + ci; zr = t; k++; }
        counts[i][j] = k; }""", "for (int i = 0; i < 24; i++) result = result * 31 + counts[i][i / 2];"),
    "primes": ("", """long found = 0;
#pragma omp parallel for SCHEDULE reduction(+ : found) CLAUSES
    for (int i = 2; i < 500; i++) { int is = 1;
        for (int k = 2; k * k <= i; k++) if (i % k == 0) { is = 0; break; }
        found += is; }""", "result += found;"),
    "pi_by_quadrature": ("", """double area = 0, step = 1.0 / 4096;
#pragma omp parallel for SCHEDULE reduction(+ : area) CLAUSES
    for (int i = 0; i < 4096; i++) { double at = (i + 0.5) * step; area += 4 / (1 + at * at); }""",
                         "result += (long)(area * step * 1e6 + 0.5);"),
    "generator_for_each": ("", """long hits = 0;
#pragma omp parallel for SCHEDULE reduction(+ : hits) CLAUSES
    for (int i = 0; i < 64; i++) { unsigned long state = i * 7919ul + 17;
        for (int k = 0; k < 40; k++) { state = state * 6364136223846793005ul + 1442695040888963407ul;
            hits += state >> 63; } }""", "result += hits;"),
    "steps_back": ("static long cells[301];", "#pragma omp parallel for SCHEDULE CLAUSES\n"
                   "    for (int i = 300; i >= 0; i -= 3) cells[i] += work(i) % 5 + round;",
                   "for (int i = 0; i <= 300; i++) result = result * 31 + cells[i];"),
    "unsigned_index": ("static float cells[256];", "#pragma omp parallel for SCHEDULE CLAUSES\n"
                       "    for (size_t i = 0; i < 256; i++) cells[i] = i * 0.5f + round;",
                       "for (int i = 0; i < 256; i++) result = result * 31 + (long)(2 * cells[i]);"),
    "cleared": ("static double cells[512];", "cells[17] = 1;\n#pragma omp parallel for SCHEDULE CLAUSES\n"
                "    for (int i = 0; i < 512; i++) cells[i] = 0;",
                "for (int i = 0; i < 512; i++) result += cells[i] != 0;"),
    "sections": ("static long a_, b_, c_;", """
#pragma omp parallel sections CLAUSES
    {
#pragma omp section
    a_ = work(3) + round;
#pragma omp section
    b_ = work(5) * 2;
#pragma omp section
    c_ = work(7) - round;
    }""", "result = result * 31 + a_ + 3 * b_ + 5 * c_;"),
    "sections_within": ("static long cells[256], a_, b_;", """
#pragma omp parallel CLAUSES
    {
#pragma omp for SCHEDULE
    for (int i = 0; i < 256; i++) cells[i] += work(i) + round;
#pragma omp sections
    {
#pragma omp section
    for (int i = 0; i < 128; i++) a_ += cells[i];
#pragma omp section
    for (int i = 128; i < 256; i++) b_ += cells[i];
    }
    }""", "result = result * 31 + a_ + 3 * b_;"),
    "master_between": ("static long cells[256], pivot;", """
#pragma omp parallel CLAUSES
    {
#pragma omp for SCHEDULE
    for (int i = 0; i < 256; i++) cells[i] += work(i) + pivot;
#pragma omp master
    pivot = cells[19] % 100;
#pragma omp barrier
#pragma omp for SCHEDULE
    for (int i = 0; i < 256; i++) cells[i] += pivot;
    }""", "for (int i = 0; i < 256; i++) result = result * 31 + cells[i];"),
    "sums_by_hand": ("static long total;", """
#pragma omp parallel CLAUSES
    { long own = 0;
#pragma omp for SCHEDULE nowait
    for (int i = 0; i < 256; i++) own += work(i) * 3;
#pragma omp critical
    total += own; }""", "result += total; total = 0;"),
    "orphaned": ("""static long cells[256];
__attribute__((noinline)) static void fill(long round) {
#pragma omp for SCHEDULE
    for (int i = 0; i < 256; i++) cells[i] += work(i) + round; }""", """
#pragma omp parallel CLAUSES
    { fill(round); fill(1); }""", "for (int i = 0; i < 256; i++) result = result * 31 + cells[i];"),
    "rounds_within": ("static double now_[130], then[130];", """now_[0] = 100;
#pragma omp parallel CLAUSES
    for (int k = 0; k < 8; k++) {
#pragma omp for SCHEDULE
    for (int i = 1; i < 129; i++) then[i] = 0.5 * (now_[i - 1] + now_[i + 1]);
#pragma omp for SCHEDULE
    for (int i = 1; i < 129; i++) now_[i] = then[i];
    }""", "for (int i = 0; i < 130; i++) result = result * 31 + (long)(1024 * now_[i]);"),
    "fibonacci": ("""__attribute__((noinline)) static void fib(int n, long *to) { long a = n, b = 0;
    if (n > 1) {
#pragma omp task shared(a) if(n > 8)
        fib(n - 1, &a);
        fib(n - 2, &b);
#pragma omp taskwait
    }
    *to = a + b; }""", """
#pragma omp parallel CLAUSES
#pragma omp single
    fib(14, &sum);""", "result += sum;"),
    "histogram": ("static long bins[16];", """
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 512; i++) {
#pragma omp atomic
        bins[(i * 7919) % 16] += 1; }""", "for (int i = 0; i < 16; i++) result = result * 31 + bins[i];"),
    "called_with_structure": ("""struct point { double x, y, z; }; static struct point at[128];
__attribute__((noinline)) static struct point turned(struct point p, double by) {
    struct point q = {p.x * by - p.y, p.x + p.y * by, p.z + by}; return q; }""", """
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 128; i++) {
        struct point p = {i * 0.5, 1, round * 0.25}; at[i] = turned(p, i % 4); }""",
                              "for (int i = 0; i < 128; i++)\n"
                              "        result = result * 31 + (long)(at[i].x + at[i].y + at[i].z);"),
    "complex": ("static double re[128], im[128];", """
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 128; i++) { double a = cos(i * 0.1), b = sin(i * 0.1);
        re[i] = a * a - b * b; im[i] = 2 * a * b; }""",
                "for (int i = 0; i < 128; i++)\n"
                "        result = result * 31 + (long)(re[i] * 64) + (long)(im[i] * 64);"),
    "guarded": ("static long cells[256];", """
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 256; i++) { if (i % 3 == 0) continue;
        if (i > 200) cells[i] = work(i); else cells[i] += round; }""",
                "for (int i = 0; i < 256; i++) result = result * 31 + cells[i];"),
    "transposed": ("static float a[48][48], b[48][48];", """
#pragma omp parallel for collapse(2) SCHEDULE CLAUSES
    for (int i = 0; i < 48; i++) for (int j = 0; j < 48; j++) a[i][j] = i * 48 + j;
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 48; i++) for (int j = 0; j < 48; j++) b[j][i] = a[i][j];""",
                   "for (int i = 0; i < 48; i++) result = result * 31 + (long)b[i][47 - i];"),
    "texts": ("static char names[64][16];", """
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 64; i++) { snprintf(names[i], sizeof names[i], "%d", i * 17);
        names[i][strlen(names[i])] = '!'; }""",
              "for (int i = 0; i < 64; i++) result = result * 31 + names[i][1] + names[i][2];"),
    "if_clause": ("static long cells[256];", "#pragma omp parallel for if(round % 2) SCHEDULE CLAUSES\n"
                  "    for (int i = 0; i < 256; i++) cells[i] += work(i);",
                  "for (int i = 0; i < 256; i++) result = result * 31 + cells[i];"),
}
SCHEDULES = ("", "schedule(static)", "schedule(static, 3)", "schedule(dynamic)", "schedule(dynamic, 4)",
             "schedule(guided)", "schedule(nonmonotonic : dynamic)", "schedule(runtime)", "schedule(auto)")
