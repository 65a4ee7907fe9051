#if SQLite
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestKit
import Testing

@Suite("Held states of an SQLite store", .timeLimit(.minutes(2)))
struct HeldReadTests {
    private let folder: TemporaryFolder
    private let clock = TestClock()

    init() throws { folder = try TemporaryFolder() }

    private func adapter() throws -> SQLiteStorageAdapter {
        let clock = clock
        return try folder.adapter { configuration in
            configuration.clock = clock
            configuration.busyTimeout = .zero
        }
    }

    private func hold(
        _ adapter: SQLiteStorageAdapter,
        for duration: Duration = .seconds(10)
    ) async throws -> Timestamp? {
        var request = ReadRequest(.documents([]))
        request.holdDuration = duration
        return try await adapter.read(request).time
    }

    private func number(_ adapter: SQLiteStorageAdapter, at time: Timestamp?) async throws
        -> DocumentValue?
    {
        var request = ReadRequest(.documents(["a/1"]))
        request.asOf = time
        guard case .documents(let found) = try await adapter.read(request).payload else {
            return nil
        }
        return found[0]?["n"]
    }

    @Test("A held state expires and then no longer blocks emptying the log file")
    func ends() async throws {
        let adapter = try adapter()
        try await adapter.set("a/1", ["n": 1])
        let time = try #require(try await hold(adapter))
        try await adapter.set("a/1", ["n": 2])
        #expect(try await number(adapter, at: time) == 1)
        // A reader prevents the log from being emptied.
        #expect(await storageError { try await adapter.compact() }?.code == .busy)
        await clock.advance(by: .seconds(10), onceAsleep: 1)
        try await waitUntil {
            await storageError { _ = try await number(adapter, at: time) } != nil
        }
        let error = await storageError { _ = try await number(adapter, at: time) }
        #expect(error?.code == .snapshotTooOld)
        // The connection of the state is closed a moment after the state has expired.
        try await waitUntil { await storageError { try await adapter.compact() }?.code != .busy }
        try await adapter.compact()
        #expect(try await number(adapter, at: nil) == 2)
        try adapter.close()
    }

    @Test("A repeated hold extends a state up to one minute")
    func extends() async throws {
        let adapter = try adapter()
        try await adapter.set("a/1", ["n": 1])
        let time = try #require(try await hold(adapter, for: .seconds(10)))
        await clock.waitForSleepers(1)
        try await adapter.set("a/1", ["n": 2])
        var again = ReadRequest(.documents(["a/1"]))
        (again.asOf, again.holdDuration) = (time, .seconds(3_600))
        #expect(try await adapter.read(again).time == nil)
        await clock.advance(by: .seconds(59), onceAsleep: 1)
        #expect(try await number(adapter, at: time) == 1)
        await clock.advance(by: .seconds(1))
        try await waitUntil {
            await storageError { _ = try await number(adapter, at: time) } != nil
        }
        try adapter.close()
    }

    @Test("The number of held states is limited, and a further read returns no time")
    func isBounded() async throws {
        let adapter = try adapter()
        var times: [Timestamp] = []
        for round in Int64(0)..<8 {
            try await adapter.set("a/1", ["n": .integer(round)])
            times.append(try #require(try await hold(adapter)))
        }
        try await adapter.set("a/1", ["n": 8])
        #expect(try await hold(adapter) == nil)
        for (round, time) in times.enumerated() {
            #expect(try await number(adapter, at: time) == .integer(Int64(round)))
        }
        try adapter.close()
    }

    @Test("Held states do not block other writers and end when the adapter is closed")
    func closes() async throws {
        let adapter = try adapter()
        try await adapter.set("a/1", ["n": 1])
        let time = try #require(try await hold(adapter))
        let other = try folder.adapter()
        try await other.set("a/1", ["n": 2])
        #expect(try await number(adapter, at: time) == 1)
        try adapter.close()
        #expect(await storageError { _ = try await number(adapter, at: time) } != nil)
        try await other.compact()
        try other.close()
    }
}
#endif
