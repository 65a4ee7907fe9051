// CRC-32C by the instruction that processors have for it, which Swift has no name for: SSE4.2 on x86-64,
// the CRC32 extension on 64-bit ARM. CRC32C.swift of KeelCore computes it with tables where neither is.
#ifndef KEEL_CHECKSUM_H
#define KEEL_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

// Bit 20 of ECX for leaf 1 says that there is SSE4.2 (Intel SDM, volume 2, CPUID).
static inline bool keel_crc32c_is_supported(void) {
    uint32_t a = 1, b, c = 0, d;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return (c >> 20 & 1) != 0;
}

__attribute__((target("sse4.2")))
static inline uint32_t keel_crc32c_update(uint32_t state, const uint8_t *bytes, size_t count) {
    uint64_t wide = state;
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    state = (uint32_t)wide;
    for (; count > 0; bytes++, count--) state = __builtin_ia32_crc32qi(state, *bytes);
    return state;
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

static inline bool keel_crc32c_is_supported(void) { return true; }

static inline uint32_t keel_crc32c_update(uint32_t state, const uint8_t *bytes, size_t count) {
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        state = __builtin_arm_crc32cd(state, word);
    }
    for (; count > 0; bytes++, count--) state = __builtin_arm_crc32cb(state, *bytes);
    return state;
}

#else

static inline bool keel_crc32c_is_supported(void) { return false; }

// Never called: see above.
static inline uint32_t keel_crc32c_update(uint32_t state, const uint8_t *bytes, size_t count) {
    (void)bytes;
    (void)count;
    return state;
}

#endif

#endif
