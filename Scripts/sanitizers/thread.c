// What ThreadSanitizer does not see of a Swift program on Linux. Scripts/soak.sh links it into what it tests.
//
// The sanitizer follows what instrumented code does, and the toolchain's libraries are not instrumented.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Weak: programs that a build runs itself are linked with this too, and without the sanitizer.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

// ---- Mutex ---------------------------------------------------------------------------------------
//
// An uncontended lock of `Synchronization.Mutex` is an atomic exchange in the code that locks, and so seen. For a
// contended one libswiftSynchronization spins or asks the kernel: without these functions, which stand in front
// of the library's, what two holders do one after the other looks like a race.

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void keel_lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK_SLOW);
SWIFT bool keel_try_lock_slow(SELF void *mutex) __asm__(TRY_LOCK_SLOW);
SWIFT void keel_unlock_slow(SELF void *mutex) __asm__(UNLOCK_SLOW);

// The library's own function, looked up once.
static void *library(_Atomic(void *) *known, const char *name) {
    void *function = atomic_load_explicit(known, memory_order_relaxed);
    if (function) return function;
    function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "error: libswiftSynchronization has no %s: Mutex locks otherwise in this toolchain; "
                        "look into Scripts/sanitizers/thread.c.\n", name);
        abort();
    }
    atomic_store_explicit(known, function, memory_order_relaxed);
    return function;
}

SWIFT void keel_lock_slow(uint32_t thread, SELF void *mutex) {
    static _Atomic(void *) known;
    ((SWIFT void (*)(uint32_t, SELF void *))library(&known, LOCK_SLOW))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool keel_try_lock_slow(SELF void *mutex) {
    static _Atomic(void *) known;
    bool isLocked = ((SWIFT bool (*)(SELF void *))library(&known, TRY_LOCK_SLOW))(mutex);
    if (isLocked && __tsan_acquire) __tsan_acquire(mutex);
    return isLocked;
}

SWIFT void keel_unlock_slow(SELF void *mutex) {
    static _Atomic(void *) known;
    if (__tsan_release) __tsan_release(mutex);
    ((SWIFT void (*)(SELF void *))library(&known, UNLOCK_SLOW))(mutex);
}

// ---- Values of no size ---------------------------------------------------------------------------
//
// The compiler reports each `inout` access with its address. A value of no size has none, and in generic code any
// number is reported: a write to the program's constants, for instance, whose shadow the sanitizer has made read-only,
// so that the program ends with SIGSEGV (https://github.com/swiftlang/swift/issues/61244). What nobody can write to
// is not passed on. Linked with --wrap=__tsan_external_write.

__attribute__((weak)) void __real___tsan_external_write(void *address, void *caller, void *tag);
void __wrap___tsan_external_write(void *address, void *caller, void *tag);

// The parts of the program and its libraries that are mapped without the right to write.
static struct { uintptr_t start, end; } constants[1024];
static size_t constant_count;
static pthread_once_t constants_are_known = PTHREAD_ONCE_INIT;

static int add_constants(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size, (void)context;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
        if (constant_count == sizeof constants / sizeof *constants) return 1;
        constants[constant_count].start = object->dlpi_addr + part->p_vaddr;
        constants[constant_count++].end = object->dlpi_addr + part->p_vaddr + part->p_memsz;
    }
    return 0;
}

static void find_constants(void) { dl_iterate_phdr(add_constants, NULL); }

static bool can_be_written(uintptr_t address) {
#if defined(__x86_64__)
    // Outside of the ranges of tsan_platform.h for addresses of 47 bits there is no memory, and no shadow.
    if (!((address >= 0x1000 && address < 0x020000000000) ||
          (address >= 0x550000000000 && address < 0x568000000000) ||
          (address >= 0x720000000000 && address < 0x730000000000) ||
          (address >= 0x7a0000000000 && address < 0x800000000000))) return false;
#endif
    pthread_once(&constants_are_known, find_constants);
    for (size_t index = 0; index < constant_count; index++)
        if (address >= constants[index].start && address < constants[index].end) return false;
    return true;
}

void __wrap___tsan_external_write(void *address, void *caller, void *tag) {
    if (!__real___tsan_external_write || !can_be_written((uintptr_t)address)) return;
    // The sanitizer takes 0 for "whoever called": that would be this function.
    __real___tsan_external_write(address, caller ? caller : __builtin_return_address(0), tag);
}
