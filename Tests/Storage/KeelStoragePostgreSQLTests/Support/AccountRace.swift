#if PostgreSQL
import KeelStorage
import KeelStorageAdapting
import KeelStoragePostgreSQL
import Testing

/// A race of writers that move amounts between a few accounts, and the readers that follow them.
///
/// A transfer changes two accounts and adds a document with what it moved, in one batch. So each state tells by itself
/// whether it consists of whole batches: the accounts hold what the transfers in it have moved, and nothing else.
struct AccountRace: Sendable {
    private static let accounts = 10
    static let paths = (0..<accounts).map { DocumentPath("accounts/\($0)") }

    private let writers = 8
    /// The number of transfers of each writer.
    private let each: Int

    /// Creates a race with about this number of changed documents, three in each transfer.
    init(changes: Int) { each = changes / 3 / writers }

    /// Adds the accounts, which are empty.
    func begin(in adapter: some StorageAdapter) async throws {
        let writes = Self.paths.map { path in
            DocumentWrite(path, .set(DocumentBody(["n": .integer(0)])))
        }
        _ = try await adapter.commit([WriteBatch(writes)])[0].get()
    }

    /// Makes the transfers of all writers, each with an adapter of its own.
    func write(beside adapter: PostgreSQLStorageAdapter) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    // Clocks that differ by seconds must not matter.
                    var configuration = adapter.configuration
                    configuration.now = {
                        Timestamp.now().advanced(by: .milliseconds(Int.random(in: -2_000...2_000)))
                    }
                    let own = try await adapter.another(configuration)
                    var number = 0
                    while number < each {
                        let count = min(Int.random(in: 1...10), each - number)
                        let batches = (number..<number + count).map { transfer("\(writer)-\($0)") }
                        // A refused batch among them must leave no trace.
                        let results = try await own.commit([refused] + batches)
                        for result in results.dropFirst() { _ = try result.get() }
                        number += count
                    }
                    await own.close()
                }
            }
            try await group.waitForAll()
        }
    }

    /// A batch that changes an account and is refused, because it needs a document that does not exist.
    private var refused: WriteBatch {
        let change = FieldChange("n", .transform(.increment(.integer(1))))
        let missing = DocumentPath("transfers/missing")
        return WriteBatch([
            DocumentWrite(Self.paths[0], .update([change])),
            DocumentWrite(missing, .delete, if: .exists),
        ])
    }

    private func transfer(_ id: String) -> WriteBatch {
        let source = Int.random(in: 0..<Self.accounts)
        let target = (source + Int.random(in: 1..<Self.accounts)) % Self.accounts
        let amount = Int64.random(in: 1...100)
        func add(_ amount: Int64, to account: Int) -> DocumentWrite {
            let change = FieldChange("n", .transform(.increment(.integer(amount))))
            return DocumentWrite(Self.paths[account], .update([change]))
        }
        let record: DocumentFields = [
            "source": .integer(Int64(source)), "target": .integer(Int64(target)),
            "amount": .integer(amount),
        ]
        // In the middle, so that a page that ends within the batch lacks an account.
        return WriteBatch([
            add(-amount, to: source),
            DocumentWrite(DocumentPath("transfers/\(id)"), .set(DocumentBody(record))),
            add(amount, to: target),
        ])
    }

    // MARK: Readers

    /// The accounts and the transfers, as the pages of changes have told of them.
    private struct Told {
        var balances: [DocumentPath: Int64] = [:]
        /// What the transfers have moved.
        var moved: [DocumentPath: Int64] = [:]
        var transferCount = 0
        private var revisions: [DocumentPath: Revision] = [:]
        /// The documents that have changed since the last consistent state.
        private var unsettled: Set<DocumentPath> = []
        /// Whether there was a consistent state.
        private var isSettled = false

        mutating func apply(_ page: ChangePage) throws {
            for change in page.changes {
                guard case .current(let document) = change else {
                    Issue.record("a document that is never removed came as \(change)")
                    continue
                }
                let path = document.path
                let known = revisions.updateValue(document.revision, forKey: path)
                if let known {
                    // After a consistent state, only later states follow; within one, a state may come again.
                    let isAgain = known == document.revision
                    #expect(known <= document.revision, "\(path) went back")
                    #expect(
                        !isAgain || !isSettled || unsettled.contains(path),
                        "\(path) came twice"
                    )
                }
                unsettled.insert(path)
                if path.collection == "accounts" {
                    balances[path] = document["n"]?.integerValue
                    moved[path, default: 0] += 0
                } else if known == nil {
                    try add(document)
                }
            }
            guard page.isCaughtUp else { return }
            unsettled.removeAll()
            isSettled = true
        }

        private mutating func add(_ transfer: Document) throws {
            func number(_ field: FieldPath) throws -> Int64 {
                try #require(transfer[field]?.integerValue)
            }
            let (source, target) = (try number("source"), try number("target"))
            let amount = try number("amount")
            moved[AccountRace.paths[Int(source)], default: 0] -= amount
            moved[AccountRace.paths[Int(target)], default: 0] += amount
            transferCount += 1
        }
    }

    /// Follows the changes to the last transfer, and checks that none is missing, comes twice or goes back, and that
    /// each consistent state consists of whole batches.
    ///
    /// - Parameters:
    ///   - page: Reads a page.
    ///   - check: Receives each page that ends in a consistent state, and the accounts in this state.
    /// - Throws: The errors of the closures.
    func follow(
        _ page: (ChangeRequest) async throws -> ChangePage,
        check: (ChangePage, [DocumentPath: Int64]) async throws -> Void
    ) async throws {
        var told = Told()
        var request = ChangeRequest(waitTimeout: .seconds(30))
        while told.transferCount < writers * each {
            let next = try await page(request)
            if let after = request.after { #expect(after <= next.next) }
            request.after = next.next
            try told.apply(next)
            guard next.isCaughtUp else { continue }
            #expect(told.balances == told.moved)
            #expect(told.balances.values.reduce(0, +) == 0)
            try await check(next, told.balances)
        }
        #expect(told.transferCount == writers * each)
    }

    /// Follows the changes of an adapter, and compares each consistent state with a read at its position.
    func follow(_ adapter: PostgreSQLStorageAdapter) async throws {
        try await follow {
            try await adapter.changes($0)
        } check: { page, balances in
            var request = ReadRequest(.documents(Self.paths))
            request.asOf = page.time
            request.needsPosition = true
            let result = try await adapter.read(request)
            #expect(result.position == page.next)
            #expect(Self.balances(result) == balances)
        }
    }

    /// Returns the accounts in the answer of a read.
    static func balances(_ result: ReadResult) -> [DocumentPath: Int64] {
        guard case .documents(let documents) = result.payload else { return [:] }
        return documents.reduce(into: [:]) { balances, document in
            guard let document else { return }
            balances[document.path] = document["n"]?.integerValue
        }
    }
}
#endif
