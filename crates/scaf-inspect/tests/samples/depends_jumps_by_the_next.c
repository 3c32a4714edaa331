// The first iteration of a share begins in its middle as the one after it says.
#define FIRST look[i + 1]
#define OTHERS look[i]
#include "jumps.h"
