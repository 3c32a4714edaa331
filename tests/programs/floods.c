/* build: gcc -O2 */
/* Connects to a daemon's socket again and again, and says garbage: floods SOCKET TIMES. Keeps its latest
 * connections open. */
#include "test.h"

#include <sys/socket.h>
#include <sys/un.h>

enum { HELD = 300, LONGEST = 4096 };

int main(int count, char **words)
{
    if (count < 3)
        return 2;
    long times = atol(words[2]), refused = 0, said = 0;
    int held[HELD];
    for (int i = 0; i < HELD; i++)
        held[i] = -1;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", words[1]);
    static char garbage[LONGEST];
    for (long i = 0; i < times; i++) {
        int *place = &held[i % HELD];
        if (*place >= 0)
            close(*place);
        *place = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (*place < 0 || connect(*place, (struct sockaddr *)&at, sizeof at)) {
            refused++;
            continue;
        }
        for (int at_byte = 0; at_byte < LONGEST; at_byte += 8)
            *(long *)&garbage[at_byte] = work(1, i + at_byte) * 0x10001;
        /* Every other one begins as a hello does. */
        if (i % 2)
            memcpy(garbage, "SCAF", 4);
        if (send(*place, garbage, (size_t)work(1, i) % LONGEST, MSG_NOSIGNAL) >= 0)
            said++;
        else
            refused++;
    }
    say("refused", refused);
    say("said", said);
    return 0;
}
