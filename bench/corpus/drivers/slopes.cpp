// richdem: slopes and curvatures of a landscape.
#include "numbers.h"
#include "richdem/common/Array2D.hpp"
#include "richdem/methods/terrain_attributes.hpp"

int main() {
    using namespace richdem;
    Array2D<float> heights(700, 700, 0), found;
    heights.setNoData(-9999);
    heights.geotransform = {0, 1, 0, 0, 0, -1};
    for (int i = 0; i < 700 * 700; i++) heights(i) = float(number() * 10 + i / 7000);
    using Kind = void (*)(const Array2D<float> &, Array2D<float> &, float);
    Kind kinds[] = {TA_slope_riserun, TA_aspect, TA_curvature};
    for (auto kind : kinds) {
        kind(heights, found, 1.0f);
        same(&found(0), found.size() * sizeof(float));
    }
}
