"""What a region is like around what its threads do: every construct that OpenMP 5 has on processors.

Each is (what it provides, compilers, text, options) under its name. BODY stands for what threads do. A use
needs some of these, and a frame provides them:

each     every thread of the team does it once; else an unspecified thread, but always as often
open     work shares and barriers may stand in it
waits    what one thread does may wait for what another does
pragmas  other constructs may stand in it
sums     it may add to `sum` and `samples`
calls    it may call the runtime
local    it may use thread-local and threadprivate variables
lasting  the threads are those of the last round
bounded  no more than T threads do it
tied     who does it stays the same until it is done
team     its team is of T threads
alone    there is one such team

`N` is the number of threads; meet() waits until all are there, so that each takes one iteration, section or
task where that is up to them."""

GNU, LLVM, PLUS = "gcc g++", "clang clang++", "g++ clang++"
ALL = f"{GNU} {LLVM}"
ANY = "pragmas calls local lasting bounded tied team alone"     # tasks: sums aren't theirs
CLOSED = f"{ANY} each waits sums"
FULL = f"{CLOSED} open"
SOME = f"{ANY} sums"
SERIAL = f"{ANY} each sums"
BARE = CLOSED.replace("pragmas ", "")
TASKS = f"{ANY} each waits"


def without(provided, *dropped):
    return " ".join(word for word in provided.split() if word not in dropped)


FRESH = without(FULL, "lasting")
ON_TARGET = without(FULL, "lasting", "local")
NO_CALLS = without(SOME, "pragmas", "calls")
TEAMS = without(SOME, "lasting", "bounded", "alone", "team")
LONELY = without(SOME, "team", "lasting")


def parallel(inner, more=""):
    """A region with something in it."""
    return f"#pragma omp parallel CLAUSES {more}\n    {{ {inner} }}"


def loop(directive, body="meet(); BODY", parallel_="parallel ", many="N"):
    """A loop of as many iterations as there are threads."""
    clauses = " CLAUSES" if parallel_ else ""
    return f"\n#pragma omp {parallel_}{directive}{clauses}\n" \
        f"    for (int i = 0; i < {many}; i++) {{ {body} }}"


def tasks(directive, body="BODY", many="N", after=""):
    """Tasks that one thread makes."""
    return parallel(f"""
#pragma omp single nowait
    for (int i = 0; i < {many}; i++) {{
#pragma omp {directive}
        {{ {body} }} }}
    {after}""")


CALLED = "each(round, &sum, &samples);"
SECTION = "\n#pragma omp section\n    { meet(); BODY }"    # so many times as there are threads

FRAMES = {
    "parallel": (FULL, ALL, parallel("BODY")),
    "called": (FULL, ALL, parallel(CALLED)),
    "in_inner_function": (FULL, ALL, "outer(round, &sum, &samples);"),
    "barrier_before": (FULL, ALL, parallel("work(50);\n#pragma omp barrier\n    BODY")),
    "barriers_around": (FULL, ALL, parallel("\n#pragma omp barrier\n    BODY\n#pragma omp barrier\n    "
        "work(9);")),
    "between_loops": (FULL, ALL, parallel("""
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 8; i++) work(20);
    BODY
#pragma omp barrier
#pragma omp for schedule(static)
    for (int i = 0; i < 8; i++) work(20);
    """)),
    "after_single": (FULL, ALL, parallel("\n#pragma omp single\n    work(50);\n    BODY")),
    "after_master": (FULL, ALL, parallel("\n#pragma omp master\n    work(50);\n    BODY")),
    "after_sections": (FULL, ALL, parallel("""
#pragma omp sections nowait
    {
#pragma omp section
    work(40);
#pragma omp section
    work(30);
    }
    BODY""")),
    "with_tasks": (FULL, ALL, parallel("""
#pragma omp single nowait
    for (int i = 0; i < 6; i++) {
#pragma omp task
        work(20); }
    BODY
#pragma omp taskwait
    """)),
    "after_taskgroup": (FULL, ALL, parallel("""
#pragma omp taskgroup
    {
#pragma omp task
    work(20);
    }
    BODY""")),
    "twice": (without(FULL, "each"), ALL, parallel("{ BODY }\n#pragma omp barrier\n    { BODY }")),
    "proc_bind_close": (FULL, ALL, parallel("BODY", "proc_bind(close)")),
    "proc_bind_spread": (FULL, ALL, parallel("BODY", "proc_bind(spread)")),
    "proc_bind_master": (FULL, ALL, parallel("BODY", "proc_bind(master)")),
    "proc_bind_primary": (FULL, ALL, parallel("BODY", "proc_bind(primary)")),
    "if_true": (FULL, ALL, parallel("BODY", "if(round >= 0)")),
    "if_parallel": (FULL, ALL, parallel("BODY", "if(parallel : N > 1)")),
    "if_false": (without(SOME, "team"), ALL, parallel("BODY", "if(round < 0)")),
    "default_none": (without(FULL, "open", "pragmas"), ALL,
                     parallel("f_nothing += N; " + CALLED, "default(none) shared(round, N) "
                     "reduction(+ : f_nothing)")),
    "privates": (FULL, ALL, parallel("f_kept += 1; f_own = f_kept; BODY",
        "firstprivate(f_kept) private(f_own)")),
    "allocated": (FULL, ALL, parallel("f_own = f_kept; BODY",
                                      "private(f_own) firstprivate(f_kept) allocate(omp_default_mem_alloc : "
                                      "f_own)")),
    "allocated_by_call": (FULL, ALL, parallel("""long *at = (long *)omp_alloc(64, omp_default_mem_alloc);
    at[3] = 1; BODY omp_free(at, omp_default_mem_alloc);""")),
    "copyin": (FULL, ALL, "f_copied = round;\n" + parallel("work(f_copied % 7); BODY", "copyin(f_copied)")),
    "reductions": (FULL, ALL, parallel("f_all &= f_kept > 0; f_most = f_most > 5 ? f_most : 5; f_bits |= 4; "
        "BODY",
                   "reduction(&& : f_all) reduction(max : f_most) reduction(| : f_bits) "
                   "firstprivate(f_kept)")),
    "more_reductions": (FULL, ALL, parallel("f_all = f_all || f_kept; f_least = f_least < 5 ? f_least : 5; "
        "f_bits ^= 4; "
                        "f_ones &= 3; f_product *= 2; BODY", "reduction(|| : f_all) reduction(min : f_least) "
                        "reduction(^ : f_bits) reduction(& : f_ones) reduction(* : f_product) "
                        "firstprivate(f_kept)")),
    "reduced_array": (FULL, ALL, parallel("f_many[1] += 1; BODY", "reduction(+ : f_many[:4])")),
    "reduced_by_user": (FULL, ALL, parallel("f_two.a += 1; BODY", "reduction(mix : f_two)")),
    "reduced_in_tasks": (without(FULL, "open"), ALL, parallel(
        "\n#pragma omp task in_reduction(+ : f_of_tasks)\n    f_of_tasks += 1;\n    BODY",
        "reduction(task, + : f_of_tasks)")),
    "flushes": (FULL, ALL, parallel("\n#pragma omp flush\n    BODY\n#pragma omp flush(f_shared)\n    "
        "work(3);")),
    "flushes_of_order": (FULL, ALL, parallel("\n#pragma omp flush acq_rel\n    BODY\n#pragma omp flush "
        "release\n"
                                             "    work(3);")),
    "atomics": (FULL, ALL, parallel("""long got;
#pragma omp atomic write seq_cst
    f_shared = 3;
#pragma omp atomic update hint(omp_sync_hint_uncontended)
    f_shared += 2;
#pragma omp atomic read acquire
    got = f_shared;
#pragma omp atomic capture acq_rel
    got = f_shared *= 1;
    BODY
#pragma omp atomic release
    f_shared &= 7;
    """)),
    "atomic_compare": (FULL, GNU, parallel("""
#pragma omp atomic compare
    if (f_shared < round) { f_shared = round; }
    BODY""")),
    "simd_inside": (FULL, ALL, parallel("""long own_[32];
#pragma omp simd simdlen(8) safelen(16)
    for (int i = 0; i < 32; i++) own_[i] = i;
    work(own_[4]); BODY""")),
    "declare_simd": (FULL, ALL, parallel("""double own_[32];
#pragma omp simd
    for (int i = 0; i < 32; i++) own_[i] = squared(i);
    work((long)own_[4]); BODY""")),
    "declare_variant": (FULL, ALL, parallel("work(plain_one()); BODY")),
    "scope": (FULL, GNU, parallel("\n#pragma omp scope\n    { BODY }")),
    "metadirective": (FULL, LLVM, parallel("\n#pragma omp metadirective when(implementation={vendor(llvm)} : "
                                           "barrier) default(flush)\n    BODY")),
    "tile": (FULL, LLVM, parallel("""
#pragma omp tile sizes(4)
    for (int i = 0; i < 8; i++) work(3);
    BODY""")),
    "unroll": (FULL, LLVM, parallel("""
#pragma omp unroll partial(2)
    for (int i = 0; i < 8; i++) work(3);
    BODY""")),

    "static_one": (CLOSED, ALL, loop("for schedule(static, 1)", "BODY")),
    "static": (CLOSED, ALL, parallel(loop("for schedule(static) nowait", "BODY", ""))),
    # LLVM's runtime of version 14 gives all iterations of this to each thread.
    "static_monotonic": (CLOSED, GNU, loop("for schedule(monotonic : static, 1)", "BODY")),
    "dynamic": (CLOSED, ALL, loop("for schedule(dynamic)")),
    "dynamic_free": (SOME, ALL, loop("for schedule(dynamic)", "BODY", many="3 * N")),
    "dynamic_chunks": (SOME, ALL, loop("for schedule(dynamic, 3)", "BODY", many="12 * N")),
    "dynamic_monotonic": (CLOSED, ALL, loop("for schedule(monotonic : dynamic, 1)")),
    "dynamic_nonmonotonic": (CLOSED, ALL, loop("for schedule(nonmonotonic : dynamic)")),
    "guided": (CLOSED, ALL, loop("for schedule(guided)")),
    "guided_free": (SOME, ALL, loop("for schedule(guided, 2)", "BODY", many="9 * N")),
    "auto": (SOME, ALL, loop("for schedule(auto)", "BODY", many="4 * N")),
    "runtime": (SOME, ALL, loop("for schedule(runtime)", "BODY", many="4 * N")),
    "simd_modifier": (SOME, ALL, loop("for schedule(simd : dynamic)", "BODY", many="4 * N")),
    "chosen_schedule": (CLOSED, ALL, "omp_set_schedule(omp_sched_dynamic, 1);\n" +
        loop("for schedule(runtime)")),
    "collapse": (CLOSED, ALL, "#pragma omp parallel for CLAUSES collapse(2) schedule(static, 1)\n"
                 "    for (int i = 0; i < N; i++) for (int j = 0; j < 1; j++) { BODY }"),
    "ordered": (SERIAL, ALL, loop("for ordered schedule(static, 1)",
        "work(5);\n#pragma omp ordered\n    { BODY }")),
    "ordered_dynamic": (SOME, ALL, loop("for ordered schedule(dynamic)",
        "\n#pragma omp ordered threads\n    { BODY }",
                                        many="2 * N")),
    "doacross": (SERIAL, ALL, loop("for ordered(1) schedule(static, 1)", """
#pragma omp ordered depend(sink : i - 1)
    { BODY }
#pragma omp ordered depend(source)
    """)),
    "doacross_two": (SOME, ALL, """#pragma omp parallel for CLAUSES ordered(2) schedule(dynamic)
    for (int i = 1; i < 4; i++) for (int j = 1; j < 3; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
    { BODY }
#pragma omp ordered depend(source)
    }"""),
    "lastprivate": (CLOSED, ALL, loop("for lastprivate(f_last) firstprivate(f_kept) schedule(static, 1)",
                                      "f_last = f_kept + i; BODY")),
    "lastprivate_conditional": (CLOSED, ALL, loop("for lastprivate(conditional : f_last) schedule(static, 1)",
                                                  "if (i == 1) { f_last = i; } BODY")),
    "linear": (CLOSED, ALL, loop("for linear(f_step : 2) schedule(static, 1)",
        "work(f_step); BODY f_step += 2;")),
    "scan": (CLOSED.replace("pragmas ", ""), ALL, parallel("""
#pragma omp for reduction(inscan, + : f_scanned)
    for (int i = 0; i < N; i++) { f_scanned += 1; each(round, &sum, &samples);
#pragma omp scan inclusive(f_scanned)
    f_many[i] = f_scanned; }""")),
    "parallel_for_simd": (BARE, ALL, loop("for simd schedule(static, 1)", "BODY")),
    "for_simd": (BARE, ALL, parallel(loop("for simd schedule(static, 1) aligned(f_many : 8)", CALLED, ""))),
    "order_concurrent": (NO_CALLS, ALL, loop("for order(concurrent) schedule(static, 1)", CALLED,
        many="2 * N")),
    "loop": (NO_CALLS, GNU, parallel("\n#pragma omp loop\n    for (int i = 0; i < 2 * N; i++) { " + CALLED +
        " }")),
    "parallel_loop": (NO_CALLS, GNU, "#pragma omp parallel loop CLAUSES\n"
                      "    for (int i = 0; i < 2 * N; i++) { " + CALLED + " }"),
    "not_equal": (CLOSED, ALL, loop("for schedule(static, 1)", "BODY").replace("i < N", "i != N")),

    "sections": (CLOSED, ALL, parallel("\n#pragma omp sections\n    { SECTIONS }")),
    "parallel_sections": (CLOSED, ALL, "#pragma omp parallel sections CLAUSES\n    { SECTIONS }"),
    "sections_free": (SOME, ALL, "#pragma omp parallel sections CLAUSES\n    {\n"
                      "#pragma omp section\n    { BODY }\n#pragma omp section\n    { BODY }\n"
                      "#pragma omp section\n    { BODY }\n    }"),
    "single": (SOME, ALL, parallel("\n#pragma omp single\n    { BODY }")),
    "single_nowait": (SOME, ALL, parallel("\n#pragma omp single nowait\n    { BODY }\n    work(30);")),
    "single_copyprivate": (SOME, ALL, parallel("long mine = 0;\n#pragma omp single copyprivate(mine)\n"
                                               "    { BODY mine = 1; }\n    sum += mine;")),
    "master": (SOME, ALL, parallel("\n#pragma omp master\n    { BODY }")),
    "parallel_master": (SOME, ALL, "#pragma omp parallel master CLAUSES\n    { BODY }"),
    "masked": (SOME, ALL, parallel("\n#pragma omp masked\n    { BODY }")),
    "masked_filter": (SOME, ALL, parallel("\n#pragma omp masked filter(N - 1)\n    { BODY }")),
    "parallel_masked": (SOME, GNU, "#pragma omp parallel masked filter(1) CLAUSES\n    { BODY }"),
    "critical": (SERIAL, ALL, parallel("\n#pragma omp critical\n    { BODY }")),
    "critical_named": (SERIAL, ALL, parallel("\n#pragma omp critical(around) hint(omp_sync_hint_contended)\n"
                                             "    { BODY }")),
    "locked": (SERIAL, ALL, parallel("omp_set_lock(&f_lock); BODY omp_unset_lock(&f_lock);")),
    "nest_locked": (SERIAL, ALL, parallel("omp_set_nest_lock(&f_nest); BODY omp_unset_nest_lock(&f_nest);")),
    "mutex": (SERIAL, ALL, parallel("pthread_mutex_lock(&f_mutex); BODY pthread_mutex_unlock(&f_mutex);")),

    "tasks": (ANY, ALL, tasks("task", many="3 * N")),
    "tasks_meet": (TASKS, ALL, tasks("task", "meet(); BODY")),
    "task_of_each": (ANY, ALL, parallel("\n#pragma omp task\n    { BODY }\n#pragma omp taskwait\n    "
        "work(2);")),
    "task_if_false": (without(CLOSED, "open"), ALL, parallel("\n#pragma omp task if(0) shared(sum, samples)\n"
                                                             "    { BODY }")),
    "task_final": (ANY, ALL, tasks("task final(i > 1)", "\n#pragma omp task\n    { BODY }")),
    "task_mergeable": (ANY, ALL, tasks("task mergeable if(task : i > 0)")),
    "task_untied": (without(ANY, "tied", "local"), ALL, tasks("task untied")),
    "task_yields": (ANY, ALL, tasks("task", "work(3);\n#pragma omp taskyield\n    BODY")),
    "task_priority": (ANY, ALL, tasks("task priority(i)")),
    "task_depends": (ANY, ALL, tasks("task depend(inout : f_shared)")),
    "task_depends_on_part": (ANY, ALL, tasks("task depend(in : f_many[i]) depend(out : f_many[i + 1])")),
    "task_depends_exclusive": (ANY, ALL, tasks("task depend(mutexinoutset : f_shared)")),
    "task_depends_iterated": (ANY, ALL, tasks("task depend(iterator(k = 0 : 3), in : f_many[k])")),
    "task_depobj": (ANY, ALL, "omp_depend_t f_on;\n#pragma omp depobj(f_on) depend(inout : f_shared)\n    " +
                    tasks("task depend(depobj : f_on)") + "\n#pragma omp depobj(f_on) destroy"),
    "taskwait_depend": (ANY, GNU, parallel("""
#pragma omp single
    {
#pragma omp task depend(out : f_shared)
    { BODY }
#pragma omp taskwait depend(in : f_shared)
    }""")),
    "task_affinity": (ANY, ALL, tasks("task affinity(f_many)")),
    "task_detach": (ANY, ALL, parallel("""
#pragma omp single
    {
    omp_event_handle_t event;
#pragma omp task detach(event)
    { BODY omp_fulfill_event(event); }
#pragma omp taskwait
    }""")),
    "taskgroup": (ANY, ALL, parallel("""
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 4; i++) {
#pragma omp task
    { BODY } }""")),
    "task_reduction": (without(SOME, "sums"), ALL, parallel("""
#pragma omp single
#pragma omp taskgroup task_reduction(+ : f_of_tasks)
    for (int i = 0; i < 4; i++) {
#pragma omp task in_reduction(+ : f_of_tasks)
    { f_of_tasks += i; BODY } }""")),
    "nested_tasks": (ANY, ALL, tasks("task", "\n#pragma omp task\n    { BODY }\n#pragma omp taskwait\n    "
        "work(2);")),
    "taskloop": (ANY, ALL, parallel("\n#pragma omp single\n#pragma omp taskloop grainsize(1)\n"
                                    "    for (int i = 0; i < 3 * N; i++) { BODY }")),
    "taskloop_num_tasks": (ANY, ALL, parallel("\n#pragma omp single\n#pragma omp taskloop num_tasks(N) "
        "nogroup\n"
                                              "    for (int i = 0; i < 3 * N; i++) { BODY }")),
    "taskloop_reduction": (ANY, ALL, parallel("\n#pragma omp single\n#pragma omp taskloop reduction(+ : "
        "f_of_tasks)\n"
                                              "    for (int i = 0; i < 3 * N; i++) { f_of_tasks += i; BODY "
                                              "}")),
    "taskloop_simd": (without(ANY, "pragmas"), ALL,
        parallel("\n#pragma omp single\n#pragma omp taskloop simd\n"
                      "    for (int i = 0; i < 3 * N; i++) { " + CALLED + " }")),
    "parallel_master_taskloop": (ANY, ALL, "#pragma omp parallel master taskloop num_threads(N)\n"
                                 "    for (int i = 0; i < 3 * N; i++) { BODY }"),

    "cancel_parallel": (without(CLOSED, "sums"), ALL,
        parallel("BODY\n#pragma omp cancel parallel\n    work(2);"),
                        "cancels"),
    "cancel_not": (without(CLOSED, "sums"), ALL, parallel("""
#pragma omp cancellation point parallel
    BODY
#pragma omp cancel parallel if(round < 0)
    work(2);"""), "cancels"),
    "cancel_for": (ANY, ALL, parallel("\n#pragma omp for schedule(static)\n    for (int i = 0; i < N; i++) "
        "{\n"
                                      "#pragma omp cancellation point for\n    { BODY }\n"
                                      "#pragma omp cancel for if(round < 0)\n    }"), "cancels"),
    "cancel_sections": (ANY, ALL, "#pragma omp parallel sections\n    {\n#pragma omp section\n    { BODY\n"
                        "#pragma omp cancel sections\n    }\n    }", "cancels"),
    "cancel_taskgroup": (ANY, ALL, parallel("""
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task
    { BODY
#pragma omp cancel taskgroup
    }
    }"""), "cancels"),

    "nested": (without(SOME, "lasting", "bounded", "alone"), ALL,
               "omp_set_max_active_levels(2);\n#pragma omp parallel num_threads(2) reduction(+ : sum, "
               "samples)\n"
               "    {\n#pragma omp parallel num_threads(N) reduction(+ : sum, samples)\n    { BODY }\n    }"),
    "nested_in_one": (FRESH, ALL, "#pragma omp parallel num_threads(1) reduction(+ : sum, samples)\n"
                      "    {\n#pragma omp parallel num_threads(N) reduction(+ : sum, samples)\n    { BODY "
                      "}\n    }"),
    "nested_inactive": (without(ANY, "team"), ALL, parallel(
        "\n#pragma omp parallel num_threads(1)\n    { long sum = 0, samples = 0; BODY }")),
    "nested_serialized": (without(ANY, "team"), ALL, "omp_set_max_active_levels(1);\n" + parallel(
        "\n#pragma omp parallel num_threads(2)\n    { long sum = 0, samples = 0; BODY }")),
    "serial_before": (FULL, ALL, "#pragma omp parallel num_threads(1)\n    work(9);\n" + parallel("BODY")),

    "teams": (without(LONELY, "bounded", "alone"), ALL, "#pragma omp teams num_teams(2) thread_limit(N) "
              "reduction(+ : sum, samples)\n    { " + CALLED + " }"),
    # LLVM's runtime has no more threads in teams than there are processors.
    "teams_of_one": (FRESH, GNU, "#pragma omp teams num_teams(1) thread_limit(N) reduction(+ : sum, "
        "samples)\n"
                     "#pragma omp parallel num_threads(N) reduction(+ : sum, samples)\n    { BODY }"),
    "teams_parallel": (TEAMS, ALL, "#pragma omp teams num_teams(2) thread_limit(N) reduction(+ : sum, "
        "samples)\n"
                       "#pragma omp parallel num_threads(N) reduction(+ : sum, samples)\n    { BODY }"),
    "distribute": (without(LONELY, "bounded", "alone", "sums"), ALL,
                   "#pragma omp teams num_teams(2)\n#pragma omp distribute dist_schedule(static, 1)\n"
                   "    for (int i = 0; i < 6; i++) { long sum = 0, samples = 0; " + CALLED + " }"),
    "teams_distribute_simd": (without(LONELY, "bounded", "alone", "pragmas", "sums"), ALL,
                              "#pragma omp teams distribute simd num_teams(2)\n"
                              "    for (int i = 0; i < 6; i++) { long sum = 0, samples = 0; " + CALLED +
                              " }"),
    "distribute_parallel_for": (without(SOME, "lasting", "team"), ALL,
                                "#pragma omp teams distribute parallel for num_teams(1) thread_limit(N) "
                                "num_threads(N) "
                                "reduction(+ : sum, samples)\n    for (int i = 0; i < 3 * N; i++) { BODY }"),
    "distribute_parallel_for_simd": (without(SOME, "lasting", "pragmas", "team"), ALL,
                                     "#pragma omp teams distribute parallel for simd num_teams(1) "
                                     "thread_limit(N) "
                                     "num_threads(N) "
                                     "reduction(+ : sum, samples)\n    for (int i = 0; i < 3 * N; i++) { "
                                     "BODY }"),
    "teams_loop": (without(NO_CALLS, "lasting", "bounded", "alone", "team"), GNU,
                   "#pragma omp teams loop num_teams(2) reduction(+ : sum, samples)\n"
                   "    for (int i = 0; i < 6; i++) { " + CALLED + " }"),
    "target": (ON_TARGET, ALL, "#pragma omp target map(tofrom : sum, samples)\n"
               "#pragma omp parallel num_threads(N) reduction(+ : sum, samples)\n    { BODY }"),
    "target_parallel": (ON_TARGET, ALL, "#pragma omp target parallel num_threads(N) map(tofrom : sum, "
        "samples) "
                        "reduction(+ : sum, samples)\n    { BODY }"),
    "target_parallel_for": (without(CLOSED, "lasting", "local"), ALL,
                            "#pragma omp target parallel for num_threads(N) schedule(static, 1) "
                            "map(tofrom : sum, samples) reduction(+ : sum, samples)\n"
                            "    for (int i = 0; i < N; i++) { BODY }"),
    "target_teams": (without(SOME, "lasting", "local", "team"), ALL,
                     "#pragma omp target teams distribute parallel for num_teams(1) thread_limit(N) "
                     "num_threads(N) "
                     "map(tofrom : sum, samples) reduction(+ : sum, samples)\n"
                     "    for (int i = 0; i < 3 * N; i++) { BODY }"),
    "target_data": (FULL, ALL, "#pragma omp target data map(tofrom : f_many)\n    {\n"
                    "#pragma omp target update to(f_many)\n" + parallel("BODY") + "\n    }"),
    "target_nowait": (without(ANY, "lasting", "local"), ALL,
                      "#pragma omp target nowait\n"
                      "#pragma omp parallel for num_threads(N) schedule(static, 1)\n"
                      "    for (int i = 0; i < N; i++) { BODY }\n#pragma omp taskwait"),

    "lambda": (FULL, PLUS, "auto f_does = [&](long &sum, long &samples) { (void)sum, (void)samples; BODY "
        "};\n" +
               parallel("f_does(sum, samples);")),
    "region_in_lambda": (FULL, PLUS, "[&] {\n" + parallel("BODY") + "\n    }();"),
    "range_for": (CLOSED, PLUS, "std::vector<int> f_vector(N);\n#pragma omp parallel for CLAUSES "
        "schedule(static, 1)\n"
                  "    for (int &i : f_vector) { i++; BODY }"),
    "iterators": (CLOSED, PLUS, "std::vector<int> f_vector(N);\n#pragma omp parallel for CLAUSES "
        "schedule(static, 1)\n"
                  "    for (auto i = f_vector.begin(); i < f_vector.end(); ++i) { ++*i; BODY }"),
    "exceptions": (FULL, PLUS, parallel("BODY try { work(3); throw 1; } catch (int n) { work(n); }")),
    "object": (FULL, PLUS, parallel("tally f_object; f_object.add(3); BODY")),
    "object_private": (FULL, PLUS, "tally f_object;\n" + parallel("f_object.add(3); BODY",
        "firstprivate(f_object)")),
    "attribute": (FULL, "g++", "[[omp::directive(parallel reduction(+ : sum, samples))]]\n    { BODY }"),
}
