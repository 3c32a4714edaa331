/* Two loops that spin. A way around the outer one that goes through the inner one carries no register on; the
 * shortest way around it does. */
volatile int flag, other;
static long sum;

void run(void)
{
#pragma omp parallel
    {
        int now, before;
        __asm__ volatile("1: mov %0, %1\n"
                         "mov %2, %0\n"
                         "test %0, %0\n"
                         "je 1b\n"
                         "mov %1, %0\n"
                         "cmpl $0, %3\n"
                         "jne 1b\n"
                         : "=&r"(now), "=&r"(before)
                         : "m"(flag), "m"(other));
#pragma omp atomic
        sum++;
    }
}
