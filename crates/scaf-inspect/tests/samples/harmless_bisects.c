/* Looks at memory where the search has come to, until something is there. */
int bisect(const int *a, int n, const int *what, int *out, int m) {
#pragma omp parallel for schedule(static, 3)
    for (int i = 0; i < m; i++) {
        int lo = 0, hi = n - 1, found = -1;
        while (lo <= hi) {
            int mid = (lo + hi) / 2;
            if (a[mid] == what[i]) { found = mid; break; }
            if (a[mid] < what[i]) lo = mid + 1; else hi = mid - 1;
        }
        out[i] = found;
    }
    return out[0]; }
