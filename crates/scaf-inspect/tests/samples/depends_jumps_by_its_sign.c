// The first iteration of a share begins in its middle by a comparison with a sign.
#define FIRST (int)look[i] > 7
#define OTHERS look[i] > 7
#include "jumps.h"
