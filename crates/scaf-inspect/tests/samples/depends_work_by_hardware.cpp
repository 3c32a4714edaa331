#include <thread>
double run(long samples)
{
    double inside = 0;
    const long each = samples / std::thread::hardware_concurrency();
#pragma omp parallel reduction(+ : inside)
    for (long i = 0; i < each; i++)
        inside += i * 0.5;
    return inside / samples;
}
