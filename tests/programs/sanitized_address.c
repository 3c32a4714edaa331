/* build: gcc -O1 -g -fopenmp -fsanitize=address */
#include "sanitized.c"
