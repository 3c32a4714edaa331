/* A region whose threads wait for each other by spinning on flags: in the region itself. */
static struct {
    _Alignas(64) long done;
} flags[64];

void pipeline(long steps)
{
#pragma omp parallel for schedule(static)
    for (int block = 0; block < 64; block++) {
        for (long step = 1; step <= steps; step++) {
            if (block > 0)
                while (__atomic_load_n(&flags[block - 1].done, __ATOMIC_ACQUIRE) < step)
                    ;
            __atomic_store_n(&flags[block].done, step, __ATOMIC_RELEASE);
        }
    }
}
