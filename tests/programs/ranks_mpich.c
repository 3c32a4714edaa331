/* build: mpicc.mpich -O2 -fopenmp -lmpichfort */
#include "ranks.c"
