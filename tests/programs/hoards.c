/* build: gcc -O2 */
/* Attaches again and again, and gives nothing back: hoards SOCKET HELLO TIMES takes|leaves|shuts|hurries.
 * HELLO is the packet in hexadecimal digits; with none it says nothing. Keeps all connections, and the files
 * of its pages where it takes its welcomes; or shuts them down without taking them. Or it hangs up at once
 * each time, as fast as it goes. */
#include "test.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { LONGEST = 4096, FILES = 2 };

/* The number of the first file that comes; 0 if none does. */
static long taken(int socket)
{
    char bytes[64], space[CMSG_SPACE(FILES * sizeof(int))];
    struct iovec into = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &into, .msg_iovlen = 1, .msg_control = space,
                             .msg_controllen = sizeof space};
    if (recvmsg(socket, &message, 0) <= 0)
        return 0;
    struct cmsghdr *control = CMSG_FIRSTHDR(&message);
    if (!control || control->cmsg_type != SCM_RIGHTS)
        return 0;
    int file;
    memcpy(&file, CMSG_DATA(control), sizeof file);
    struct stat status;
    return fstat(file, &status) ? 0 : (long)status.st_ino;
}

int main(int count, char **words)
{
    static char hello[LONGEST];
    size_t length = 0;
    if (count < 5)
        return 2;
    for (const char *at = words[2]; length < LONGEST && at[0] && at[1]; at += 2) {
        char digits[] = {at[0], at[1], 0};
        hello[length++] = (char)strtol(digits, NULL, 16);
    }
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", words[1]);
    long attached = 0, file = 0;
    int hurries = *words[4] == 'h';
    for (long i = 0; i < atol(words[3]) && (!hurries || going()); i++) {
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (fd < 0)
            continue;
        if (connect(fd, (struct sockaddr *)&at, sizeof at)) {
            close(fd);
            continue;
        }
        attached += !length || send(fd, hello, length, MSG_NOSIGNAL) == (ssize_t)length;
        if (*words[4] == 't')
            file = taken(fd);
        if (*words[4] == 's')
            shutdown(fd, SHUT_RDWR);
        if (hurries)
            close(fd);
        else
            usleep(5000); /* Others' turn. */
    }
    say("attached", attached);
    say("file", file);
    while (going())
        usleep(10000);
    return 0;
}
