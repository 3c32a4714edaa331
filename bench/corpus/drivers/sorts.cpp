// libstdc++'s parallel mode: algorithms of the standard library, by teams.
#include "numbers.h"
#include <algorithm>
#include <numeric>
#include <vector>

int main() {
    std::vector<int> values(400000);
    for (int round = 0; round < 4; round++) {
        for (int &value : values) value = int(1e9 * number());
        std::vector<int> sums(values.size());
        std::partial_sum(values.begin(), values.end(), sums.begin(), [](int a, int b) { return a ^ b; });
        same(sums.data(), sums.size() * sizeof(int));
        std::sort(values.begin(), values.end());
        same(values.data(), values.size() * sizeof(int));
        std::vector<int> odd(values.size());
        std::transform(values.begin(), values.end(), odd.begin(), [](int value) { return value * 3 + 1; });
        std::stable_sort(odd.begin(), odd.end(), [](int a, int b) { return a % 1000 < b % 1000; });
        same(odd.data(), odd.size() * sizeof(int));
        auto sevens = std::count_if(odd.begin(), odd.end(), [](int value) { return value % 7 == 0; });
        printf("%ld\n", long(sevens));
    }
}
