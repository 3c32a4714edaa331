// The first iteration of a share begins in its middle if the others do not.
#define FIRST !look[i]
#define OTHERS look[i]
#include "jumps.h"
