/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces a sixteenth of the comparisons: 4096 of them, then none of the next 61440, and so on.
 * libFuzzer draws operands of traced comparisons to write them into inputs, and keeps only the
 * latest ones. UndefinedBehaviorSanitizer's checks of alignment and bounds are compared and traced,
 * too. Tracing all costs a third of the time of a harness.
 *
 * The linker passes the calls of the instrumented code here (fuzz/CMakeLists.txt). Coverage is
 * counted elsewhere, so it does not change.
 */
#include <stdbool.h>
#include <stdint.h>

#define PLAIN __attribute__((no_sanitize("address", "undefined", "coverage")))

enum { SILENT = 0xf000 };

static uint32_t calls;

PLAIN static inline bool is_traced(void)
{
    return (calls++ & SILENT) == 0;
}

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */
#define TRACE(name, type)                                                                          \
    void __real___sanitizer_cov_trace_##name(type one, type two);                                  \
    void __wrap___sanitizer_cov_trace_##name(type one, type two);                                  \
    PLAIN void __wrap___sanitizer_cov_trace_##name(type one, type two)                             \
    {                                                                                              \
        if (is_traced())                                                                           \
            __real___sanitizer_cov_trace_##name(one, two);                                         \
    }

TRACE(cmp1, uint8_t)
TRACE(cmp2, uint16_t)
TRACE(cmp4, uint32_t)
TRACE(cmp8, uint64_t)
TRACE(const_cmp1, uint8_t)
TRACE(const_cmp2, uint16_t)
TRACE(const_cmp4, uint32_t)
TRACE(const_cmp8, uint64_t)

void __real___sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases);
void __wrap___sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases);
PLAIN void __wrap___sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases)
{
    if (is_traced())
        __real___sanitizer_cov_trace_switch(value, cases);
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */
