/* Weights that decay go through the numbers below 1e-38, the denormal ones, on their way to zero. x86 computes with
 * those a hundred times slower, so the engine has them taken as zero while it scores and trains. The mode belongs to
 * the thread, and the caller's is put back. Other machines do not mind them. */
#ifndef EENET_FLOAT_MODE_H
#define EENET_FLOAT_MODE_H

#if defined(__x86_64__)
#include <xmmintrin.h>

static inline unsigned float_mode_enter(void)
{
    unsigned callers = _mm_getcsr();
    _mm_setcsr(callers | 0x8040); /* flush to zero, denormals are zero */
    return callers;
}

static inline void float_mode_leave(unsigned callers)
{
    _mm_setcsr(callers);
}

#else

static inline unsigned float_mode_enter(void)
{
    return 0;
}

static inline void float_mode_leave(unsigned callers)
{
    (void)callers;
}

#endif

#endif
