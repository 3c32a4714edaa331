static long own(void)
{
    long number = 186;
    __asm__ volatile("syscall" : "+a"(number) : : "rcx", "r11", "memory");
    return number;
}
void run(long *met)
{
#pragma omp parallel
    met[own() & 1023] = 1;
}
