// Eigen: products of matrices.
#include "numbers.h"
#include <Eigen/Dense>

int main() {
    Eigen::MatrixXd a(300, 300), b(300, 300);
    for (int i = 0; i < 300 * 300; i++) a.data()[i] = number(), b.data()[i] = number() / 300;
    for (int round = 0; round < 25; round++) {
        a = (a * b).eval();
        a /= a.maxCoeff();
    }
    show(a.data(), 300 * 300);
}
