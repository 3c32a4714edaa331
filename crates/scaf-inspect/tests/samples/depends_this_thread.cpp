#include <functional>
#include <thread>
void run(unsigned long *met, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        met[std::hash<std::thread::id>()(std::this_thread::get_id()) % 1021] = 1;
}
