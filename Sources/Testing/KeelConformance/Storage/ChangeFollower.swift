import KeelStorage
internal import KeelStorageAdapting
import Testing

/// A copy of a part of a store, maintained from the change log.
///
/// It checks the promises of every page: no more changes than requested, and no cursor, revision or time that goes
/// backward.
struct ChangeFollower {
    let store: StoreUnderTest
    var scope: ChangeScope
    var cursor: ChangeCursor?
    /// The documents according to the pages so far.
    private(set) var documents: [DocumentPath: Document] = [:]
    /// Every change in scope, in the order of delivery.
    private(set) var changes: [ChangePage.Change] = []
    private var revisions: [DocumentPath: Revision] = [:]
    /// The latest time that a page reported for the store's state.
    private(set) var time: Timestamp?

    init(_ store: StoreUnderTest, after cursor: ChangeCursor?, scope: ChangeScope? = nil) {
        self.store = store
        self.cursor = cursor
        self.scope = scope ?? .collections([store.collection])
    }

    /// Reads pages until one reports that the reader has caught up.
    mutating func catchUp(limit: Int = 500) async throws {
        for _ in 0..<10_000 {
            if try await step(limit: limit).isCaughtUp { return }
        }
        Issue.record("the change log never says that the reader has caught up")
    }

    @discardableResult
    mutating func step(limit: Int = 500) async throws -> ChangePage {
        let request = ChangeRequest(after: cursor, scope: scope, limit: limit)
        let page = try await store.adapter.changes(request)
        take(page, limit: limit)
        return page
    }

    mutating func take(_ page: ChangePage, limit: Int = 500) {
        #expect(page.changes.count <= limit)
        if let cursor { #expect(page.next >= cursor, "the cursor went back") }
        cursor = page.next
        changes += page.changes
        if let told = page.time {
            #expect(page.isCaughtUp, "a page names the time of a state that is not consistent")
            if let time { #expect(told >= time, "the store’s time went back") }
            time = told
        }
        for change in page.changes {
            switch change {
            case .current(let document):
                rise(of: document.path, to: document.revision)
                documents[document.path] = document
            case .removed(let path, let revision, _):
                rise(of: path, to: revision)
                documents[path] = nil
            case .leftScope(let path): documents[path] = nil
            case .unreadable(let document):
                Issue.record("“\(document.path)” cannot be read: \(document.error)")
            }
        }
    }

    private mutating func rise(of path: DocumentPath, to revision: Revision) {
        if let last = revisions[path] {
            #expect(revision >= last, "the revision of “\(path)” went back")
        }
        revisions[path] = revision
    }

    func expectEqualToStore(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let stored = try await store.client.queryDocuments(store.query)
        let copy = documents.values.filter { $0.path.collection == store.collection }
            .sorted { $0.path < $1.path }
        #expect(copy == stored, sourceLocation: sourceLocation)
    }
}
