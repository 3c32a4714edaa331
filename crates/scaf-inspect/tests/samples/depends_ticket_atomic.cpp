#include <atomic>
void run(int *owner, int n)
{
    std::atomic<int> next{0};
#pragma omp parallel
    {
        const int mine = next.fetch_add(1);
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++)
            owner[i] = mine;
    }
}
