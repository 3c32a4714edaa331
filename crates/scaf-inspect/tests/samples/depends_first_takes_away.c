// The first iteration takes away the other one of two numbers.
#define FIRST to[row + j] = from[row + j] - from[row + j + 1]
#define EACH to[row + j] = from[row + j + 1] - from[row + j]
#include "rows.h"
