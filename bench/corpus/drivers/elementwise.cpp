// Armadillo: expressions over the elements of matrices.
#include "numbers.h"
#define ARMA_USE_OPENMP
#define ARMA_DONT_USE_WRAPPER
#define ARMA_DONT_USE_LAPACK
#define ARMA_DONT_USE_BLAS
#include <armadillo>

int main() {
    arma::mat a(400, 400), b(400, 400);
    for (double &value : a) value = number();
    for (double &value : b) value = number();
    for (int round = 0; round < 12; round++) {
        arma::mat c = arma::exp(a) % arma::sqrt(b) + arma::pow(a, 1.5);
        a = c / 4, b = arma::abs(arma::sin(c));
        same(a.memptr(), a.n_elem * sizeof(double));
        double sum = arma::accu(arma::exp(b));
        show(&sum, 1);
    }
}
