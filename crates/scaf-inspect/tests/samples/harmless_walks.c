/* Walks through a list, and down a heap. */
struct node { struct node *next; int key; };
void list(struct node **lists, const int *what, int *out, int m) {
#pragma omp parallel for
    for (int i = 0; i < m; i++) {
        struct node *p = lists[i];
        while (p && p->key != what[i]) p = p->next;
        out[i] = p != 0;
    } }
void sift(int *heaps, int n, int m) {
#pragma omp parallel for
    for (int i = 0; i < m; i++) {
        int *heap = heaps + i * n, at = 0;
        for (;;) {
            int child = 2 * at + 1;
            if (child >= n) break;
            if (child + 1 < n && heap[child + 1] > heap[child]) child++;
            if (heap[at] >= heap[child]) break;
            int t = heap[at]; heap[at] = heap[child]; heap[child] = t;
            at = child;
        }
    } }
