/* The first 64 bits of 1/5, 1/25, 1/125, ..., cut off, not rounded: 2^63 <= n < 2^64 of each. */
#ifndef EENET_DECIMAL_TABLE_H
#define EENET_DECIMAL_TABLE_H

#include <stdint.h>

static const uint64_t power_of_fifth[] = {
    0xcccccccccccccccc, 0xa3d70a3d70a3d70a, 0x83126e978d4fdf3b, 0xd1b71758e219652b, 0xa7c5ac471b478423,
    0x8637bd05af6c69b5, 0xd6bf94d5e57a42bc, 0xabcc77118461cefc, 0x89705f4136b4a597, 0xdbe6fecebdedd5be,
    0xafebff0bcb24aafe, 0x8cbccc096f5088cb, 0xe12e13424bb40e13, 0xb424dc35095cd80f, 0x901d7cf73ab0acd9,
    0xe69594bec44de15b, 0xb877aa3236a4b449, 0x9392ee8e921d5d07, 0xec1e4a7db69561a5, 0xbce5086492111aea,
    0x971da05074da7bee, 0xf1c90080baf72cb1, 0xc16d9a0095928a27, 0x9abe14cd44753b52, 0xf79687aed3eec551,
    0xc612062576589dda, 0x9e74d1b791e07e48, 0xfd87b5f28300ca0d, 0xcad2f7f5359a3b3e, 0xa2425ff75e14fc31,
    0x81ceb32c4b43fcf4, 0xcfb11ead453994ba, 0xa6274bbdd0fadd61, 0x84ec3c97da624ab4, 0xd4ad2dbfc3d07787,
    0xaa242499697392d2, 0x881cea14545c7575, 0xd9c7dced53c72255, 0xae397d8aa96c1b77, 0x8b61313bbabce2c6,
    0xdf01e85f912e37a3, 0xb267ed1940f1c61c, 0x8eb98a7a9a5b04e3, 0xe45c10c42a2b3b05, 0xb6b00d69bb55c8d1,
    0x9226712162ab070d, 0xe9d71b689dde71af, 0xbb127c53b17ec159, 0x95a8637627989aad, 0xef73d256a5c0f77c,
    0xbf8fdb78849a5f96, 0x993fe2c6d07b7fab, 0xf53304714d9265df, 0xc428d05aa4751e4c, 0x9ced737bb6c4183d,
    0xfb158592be068d2e, 0xc8de047564d20a8b, 0xa0b19d2ab70e6ed6, 0x808e17555f3ebf11, 0xcdb02555653131b6,
    0xa48ceaaab75a8e2b, 0x83a3eeeef9153e89, 0xd29fe4b18e88640e, 0xa87fea27a539e9a5,
};

#endif
