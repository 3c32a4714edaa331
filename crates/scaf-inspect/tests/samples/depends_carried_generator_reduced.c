long run(int n)
{
    long hits = 0;
#pragma omp parallel reduction(+ : hits)
    {
        unsigned state = 2463534242u;
#pragma omp for schedule(static, 4)
        for (int i = 0; i < n; i++) {
            state ^= state << 13, state ^= state >> 17, state ^= state << 5;
            hits += state < 1u << 31;
        }
    }
    return hits;
}
