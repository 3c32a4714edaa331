/* build: clang -O2 -fopenmp -fnoopenmp-use-tls -pthread */
/* As midway.c, with variables of threads that LLVM's runtime finds by the thread's number. */
#include "midway.c"
