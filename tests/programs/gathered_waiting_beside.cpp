/* build: g++ -O2 -fopenmp -pthread -Wall -Wextra -Werror */
/* As gathered_waiting.cpp, in a program that starts threads by C++'s library. */
#include <thread>

#define main waiting_main
#include "gathered_waiting.cpp"
#undef main

int main()
{
    std::thread([] {}).join();
    return waiting_main();
}
