/* build: g++ -O2 -fopenmp -pthread */
/* Threads start children by several ways while regions run; each child counts its CPUs. Says how many had
 * fewer than this program was born with. With an argument none is started by system(), which comes back when
 * it's too late to look after the child. */
#include "region.h"
#include <atomic>
#include <sched.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ;
static std::atomic<long> children, narrow;
static std::atomic<bool> done;

static int cpus()
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? -1 : CPU_COUNT(&set);
}

static void start(int born, int way)
{
    const std::string word = "exit $(nproc)";
    int status = -1;
    if (way == 0)
        status = std::system(word.c_str());
    else if (way == 1) {
        FILE *from = popen(word.c_str(), "r");
        status = from ? pclose(from) : -1;
    } else {
        pid_t child = -1;
        char *const words[] = {const_cast<char *>("sh"), const_cast<char *>("-c"),
                               const_cast<char *>(word.c_str()), nullptr};
        if (way == 2)
            posix_spawn(&child, "/bin/sh", nullptr, nullptr, words, environ);
        else if ((child = vfork()) == 0) {
            execvp("sh", words);
            _exit(99);
        }
        waitpid(child, &status, 0);
    }
    children++;
    narrow += !WIFEXITED(status) || WEXITSTATUS(status) != born;
}

int main(int count, char **)
{
    const int born = cpus();
    std::thread starters[2];
    for (int i = 0; i < 2; i++)
        starters[i] = std::thread([born, i, count] {
            usleep(1500000);
            for (int n = 0; n < 16; n++)
                start(born, count > 1 ? 1 + (n + i) % 3 : (n + i) % 4);
            done = true;
        });
    while (!done)
        region();
    for (auto &starter : starters)
        starter.join();
    say("narrow", narrow);
    say("children", children);
    while (going())
        region();
    say("wrong", wrong);
    return wrong != 0;
}
