#if SQLite
import Foundation
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Values in batches and transactions")
struct ValueWriteTests {
    private struct OutOfMoney: Error { var missing: Int }

    @Test("A transaction moves money between values", arguments: TypedStore.allCases)
    func transfers(_ store: TypedStore) async throws {
        let storage = try store.client()
        let accounts = storage.collection("accounts", as: Account.self)
        try await accounts.saveAll([Account("a", balance: 7), Account("b", balance: 1)])
        try await storage.transaction { tx in
            var from = try await tx.get("a", in: accounts)
            var to = try await tx.get("b", in: accounts)
            from.balance -= 5
            to.balance += 5
            from.changed = nil
            try tx.save(from, in: accounts)
            try tx.save(to, in: accounts)
        }
        #expect(try await accounts.findAll().map(\.balance) == [2, 6])
    }

    @Test("The store sets a time in each write of a value", arguments: TypedStore.allCases)
    func fillsTimes(_ store: TypedStore) async throws {
        let storage = try store.client()
        let accounts = storage.collection("accounts", as: Account.self)
        try await storage.setDocument("accounts/f", ["owner": "Eve", "balance": 1, "note": "kept"])
        try await storage.commit { batch in
            try batch.set("accounts/a", Account())
            try batch.create("accounts/b", Account())
            try batch.merge("accounts/f", Account(owner: "Bob"))
            try batch.save(Account("c"), in: accounts)
            try batch.save(Account(), id: "d", in: accounts)
            try batch.add(Account(), in: accounts)
        }
        try await storage.transaction { tx in
            #expect(try await tx.find("missing", in: accounts) == nil)
            try tx.set("accounts/g", Account())
            try tx.save(Account("h"), in: accounts)
            try tx.save(Account(), id: "i", in: accounts)
            try tx.add(Account(), in: accounts)
            try tx.create("accounts/m", Account())
            try tx.merge("accounts/n", Account())
        }
        try await storage.setDocument("accounts/j", Account())
        try await storage.createDocument("accounts/k", Account())
        try await storage.mergeDocument("accounts/l", Account())
        try await storage.addDocument(to: "accounts", Account())
        let all = try await accounts.findAll()
        #expect(all.count == 16 && all.allSatisfy { $0.changed != nil })
        let merged = try await storage.getDocument("accounts/f")
        #expect(merged["owner"] == "Bob" && merged["note"] == "kept")

        let earlier = try await accounts.get("a").changed
        try await storage.commit { try $0.update("accounts/a", from: Account(balance: 3)) }
        try await storage.transaction { try $0.update("accounts/b", from: Account(balance: 4)) }
        #expect(try await accounts.get("b").balance == 4)
        let later = try await accounts.get("a")
        #expect(later.balance == 3 && earlier.map { $0 <= later.changed ?? $0 } == true)
    }

    @Test(
        "Creating, merging and conditions mean the same in transactions as elsewhere",
        arguments: TypedStore.allCases
    )
    func conditions(_ store: TypedStore) async throws {
        let storage = try store.client()
        let accounts = storage.collection("accounts", as: Account.self)
        try await storage.setDocument("accounts/a", ["owner": "Eve", "note": "kept"])
        let refused: [@Sendable (StorageTransaction) throws -> Void] = [
            { try $0.create("accounts/a", ["owner": "Bob"]) },
            { try $0.create("accounts/a", Account()) },
            { try $0.save(Account(), id: "a", in: accounts, if: .isMissing) },
            { try $0.delete("b", in: accounts, if: .exists) },
        ]
        for body in refused {
            await #expect(throws: StorageError.self) { try await storage.transaction(body) }
        }
        try await storage.transaction { tx in
            try tx.create("accounts/b", ["owner": "Bob"])
            try tx.merge("accounts/a", ["owner": "Ann"])
            try tx.delete("a", in: accounts, if: .exists)
            try tx.merge("accounts/a", ["owner": "Cid"])
        }
        #expect(try await storage.getDocument("accounts/b")["owner"] == "Bob")
        let merged = try await storage.getDocument("accounts/a")
        #expect(merged["owner"] == "Cid" && merged["note"] == nil)
    }

    @Test("Fields and values are distinguished, even for ambiguous literals")
    func literals() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        let fields: DocumentFields = ["n": 1]
        try await storage.commit { batch in
            try batch.set("docs/1", ["n": 1, "text": "a", "none": .null])
            try batch.set("docs/2", fields)
            try batch.set("docs/3", ["n": 1])
            try batch.set("docs/4", ["n": "1"] as [String: String])
        }
        try await storage.setDocument("docs/5", ["n": 1])
        #expect(try await storage.getDocument("docs/1")["none"] == .null)
        #expect(try await storage.getDocument("docs/3")["n"] == 1)
        #expect(try await storage.getDocument("docs/4")["n"] == "1")
        #expect(try await storage.getDocument("docs/5", as: [String: Int].self) == ["n": 1])
        #expect(try await storage.findDocument("docs/6", as: [String: Int].self) == nil)
    }

    @Test("A transaction reads values by path, id and query", arguments: TypedStore.allCases)
    func reads(_ store: TypedStore) async throws {
        let storage = try store.client()
        let accounts = storage.collection("users/ada/accounts", as: Account.self)
        try await accounts.saveAll([Account("a", balance: 7), Account("b", balance: 1)])
        let group = storage.collectionGroup("accounts", as: Account.self)
        try await storage.transaction { tx in
            let path: DocumentPath = "users/ada/accounts/a"
            #expect(try await tx.getDocument(path, as: Account.self).balance == 7)
            #expect(try await tx.findDocument("users/x/accounts/a", as: Account.self) == nil)
            #expect(try await tx.query(in: accounts) { $0.where(.less("balance", 5)) }.count == 1)
            #expect(try await tx.query(in: group).map(\.balance) == [7, 1])
            #expect(try await tx.get("a", in: accounts.versioned).path == path)
            try tx.update("a", [.increment("balance", by: 1)], in: accounts)
            try tx.delete("b", in: accounts)
        }
        #expect(try await accounts.findAll().map(\.balance) == [8])
        await expectError(StorageError.self, .documentNotFound) {
            try await storage.transaction { try await $0.get("none", in: accounts) }
        }
    }

    @Test("An error of the body is rethrown unchanged, and nothing is written")
    func ownErrors() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        let accounts = storage.collection("accounts", as: Account.self)
        try await accounts.save(Account("a", balance: 2))
        let error = await #expect(throws: OutOfMoney.self) {
            try await storage.transaction { tx in
                let account = try await tx.get("a", in: accounts)
                try tx.write { batch in
                    try batch.save(Account("b"), in: accounts)
                    guard account.balance >= 5 else {
                        throw OutOfMoney(missing: 5 - account.balance)
                    }
                }
            }
        }
        #expect(error?.missing == 3)
        await #expect(throws: OutOfMoney.self) {
            try await storage.commit { batch in
                try batch.save(Account("c"), in: accounts)
                throw OutOfMoney(missing: 1)
            }
        }
        #expect(try await accounts.findAll().map(\.id) == ["a"])
    }

    @Test("A value is saved only over the version that was read", arguments: TypedStore.allCases)
    func versions(_ store: TypedStore) async throws {
        let accounts = try store.client().collection("accounts", as: Account.self)
        try await accounts.save(Account("a", balance: 1))
        var mine = try await accounts.versioned.get("a")
        var theirs = try #require(try await accounts.versioned.find("a"))
        #expect(mine == theirs && mine.id == "a" && mine.path == "accounts/a")
        mine.value.balance = 2
        mine = try await accounts.save(mine)
        mine.value.balance = 3
        mine = try await accounts.save(mine)
        theirs.value.balance = 100
        var error = await storageError { _ = try await accounts.save(theirs) }
        #expect(error?.code == .conflict)
        let now = try await accounts.versioned.get("a")
        #expect(now.value.balance == 3)
        #expect(now.revision == mine.revision && now.updateTime == mine.updateTime)
        #expect(now.createTime == mine.createTime)

        error = await storageError {
            _ = try await accounts.client.commit { try $0.save(theirs, in: accounts) }
        }
        #expect(error?.code == .conflict)
        try await accounts.delete("a")
        error = await storageError { _ = try await accounts.save(mine) }
        #expect(error?.code == .conflict)
        let others = accounts.client.collection("others", as: Account.self)
        error = await storageError { _ = try await others.save(mine) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("A save without changes keeps the version", arguments: TypedStore.allCases)
    func unchanged(_ store: TypedStore) async throws {
        let notes = try store.client().collection("notes", as: [String: Int].self)
        try await notes.save(["n": 1], id: "1")
        let note = try await notes.versioned.get("1")
        #expect(try await notes.save(note) == note)
        #expect(try await notes.versioned.get("1") == note)
    }

    @Test("Queries, pages and listeners return versions", arguments: TypedStore.allCases)
    func everywhere(_ store: TypedStore) async throws {
        let accounts = try store.client().collection("accounts", as: Account.self)
        try await accounts.saveAll([Account("a"), Account("b")])
        let found = try await accounts.versioned.query { $0.order(by: "owner") }
        #expect(found.map(\.id) == ["a", "b"])
        #expect(try await accounts.versioned.page(size: 5).items == found)
        var snapshots = accounts.versioned.listen().makeAsyncIterator()
        #expect(try await snapshots.next()?.items == found)
        var first = accounts.versioned.listen("a").makeAsyncIterator()
        #expect(try await first.next() == found[0])
        #expect(try await accounts.versioned.find(["b", "c"]) == [found[1], nil])
    }
}
#endif
