/* IS (RNR-94-007, section 2.7): ranks integer keys by counting. Integer work with scattered writes, cut into
 * four regions a ranking. Where NPB keeps a histogram for each thread, this keeps one for each of a fixed
 * number of blocks of keys: the same memory traffic, without asking who is in the team. */
#include "common.h"

#include <stdlib.h>

enum { RANKINGS = 10, PROBES = 5, LOG_BUCKETS = 10, BUCKETS = 1 << LOG_BUCKETS, BLOCKS = 64 };

/*
 * NPB's verification: in ranking i, the key at index probe[p] has rank[p] + i + low_drift (the first `low`
 * probes) or rank[p] - i - high_drift (the others), because each ranking puts in one small and one large key.
 */
static const struct {
    int log_keys, log_range;
    int probe[PROBES], rank[PROBES];
    int low_drift, high_drift, low;
} SIZES[] = {
    [CLASS_S] = {16, 11, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, 0, 0, 3},
    [CLASS_W] = {20, 16, {357773, 934767, 875723, 898999, 404505},
                 {1249, 11698, 1039987, 1043896, 1048018}, -2, 0, 2},
    [CLASS_A] = {23, 19, {2112377, 662041, 5336171, 3642833, 4250760},
                 {104, 17523, 123928, 8288932, 8388264}, -1, -1, 3},
};

static int keys, range; /* how many keys; keys are 0 to range - 1 */
static int *key, *bucketed;
static int *keys_up_to;              /* for each value, how many keys are at most that large */
static int place[BLOCKS][BUCKETS];   /* first a count, then where a block's next key of a bucket goes */
static int bucket_start[BUCKETS + 1];

static void make_keys(void)
{
#pragma omp parallel for schedule(static)
    for (int block = 0; block < BLOCKS; block++) {
        int begin = keys / BLOCKS * block, end = keys / BLOCKS * (block + 1);
        uint64_t state = lcg_jump(LCG_SEED, 4 * (uint64_t)begin);
        for (int i = begin; i < end; i++) {
            double sum = lcg_next(&state);
            for (int draw = 1; draw < 4; draw++)
                sum += lcg_next(&state);
            key[i] = (int)(range / 4 * sum);
        }
    }
}

/* Four regions: count, add up, scatter into buckets, count within each bucket. */
static void rank_keys(int shift)
{
#pragma omp parallel for schedule(static)
    for (int block = 0; block < BLOCKS; block++) {
        int *count = place[block];
        for (int bucket = 0; bucket < BUCKETS; bucket++)
            count[bucket] = 0;
        for (int i = keys / BLOCKS * block; i < keys / BLOCKS * (block + 1); i++)
            count[key[i] >> shift]++;
    }

#pragma omp parallel for schedule(static)
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        int sum = 0;
        for (int block = 0; block < BLOCKS; block++) {
            int count = place[block][bucket];
            place[block][bucket] = sum; /* relative to the bucket's start, which isn't known yet */
            sum += count;
        }
        bucket_start[bucket + 1] = sum;
    }
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        bucket_start[bucket + 1] += bucket_start[bucket];

#pragma omp parallel for schedule(static)
    for (int block = 0; block < BLOCKS; block++) {
        int *next = place[block];
        for (int bucket = 0; bucket < BUCKETS; bucket++)
            next[bucket] += bucket_start[bucket];
        for (int i = keys / BLOCKS * block; i < keys / BLOCKS * (block + 1); i++)
            bucketed[next[key[i] >> shift]++] = key[i];
    }

    /* Guided: keys are sums of four random numbers, so the middle buckets hold most of them. */
#pragma omp parallel for schedule(guided)
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        int first = bucket << shift, end = (bucket + 1) << shift;
        for (int value = first; value < end; value++)
            keys_up_to[value] = 0;
        for (int i = bucket_start[bucket]; i < bucket_start[bucket + 1]; i++)
            keys_up_to[bucketed[i]]++;
        int sum = bucket_start[bucket];
        for (int value = first; value < end; value++)
            keys_up_to[value] = sum += keys_up_to[value];
    }
}

/* NPB's partial verification, after each ranking. */
static bool probes_right(enum problem_class size, int ranking, const int *probed)
{
    bool right = true;
    for (int i = 0; i < PROBES; i++) {
        int up = ranking + SIZES[size].low_drift, down = ranking + SIZES[size].high_drift;
        int drift = i < SIZES[size].low ? up : -down;
        int rank = probed[i] > 0 ? keys_up_to[probed[i] - 1] : 0;
        right &= rank == SIZES[size].rank[i] + drift;
    }
    return right;
}

/* NPB's full verification: the ranks put every key in order, each value as often as it was there. */
static bool ranks_sort(void)
{
    int *left = must_alloc((size_t)range, sizeof *left);
    for (int i = 0; i < keys; i++)
        left[key[i]]++;
    bool right = keys_up_to[range - 1] == keys;
    for (int value = 0; value < range; value++)
        right &= keys_up_to[value] - (value > 0 ? keys_up_to[value - 1] : 0) == left[value];
    free(left);
    return right;
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"loops", NULL};
    static const struct program program = {"is", "integer sort by counting (NPB IS)", forms, NULL};
    struct run run = begin(&program, argc, argv);
    keys = 1 << SIZES[run.size].log_keys;
    range = 1 << SIZES[run.size].log_range;
    int shift = SIZES[run.size].log_range - LOG_BUCKETS;
    key = must_alloc((size_t)keys, sizeof *key);
    bucketed = must_alloc((size_t)keys, sizeof *bucketed);
    keys_up_to = must_alloc((size_t)range, sizeof *keys_up_to);

    uint64_t rank_sum = 0;
    for (int i = 0; i < run.repeat; i++) {
        make_keys(); /* again for each repeat: a ranking changes two keys */
        rank_keys(shift);
        rank_sum = 0;
        for (int ranking = 1; ranking <= RANKINGS; ranking++) {
            double start = now();
            key[ranking] = ranking;
            key[ranking + RANKINGS] = range - ranking;
            int probed[PROBES];
            for (int k = 0; k < PROBES; k++)
                probed[k] = key[SIZES[run.size].probe[k]];
            rank_keys(shift);
            run.seconds += now() - start;
            run.verified &= probes_right(run.size, ranking, probed);
            for (int k = 0; k < PROBES; k++)
                rank_sum += (uint64_t)keys_up_to[probed[k]];
        }
        run.verified &= ranks_sort();
    }
    return finish(&run, "%llu", (unsigned long long)rank_sum);
}
