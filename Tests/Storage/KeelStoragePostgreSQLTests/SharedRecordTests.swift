#if PostgreSQL
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

extension PostgreSQLStorageAdapter {
    /// Adds a record, or replaces a version of it.
    @discardableResult
    fileprivate func put(
        _ key: String,
        at version: Int64? = nil,
        _ content: [UInt8] = [],
        for duration: Duration = .seconds(60)
    ) async throws(StorageError) -> Bool {
        try await replaceSharedRecord(key, at: version, with: content, keptFor: duration)
    }
}

@Suite("Records that servers of a PostgreSQL store share")
struct SharedRecordTests {
    @Test("A record is seen by all adapters of its store, and changed at the version that was read")
    func replaces() async throws {
        try await PostgreSQLServer.withStore { adapter in
            let twin = try await adapter.another()
            let key = "a/\u{0}ü"
            #expect(try await adapter.sharedRecord(key) == nil)
            #expect(try await adapter.put(key, [1]))
            #expect(try await !twin.put(key, [2]))
            let first = try #require(try await twin.sharedRecord(key))
            #expect(first.content == [1])
            #expect(first.age < .seconds(60))
            #expect(try await twin.put(key, at: first.version))
            #expect(try await !adapter.put(key, at: first.version, [3]))
            #expect(try await adapter.sharedRecord(key)?.content == [])
            try await adapter.removeSharedRecord(key)
            try await adapter.removeSharedRecord(key)
            #expect(try await twin.sharedRecord(key) == nil)
            await twin.close()
        }
    }

    @Test("A record whose answer is lost is added and replaced once", arguments: [true, false])
    func repeats(isAdded: Bool) async throws {
        let server = try await PostgreSQLServer.shared.value
        let relay = try CuttingRelay(to: server.port)
        defer { relay.stop() }
        let adapter = try await PostgreSQLStorageAdapter.test(at: relay.port) {
            $0.store = UUID().uuidString
            $0.readerCount = 1
        }
        // The connection that reads and writes records is open, and the limits have been checked.
        #expect(try await adapter.put("b", for: .zero))
        if !isAdded { #expect(try await adapter.put("a", [0])) }
        // The second step is the answer of the server.
        relay.arm(.init(step: 1, part: .nothing))
        #expect(try await adapter.put("a", at: isAdded ? nil : 1, [1]))
        #expect(!relay.isArmed)
        relay.arm(nil)
        let record = try #require(try await adapter.sharedRecord("a"))
        #expect(record.content == [1])
        #expect(record.version == (isAdded ? 1 : 2))
        #expect(try await !adapter.put("a", [1]))
        await adapter.close()
    }

    @Test("A record whose answer is lost is not refused if the next connection is lost too")
    func fails() async throws {
        let server = try await PostgreSQLServer.shared.value
        let relay = try CuttingRelay(to: server.port)
        defer { relay.stop() }
        let adapter = try await PostgreSQLStorageAdapter.test(at: relay.port) {
            $0.store = UUID().uuidString
            $0.readerCount = 1
        }
        // The connection that reads and writes records is open, and the limits have been checked.
        #expect(try await adapter.put("b", [1]))
        // The second step is the answer of the server, and the next one the beginning of another connection.
        relay.arm(.init(step: 1, part: .nothing) { relay.arm(.init(step: 0, part: .nothing)) })
        let error = await #expect(throws: StorageError.self) { try await adapter.put("a", [1]) }
        #expect(error?.code == .unavailable)
        #expect(!relay.isArmed)
        #expect(try await adapter.sharedRecord("a")?.content == [1])
        await adapter.close()
    }

    @Test("A store with a key seals its records")
    func seals() async throws {
        let server = try await PostgreSQLServer.shared.value
        try await PostgreSQLServer.withStore {
            $0.sealing = FakeByteSealing(key: 42)
        } _: { adapter in
            let content = Array("a secret filter".utf8)
            try await adapter.put("a", content)
            #expect(try await adapter.sharedRecord("a")?.content == content)
            let plain = """
                SELECT count(*) FROM keel.records
                WHERE store = \(adapter.store.number) AND position('filter'::bytea IN content) > 0
                """
            #expect(try await server.run(plain) == 0)
        }
    }

    @Test("Stores of one database have records of their own")
    func stores() async throws {
        try await PostgreSQLServer.withStore { adapter in
            try await PostgreSQLServer.withStore { other in
                try await adapter.put("a", [1])
                #expect(try await other.sharedRecord("a") == nil)
                try await other.removeSharedRecord("a")
                #expect(try await adapter.sharedRecord("a") != nil)
            }
        }
    }

    @Test("Of changes at the same version, one takes effect")
    func concurrent() async throws {
        try await PostgreSQLServer.withStore { adapter in
            try await adapter.put("a")
            let version = try #require(try await adapter.sharedRecord("a")).version
            let count = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in UInt8(0)..<16 {
                    group.addTask { try await adapter.put("a", at: version, [number]) }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(count == 1)
        }
    }

    @Test("An expired record is gone, and its key can be used again")
    func expires() async throws {
        try await PostgreSQLServer.withStore { adapter in
            try await adapter.put("a", [1], for: .zero)
            #expect(try await adapter.sharedRecord("a") == nil)
            #expect(try await !adapter.put("a", at: 1, [2]))
            #expect(try await adapter.put("a", [3]))
            let record = try #require(try await adapter.sharedRecord("a"))
            #expect(record.content == [3])
            #expect(record.version == 2)
        }
    }

    @Test("Above its limits, a store drops the records that expire first")
    func limits() async throws {
        let server = try await PostgreSQLServer.shared.value
        try await PostgreSQLServer.withStore { adapter in
            let store = adapter.store.number
            func count() async throws -> Int64? {
                try await server.run("SELECT count(*) FROM keel.records WHERE store = \(store)")
            }
            _ = try await server.run(
                """
                WITH added AS (
                    INSERT INTO keel.records
                    SELECT \(store), convert_to(n::text, 'UTF8'), '', 5000000000000000 + n, 1, 0
                    FROM generate_series(1, 10100) n RETURNING 1
                ) SELECT count(*) FROM added
                """
            )
            try await adapter.put("new", for: .seconds(1))
            #expect(try await count() == 10_001)
            #expect(try await adapter.sharedRecord("100") == nil)
            #expect(try await adapter.sharedRecord("101") != nil)
            // By size: each of the next ones has 100 MiB.
            _ = try await server.run(
                """
                WITH changed AS (
                    UPDATE keel.records SET content = decode(repeat('00', 100 << 20), 'hex')
                    WHERE store = \(store) AND expires > 5000000000010097 RETURNING 1
                ) SELECT count(*) FROM changed
                """
            )
            for number in 0..<64 { try await adapter.put("new \(number)", for: .seconds(1)) }
            #expect(try await adapter.sharedRecord("10098") == nil)
            #expect(try await adapter.sharedRecord("10099")?.content.count == 100 << 20)
        }
    }

    @Test("Above its limits, a store drops the records of the group of keys with most")
    func groups() async throws {
        let server = try await PostgreSQLServer.shared.value
        try await PostgreSQLServer.withStore { adapter in
            let store = adapter.store.number
            // The record of Bob's expires first.
            _ = try await server.run(
                """
                WITH added AS (
                    INSERT INTO keel.records
                    SELECT \(store),
                        convert_to(CASE n WHEN 0 THEN 'bob/0' ELSE 'ann/' || n END, 'UTF8'),
                        '', 5000000000000000 + n, 1, 0
                    FROM generate_series(0, 10000) n RETURNING 1
                ) SELECT count(*) FROM added
                """
            )
            for number in 0..<65 {
                try await adapter.put("new/\(number)", for: .seconds(1))
                guard number == 0 else { continue }
                #expect(try await adapter.sharedRecord("bob/0") != nil)
                #expect(try await adapter.sharedRecord("ann/1") == nil)
                #expect(try await adapter.sharedRecord("ann/2") != nil)
                // By size: each of these has 100 MiB.
                _ = try await server.run(
                    """
                    WITH changed AS (
                        UPDATE keel.records SET content = decode(repeat('00', 100 << 20), 'hex')
                        WHERE store = \(store) AND expires > 5000000000009997 RETURNING 1
                    ) SELECT count(*) FROM changed
                    """
                )
            }
            #expect(try await adapter.sharedRecord("bob/0") != nil)
            #expect(try await adapter.sharedRecord("ann/9998") == nil)
            #expect(try await adapter.sharedRecord("ann/9999")?.content.count == 100 << 20)
        }
    }
}
#endif
