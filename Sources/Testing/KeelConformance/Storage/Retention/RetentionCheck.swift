package import KeelStorage
package import KeelStorageAdapting
import Testing

package protocol RetainingAdapter: StorageAdapter {
    /// Removes everything beyond the retention.
    func trim() async throws(StorageError)

    func registerReader(
        _ name: String,
        at cursor: ChangeCursor,
        lifetime: Duration
    ) async throws(StorageError)

    func unregisterReader(_ name: String) async throws(StorageError)
}

/// A promise about what a store keeps of its past, as a check for any adapter that trims its change log.
///
/// A check moves the store's wall clock, so it needs a store of its own with the check's ``retention`` and ``history``.
package struct RetentionCheck: Sendable, CustomTestStringConvertible {
    /// The promise.
    package let testDescription: String
    package let retention: LogRetention
    /// The age of the store's history; nil for none.
    package let history: Duration?

    private let body: @Sendable (RetentionRun) async throws -> Void

    init(
        _ promise: String,
        _ retention: LogRetention = .init(),
        history: Duration? = nil,
        _ body: @escaping @Sendable (RetentionRun) async throws -> Void
    ) {
        testDescription = promise
        self.retention = retention
        self.history = history
        self.body = body
    }

    /// Runs the check on a new store, which takes the time from `wall`, recording an issue for each violation.
    ///
    /// - Throws: An error of the adapter that the promise does not allow.
    package func run(on adapter: any RetainingAdapter, _ wall: ClockWalk.Wall) async throws {
        try await body(RetentionRun(adapter: adapter, wall: wall))
    }

    package static let all = log + receipts + readers + clocks
}

struct RetentionRun: Sendable {
    static let hour = Duration.seconds(3_600)
    static let day = Duration.seconds(86_400)
    /// From today to 2040.
    static let leap = day * 365 * 14

    /// A batch that counts how often it was applied.
    static let counter = WriteBatch(
        id: "x",
        [DocumentWrite("a/1", .update([FieldChange("n", .transform(.increment(1)))]))]
    )

    let adapter: any RetainingAdapter
    let wall: ClockWalk.Wall

    @discardableResult
    func apply(_ batch: WriteBatch) async throws -> CommitReceipt {
        let results = try await adapter.commit([batch])
        return try #require(results.first).get()
    }

    @discardableResult
    func set(_ path: DocumentPath, _ number: Int = 0) async throws -> ChangeCursor {
        let body = DocumentBody(["n": .integer(Int64(number))])
        return try #require(try await apply(WriteBatch([DocumentWrite(path, .set(body))])).position)
    }

    func delete(_ path: DocumentPath) async throws {
        try await apply(WriteBatch([DocumentWrite(path, .delete)]))
    }

    func count() async throws -> DocumentValue? {
        let result = try await adapter.read(ReadRequest(.documents(["a/1"])))
        guard case .documents(let found) = result.payload else { return nil }
        return found[0]?["n"]
    }

    /// Reads all changes after a cursor, in pages; returns the changes, or nil if the cursor has expired.
    func changes(after cursor: ChangeCursor?) async throws -> [ChangePage.Change]? {
        var changes: [ChangePage.Change] = []
        var request = ChangeRequest(after: cursor, limit: 25)
        while true {
            let page: ChangePage
            do throws(StorageError) { page = try await adapter.changes(request) } catch {
                guard error.code == .cursorExpired else { throw error }
                return nil
            }
            changes += page.changes
            guard !page.isCaughtUp else { return changes }
            request.after = page.next
        }
    }

    /// Lets time pass in steps too short to be a wrong clock, and trims after each.
    func pass(_ duration: Duration, steps: Int) async throws {
        for _ in 0..<steps {
            wall.move(by: duration / steps)
            try await adapter.trim()
        }
    }
}
