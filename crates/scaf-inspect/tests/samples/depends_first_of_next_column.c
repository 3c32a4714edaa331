// The first iteration is one of the column behind.
#define FIRST to[row + j + 1] = from[row + j + 1]
#define EACH to[row + j] = from[row + j]
#include "rows.h"
