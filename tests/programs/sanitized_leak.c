/* build: gcc -O1 -g -fopenmp -fsanitize=leak */
#include "sanitized.c"
