// What stands beside the row's number is moved at some rows' ends only.
#define ROW if (from[i]) row += M + 1
#define FIRST to[row + j] += i
#define EACH to[row + j] += i
#include "rows.h"
