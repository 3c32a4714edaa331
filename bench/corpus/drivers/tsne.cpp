// MulticoreTSNE: lays points of many dimensions out in two.
#include "numbers.h"
#include <vector>

extern "C" void tsne_run_double(double *, int, int, double *, int, double, double, int, int, int, int, bool,
                                int, double, double, double *, int);

int main(int, char **argv) {
    int count = 300, dimensions = 10, threads = argv[1][0] - '0';
    std::vector<double> points(size_t(count * dimensions)), flat(size_t(2 * count));
    for (double &value : points) value = number();
    double error;
    tsne_run_double(points.data(), count, dimensions, flat.data(), 2, 20, .5, threads, 60, 20, 7, false, 0,
                    12, 200, &error, 1);
    show(flat.data(), flat.size());
}
