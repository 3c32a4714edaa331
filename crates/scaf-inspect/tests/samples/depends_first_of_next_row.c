// The first iteration is one of the row behind.
#define FIRST to[row + M + 1 + j] = from[row + j]
#define EACH to[row + j] = from[row + j]
#include "rows.h"
