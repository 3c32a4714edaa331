/* build: gcc -O1 -Wno-pedantic */
/* A library that puts code on the stack. */
__attribute__((noipa)) static long summed(long (*f)(long), long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += f(i);
    return sum;
}

long compute(long own)
{
    long calls = 0;
    long times(long i)
    {
        calls++;
        return i * own;
    }
    return summed(times, 10) + calls;
}
