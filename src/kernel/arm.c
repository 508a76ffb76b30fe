/* arm.c: asks the system, since a program may not ask the processor: Linux by the auxiliary vector,
 * macOS by name. Other systems are taken to have nothing beside NEON.
 *
 * Source: Linux, Documentation/arch/arm64/elf_hwcaps.rst; Apple, "Determining Instruction Set
 * Characteristics".
 * SPDX-License-Identifier: MIT
 */
#include "kernel/arm.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

enum { DOTPROD = 1 << 20 /* of AT_HWCAP */, I8MM = 1 << 13 /* of AT_HWCAP2 */ };

bool heed_arm_has(heed_arm_part part) {
    return part == HEED_ARM_DOTPROD ? (getauxval(AT_HWCAP) & DOTPROD) != 0
                                    : (getauxval(AT_HWCAP2) & I8MM) != 0;
}
#elif defined(__aarch64__) && defined(__APPLE__)
#include <stddef.h>
#include <sys/sysctl.h>

bool heed_arm_has(heed_arm_part part) {
    const char *name =
        part == HEED_ARM_DOTPROD ? "hw.optional.arm.FEAT_DotProd" : "hw.optional.arm.FEAT_I8MM";
    int has = 0;
    size_t bytes = sizeof has;
    return sysctlbyname(name, &has, &bytes, NULL, 0) == 0 && has != 0;
}
#else
bool heed_arm_has(heed_arm_part part) {
    (void)part;
    return false;
}
#endif
