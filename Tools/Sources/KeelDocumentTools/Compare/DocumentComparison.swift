package import KeelStorage
internal import KeelStorageAdapting

/// Compares the documents of two stores, page by page.
///
/// Changes during the comparison may be missed, or appear as differences.
package struct DocumentComparison: Sendable {
    private let first: any StorageAdapter
    private let second: any StorageAdapter
    private let scopes: [DocumentScope]
    private let pageSize: Int

    /// Creates a comparison of scopes; of all documents if there are none.
    package init(
        _ first: any StorageAdapter,
        _ second: any StorageAdapter,
        scopes: [DocumentScope] = [],
        pageSize: Int = 200
    ) {
        self.first = first
        self.second = second
        self.scopes = scopes
        self.pageSize = pageSize
    }

    /// Runs the comparison.
    ///
    /// Differences are in the order of the scopes, or of the names of all collections, and then of paths; unreadable
    /// documents come first in a page.
    ///
    /// - Throws: `StorageError`, `CancellationError`, and errors of `onDifference`.
    package func run(
        onDifference: (DocumentDifference) throws -> Void,
        onProgress: (Int) -> Void = { _ in }
    ) async throws -> ComparisonReport {
        var scopes = scopes
        if scopes.isEmpty {
            // As groups, which include collections below missing documents.
            let names = try await CollectionNames.all(in: first)
                .union(CollectionNames.all(in: second))
            scopes = names.sorted().map { .group($0) }
        }
        var report = ComparisonReport()
        for scope in scopes {
            try await compare(scope, &report, onDifference, onProgress)
        }
        return report
    }

    private func compare(
        _ scope: DocumentScope,
        _ report: inout ComparisonReport,
        _ onDifference: (DocumentDifference) throws -> Void,
        _ onProgress: (Int) -> Void
    ) async throws {
        var one = Side(first, scope, pageSize)
        var other = Side(second, scope, pageSize)
        func tell(_ difference: DocumentDifference) throws {
            switch difference {
            case .onlyInFirst: report.onlyInFirst += 1
            case .onlyInSecond: report.onlyInSecond += 1
            case .fields: report.different += 1
            case .unreadable: report.unreadable += 1
            }
            try onDifference(difference)
        }
        while true {
            try Task.checkCancellation()
            try await one.fill()
            try await other.fill()
            for document in one.takeUnreadable(other.isUnreadable) {
                try tell(.unreadable(document, isInFirst: true))
            }
            for document in other.takeUnreadable({ _ in false }) {
                try tell(.unreadable(document, isInFirst: false))
            }
            let (document, against) = (one.next, other.next)
            if let document, against.map({ document.path < $0.path }) ?? true {
                one.advance()
                if !other.isUnreadable(document.path) { try tell(.onlyInFirst(document.path)) }
            } else if let against, document.map({ against.path < $0.path }) ?? true {
                other.advance()
                if !one.isUnreadable(against.path) { try tell(.onlyInSecond(against.path)) }
            } else if let document, let against {
                one.advance()
                other.advance()
                if let difference = Self.difference(document, against) {
                    try tell(difference)
                } else {
                    report.same += 1
                }
            } else {
                onProgress(report.count)
                return
            }
            if report.count % 100 == 0 { onProgress(report.count) }
        }
    }

    private static func difference(_ one: Document, _ other: Document) -> DocumentDifference? {
        guard one.body.bytes != other.body.bytes else { return nil }
        let first: DocumentFields
        do throws(StorageError) {
            first = try one.fields()
        } catch {
            return .unreadable(UnreadableDocument(one.path, error), isInFirst: true)
        }
        do throws(StorageError) {
            let fields = DocumentDifference.fields(of: first, and: try other.fields())
            return fields.isEmpty ? nil : .fields(one.path, fields)
        } catch {
            return .unreadable(UnreadableDocument(other.path, error), isInFirst: false)
        }
    }

    private struct Side {
        private var pages: DocumentPages
        private var documents: ArraySlice<Document> = []
        private var isAtEnd = false
        /// The unreadable documents that were reported so far.
        private var unreadable: Set<DocumentPath> = []
        private var untold: [UnreadableDocument] = []

        init(_ adapter: any StorageAdapter, _ scope: DocumentScope, _ pageSize: Int) {
            pages = DocumentPages(StorageClient(adapter), scope, size: pageSize)
        }

        var next: Document? { documents.first }

        mutating func advance() { documents.removeFirst() }

        /// Reads pages up to the next document, or to the end.
        mutating func fill() async throws(StorageError) {
            while documents.isEmpty, !isAtEnd {
                guard let page = try await pages.next() else {
                    isAtEnd = true
                    return
                }
                documents = page.documents.filter { !$0.path.isKeelsOwn }[...]
                // Several pages may report the same document.
                untold += page.unreadable.filter { unreadable.insert($0.path).inserted }
            }
        }

        func isUnreadable(_ path: DocumentPath) -> Bool { unreadable.contains(path) }

        /// Returns the new unreadable documents, without those that the other side reports.
        mutating func takeUnreadable(
            _ isTold: (DocumentPath) -> Bool
        ) -> [UnreadableDocument] {
            defer { untold = [] }
            return untold.filter { !isTold($0.path) }
        }
    }
}

private enum CollectionNames {
    static func all(in adapter: any StorageAdapter) async throws -> Set<String> {
        adapter.capabilities.contains(.changeLog)
            ? try await logged(in: adapter) : try await listed(in: adapter)
    }

    /// Returns the names in the change log, which has every document, also below missing ones.
    private static func logged(in adapter: any StorageAdapter) async throws -> Set<String> {
        var names: Set<String> = []
        var request = ChangeRequest(after: nil, scope: .everything, limit: 500)
        while true {
            try Task.checkCancellation()
            let page = try await adapter.changes(request)
            for change in page.changes where !change.path.isKeelsOwn {
                names.insert(change.path.collection.name)
            }
            request.after = page.next
            if page.isCaughtUp { return names }
        }
    }

    private static func listed(in adapter: any StorageAdapter) async throws -> Set<String> {
        let client = StorageClient(adapter)
        var open = try await client.collections().map { CollectionPath($0) }
        var names: Set<String> = []
        while let collection = open.popLast() {
            names.insert(collection.name)
            var query = DocumentQuery(collection)
            query.projection = []
            var pages = DocumentPages(client, of: query.order(by: .documentID))
            while let page = try await pages.next() {
                try Task.checkCancellation()
                for path in page.documents.map(\.path) + page.unreadable.map(\.path) {
                    open += try await client.collections(under: path).map { path.collection($0) }
                }
            }
        }
        return names
    }
}
