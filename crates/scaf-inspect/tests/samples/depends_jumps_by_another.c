// The first iteration of a share begins in its middle for another reason than the others.
#define FIRST other[i]
#define OTHERS look[i]
#include "jumps.h"
