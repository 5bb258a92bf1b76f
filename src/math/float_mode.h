/* The floating-point mode while the engine scores and learns, and its exception flags. Both belong to the thread; the
 * values of the caller are restored.
 *
 * Decaying weights become denormal (below 1e-38) on their way to zero. x86 computes with denormals a hundred times
 * slower, so they are treated as zero there.
 *
 * Finite numbers produce one that is not finite only with a flag: overflow, division by zero, or invalid. While no flag
 * is raised, all numbers are finite, so that this check is free. If one is raised, check the numbers. */
#ifndef EENET_FLOAT_MODE_H
#define EENET_FLOAT_MODE_H

#include <stdbool.h>

#if defined(__SSE2_MATH__) /* x86-64, and 32-bit x86 if it computes with SSE */
#include <xmmintrin.h>

typedef unsigned float_mode;

static inline float_mode float_mode_enter(void)
{
    float_mode callers = _mm_getcsr();
    _mm_setcsr(callers | 0x8040); /* flush to zero, denormals are zero */
    return callers;
}

static inline void float_mode_leave(float_mode callers)
{
    _mm_setcsr(callers);
}

static inline void float_flags_clear(void)
{
    _mm_setcsr(_mm_getcsr() & ~0x3fu);
}

static inline bool float_flags_raised(void)
{
    return _mm_getcsr() & 0x0d; /* invalid, division by zero, overflow */
}

#elif defined(__aarch64__)
#include <stdint.h>

typedef uint64_t float_mode;

static inline float_mode float_mode_enter(void)
{
    float_mode flags;
    __asm__ volatile("mrs %0, fpsr" : "=r"(flags)::"memory");
    return flags;
}

static inline void float_mode_leave(float_mode callers)
{
    __asm__ volatile("msr fpsr, %0" ::"r"(callers) : "memory");
}

static inline void float_flags_clear(void)
{
    float_mode_leave(0);
}

static inline bool float_flags_raised(void)
{
    return float_mode_enter() & 0x07; /* invalid, division by zero, overflow */
}

#elif defined(__wasm__)

/* WebAssembly has neither modes nor flags: a flag that may be raised counts as raised, and the numbers are checked. */
typedef int float_mode;

static inline float_mode float_mode_enter(void)
{
    return 0;
}

static inline void float_mode_leave(float_mode callers)
{
    (void)callers;
}

static inline void float_flags_clear(void)
{
}

static inline bool float_flags_raised(void)
{
    return true;
}

#else
#include <fenv.h>

typedef fexcept_t float_mode;

static inline float_mode float_mode_enter(void)
{
    float_mode callers;
    fegetexceptflag(&callers, FE_ALL_EXCEPT);
    return callers;
}

static inline void float_mode_leave(float_mode callers)
{
    fesetexceptflag(&callers, FE_ALL_EXCEPT);
}

static inline void float_flags_clear(void)
{
    feclearexcept(FE_ALL_EXCEPT);
}

static inline bool float_flags_raised(void)
{
    return fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
}

#endif

#endif
