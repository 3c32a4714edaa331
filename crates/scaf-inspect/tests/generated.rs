//! Generated programs that use their team's size in harmless and harmful ways. Whatever is judged to be
//! resizable must compute the same, whichever sizes its regions get, in any order. SCAF_GENERATED sets the
//! number of programs.

use scaf_inspect::module;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const LEVELS: [&[&str]; 4] = [&["-O1"], &["-O2"], &["-O3"], &["-O3", "-march=native"]];
const REGIONS: usize = 3;
const SIZES: usize = 4;

/// What regions may do without harm. `@` is a variable that holds a size: of the module, or main's own.
const HARMLESS: &[&str] = &[
    "#pragma omp for\n for (int i = 0; i < N; i++) a[i] += i % $;",
    "#pragma omp for schedule(static, 3)\n for (int i = 0; i < N - $; i++) a[i] += 2;",
    "#pragma omp for schedule(dynamic)\n for (int i = $; i < N; i++) a[i] += a[i] / 2;",
    "#pragma omp for reduction(+ : sum)\n for (int i = 0; i < N; i++) sum += a[i] % $;",
    "#pragma omp master\n @ = omp_get_num_threads();",
    "#pragma omp single\n @ = omp_get_num_threads();",
    "#pragma omp master\n { @ = omp_get_num_threads(); first += $; }",
    "if (timed && omp_get_thread_num() == 0) tick(&first);",
    "{ int me = omp_get_thread_num(); if (timed && me == 0) first += $;\n#pragma omp for\n for (int i = 0; \
     i < N; i++) a[i] += 1;\n if (timed && me == 0) tick(&first); }",
    "#pragma omp master\n if (timed) tick(&first);",
];
/// What they may do with harm, at some sizes.
const HARMFUL: &[&str] = &[
    "slots[omp_get_thread_num()] += $;",
    "if (timed && omp_get_thread_num() != 0) {\n#pragma omp atomic\n others += $;\n }",
    "{ int first_one = omp_get_thread_num() == 0; if (timed && !first_one) {\n#pragma omp atomic\n \
     others += 1; } }",
    "{ int me = omp_get_thread_num();\n#pragma omp barrier\n if (!(me == 0 && timed)) {\n#pragma omp \
     atomic\n others += 2; } }",
    "#pragma omp single\n a[omp_get_num_threads() * $] += 1;",
    "#pragma omp single\n a[kept * $] += 1;",
    "#pragma omp master\n { kept = omp_get_num_threads(); }\n#pragma omp barrier\n#pragma omp for\n for \
     (int i = 0; i < N; i++) a[i] += kept;",
    "{ int me = omp_get_thread_num(), part = N / kept, rest = N % kept; if (me < rest) part++, rest = \
     0;\n for (int i = me * part + rest; i < me * part + rest + part && i < N; i++) a[i] += 1; }",
    "if (omp_get_num_threads() > 2) {\n#pragma omp single\n a[1] += $; }",
];
/// The same for serial code behind a region.
const PRINTS: &[&str] = &[
    "printf(\"T %d\\n\", @);",
    "printf(\"T %g\\n\", 100.0 / (double)@);",
    "report(\"T\", 1, 2, 3, 4, 5, @, 2.5, \"x\");",
    "if (@ != most) printf(\"T fewer\\n\");",
    "doubled = @; printf(\"T %ld %d\\n\", doubled, $);",
    "printf(\"T %d %d %d %d %d %d %d\\n\", 1, 2, 3, 4, 5, 6, @);",
];
const COMPUTES: &[&str] = &[
    "a[N / @ - 1] += $;",
    "if (@ > 2) serial += $;",
    "if (@ != most) { printf(\"T\\n\"); serial += 1; }",
    "serial += N / @;",
    "serial += @;",
    "{ char text[20]; sprintf(text, \"%d\", @); serial += atoi(text); }",
    "serial += printf(\"T %d\\n\", 1000 / @ * 10);",
    "known = &kept; serial += *known;",
    "{ double share = 1000.0 / @; serial += (long)share; }",
    "serial += twice(@);",
    "for (int i = 0; i < N / @; i++) serial += i;",
    "memset(slots, 1, 8 / @);",
    "serial += @ == 1 ? 2 : 3;",
];

const PRELUDE: &str = r#"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 40 };
static long a[N * 8], sum, first, others, serial, doubled;
static int kept = 1, spare = 1, timed, most = 4;
static int slots[8], *known;
static const char *sizes;
static __attribute__((noinline)) void tick(long *what) { *what += 5; }
static __attribute__((noinline)) long twice(int value) { return 2L * value; }
static __attribute__((noinline)) void report(const char *name, int b, int c, int d, int e, int f, int threads,
                                             double rate, const char *kind)
{
    printf("%s %d %d %d %d %d\n", name, b, c, d, e, f);
    printf("T %d %g %s\n", threads, rate / (double)threads, kind);
}
static void resize(void)
{
    if (*sizes) omp_set_num_threads(*sizes++ - '0');
}
int main(int argc, char **argv)
{
    int own = 1;
    sizes = argv[1];
    timed = argc > 2;
"#;

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn pick(&mut self, from: &[&'static str]) -> String {
        let text = from[self.below(from.len())];
        let variable = ["kept", "own", "kept", "own", "spare"][self.below(5)];
        let number = (1 + self.below(4)).to_string();
        text.replace('@', variable).replace('$', &number)
    }
}

/// A program with three regions; every second one does no harm.
fn program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(77_777).wrapping_add(12_345));
    random.below(2);
    let mut code = String::from(PRELUDE);
    let harmful = seed % 2 == 1;
    for _ in 0..REGIONS {
        code += " resize();\n#pragma omp parallel\n {\n";
        for _ in 0..1 + random.below(3) {
            let from = if harmful && random.below(5) == 0 { HARMFUL } else { HARMLESS };
            let _ = writeln!(code, "{}\n#pragma omp barrier", random.pick(from));
        }
        code += " }\n";
        for _ in 0..random.below(3) {
            let from = if harmful && random.below(4) == 0 { COMPUTES } else { PRINTS };
            let _ = writeln!(code, " {}", random.pick(from));
        }
    }
    code + " for (int i = 0; i < N * 8; i++) printf(\"%ld \", a[i]);\n\
            for (int i = 0; i < 8; i++) printf(\"%d \", slots[i]);\n\
            printf(\"R %ld %ld %ld %ld\\n\", sum, first, others, serial);\n return 0;\n}\n"
}

/// What the program prints, but for the lines that tell the size.
fn computed(program: &Path, sizes: &str) -> String {
    let done = Command::new(program).args([sizes, "timed"]).output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    let rest = text
        .lines()
        .filter(|line| !line.starts_with('T'))
        .fold(String::new(), |text, line| text + line + "\n");
    format!("{:?}\n{rest}", done.status)
}

/// All sizes of all regions, in all orders.
fn orders() -> Vec<String> {
    let count = SIZES.pow(u32::try_from(REGIONS).unwrap());
    let digit = |order: usize, region: usize| {
        (1 + order / SIZES.pow(u32::try_from(region).unwrap()) % SIZES).to_string()
    };
    (0..count).map(|order| (0..REGIONS).map(|region| digit(order, region)).collect()).collect()
}

#[test]
fn what_may_be_resized_computes_the_same_at_all_sizes_in_all_orders() {
    let count = std::env::var("SCAF_GENERATED").ok().and_then(|count| count.parse().ok()).unwrap_or(20);
    let folder = tempfile::tempdir().unwrap();
    let (source, out) = (folder.path().join("program.c"), folder.path().join("program"));
    let (mut wrong, mut resizable, mut harmless) = (String::new(), 0, 0);
    let mut reasons = BTreeSet::new();
    for seed in 0..count {
        std::fs::write(&source, program(seed)).unwrap();
        let flags = LEVELS[usize::try_from(seed / 2).unwrap() % LEVELS.len()];
        let done =
            Command::new("gcc").args(["-w", "-fopenmp", "-o"]).arg(&out).args(flags).arg(&source).status();
        assert!(done.unwrap().success(), "{}", program(seed));
        if let Ok(to) = std::env::var("SCAF_GENERATED_KEPT") {
            std::fs::copy(&out, format!("{to}/{seed}")).unwrap();
            std::fs::copy(&source, format!("{to}/{seed}.c")).unwrap();
        }
        let facts = module(&out).unwrap();
        harmless += u64::from(seed % 2 == 0);
        if !facts.size_use.is_harmless() {
            if seed % 2 == 0 {
                reasons.insert(format!("{seed} {flags:?} {:?}", facts.size_use));
            }
            continue;
        }
        resizable += 1;
        let results: BTreeSet<String> = orders().iter().map(|sizes| computed(&out, sizes)).collect();
        if results.len() > 1 {
            let _ = writeln!(wrong, "seed {seed} {flags:?}\n{}\n{results:?}", program(seed));
        }
    }
    println!(
        "{resizable} of {count} programs may be resized; of {harmless} harmless ones, not:\n{reasons:#?}"
    );
    assert!(wrong.is_empty(), "{wrong}");
    assert!(resizable >= count / 8, "only {resizable} of {count} programs");
}
