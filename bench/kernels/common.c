/* The command line, the clock and the JSON line that every kernel shares; see common.h. */
#include "common.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static const char *const CLASS_NAMES[] = {"S", "W", "A", NULL};
static const struct knob REPEAT = {.least = 1, .most = 1e6, .whole = true};
static int largest_team;

/* Notes how many threads a team may have. Each thread of a team could add one, too: but whoever counts a team
   has a result that depends on its size. */
static void ask_size(void)
{
#ifdef _OPENMP
    seen(omp_get_max_threads());
#else
    seen(0);
#endif
}

void seen(int threads)
{
    if (threads > largest_team)
        largest_team = threads;
}

static void print_words(FILE *to, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        fprintf(to, "%s%s", i ? "|" : "", words[i]);
}

static void print_help(const struct program *program)
{
    printf("%s: %s\n\n  --class=", program->name, program->summary);
    print_words(stdout, CLASS_NAMES);
    printf("   problem size (default S)\n  --form=");
    print_words(stdout, program->forms);
    printf("   how the parallel regions are cut (default %s)\n", program->forms[0]);
    printf("  --repeat=N   run the timed section N times, 1 to 1000000 (default 1)\n");
    for (const struct knob *knob = program->knobs; knob && knob->name; knob++) {
        printf("  --%s=", knob->name);
        if (knob->choice) {
            print_words(stdout, knob->words);
            printf("   %s (default %s)\n", knob->help, knob->words[*knob->choice]);
        } else {
            printf("N   %s, %.0f to %.0f (default %g)\n", knob->help, knob->least, knob->most, *knob->number);
        }
    }
    printf("  --help   this text\n\n"
           "Prints one line of JSON. Exit status: 0 verified, 1 not verified, 2 wrong option.\n");
}

static _Noreturn void reject(const struct program *program, const char *argument, const char *why)
{
    fprintf(stderr, "%s: %s: %s; see %s --help\n", program->name, argument, why, program->name);
    exit(2);
}

/* The value if `argument` is --name=value, else NULL. */
static const char *value_of(const char *argument, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(argument, "--", 2) != 0)
        return NULL;
    argument += 2;
    return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1 : NULL;
}

static int parse_word(const struct program *program, const char *argument, const char *value,
                      const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return i;
    reject(program, argument, "not one of the accepted words");
}

static double parse_number(const struct program *program, const char *argument, const char *value,
                           const struct knob *limits)
{
    char *end;
    errno = 0;
    double number = strtod(value, &end);
    if (end == value || *end != '\0' || errno != 0)
        reject(program, argument, "not a number");
    if (!(number >= limits->least && number <= limits->most))
        reject(program, argument, "out of range");
    if (limits->whole && number != floor(number))
        reject(program, argument, "not a whole number");
    return number;
}

/* True if `argument` set one of the program's own knobs. */
static bool set_knob(const struct program *program, const char *argument)
{
    for (const struct knob *knob = program->knobs; knob && knob->name; knob++) {
        const char *value = value_of(argument, knob->name);
        if (!value)
            continue;
        if (knob->choice)
            *knob->choice = parse_word(program, argument, value, knob->words);
        else
            *knob->number = parse_number(program, argument, value, knob);
        return true;
    }
    return false;
}

struct run begin(const struct program *program, int argc, char **argv)
{
    struct run run = {.program = program, .size = CLASS_S, .repeat = 1, .verified = true};
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i], *value;
        if (strcmp(argument, "--help") == 0) {
            print_help(program);
            exit(0);
        } else if ((value = value_of(argument, "class"))) {
            run.size = (enum problem_class)parse_word(program, argument, value, CLASS_NAMES);
        } else if ((value = value_of(argument, "form"))) {
            run.form = parse_word(program, argument, value, program->forms);
        } else if ((value = value_of(argument, "repeat"))) {
            run.repeat = (int)parse_number(program, argument, value, &REPEAT);
        } else if (!set_knob(program, argument)) {
            reject(program, argument, "no such option (options are written --name=value)");
        }
    }
    ask_size();
    return run;
}

int finish(const struct run *run, const char *format, ...)
{
    printf("{\"name\":\"%s\",\"form\":\"%s\",\"class\":\"%s\",", run->program->name,
           run->program->forms[run->form], CLASS_NAMES[run->size]);
    printf("\"threads_seen\":%d,\"seconds\":%.6f,\"verified\":%s,\"value\":\"", largest_team, run->seconds,
           run->verified ? "true" : "false");
    va_list values;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    printf("\"}\n");
    if (fflush(stdout) != 0 || ferror(stdout)) {
        const char *name = run->program->name;
        fprintf(stderr, "%s: can't write the result to standard output: %s\n", name, strerror(errno));
        return 1;
    }
    return run->verified ? 0 : 1;
}

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void *must_alloc(size_t count, size_t size)
{
    size_t bytes = (count * size + 63) / 64 * 64; /* aligned_alloc wants a multiple of the alignment */
    void *memory = aligned_alloc(64, bytes);
    if (!memory) {
        fprintf(stderr, "can't allocate %zu bytes; choose a smaller --class\n", bytes);
        exit(1);
    }
    return memset(memory, 0, bytes);
}

bool close_to(double got, double want, double epsilon)
{
    return fabs(got - want) <= epsilon * fabs(want);
}
