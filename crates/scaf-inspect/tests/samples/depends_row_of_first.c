// All iterations look at the row in which the share begins.
#define ROW
#define FIRST to[row + j] += i
#define EACH to[row + j] += i
#include "rows.h"
