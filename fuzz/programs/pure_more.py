"""More programs that are right at any size (pure.py), and those of C++."""


def mixed(cells, many=256):
    return f"for (int i = 0; i < {many}; i++) result = result * 31 + (long)({cells});"


def loop(body, clauses="SCHEDULE CLAUSES", many=256):
    return f"#pragma omp parallel for {clauses}\n    for (int i = 0; i < {many}; i++) {{ {body} }}"


CELLS = "static long cells[256];"

PURE = {
    "reduced_by_and": ("", "int all = 1, any = 0;\n" +
        loop("all = all && work(i) >= 0; any = any || i == 77;",
                       "SCHEDULE reduction(&& : all) reduction(|| : any) CLAUSES"),
                       "result += all * 2 + any;"),
    "reduced_floats": ("", "float least = 1e9f, most = -1e9f;\n" + loop(
        "float v = (i * 37 % 101) - 50.0f; if (v < least) least = v; if (v > most) most = v;",
        "SCHEDULE reduction(min : least) reduction(max : most) CLAUSES"),
                       "result += (long)(most * 100 - least);"),
    "reduced_array": ("", "long bins[8] = {0};\n" + loop("bins[i * 7919 % 8] += work(i);",
                      "SCHEDULE reduction(+ : bins) CLAUSES"),
                      "for (int i = 0; i < 8; i++) result = result * 31 + bins[i];"),
    "reduced_section": ("", "long bins[12] = {0};\n" + loop("bins[i % 6 + 2] += i;",
                        "SCHEDULE reduction(+ : bins[2:6]) CLAUSES"),
                        "for (int i = 0; i < 12; i++) result = result * 31 + bins[i];"),
    "reduced_by_user": ("""struct range { long least, most; };
#pragma omp declare reduction(widen : struct range : omp_out.least = omp_in.least < omp_out.least ? \\
    omp_in.least : omp_out.least, omp_out.most = omp_in.most > omp_out.most ? omp_in.most : omp_out.most) \\
    initializer(omp_priv = {1 << 20, -1})""", "struct range of = {1 << 20, -1};\n" + loop(
        "long v = work(i) * 7919 % 509; if (v < of.least) of.least = v; if (v > of.most) of.most = v;",
        "SCHEDULE reduction(widen : of) CLAUSES"), "result += of.least + 1000 * of.most;"),
    "reduced_minus": ("", loop("sum -= work(i) * 2;", "SCHEDULE reduction(- : sum) CLAUSES"),
        "result += sum;"),
    "reduced_bytes": ("", "unsigned char bits = 0;\n" + loop("bits ^= (unsigned char)(i * 29);",
                      "SCHEDULE reduction(^ : bits) CLAUSES"), "result += bits;"),
    "reduced_in_region": ("", """long inner = 0;
#pragma omp parallel CLAUSES
    {
#pragma omp for SCHEDULE reduction(+ : inner) nowait
    for (int i = 0; i < 256; i++) inner += work(i);
#pragma omp for SCHEDULE reduction(+ : sum)
    for (int i = 0; i < 99; i++) sum += i * i;
    }""", "result += inner * 3 + sum;"),
    "reduced_in_sections": ("", """
#pragma omp parallel sections reduction(+ : sum) CLAUSES
    {
#pragma omp section
    for (int i = 0; i < 50; i++) sum += work(i);
#pragma omp section
    for (int i = 0; i < 60; i++) sum += 2 * i;
    }""", "result += sum;"),
    "reduced_in_taskloop": ("", """
#pragma omp parallel CLAUSES
#pragma omp single
#pragma omp taskloop reduction(+ : sum) grainsize(8)
    for (int i = 0; i < 128; i++) sum += work(i) * 5;""", "result += sum;"),
    "reduced_by_tasks": ("", """
#pragma omp parallel CLAUSES
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 32; i++) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
        sum += work(i); }""", "result += sum;"),
    "collapse_three": (CELLS, """
#pragma omp parallel for collapse(3) SCHEDULE CLAUSES
    for (int i = 0; i < 4; i++) for (int j = 0; j < 8; j++) for (int k = 0; k < 8; k++)
        cells[i * 64 + j * 8 + k] += i * 3 + j * k + round;""", mixed("cells[i]")),
    "triangle": ("static long half[32][32];", """
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 32; i++) for (int j = 0; j <= i; j++) half[i][j] += i * j + round;""",
                 "for (int i = 0; i < 32; i++) result = result * 31 + half[i][i / 2];"),
    "taskloop_collapse": (CELLS, """
#pragma omp parallel CLAUSES
#pragma omp single
#pragma omp taskloop collapse(2) num_tasks(9)
    for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) cells[i * 16 + j] += i - j + round;""",
                          mixed("cells[i]")),
    "tasks_in_order": ("static long chain[2];", """
#pragma omp parallel CLAUSES
#pragma omp single
    for (int i = 0; i < 40; i++) {
#pragma omp task depend(inout : chain[i % 2]) firstprivate(i)
        chain[i % 2] = chain[i % 2] * 31 % 65521 + work(i); }""", "result += chain[0] + chain[1];"),
    "pipeline_of_tasks": ("static long a_[32], b_[32], c_[32];", """
#pragma omp parallel CLAUSES
#pragma omp single
    for (int i = 0; i < 32; i++) {
#pragma omp task depend(out : a_[i])
        a_[i] = work(i) + round;
#pragma omp task depend(in : a_[i]) depend(out : b_[i])
        b_[i] = a_[i] * 3;
#pragma omp task depend(in : b_[i])
        c_[i] += b_[i] + 1; }""", "for (int i = 0; i < 32; i++) result = result * 31 + c_[i];"),
    "tree_of_tasks": ("""static long leaves[64];
__attribute__((noinline)) static void visit(int from, int to, long by) {
    if (to - from == 1) { leaves[from] += work(from) * by; return; }
#pragma omp task
    visit(from, (from + to) / 2, by);
    visit((from + to) / 2, to, by);
#pragma omp taskwait
    }""", """
#pragma omp parallel CLAUSES
#pragma omp single nowait
    visit(0, 64, round + 1);""", mixed("leaves[i]", 64)),
    "sorted_by_tasks": ("""static int values[256], spare[256];
__attribute__((noinline)) static void sort_(int from, int to) {
    if (to - from < 2) return;
    int middle = (from + to) / 2, i = from, j = middle;
#pragma omp task if(to - from > 32)
    sort_(from, middle);
    sort_(middle, to);
#pragma omp taskwait
    for (int k = from; k < to; k++)
        spare[k] = i < middle && (j == to || values[i] <= values[j]) ? values[i++] : values[j++];
    memcpy(values + from, spare + from, (to - from) * sizeof(int)); }""", """
    for (int i = 0; i < 256; i++) values[i] = (i * 7919 + (int)round) % 1009;
#pragma omp parallel CLAUSES
#pragma omp single
    sort_(0, 256);""", mixed("values[i]")),
    "sorted_blocks": ("static int values[16][16];", loop("""
        for (int j = 0; j < 16; j++) values[i][j] = (i * 37 + j * 7919 + (int)round) % 101;
        for (int j = 1; j < 16; j++) for (int k = j; k > 0 && values[i][k] < values[i][k - 1]; k--) {
            int t = values[i][k]; values[i][k] = values[i][k - 1]; values[i][k - 1] = t; }""", many=16),
                      "for (int i = 0; i < 16; i++) result = result * 31 + values[i][i];"),
    "sorted_by_library": ("""static int values[16][16];
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }""", loop("""
        for (int j = 0; j < 16; j++) values[i][j] = (i * 37 + j * 7919) % 101;
        qsort(values[i], 16, sizeof(int), order);""", many=16),
                          "for (int i = 0; i < 16; i++) result = result * 31 + values[i][i];"),
    "odd_even_sort": ("static int line[64];", """for (int i = 0; i < 64; i++) line[i] = i * 7919 % 251;
    for (int k = 0; k < 64; k++) {
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = k % 2; i < 63; i += 2) if (line[i] > line[i + 1]) {
        int t = line[i]; line[i] = line[i + 1]; line[i + 1] = t; }
    }""", mixed("line[i]", 64)),
    "prefix_by_scan": ("static long before[256];", """long running = 0;
#pragma omp parallel for reduction(inscan, + : running) CLAUSES
    for (int i = 0; i < 256; i++) { running += i % 11;
#pragma omp scan inclusive(running)
    before[i] = running; }""", mixed("before[i]")),
    "prefix_exclusive": ("static long before[256];", """long running = 0;
#pragma omp parallel for reduction(inscan, + : running) CLAUSES
    for (int i = 0; i < 256; i++) { before[i] = running;
#pragma omp scan exclusive(running)
    running += i % 11; }""", mixed("before[i]")),
    "prefix_by_doubling": ("static long now_[256], then_[256];",
        """for (int i = 0; i < 256; i++) now_[i] = i % 7;
    for (int by = 1; by < 256; by *= 2) {
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 256; i++) then_[i] = now_[i] + (i >= by ? now_[i - by] : 0);
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 256; i++) now_[i] = then_[i];
    }""", mixed("now_[i]")),
    "doacross": ("static long line[257];", """line[0] = round;
#pragma omp parallel for ordered(1) SCHEDULE CLAUSES
    for (int i = 1; i < 129; i++) { long v = work(i);
#pragma omp ordered depend(sink : i - 1)
        line[i] = line[i - 1] * 3 % 65521 + v;
#pragma omp ordered depend(source)
        }""", mixed("line[i]", 129)),
    "simd": ("static double x[256], y[256];", """for (int i = 0; i < 256; i++) x[i] = i % 9;
#pragma omp parallel for simd SCHEDULE CLAUSES
    for (int i = 0; i < 256; i++) y[i] = x[i] * 3 + round;""", mixed("y[i]")),
    "simd_reduced": ("static double x[256];", """double all = 0; for (int i = 0; i < 256; i++) x[i] = i % 9;
#pragma omp parallel for simd reduction(+ : all) simdlen(4) CLAUSES
    for (int i = 0; i < 256; i++) all += x[i] * 2;""", "result += (long)all;"),
    "simd_within": ("static float a[32][32], b[32][32];", loop("""
#pragma omp simd
        for (int j = 0; j < 32; j++) { a[i][j] = i + j; b[i][j] = a[i][j] * 2 + round; }""", many=32),
                    "for (int i = 0; i < 32; i++) result = result * 31 + (long)b[i][31 - i];"),
    "declared_simd": ("""static double y[256];
#pragma omp declare simd uniform(by) notinbranch
static double scaled(double x, double by) { return x * by + 1; }""", """
#pragma omp parallel for simd CLAUSES
    for (int i = 0; i < 256; i++) y[i] = scaled(i, round);""", mixed("y[i]")),
    "linear": (CELLS, "long at = 5;\n" + loop("cells[i] += at + round; at += 3;",
        "linear(at : 3) SCHEDULE CLAUSES"),
               mixed("cells[i]") + " result += at;"),
    "firstprivate_array": (CELLS, "long table[8]; for (int i = 0; i < 8; i++) table[i] = i * i;\n" + loop(
        "table[i % 8] = i % 8 * 7; cells[i] += table[i % 8];", "firstprivate(table) SCHEDULE CLAUSES"),
                           mixed("cells[i]")),
    "lastprivate_structure": ("struct pair { long a, b; };", "struct pair last = {0, 0};\n" + loop(
        "last.a = work(i); last.b = i * 2;", "lastprivate(last) SCHEDULE CLAUSES"),
                              "result += last.a * 1000 + last.b;"),
    "lastprivate_sections": ("", """long last = 0;
#pragma omp parallel sections lastprivate(last) CLAUSES
    {
#pragma omp section
    last = work(3);
#pragma omp section
    last = work(8) + round;
    }""", "result += last;"),
    "order_concurrent": (CELLS, """
#pragma omp parallel for order(concurrent) CLAUSES
    for (int i = 0; i < 256; i++) cells[i] += i * 5 + round;""", mixed("cells[i]")),
    "teams_distribute": (CELLS, """
#pragma omp teams distribute parallel for num_teams(2)
    for (int i = 0; i < 256; i++) cells[i] += i * 5 + round;""", mixed("cells[i]")),
    "target": (CELLS, """
#pragma omp target teams distribute parallel for map(tofrom : cells)
    for (int i = 0; i < 256; i++) cells[i] += i * 5 + 1;""", mixed("cells[i]")),
    "nested": (CELLS, """omp_set_max_active_levels(2);
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 4; i++) {
#pragma omp parallel for SCHEDULE num_threads(2)
        for (int j = 0; j < 64; j++) cells[i * 64 + j] += i + j + round; }""", mixed("cells[i]")),
    "histogram_by_critical": ("static long bins[16];", """
#pragma omp parallel CLAUSES
    { long own[16] = {0};
#pragma omp for SCHEDULE nowait
    for (int i = 0; i < 512; i++) own[i * 7919 % 16]++;
#pragma omp critical(adding)
    for (int k = 0; k < 16; k++) bins[k] += own[k]; }""",
        "for (int i = 0; i < 16; i++) result = result * 31 + bins[i];"),
    "histogram_by_locks": ("static long bins[16]; static omp_lock_t of[16];", """
    if (round == 0) for (int i = 0; i < 16; i++) omp_init_lock(&of[i]);
""" + loop("int at = i * 7919 % 16; omp_set_lock(&of[at]); bins[at] += i; omp_unset_lock(&of[at]);"),
                           "for (int i = 0; i < 16; i++) result = result * 31 + bins[i];"),
    "least_by_atomic": ("static long least;", "least = 1 << 20;\n" +
        loop("""long v = work(i) * 7919 % 509 + 7;
#pragma omp critical
        if (v < least) least = v;"""), "result += least;"),
    "copied_to_all": (CELLS, """
#pragma omp parallel CLAUSES
    { long given;
#pragma omp single copyprivate(given)
    given = work(9) + round;
#pragma omp for SCHEDULE
    for (int i = 0; i < 256; i++) cells[i] += given; }""", mixed("cells[i]")),
    "threadprivate_scratch": ("static long scratch[8];\n#pragma omp threadprivate(scratch)\n" + CELLS, loop(
        "for (int k = 0; k < 8; k++) scratch[k] = i * k; cells[i] += scratch[i % 8];"), mixed("cells[i]")),
    "alloca": (CELLS, loop("long *own = (long *)__builtin_alloca(64); for (int k = 0; k < 8; k++) own[k] = "
        "i + k;\n"
                           "        cells[i] += own[i % 8];"), mixed("cells[i]")),
    "lines_of_text": ("static char text[64 * 8 + 1];", loop(
        'char line[12]; snprintf(line, sizeof line, "%07d\\n", i * 31 + (int)round); memcpy(text + i * 8, '
            'line, 8);',
        many=64), "for (int i = 0; text[i]; i++) result = result * 31 + text[i];"),
    "parsed_numbers": (CELLS, loop('char t[24]; snprintf(t, sizeof t, "%d.5", i); cells[i] += (long)(2 * '
        'atof(t));'),
                       mixed("cells[i]")),
    "powers": ("static double cells[256];", loop("cells[i] = floor(1e6 * (exp(i * 0.01) + log(i + 1.0) + "
               "pow(i, 0.5) + atan2(i, 3) + cbrt(i)) + 0.5);"), mixed("cells[i]")),
    "structures": ("struct body { double at[3], by[3]; int kind; }; static struct body bodies[64];", loop(
        "struct body *b = &bodies[i]; b->kind = i % 3;\n        for (int k = 0; k < 3; k++) { "
        "b->by[k] += k * 0.5 * (b->kind + 1); b->at[k] += b->by[k]; }", many=64),
                   mixed("bodies[i].at[2] * 4", 64)),
    "forces": ("static double at[48], force[48];", "for (int i = 0; i < 48; i++) at[i] = i * 1.5;\n" + loop(
        "double f = 0; for (int j = 0; j < 48; j++) if (j != i) f += 1 / (at[i] - at[j]); force[i] = f;",
            many=48),
               mixed("force[i] * 1e6", 48)),
    "by_function_pointer": (CELLS + """
static long one(long n) { return n + 1; } static long two(long n) { return n * 2; }
static long (*const of[2])(long) = {one, two};""", loop("cells[i] += of[i % 2](work(i));"),
    mixed("cells[i]")),
    "recursion": (CELLS + "\n__attribute__((noinline)) static long hanoi(int n) "
                  "{ return n ? 2 * hanoi(n - 1) + 1 : 0; }", loop("cells[i] += hanoi(i % 10);"),
                  mixed("cells[i]")),
    "switches": (CELLS, loop("""switch (i % 5) { case 0: cells[i] += 3; break; case 1: cells[i] ^= i; break;
        case 2: cells[i] = work(i); break; default: cells[i] += i * round; }"""), mixed("cells[i]")),
    "bits_of_words": ("static unsigned words[64];", loop(
        "unsigned w = i * 2654435761u; words[i] = (w << 7 | w >> 25) ^ __builtin_popcount(w);", many=64),
                      mixed("words[i]", 64)),
    "gathered_by_index": (CELLS + " static int from[256];",
        "for (int i = 0; i < 256; i++) from[i] = i * 7919 % 256;\n" +
                          loop("cells[i] += from[from[i]] * 3;"), mixed("cells[i]")),
    "scattered": (CELLS, loop("cells[i * 77 % 256] += work(i);"), mixed("cells[i]")),
    "life": ("static char now_[34][34], then_[34][34];", """
    if (round == 0) for (int i = 1; i < 33; i++) for (int j = 1; j < 33; j++) now_[i][j] = i * j % 3 == 0;
#pragma omp parallel CLAUSES
    {
#pragma omp for SCHEDULE
    for (int i = 1; i < 33; i++) for (int j = 1; j < 33; j++) { int n = -now_[i][j];
        for (int a = -1; a < 2; a++) for (int b = -1; b < 2; b++) n += now_[i + a][j + b];
        then_[i][j] = n == 3 || (n == 2 && now_[i][j]); }
#pragma omp for SCHEDULE collapse(2)
    for (int i = 1; i < 33; i++) for (int j = 1; j < 33; j++) now_[i][j] = then_[i][j];
    }""", "for (int i = 1; i < 33; i++) for (int j = 1; j < 33; j++) result = result * 3 + now_[i][j];"),
    "floyd": ("static int far_[24][24];", """
    for (int i = 0; i < 24; i++) for (int j = 0; j < 24; j++) far_[i][j] = (i * 7 + j * 13) % 50 + 1;
    for (int k = 0; k < 24; k++) {
#pragma omp parallel for SCHEDULE CLAUSES
    for (int i = 0; i < 24; i++) if (i != k) for (int j = 0; j < 24; j++)
        if (j != k && far_[i][k] + far_[k][j] < far_[i][j]) far_[i][j] = far_[i][k] + far_[k][j];
    }""", "for (int i = 0; i < 24; i++) result = result * 31 + far_[i][23 - i];"),
    "runtime_bounds": (CELLS, "int from = (int)(round % 7), to = 250 + (int)(round % 5), by = 1 + "
        "(int)(round % 3);\n"
                       "#pragma omp parallel for SCHEDULE CLAUSES\n"
                       "    for (int i = from; i < to; i += by) cells[i] += work(i);", mixed("cells[i]")),
    "unsigned_steps_back": (CELLS, "#pragma omp parallel for SCHEDULE CLAUSES\n"
                            "    for (unsigned long i = 255; i > 0; i -= 5) cells[i] += i + round;",
                            mixed("cells[i]")),
    "by_pointer": (CELLS, "#pragma omp parallel for SCHEDULE CLAUSES\n"
                   "    for (long *at = cells; at < cells + 256; at++) *at += (at - cells) * 3 + round;",
                   mixed("cells[i]")),
    "one_region_many_loops": (CELLS, """
#pragma omp parallel CLAUSES
    for (int k = 1; k < 5; k++) {
#pragma omp for SCHEDULE
    for (int i = 0; i < 256; i++) cells[i] += i * k + round;
#pragma omp single
    cells[0] += k; }""", mixed("cells[i]")),
}

PLUS = {
    "vectors": ("", "std::vector<long> all(256, 3);\n" + loop("all[i] = work(i) + round;"), mixed("all[i]")),
    "vector_of_vectors": ("", "std::vector<std::vector<int>> rows(32);\n" + loop(
        "for (int j = 0; j <= i; j++) rows[i].push_back(i * j);", many=32),
            mixed("rows[i].back() + rows[i].size()", 32)),
    "iterators": ("", """std::vector<long> all(256, round);
#pragma omp parallel for SCHEDULE CLAUSES
    for (auto at = all.begin(); at < all.end(); ++at) *at += at - all.begin();""", mixed("all[i]")),
    "lambdas": (CELLS, "auto scaled = [&](long n) { return n * (round + 1); };\n" +
                loop("cells[i] += scaled(work(i));"), mixed("cells[i]")),
    "region_in_lambda": (CELLS, "auto fill = [&](long by) {\n" + loop("cells[i] += by * i;") +
        "\n    };\n    fill(round);",
                         mixed("cells[i]")),
    "functions": (CELLS, "std::function<long(long)> of = [round](long n) { return n + round; };\n" +
                  loop("cells[i] += of(i);"), mixed("cells[i]")),
    "templates": ("""template <typename T_, int by> __attribute__((noinline)) static T_ scaled(T_ n) {
        return n * by; }
static double cells[256];""", loop("cells[i] = scaled<double, 3>(i) + scaled<int, 5>(i);"),
    mixed("cells[i]")),
    "template_with_region": ("""static double cells[256];
template <typename F> static void each_of(int many, F f) {
#pragma omp parallel for SCHEDULE
    for (int i = 0; i < many; i++) f(i); }""", "each_of(256, [&](int i) { cells[i] += i * 0.5 + round; });",
                             mixed("cells[i] * 2")),
    "virtual_calls": ("""struct shape { virtual ~shape() {} virtual double area() const = 0; };
struct square : shape { double a; square(double a) : a(a) {} double area() const override { return a * a; } };
struct disk : shape { double r; disk(double r) : r(r) {} double area() const override { return 3 * r * r; } };
static double cells[64];""", loop("shape *s = i % 2 ? (shape *)new square(i) : (shape *)new disk(i);\n"
                                  "        cells[i] = s->area(); delete s;", many=64), mixed("cells[i]", 64)),
    "strings": ("", "std::vector<std::string> names(64);\n" + loop(
        'names[i] = "n" + std::to_string(i * 17) + std::string(i % 5, 33);', many=64),
                mixed("names[i].size() * 100 + names[i][1]", 64)),
    "maps_by_iteration": (CELLS, loop("std::map<int, int> of; for (int j = 0; j < 20; j++) of[j * i % 7] += "
        "j;\n"
                                      "        for (auto &p : of) cells[i] += p.first * p.second;"),
                                      mixed("cells[i]")),
    "sorted_by_iteration": (CELLS, loop("std::vector<int> v; for (int j = 0; j < 20; j++) v.push_back(j * i "
        "% 13);\n"
                                        "        std::sort(v.begin(), v.end()); cells[i] += v[i % 20];"),
                            mixed("cells[i]")),
    "engines_by_iteration": (CELLS, loop("std::mt19937 engine(i); cells[i] += engine() % 1000;"),
        mixed("cells[i]")),
    "complex_numbers": ("", "std::vector<std::complex<double>> z(64);\n" + loop(
        "z[i] = std::complex<double>(i, 1) * std::complex<double>(1, -i);", many=64),
                        mixed("z[i].real() + z[i].imag()", 64)),
    "caught_exceptions": (CELLS, loop("try { if (i % 16 == 0) throw i; cells[i] += 2; } catch (int n) { "
        "cells[n] += 5; }"),
                          mixed("cells[i]")),
    "reduced_objects": ("""struct mean { double all = 0; long many = 0; void add(const mean &m) {
        all += m.all; many += m.many; } };
#pragma omp declare reduction(join : mean : omp_out.add(omp_in))""", "mean m;\n" + loop(
        "m.all += i % 17; m.many++;", "SCHEDULE reduction(join : m) CLAUSES"),
            "result += (long)m.all + m.many;"),
    "private_objects": (CELLS, "std::vector<long> own(4, 2);\n" +
        loop("own[i % 4] = i; cells[i] += own[i % 4];",
                        "firstprivate(own) SCHEDULE CLAUSES"), mixed("cells[i]")),
    "unique_pointers": (CELLS, loop("std::unique_ptr<long[]> own(new long[8]()); own[i % 8] = i;\n"
                                    "        cells[i] += own[i % 8];"), mixed("cells[i]")),
    "members": ("""struct grid { std::vector<double> at; grid() : at(256) {}
    void step(long by) {
#pragma omp parallel for SCHEDULE
        for (int i = 0; i < 256; i++) at[i] += i * 0.5 + by; } };""", "static grid g; g.step(round);",
                mixed("g.at[i] * 2")),
}
