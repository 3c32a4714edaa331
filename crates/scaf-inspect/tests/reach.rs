//! What the code of regions can reach: programs are compiled at several levels, and looked at.

use scaf_inspect::{ModuleCache, Opened, Reach, process, reach_of};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const LEVELS: [&[&str]; 6] = [
    &["-O0"],
    &["-O1"],
    &["-O2"],
    &["-O2", "-s", "-fno-plt"],
    &["-O2", "-no-pie", "-s"],
    &["-O3", "-fcf-protection=full"],
];

const BEGINNING: &str = "
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
";

/// A region calls `act`; nothing else calls it.
const REGION: &str = "
int main(void)
{
#pragma omp parallel num_threads(2)
    act();
    return 0;
}
";

/// Nobody calls `act` in a region.
const ELSEWHERE: &str = "
int main(void)
{
    static double a[1000];
    act();
#pragma omp parallel for
    for (int i = 0; i < 1000; i++)
        a[i] = i;
    return (int)a[0];
}
";

fn built(folder: &Path, compiler: &str, kind: &str, source: &str, flags: &[&str]) -> PathBuf {
    let (code, out) = (folder.join(format!("program.{kind}")), folder.join("program"));
    std::fs::write(&code, source).unwrap();
    let mut command = Command::new(compiler);
    command.arg("-fopenmp").arg("-o").arg(&out).arg(&code).args(flags).args(["-ldl", "-lpthread"]);
    assert!(command.status().unwrap().success(), "{source}");
    out
}

fn reached(act: &str, main: &str, flags: &[&str]) -> Reach {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("{BEGINNING}{act}{main}");
    reach_of(&built(folder.path(), "gcc", "c", &source, flags)).unwrap()
}

const STACK: &str = "looks where it is in its thread's stack";
/// What a member may not do, and how the reason begins.
const BOUND: [(&str, &str); 39] = [
    (
        "void act(void) { if (access(\"/proc/thread-self/comm\", 0)) abort(); }",
        "looks into /proc/thread-self",
    ),
    ("void act(void) { if (syscall(SYS_gettid) == 1) abort(); }", "calls gettid"),
    ("void act(void) { if (gettid() == 1) abort(); }", "calls gettid"),
    ("void act(void) { if (syscall(SYS_tgkill, getpid(), 7, 0)) abort(); }", "calls tgkill"),
    ("void act(void) { if (pthread_kill(pthread_self(), SIGUSR1)) abort(); }", "calls pthread_kill"),
    ("void act(void) { if (syscall(SYS_perf_event_open, 0, 0, -1, -1, 0)) abort(); }", "calls perf_event"),
    ("void act(void) { if (syscall(SYS_io_uring_setup, 4, NULL)) abort(); }", "calls io_uring_setup"),
    ("void act(void) { if (syscall(SYS_set_mempolicy, 0, NULL, 0)) abort(); }", "calls set_mempolicy"),
    ("void act(void) { if (syscall(SYS_ioprio_set, 1, 0, 0)) abort(); }", "calls ioprio_set"),
    ("void act(void) { if (syscall(SYS_futex, NULL, 6, 0, NULL)) abort(); }", "calls a system call"),
    ("long n = 39; void act(void) { if (syscall(n)) abort(); }", "calls syscall"),
    (
        "void act(void) { long r; __asm__ volatile(\"syscall\" : \"=a\"(r) : \"0\"(186L)\n\
         : \"rcx\", \"r11\"); }",
        "makes a system call of its own",
    ),
    (
        "void act(void) { __asm__ volatile(\".byte 0x0f, 0x01, 0xef\" :: \"a\"(0), \"c\"(0), \"d\"(0)); }",
        "sets what memory",
    ),
    (
        "void act(void) { pthread_attr_t a; pthread_getattr_np(pthread_self(), &a); }",
        "calls pthread_getattr_np",
    ),
    ("void act(void) { prctl(PR_SET_NAME, \"a\"); }", "calls prctl"),
    ("void act(void) { char name[16]; prctl(PR_GET_NAME, name); }", "calls prctl"),
    (
        "void act(void) { char name[16]; pthread_getname_np(pthread_self(), name, 16); }",
        "calls pthread_getname_np",
    ),
    ("void act(void) { prctl(PR_SET_TIMERSLACK, 1); }", "calls prctl"),
    ("void act(void) { setpriority(PRIO_PROCESS, 0, 5); }", "calls setpriority"),
    (
        "void act(void) { struct sched_param p = {0}; sched_setscheduler(0, SCHED_BATCH, &p); }",
        "calls sched_setscheduler",
    ),
    ("void act(void) { setfsuid(1000); }", "calls setfsuid"),
    ("void act(void) { unshare(CLONE_FILES); }", "calls unshare"),
    (
        "void act(void) { timer_t t; struct sigevent e = {0}; timer_create(CLOCK_MONOTONIC, &e, &t); }",
        "calls timer_create",
    ),
    ("void act(void) { dlopen(\"libz.so.1\", RTLD_NOW); }", "calls dlopen"),
    ("void act(void) { sigset_t set; sigpending(&set); }", "calls sigpending"),
    ("void act(void) { if (syscall(SYS_keyctl, 0, -1, 1)) abort(); }", "calls a system call"),
    ("void act(void) { int on; if (prctl(PR_GET_PDEATHSIG, &on)) abort(); }", "calls prctl"),
    // Where the thread's stack ends.
    (
        "static __thread char *end; void act(void) { char here;\n\
         if (!end) end = &here - 100000; if (&here < end) abort(); }",
        STACK,
    ),
    (
        "struct engine { unsigned long least; } *engine;\n\
         void act(void) { if ((unsigned long)__builtin_frame_address(0) <= engine->least) abort(); }",
        STACK,
    ),
    (
        "static __thread unsigned long first; void act(void) { volatile char here; here = 1;\n\
         unsigned long at = (unsigned long)&here; if (!first) first = at;\n\
         if (first - at > 200000) abort(); }",
        STACK,
    ),
    (
        "long first; void act(void) { volatile char here; here = 1;\n\
         if (labs(first - (long)&here) > 200000) abort(); }",
        STACK,
    ),
    (
        "__attribute__((noinline)) static char *at(void) { return __builtin_frame_address(0); }\n\
         char *end; void act(void) { if (at() < end) abort(); }",
        STACK,
    ),
    (
        "__attribute__((noinline)) static int is_deep(unsigned long end) { char here;\n\
         return (unsigned long)&here < end; }\n\
         unsigned long *end; void act(void) { if (is_deep(*end)) abort(); }",
        STACK,
    ),
    ("long known[64]; void act(void) { char here; known[((unsigned long)&here >> 20) % 64]++; }", STACK),
    // By the ways that calls take.
    (
        "static void leaf(void) { setfsuid(1); }\nvoid (*volatile f)(void) = leaf;\nvoid act(void) { f(); }",
        "calls",
    ),
    (
        "static int order(const void *a, const void *b) { setfsuid(1); return a < b; }\n\
         void act(void) { int n[2] = {2, 1}; qsort(n, 2, sizeof *n, order); }",
        "calls setfsuid",
    ),
    (
        "static int order(const void *a, const void *b) { char name[16];\n\
         return pthread_getname_np(pthread_self(), name, 16) + (a < b); }\n\
         void act(void) { int n[2] = {2, 1}; qsort(n, 2, sizeof *n, order); }",
        "calls pthread_getname_np",
    ),
    (
        "void act(void) { int (*f)(pthread_t, int);\n\
         *(void **)&f = dlsym(RTLD_DEFAULT, \"pthread_kill\"); f(pthread_self(), 10); }",
        "calls pthread_kill",
    ),
    (
        "__attribute__((noinline)) static int deep(int n) { return n ? deep(n - 1) + n : setfsuid(1); }\n\
         void act(void) { if (deep(7) == 8) abort(); }",
        "calls setfsuid",
    ),
];

#[test]
fn what_belongs_to_the_kernel_thread_is_found_where_a_region_reaches_it() {
    for flags in LEVELS {
        for (act, why) in BOUND {
            let found = reached(act, REGION, flags);
            assert!(matches!(&found, Reach::No(is) if is.starts_with(why)), "{flags:?} {act}: {found:?}");
        }
    }
}

/// These may act on the team's threads from outside of regions.
const ACTING: [&str; 6] =
    ["pthread_kill", "sched_setscheduler", "setfsuid", "tgkill", "timer_create", "unshare"];

#[test]
fn it_forbids_nothing_elsewhere() {
    for flags in LEVELS {
        // A pointer to it may come to any call by pointer, but there is none.
        for (act, _) in BOUND {
            let acts_on_threads = ACTING.iter().any(|name| act.contains(&format!("{name}(")));
            match reached(act, ELSEWHERE, flags) {
                Reach::No(why) if acts_on_threads => assert!(why.contains("between regions"), "{why}"),
                found => assert!(!acts_on_threads && found == Reach::Free, "{flags:?} {act}: {found:?}"),
            }
        }
    }
}

const FREE: [&str; 14] = [
    "void act(void) { char text[32]; int n = snprintf(text, sizeof text, \"%p\", (void *)text);\n\
     char *end = strchr(text, 'x'); if (end && end - text > n) abort(); }",
    "static int *last; void act(void) { int some[8] = {3}; int *at = some;\n\
     while (at < some + 8) if (*at++) break; if (at == last) abort(); }",
    "void act(void) { free(malloc(10)); puts(\"a\"); printf(\"%d\", 1); }",
    "void act(void) { sigset_t s; sigemptyset(&s); pthread_sigmask(SIG_BLOCK, &s, NULL); }",
    "void act(void) { if (syscall(SYS_futex, NULL, 128, 0, NULL)) abort(); }",
    "void act(void) { char b[8]; if (syscall(SYS_getrandom, b, 8, 0) != 8) abort(); }",
    "void act(void) { prctl(PR_SET_PDEATHSIG, SIGTERM); }",
    "pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;\n\
     void act(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }",
    "__thread int own;\nvoid act(void) { own++; if (pthread_self() == 0) abort(); }",
    "static int order(const void *a, const void *b) { return *(int *)a - *(int *)b; }\n\
     void act(void) { int n[2] = {2, 1}; qsort(n, 2, sizeof *n, order); }",
    "void act(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); nanosleep(&t, NULL); }",
    "static void leaf(void) { puts(\"a\"); }\nvoid (*volatile f)(void) = leaf;\nvoid act(void) { f(); }",
    "void act(void) {\n#pragma omp critical\nputs(\"a\");\n#pragma omp barrier\n}",
    "int pick(int n) { switch (n) { case 0: return 7; case 1: return 3; case 2: return 9;\n\
     case 3: return 12; case 4: return puts(\"b\"); case 5: return 11; case 6: return puts(\"a\"); }\n\
     return 0; }\n\
     void act(void) { if (pick(getpid() % 7)) abort(); }",
];

#[test]
fn what_any_thread_may_do_is_free() {
    for flags in LEVELS {
        for act in FREE {
            assert_eq!(reached(act, REGION, flags), Reach::Free, "{flags:?} {act}");
        }
    }
}

#[test]
fn tasks_are_regions_code_too() {
    let task = "
int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task
    act();
    return 0;
}
";
    for flags in LEVELS {
        let found = reached("void act(void) { setfsuid(1); }", task, flags);
        assert!(matches!(found, Reach::No(_)), "{flags:?}");
    }
}

#[test]
fn virtual_functions_of_cpp_are_followed() {
    let source = |does: &str| {
        format!(
            "#include <cstdio>\n#include <sys/fsuid.h>\n#include <vector>\n
struct Shape {{ virtual ~Shape() {{}} virtual int area() const = 0; }};
struct Square : Shape {{ int area() const override {{ {does}; return 4; }} }};
struct Circle : Shape {{ int area() const override {{ return 3; }} }};
int main(int count, char **)
{{
    std::vector<Shape *> shapes;
    for (int i = 0; i < count; i++)
        shapes.push_back(i % 2 ? static_cast<Shape *>(new Square) : new Circle);
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    for (Shape *shape : shapes)
        sum += shape->area();
    return sum == 0;
}}
"
        )
    };
    for flags in LEVELS {
        let folder = tempfile::tempdir().unwrap();
        let look = |does| reach_of(&built(folder.path(), "g++", "cpp", &source(does), flags)).unwrap();
        assert!(
            matches!(look("setfsuid(1)"), Reach::No(why) if why.starts_with("calls setfsuid")),
            "{flags:?}"
        );
        assert_eq!(look("puts(\"a\")"), Reach::Free, "{flags:?}");
    }
}

#[test]
fn a_function_that_was_looked_up_elsewhere_is_none_of_the_kernel_threads() {
    let source = |name: &str| {
        format!(
            "{BEGINNING}static int (*get)(void);\nstatic void act(void) {{ if (get() == 1) abort(); }}\n{}",
            REGION.replace("{\n", &format!("{{\n    *(void **)&get = dlsym(RTLD_DEFAULT, \"{name}\");\n"))
        )
    };
    for flags in LEVELS {
        let folder = tempfile::tempdir().unwrap();
        let look = |name| reach_of(&built(folder.path(), "gcc", "c", &source(name), flags)).unwrap();
        let found = look("gettid");
        assert!(matches!(&found, Reach::No(why) if why.starts_with("may look up gettid")), "{found:?}");
        assert_eq!(look("getpid"), Reach::Free, "{flags:?}");
    }
}

#[test]
fn regions_of_fortran_are_followed() {
    let source = |name: &str| {
        format!(
            "program bound
  use iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function own() bind(c, name='{name}')
      import :: c_int
    end function
  end interface
  integer :: total
  total = 0
  !$omp parallel num_threads(2) reduction(+:total)
  total = total + own()
  !$omp end parallel
  print *, total
end program
"
        )
    };
    for flags in LEVELS {
        let folder = tempfile::tempdir().unwrap();
        let look = |name| reach_of(&built(folder.path(), "gfortran", "f90", &source(name), flags)).unwrap();
        assert!(matches!(look("gettid"), Reach::No(why) if why.starts_with("calls gettid")), "{flags:?}");
        assert_eq!(look("getpid"), Reach::Free, "{flags:?}");
    }
}

#[test]
fn code_of_clang_is_followed() {
    let source = format!("{BEGINNING}void act(void) {{ gettid(); }}{REGION}");
    let elsewhere = format!("{BEGINNING}void act(void) {{ gettid(); }}{ELSEWHERE}");
    for flags in ["-O0", "-O2"] {
        let folder = tempfile::tempdir().unwrap();
        let look = |source: &str| {
            let flags = [flags, "-fopenmp=libomp"];
            reach_of(&built(folder.path(), "clang", "c", source, &flags)).unwrap()
        };
        assert!(matches!(look(&source), Reach::No(why) if why.starts_with("calls gettid")), "{flags:?}");
        assert_eq!(look(&elsewhere), Reach::Free, "{flags:?}");
    }
}

/// What a running process reaches in a library.
fn in_library(library: &str, call: &str, cache: &mut ModuleCache) -> Reach {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("{BEGINNING}{library}");
    let (code, file) = (folder.path().join("helper.c"), folder.path().join("libhelper.so"));
    std::fs::write(&code, source).unwrap();
    let done = Command::new("gcc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&file).arg(&code).status();
    assert!(done.unwrap().success());
    let main = format!(
        "#include <stdio.h>\nvoid good(void); void bad(void); void hand(void (*)(void)); void go(void);
void own(void) {{ puts(\"a\"); }}
int main(int count, char **words)
{{
    (void)words;
    if (count > 9) {{ bad(); good(); hand(own); go(); }}
    puts(\"ready\");
    fflush(stdout);
    // What is called may end the process.
    if (getchar() == EOF)
        return 0;
#pragma omp parallel num_threads(2)
    {{ {call}; }}
    return 0;
}}
"
    );
    let path = folder.path().to_string_lossy().into_owned();
    let flags = ["-O1", "-L", &path, &format!("-Wl,-rpath,{path}"), "-Wl,--no-as-needed", "-lhelper"];
    let program = built(folder.path(), "gcc", "c", &main, &flags);
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let facts = process(child.id(), Path::new("/proc"), cache).unwrap();
    let (first, again) = reach_twice(child.id());
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(first, again);
    facts.reach.unwrap()
}

/// What it reaches, and the same by what was told of single files meanwhile.
fn reach_twice(pid: u32) -> (Reach, Reach) {
    let opened = Opened::new(pid, Path::new("/proc")).unwrap();
    let mut told = ModuleCache::default();
    let first = opened.reach(&mut ModuleCache::default(), &mut |news| told.extend(news.clone()));
    told.cut();
    let again = opened.reach(&mut told, &mut |news| panic!("it is known: {news:?}"));
    (first, again)
}

#[test]
fn calls_are_followed_into_libraries() {
    let library = "
static void leaf(void) { setfsuid(1); }
void good(void) { puts(\"a\"); }
void bad(void) { leaf(); }
static void (*kept)(void);
void hand(void (*f)(void)) { kept = f; }
void go(void) { kept(); }
";
    let mut cache = ModuleCache::default();
    assert_eq!(in_library(library, "good()", &mut cache), Reach::Free);
    let found = in_library(library, "bad()", &mut cache);
    let in_it = |why: &str| why.starts_with("calls setfsuid") && why.contains("libhelper.so");
    assert!(matches!(&found, Reach::No(why) if in_it(why)), "{found:?}");
    // Through pointers only what has its address taken is reached.
    assert_eq!(in_library(library, "go()", &mut cache), Reach::Free);
    // A table that was asked for outside of the region.
    let table = "
typedef void (*step)(void);
void good(void) {}
void bad(void) {}
void hand(void (*f)(void)) { (void)f; }
static void leaf(void) { LEAF; }
static step steps[2] = {leaf, leaf};
const step *go(void) { return steps; }
";
    let ask = "void (**(*table)(void))(void) = (void (**(*)(void))(void))go; table()[1]()";
    let at = |leaf| table.replace("LEAF", leaf);
    assert!(matches!(in_library(&at("setfsuid(1)"), ask, &mut cache), Reach::No(_)));
    assert_eq!(in_library(&at("puts(\"a\")"), ask, &mut cache), Reach::Free);
    let taken = library.replace("void hand(void", "void hand0(void) { kept = leaf; }\nvoid hand(void");
    assert!(matches!(in_library(&taken, "go()", &mut cache), Reach::No(_)));
    assert!(matches!(
        in_library(
            "void good(void) {}\nvoid go(void) {}\nvoid hand(void (*f)(void)) { f(); }\n\
        void bad(void) { pthread_kill(pthread_self(), 10); }",
            "hand(bad)",
            &mut cache
        ),
        Reach::No(_)
    ));
}
