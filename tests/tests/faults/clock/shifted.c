// The calendar time of this process, SHIFTED_SECONDS off. Durations are left alone: a wrong clock still ticks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int answer = real(clock, now);
    const char *shift = getenv("SHIFTED_SECONDS");
    if (answer == 0 && clock == CLOCK_REALTIME && shift) now->tv_sec += atol(shift);
    return answer;
}
