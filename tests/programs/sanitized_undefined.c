/* build: gcc -O1 -g -fopenmp -fsanitize=undefined */
#include "sanitized.c"
