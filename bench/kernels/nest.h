/*
 * One loop nest, written once, compiled in two forms. No include guard: a program's *_nests.h reads this,
 * and the program reads its *_nests.h once with FORM_REGION 0 and once with 1.
 *
 *   loops   (0)  every NEST is a parallel region of its own: a new team, and a new size, at each of them
 *   region  (1)  one region surrounds the timed iteration: NEST shares work among the team already there
 *
 * ONCE marks the scalar work between nests. In the region form it's a `single` and so ends with a barrier.
 */
#undef FORMED
#undef NEST
#undef NEST_SUM
#undef ONCE
#ifndef PRAGMA
#define PRAGMA(text) PRAGMA_TEXT(text)
#define PRAGMA_TEXT(text) _Pragma(#text)
#endif

#if FORM_REGION
#define FORMED(name) name##_region
#define NEST PRAGMA(omp for schedule(static))
#define NEST_SUM(...) PRAGMA(omp for schedule(static) reduction(+ : __VA_ARGS__))
#define ONCE PRAGMA(omp single)
#else
#define FORMED(name) name##_loops
#define NEST PRAGMA(omp parallel for schedule(static))
#define NEST_SUM(...) PRAGMA(omp parallel for schedule(static) reduction(+ : __VA_ARGS__))
#define ONCE
#endif
