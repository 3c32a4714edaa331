/* Functions are passed addresses of what is an iteration's own, compare them, and give one back. */
__attribute__((noinline)) static const int *larger(const int *one, const int *other)
{
    return one == other || *one > *other ? one : other;
}

__attribute__((noinline)) static void add(int *to, const int *more)
{
    *to += *more;
}

void run(int *a, const int *b)
{
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) {
        int one = b[i], other = i * 7;
        add(&one, &other);
        a[i] = *larger(&one, &other);
    }
}
