/* build: gcc -O1 -g -fopenmp -fsanitize=thread */
#include "sanitized.c"
