"""Programs that are right at any size, in C and C++: (declarations, the region, what is done after it).

`work(n)` stands for a computation whose result is its argument, `result` for what the program computes."""

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
