// ColPack: colours the columns of a sparse matrix.
#include "ColPackHeaders.h"
#include <cstdio>

int main() {
    using namespace ColPack;
    for (int round = 0; round < 3; round++) {
        BipartiteGraphPartialColoringInterface graph(SRC_FILE, "in.mtx", "AUTO_DETECTED");
        graph.PartialDistanceTwoColoring("SMALLEST_LAST", "COLUMN_PARTIAL_DISTANCE_TWO");
        std::printf("colours ok %d\n", graph.CheckPartialDistanceTwoColoring() == 0);
    }
}
