/* The same by an address that a function gives back. */
unsigned long known[64];
int count;

__attribute__((noinline)) static const char *larger(const char *one, const char *other)
{
    return *one > *other ? one : other;
}

void run(void)
{
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) {
        char own[2] = {(char)i, (char)(i * 7)};
        unsigned long at = (unsigned long)larger(own, own + 1) >> 16;
#pragma omp critical
        {
            int k = 0;
            while (k < count && known[k] != at)
                k++;
            if (k == count)
                known[count++] = at;
        }
    }
}
