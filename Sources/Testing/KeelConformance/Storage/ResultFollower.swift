import KeelStorage
internal import KeelStorageAdapting
import Testing

/// A copy of a query's result, or of documents, maintained from the pages of an adapter that follows them.
///
/// It checks the promises of every page: consistent states, and no cursor and no time that goes backward.
struct ResultFollower {
    private let adapter: any StorageAdapter
    private(set) var request: ChangeRequest
    /// The result according to the pages so far.
    private(set) var documents: [DocumentPath: Document] = [:]
    /// The number of times that the result was read as a whole.
    private(set) var wholeCount = 0
    private var time: Timestamp?

    init(_ store: StoreUnderTest, _ request: ChangeRequest) {
        adapter = store.adapter
        self.request = request
    }

    init(_ store: StoreUnderTest, _ query: DocumentQuery) {
        self.init(store, ChangeRequest(followingResultOf: query))
    }

    var result: [Document] { documents.values.sorted { $0.path < $1.path } }

    /// Takes pages until the result is as expected.
    mutating func follow(until expected: [Document]) async throws {
        let expected = expected.sorted { $0.path < $1.path }
        try await follow { $0 == expected }
    }

    /// Takes pages until the result, by path, is as described, for at most two minutes.
    mutating func follow(until isReached: ([Document]) -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(120)
        repeat {
            try await step(waiting: .seconds(10))
            if isReached(result) { return }
        } while ContinuousClock.now < end
        Issue.record("the pages do not lead to the result of the query: \(result.map(\.path))")
    }

    /// Takes a page, and starts again if the adapter cannot continue from the cursor.
    @discardableResult
    mutating func step(waiting limit: Duration? = nil) async throws -> ChangePage {
        request.waitTimeout = limit
        let page: ChangePage
        do throws(StorageError) {
            page = try await adapter.changes(request)
        } catch {
            guard error.code == .cursorExpired else { throw error }
            request.after = nil
            page = try await adapter.changes(request)
        }
        if request.after == nil {
            documents = [:]
            wholeCount += 1
        }
        if let cursor = request.after { #expect(page.next >= cursor, "the cursor went back") }
        #expect(page.isCaughtUp, "a page of a result is not consistent")
        if let last = time, let now = page.time { #expect(now >= last, "the time went back") }
        time = page.time ?? time
        request.after = page.next
        for change in page.changes {
            switch change {
            case .current(let document): documents[document.path] = document
            case .removed, .leftScope: documents[change.path] = nil
            case .unreadable(let document):
                Issue.record("“\(document.path)” cannot be read: \(document.error)")
            }
        }
        return page
    }
}
