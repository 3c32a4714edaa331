// What stands beside the row's number begins again after some rows.
#define ROW row = i & 7 ? row + M + 1 : 0
#define FIRST to[row + j] += i
#define EACH to[row + j] += i
#include "rows.h"
