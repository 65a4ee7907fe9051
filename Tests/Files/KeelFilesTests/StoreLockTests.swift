#if os(Linux) || os(macOS)
import Foundation
import KeelCore
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelFiles

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("Lock of a local store", .timeLimit(.minutes(10)))
struct StoreLockTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private func store(_ clock: any Clock<Duration>) throws -> FileStore {
        FileStore(
            try LocalFileStoreAdapter(
                folder: scratch.path + "/store",
                names: ListedNames(),
                clock: clock
            )
        )
    }

    /// Takes the lock like another process, with a separate opening of the file.
    private func takeLock() -> Int32 {
        // Programs started by other tests must not inherit it.
        let lock = open(scratch.path + "/store/.keel-files/lock", O_RDWR | O_CLOEXEC)
        #expect(lock >= 0 && flock(lock, LOCK_EX) == 0)
        return lock
    }

    @Test("A lock held by another process fails a change after ten seconds and changes nothing")
    func kept() async throws {
        let clock = ImmediateClock()
        let store = try store(clock)
        try await store.write(Data([1]), to: "a")
        let lock = takeLock()
        let error = await expectError(FileStoreError.self, .timeout) {
            try await store.write(Data([2]), to: "a")
        }
        #expect(error?.message.contains("store/.keel-files/lock") == true)
        #expect(error?.message.contains("nothing was changed") == true)
        #expect(clock.elapsed == .seconds(10))
        #expect(try await store.read("a") == Data([1]))
        close(lock)
        try await store.write(Data([3]), to: "a")
        #expect(try await store.read("a") == Data([3]))
    }

    @Test("Many waiting changes fail together, not one after another")
    func keptForMany() async throws {
        let clock = ImmediateClock()
        _ = try store(clock)
        let kept = takeLock()
        defer { close(kept) }
        let own = open(scratch.path + "/store/.keel-files/lock", O_RDWR | O_CLOEXEC)
        let lock = StoreLock(Descriptor(own), path: "lock", clock: clock)
        // All changes have begun before the first one may ask for the lock.
        #expect(await lock.line.enter())
        let changes = (0..<20).map { _ in Task { try await lock.hold {} } }
        try await waitUntil { lock.line.count == 20 }
        lock.line.leave()
        for change in changes {
            await expectError(FileStoreError.self, .timeout) { try await change.value }
        }
        #expect(clock.elapsed == .seconds(10))
    }

    @Test("Waiting blocks no thread, and a cancelled change stops waiting")
    func waiting() async throws {
        let clock = TestClock()
        let store = try store(clock)
        try await store.write(Data([1]), to: "a")
        let lock = takeLock()
        // More tasks than threads: if they blocked threads, nothing below would run.
        let changes = (0..<64).map { number in
            Task { try await store.write(Data([2]), to: FileStorePath("f\(number)")) }
        }
        await clock.waitForSleepers()
        #expect(try await store.read("a") == Data([1]))
        for (number, change) in changes.enumerated() where number.isMultiple(of: 2) {
            change.cancel()
            await expectError(FileStoreError.self, .cancelled) { try await change.value }
        }
        close(lock)
        try await clock.run {
            for (number, change) in changes.enumerated() where !number.isMultiple(of: 2) {
                _ = try await change.value
            }
        }
        let paths = try await store.list().files.map(\.path.string)
        #expect(Set(paths) == Set(["a"] + (0..<64).filter { $0 % 2 == 1 }.map { "f\($0)" }))
    }

    @Test("Tasks proceed in the order of their requests, without cancelled ones")
    func order() async throws {
        let line = TaskQueue()
        #expect(await line.enter())
        for round in 0..<3 {
            var waiting: [Task<Bool, Never>] = []
            for _ in 0..<4 {
                let count = line.count
                waiting.append(Task { await line.enter() })
                try await waitUntil { line.count == count + 1 }
            }
            waiting[1].cancel()
            #expect(await waiting[1].value == false)
            for number in [0, 2, 3] {
                line.leave()
                #expect(await waiting[number].value, "round \(round)")
            }
        }
        line.leave()
        #expect(line.count == 0)
        #expect(await line.enter())
    }
}
#endif
