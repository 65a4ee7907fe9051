import KeelCore
import KeelStorage
import Synchronization
import Testing

extension StorageAdapterCheck {
    static let frontChecks: [Self] = [
        transaction("a transaction’s writes take effect when its body returns") { store in
            try await store.set(["n": 1])
            let result = try await store.client.transaction { transaction in
                let count = try await transaction.getDocument(store.path())["n"]?.integerValue ?? 0
                try transaction.set(store.path("copy"), ["n": .integer(count)])
                try transaction.update(store.path(), [.put("n", .integer(count + 1))])
                #expect(try await store.fields() == ["n": 1])
                return count
            }
            #expect(result == 1)
            #expect(try await store.fields() == ["n": 2])
            #expect(try await store.fields("copy") == ["n": 1])
        },
        transaction("a transaction that meets a conflict runs again on the new state") { store in
            try await store.set(["n": 1])
            let runs = Mutex(0)
            try await store.patient.transaction { transaction in
                let count = try await transaction.getDocument(store.path())["n"]?.integerValue ?? 0
                let run = runs.withLock { count in
                    count += 1
                    return count
                }
                if run == 1 { try await store.set(["n": 10]) }
                try transaction.set(store.path(), ["n": .integer(count + 1)])
            }
            #expect(runs.withLock { $0 } == 2)
            #expect(try await store.fields() == ["n": 11])
        },
        transaction("a new document in a query’s result makes the transaction run again") {
            store in
            try await store.fill(["a": ["n": 1]])
            let runs = Mutex(0)
            try await store.patient.transaction { transaction in
                let found = try await transaction.queryDocuments(store.query.order(by: "n"))
                let run = runs.withLock { count in
                    count += 1
                    return count
                }
                if run == 1 { try await store.set(["n": 2], "b") }
                try transaction.set(
                    CollectionPath(store.name + "x").document("total"),
                    ["n": .integer(Int64(found.count))]
                )
            }
            let total = CollectionPath(store.name + "x").document("total")
            #expect(try await store.client.getDocument(total).fields() == ["n": 2])
        },
        transaction("a transaction that always meets a conflict fails with conflict") {
            store in
            try await store.set(["n": 0])
            let runs = Mutex<Int64>(0)
            await store.expect(.conflict) {
                try await store.patient.transaction { transaction in
                    _ = try await transaction.getDocument(store.path())
                    let run = runs.withLock { count in
                        count += 1
                        return count
                    }
                    try await store.set(["n": .integer(run)])
                    try transaction.set(store.path(), ["lost": true])
                }
            }
            #expect(runs.withLock { $0 } == 100)
            #expect(try await store.fields() == ["n": 100])
        },
        transaction("a throwing body writes nothing and does not run again") {
            store async throws in
            struct Stop: Error {}
            let runs = Mutex(0)
            await #expect(throws: Stop.self) {
                try await store.client.transaction { transaction in
                    runs.withLock { $0 += 1 }
                    try transaction.set(store.path(), ["n": 1])
                    throw Stop()
                }
            }
            #expect(runs.withLock { $0 } == 1)
            #expect(try await store.fields() == nil)
        },
        transaction("a rejected write of a transaction is not a conflict and is not retried") {
            store in
            let runs = Mutex(0)
            await store.expect(.documentNotFound) {
                try await store.client.transaction { transaction in
                    runs.withLock { $0 += 1 }
                    try transaction.update(store.path(), [.put("n", 1)])
                }
            }
            #expect(runs.withLock { $0 } == 1)
        },
        transaction("a transaction rejects reads after writes") { store async throws in
            await store.expect(.invalidArgument) {
                try await store.client.transaction { transaction in
                    try transaction.set(store.path(), ["n": 1])
                    _ = try await transaction.findDocument(store.path())
                }
            }
            #expect(try await store.fields() == nil)
        },
        transaction("a finished transaction rejects writes") { store in
            let escaped = try await store.client.transaction { $0 }
            await store.expect(.invalidArgument) { try escaped.set(store.path(), ["n": 1]) }
        },
        transaction("concurrent transactions on one document lose no updates") { store in
            try await store.set(["n": 0])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        try await store.patient.transaction { transaction in
                            let document = try await transaction.getDocument(store.path())
                            let count = document["n"]?.integerValue ?? 0
                            try transaction.set(store.path(), ["n": .integer(count + 1)])
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.fields() == ["n": 10])
        },
    ]
}

extension StoreUnderTest {
    /// A client that tries transactions up to a hundred times, with minimal pauses.
    fileprivate var patient: StorageClient {
        var configuration = StorageClient.Configuration()
        configuration.transactions = RetryPolicy(
            attempts: 100,
            baseDelay: .microseconds(1),
            maximumDelay: .milliseconds(1)
        )
        return StorageClient(adapter, configuration: configuration)
    }
}
