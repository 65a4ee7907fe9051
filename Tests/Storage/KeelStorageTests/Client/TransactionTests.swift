import KeelCore
import KeelStorage
import Testing

@Suite("Transactions")
struct TransactionTests {
    let storage = StorageClient(InMemoryStorageAdapter())

    @Test("Concurrent transactions on one document all take effect")
    func counts() async throws {
        try await storage.setDocument("counters/1", ["count": 0])
        var configuration = StorageClient.Configuration()
        configuration.transactions = .init(attempts: 1_000, baseDelay: .zero)
        let storage = StorageClient(storage.adapter, configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await storage.transaction { transaction in
                        let counter = try await transaction.getDocument("counters/1")
                        let count = counter["count"]?.integerValue ?? 0
                        try transaction.update("counters/1", [.set("count", to: count + 1)])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await storage.getDocument("counters/1")["count"] == 20)
    }

    @Test("A document that appears in a query's result makes the transaction run again")
    func seesPhantoms() async throws {
        let storage = storage
        var runs = 0
        let found = try await storage.transaction { transaction in
            runs += 1
            let query = DocumentQuery("seats").where(.equal("free", true))
            let free = try await transaction.queryDocuments(query)
            if runs == 1 { try await storage.setDocument("seats/1", ["free": true]) }
            try transaction.set("bookings/1", ["seats": .integer(Int64(free.count))])
            return free.count
        }
        #expect(found == 1)
        #expect(runs == 2)
    }

    @Test("An error of the body is rethrown, and nothing is written")
    func rollsBack() async throws {
        struct Refusal: Error {}
        await #expect(throws: Refusal.self) {
            try await storage.transaction { transaction in
                try transaction.set("notes/1", ["text": "Hello"])
                throw Refusal()
            }
        }
        #expect(try await storage.findDocument("notes/1") == nil)
    }

    @Test("A read after a write and a write after the end are rejected")
    func refusesMisuse() async throws {
        let kept = try await storage.transaction { transaction in
            try transaction.set("notes/1", ["text": "Hello"])
            await #expect(throws: StorageError.self) {
                try await transaction.findDocument("notes/2")
            }
            return transaction
        }
        #expect(throws: StorageError.self) { try kept.delete("notes/1") }
    }
}
