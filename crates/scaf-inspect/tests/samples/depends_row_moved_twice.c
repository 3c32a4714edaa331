// What stands beside the row's number is moved by two rows.
#define ROW row += 2 * (M + 1)
#define FIRST to[row + j] = i
#define EACH to[row + j] = i
#include "rows.h"
