/*
 * scaf.so: a SPANK plug-in that gives Slurm's commands the option --scaf (scaf-slurm(7),
 * docs/guide/slurm.md).
 *
 * All that it knows of scaf is the command `scaf slurm`, which it runs twice for a step on each node:
 * `env`, as the job's user, says what is to change in the tasks' environment; `watch`, as root, adds up what
 * the step has, and writes it into the job's record when the step has ended. Whatever goes wrong, the job
 * runs as without us: no function here fails a job, and none waits for longer than twice PATIENCE_MS. Nor
 * does the job's environment make these commands do anything but their work: they run outside of the step.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

SPANK_PLUGIN(scaf, 1)

#define PATIENCE_MS 6000
#define TEXT 256
/* A job's record has room for so many of its steps, and for so many nodes of each. */
#define MOST_STEPS 16
#define MOST_NODES 8

/* What --scaf says. */
static struct {
    int given, off, exact;
    long min, max;
    char weight[16];
} want = {.min = 1, .weight = "1"};

/* What plugstack.conf says. */
static const char *scaf = "/usr/bin/scaf", *scontrol = "/usr/bin/scontrol", *own_socket;
static int always;

static int record_in = -1, record_out = -1;

/* What the dynamic linker and the C library would heed: code of the user's, which would run in our place. */
static const char *const steering[] = {"LD_", "GLIBC_", "GCONV_", "LOCPATH=", "MALLOC_", NULL};
/* What `scaf slurm env` has to know of these. */
#define PRELOAD "LD_PRELOAD="
#define PRELOAD_TOLD "SCAF_BEFORE_LD_PRELOAD="

/* A whole number from 1 to `most`, or 0. */
static long number(const char *text, long most)
{
    char *end;
    if (*text < '0' || *text > '9')
        return 0;
    errno = 0;
    long value = strtol(text, &end, 10);
    return errno || *end || value > most ? 0 : value;
}

/* Takes in one setting of the option's; 0 if it is none. */
static int set(const char *word)
{
    if (!strcmp(word, "off"))
        return want.off = 1;
    if (!strcmp(word, "exact"))
        return want.exact = 1;
    if (!strncmp(word, "min=", 4))
        return (want.min = number(word + 4, 65535)) != 0;
    if (!strncmp(word, "max=", 4))
        return (want.max = number(word + 4, 65535)) != 0;
    if (!strncmp(word, "weight=", 7)) {
        char *end;
        const char *text = word + 7;
        double weight = strtod(text, &end);
        snprintf(want.weight, sizeof want.weight, "%s", text);
        return *text >= '0' && *text <= '9' && !*end && strlen(text) < sizeof want.weight &&
               !strpbrk(text, "xX") && weight >= 0.001 && weight <= 1000;
    }
    return 0;
}

/* Reads the option. A broken one switches us off, with one line where the user typed it. */
static int take_option(int value, const char *said, int remote)
{
    (void)value;
    char text[TEXT] = "", *rest = text;
    const char *wrong = NULL;
    if (!said || !strcmp(said, "(null)") || !*said)
        rest = NULL; /* --scaf alone */
    else if (strlen(said) < sizeof text)
        strcpy(text, said);
    else
        wrong = "it is too long";
    memset(&want, 0, sizeof want);
    want.given = want.min = 1;
    strcpy(want.weight, "1");
    for (char *word; !wrong && (word = strsep(&rest, ","));)
        if (!set(word))
            wrong = word;
    if (!wrong && want.max && want.max < want.min)
        wrong = "min is more than max";
    if (wrong) {
        want.off = 1;
        if (!remote)
            slurm_spank_log("scaf: --scaf=%s: '%s': the job runs without scaf; give min=N, max=M, weight=W, "
                            "exact or off, with commas between",
                            said, wrong);
    }
    return 0;
}

/* has_arg 2: there may be an argument. */
static struct spank_option option = {
    "scaf",
    "[min=N,max=M,weight=W,exact,off]",
    "Share the nodes' CPUs with other jobs by scaf: at least N and at most M hardware contexts on each node, "
    "counting W against the others; exact keeps every bit of results; off runs it without scaf",
    2,
    0,
    take_option,
};

int slurm_spank_init(spank_t spank, int words, char *word[])
{
    for (int i = 0; i < words; i++) {
        if (!strncmp(word[i], "scaf=", 5))
            scaf = word[i] + 5;
        else if (!strncmp(word[i], "scontrol=", 9))
            scontrol = word[i] + 9;
        else if (!strncmp(word[i], "socket=", 7))
            own_socket = word[i] + 7;
        else if (!strcmp(word[i], "default=on"))
            always = 1;
        else if (spank_context() == S_CTX_SLURMD)
            slurm_error("scaf: plugstack.conf: '%s' is none of scaf=, scontrol=, socket=, default=on",
                        word[i]);
    }
    if (spank_context() == S_CTX_SLURMD)
        return 0;
    if (spank_option_register(spank, &option) != ESPANK_SUCCESS)
        slurm_error("scaf: Slurm doesn't take the option --scaf");
    return 0;
}

/* The step's numbers; 0 if this isn't a step with tasks of the user's. */
static int step_of(spank_t spank, uint32_t *job, uint32_t *step)
{
    return spank_remote(spank) == 1 && spank_get_item(spank, S_JOB_ID, job) == ESPANK_SUCCESS &&
           spank_get_item(spank, S_JOB_STEPID, step) == ESPANK_SUCCESS && *step != SLURM_EXTERN_CONT;
}

static int milliseconds_left(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long gone = (now.tv_sec - begin->tv_sec) * 1000 + (now.tv_nsec - begin->tv_nsec) / 1000000;
    return gone >= PATIENCE_MS ? 0 : (int)(PATIENCE_MS - gone);
}

/* Reads to the end of file, and takes what it has room for. -1 if that takes too long. */
static ssize_t read_all(int file, char *to, size_t room)
{
    struct timespec begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (size_t filled = 0;;) {
        struct pollfd one = {.fd = file, .events = POLLIN};
        int ready = poll(&one, 1, milliseconds_left(&begin));
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return -1;
        char spare[512];
        int full = filled == room;
        ssize_t more = full ? read(file, spare, sizeof spare) : read(file, to + filled, room - filled);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return (ssize_t)filled;
        filled += full ? 0 : (size_t)more;
    }
}

/* In a new child: `in`, `out` and `err` become its streams, and it becomes `scaf`. */
static void become(int in, int out, int err, char *const argv[], char *const environment[])
{
    signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(in < 0 ? null : in, 0);
    dup2(out, 1);
    dup2(err, 2);
    close_range(3, ~0u, 0); /* a stream of the step's that stays open keeps srun waiting */
    execve(scaf, argv, environment);
    dprintf(2, "scaf: can't execute %s: %s", scaf, strerror(errno));
    _exit(127);
}

/* One line, without what could end it. */
static void tidy(char *text)
{
    text[strcspn(text, "\n")] = 0;
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
}

/* The environment without what steers programs; NULL without memory. */
static char **harmless(char *const environment[])
{
    size_t count = 0, kept = 0;
    while (environment[count])
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        int steers = 0;
        for (const char *const *name = steering; *name; name++)
            steers |= !strncmp(environment[i], *name, strlen(*name));
        if (!steers) {
            copy[kept++] = environment[i];
        } else if (!strncmp(environment[i], PRELOAD, strlen(PRELOAD))) {
            char *told;
            if (asprintf(&told, PRELOAD_TOLD "%s", environment[i] + strlen(PRELOAD)) >= 0)
                copy[kept++] = told;
        }
    }
    return copy; /* ours for as long as the step's daemon lives, once for each step */
}

/* Waits for a child's end, and ends it when it takes too long. Its status; -1 if it has none. */
static int end_of(pid_t child)
{
    struct timespec begin, pause = {.tv_nsec = 2000000};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int status, killed = 0;;) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return killed ? -1 : status;
        if (ended < 0 && errno != EINTR)
            return -1;
        if (!milliseconds_left(&begin)) {
            if (killed++)
                return -1; /* it ends when the kernel lets it */
            kill(child, SIGKILL);
            clock_gettime(CLOCK_MONOTONIC, &begin);
            begin.tv_sec -= PATIENCE_MS / 1000 - 1;
        }
        nanosleep(&pause, NULL);
    }
}

/* Runs `scaf slurm env` as the user that we are now, and does what it says. */
static void change_environment(spank_t spank, char *const argv[], char **environment)
{
    static char said[64 * 1024], complaint[TEXT];
    int out[2], err[2], status = -1;
    char **given = harmless(environment);
    if (!given || pipe2(out, O_CLOEXEC))
        return;
    if (pipe2(err, O_CLOEXEC)) {
        close(out[0]), close(out[1]);
        return;
    }
    uid_t user = geteuid();
    gid_t group = getegid();
    pid_t child = fork();
    if (child == 0) {
        if (setresgid(group, group, group) || setresuid(user, user, user))
            _exit(126);
        become(-1, out[1], err[1], argv, given);
    }
    close(out[1]), close(err[1]);
    ssize_t length = child < 0 ? -1 : read_all(out[0], said, sizeof said - 1);
    if (child > 0 && length < 0)
        kill(child, SIGKILL);
    if (child > 0)
        status = end_of(child);
    if (length < 0 || status == -1 || !WIFEXITED(status) || WEXITSTATUS(status)) {
        uint32_t node = 0;
        spank_get_item(spank, S_JOB_NODEID, &node);
        /* It has ended, so there is no more to wait for than what it said. */
        fcntl(err[0], F_SETFL, O_NONBLOCK);
        ssize_t words = status == -1 ? 0 : read(err[0], complaint, sizeof complaint - 1);
        complaint[words < 0 ? 0 : words] = 0;
        tidy(complaint);
        const char *why = strncmp(complaint, "scaf: ", 6) ? complaint : complaint + 6;
        close(out[0]), close(err[0]);
        if (node == 0)
            slurm_spank_log("scaf: the step runs without scaf: %s", *why ? why : "scaf slurm env failed");
        return;
    }
    close(out[0]), close(err[0]);
    for (char *at = said; at < said + length; at += strlen(at) + 1) {
        char *value = strchr(at, '=');
        if (value) {
            *value = 0;
            spank_setenv(spank, at, value + 1, 1);
            at = value + 1;
        } else {
            spank_unsetenv(spank, at);
        }
    }
}

/* As the job's user, once for a step on each node, before its tasks start. */
int slurm_spank_user_init(spank_t spank, int words, char *word[])
{
    (void)words, (void)word;
    uint32_t job, step;
    char **environment;
    if (!(want.given || always) || !step_of(spank, &job, &step) ||
        spank_get_item(spank, S_JOB_ENV, &environment) != ESPANK_SUCCESS)
        return 0;
    char numbers[32], min[16], max[16];
    if (want.off && spank_getenv(spank, "SCAF_JOB", numbers, sizeof numbers) == ESPANK_ENV_NOEXIST)
        return 0; /* no outer step set anything */
    snprintf(numbers, sizeof numbers, "%u.%u", job, step);
    snprintf(min, sizeof min, "%ld", want.min);
    snprintf(max, sizeof max, "%ld", want.max);
    const char *argv[20] = {"scaf", "slurm", "env", "--job", numbers};
    int n = 5;
    if (want.off) {
        argv[n++] = "--off";
    } else {
        argv[n++] = "--min", argv[n++] = min, argv[n++] = "--weight", argv[n++] = want.weight;
        if (want.max)
            argv[n++] = "--max", argv[n++] = max;
        if (want.exact)
            argv[n++] = "--exact";
        if (own_socket)
            argv[n++] = "--socket", argv[n++] = own_socket;
    }
    change_environment(spank, (char *const *)argv, environment);
    return 0;
}

/* As root, before that: has `scaf slurm watch` look at the step until record_in is closed, by us or by our
 * end. Init adopts it, so that Slurm doesn't take it for a task. */
int slurm_spank_init_post_opt(spank_t spank, int words, char *word[])
{
    (void)words, (void)word;
    uint32_t job, step, node = 0;
    uid_t user;
    if (!(want.given || always) || want.off || !step_of(spank, &job, &step) ||
        (step >= MOST_STEPS && step != SLURM_BATCH_SCRIPT && step != SLURM_INTERACTIVE_STEP) ||
        spank_get_item(spank, S_JOB_UID, &user) != ESPANK_SUCCESS)
        return 0;
    spank_get_item(spank, S_JOB_NODEID, &node);
    if (node >= MOST_NODES)
        return 0;
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC))
        return 0;
    if (pipe2(out, O_CLOEXEC)) {
        close(in[0]), close(in[1]);
        return 0;
    }
    char numbers[32], uid[16], host[64] = "";
    snprintf(numbers, sizeof numbers, "%u.%u", job, step);
    snprintf(uid, sizeof uid, "%u", (unsigned)user);
    const char *name = getenv("SLURMD_NODENAME"); /* slurmd's word to slurmstepd */
    if (name)
        snprintf(host, sizeof host, "%s", name);
    else
        gethostname(host, sizeof host - 1);
    const char *argv[20] = {"scaf", "slurm", "watch", "--job", numbers, "--uid", uid, "--node", host,
                            "--scontrol", scontrol};
    int n = 11;
    if (own_socket)
        argv[n++] = "--socket", argv[n++] = own_socket;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0)
            become(in[0], out[1], out[1], (char *const *)argv, environ);
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    close(in[0]), close(out[1]);
    record_in = in[1], record_out = out[0];
    return 0;
}

/* Has the record written, and waits for it. */
static void end_record(void)
{
    if (record_in < 0)
        return;
    char said[TEXT];
    close(record_in);
    ssize_t length = read_all(record_out, said, sizeof said - 1);
    close(record_out);
    record_in = record_out = -1;
    if (length > 0) {
        said[length] = 0;
        tidy(said);
        slurm_info("scaf: the job's record: %s", said);
    }
}

/* As root, when a task has ended, and before srun is told: a job that srun has ended takes no record. */
int slurm_spank_task_exit(spank_t spank, int words, char *word[])
{
    (void)words, (void)word;
    static uint32_t ended;
    uint32_t all;
    if (spank_remote(spank) == 1 &&
        spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &all) == ESPANK_SUCCESS && ++ended >= all)
        end_record();
    return 0;
}

/* As root, after the last task. */
int slurm_spank_exit(spank_t spank, int words, char *word[])
{
    (void)words, (void)word;
    if (spank_remote(spank) == 1)
        end_record();
    return 0;
}
