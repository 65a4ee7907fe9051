internal import KeelCore
package import KeelDocuments

/// Answers requests for the changes of a query's result by means of a change log.
///
/// A cursor is a position in the log, followed by the paths of the result if the query has a limit or an offset: a
/// document that such a result loses need not have changed.
package struct LoggedResult<Adapter: StorageAdapter>: Sendable {
    private let query: DocumentQuery
    private let adapter: Adapter

    package init(_ query: DocumentQuery, of adapter: Adapter) throws(StorageError) {
        self.query = try QueryValidation.checked(query.with { $0.projection = nil })
        self.adapter = adapter
    }

    /// Whether a document can enter or leave the result because another one changed.
    private var isWindowed: Bool {
        query.limit != nil || query.offset > 0 || query.search != nil
    }

    package func page(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        guard let after = request.after else { return try await whole(since: []) }
        let cursor = try ResultCursor(after, of: query)
        var inner = request
        inner.query = nil
        inner.after = cursor.position
        var changes: [DocumentPath: ChangePage.Change] = [:]
        var page: ChangePage
        repeat {
            page = try await adapter.changes(inner)
            for change in page.changes { changes[change.path] = change }
            inner.after = page.next
            inner.waitTimeout = nil
        } while !page.isCaughtUp
        if isWindowed, !changes.isEmpty { return try await whole(since: cursor.members) }
        let prepared = PreparedQuery(query)
        page.changes = changes.values.sorted { $0.path < $1.path }.map { change in
            guard case .current(let document) = change, prepared.place(of: document) == nil else {
                return change
            }
            return .leftScope(document.path)
        }
        page.next = ResultCursor(page.next, members: cursor.members).cursor(of: query)
        return page
    }

    /// Returns the whole result, and what left it since it had the given documents.
    private func whole(since members: [DocumentPath]) async throws(StorageError) -> ChangePage {
        var request = ReadRequest(.query(query))
        (request.needsPosition, request.needsTime) = (true, true)
        request.reportsUnreadable = true
        let result = try await adapter.read(request)
        let documents = try result.found
        guard let position = result.position else {
            throw StorageError(.unknown, "the adapter returned no position for a query")
        }
        // A document that cannot be read may leave the result too.
        let paths = documents.map(\.path) + result.unreadable.map(\.path)
        let gone = Set(members).subtracting(paths).sorted()
        return ChangePage(
            changes: gone.map { .leftScope($0) } + documents.map { .current($0) }
                + result.unreadable.map { .unreadable($0) },
            next: ResultCursor(position, members: isWindowed ? paths : []).cursor(of: query),
            isCaughtUp: true,
            time: result.time
        )
    }
}

private struct ResultCursor {
    let position: ChangeCursor
    let members: [DocumentPath]

    init(_ position: ChangeCursor, members: [DocumentPath]) {
        self.position = position
        self.members = members
    }

    /// Reads a cursor.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if it is not one of the query's.
    init(_ cursor: ChangeCursor, of query: DocumentQuery) throws(StorageError) {
        let flaw = StorageError(
            .invalidArgument,
            "the cursor belongs to another query; start without a cursor"
        )
        var rest = cursor.bytes[...]
        guard rest.popLast() == Self.version, let hash = Self.popNumber(&rest),
            hash == query.stableHash, let count = Self.popNumber(&rest),
            let size = Int(exactly: count), size <= rest.count
        else { throw flaw }
        var paths: [DocumentPath] = []
        var list = rest.suffix(size)
        while let length = Self.popNumber(&list) {
            guard let length = Int(exactly: length), length <= list.count else { throw flaw }
            paths.append(DocumentPath(String(decoding: list.suffix(length), as: UTF8.self)))
            list.removeLast(length)
        }
        guard list.isEmpty else { throw flaw }
        var position = ChangeCursor(bytes: Array(rest.dropLast(size)))
        position.session = cursor.session
        self.position = position
        members = paths.reversed()
    }

    private static let version: UInt8 = 1

    /// Returns the cursor: the position first, so that cursors have the order of their positions.
    func cursor(of query: DocumentQuery) -> ChangeCursor {
        var list: [UInt8] = []
        for path in members {
            let bytes = Array(path.string.utf8)
            list += bytes
            list.append(littleEndian: UInt64(bytes.count))
        }
        var bytes = position.bytes + list
        bytes.append(littleEndian: UInt64(list.count))
        bytes.append(littleEndian: query.stableHash)
        bytes.append(Self.version)
        var cursor = ChangeCursor(bytes: bytes)
        cursor.session = position.session
        return cursor
    }

    private static func popNumber(_ bytes: inout ArraySlice<UInt8>) -> UInt64? {
        guard bytes.count >= 8 else { return nil }
        defer { bytes.removeLast(8) }
        return bytes.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension DocumentQuery {
    /// A hash that is the same in every process.
    package var stableHash: UInt64 {
        // The description of a query names all of its parts.
        String(reflecting: self).stableHash
    }
}

extension String {
    /// A hash of the text's UTF-8 (FNV-1a) that is the same in every process.
    package var stableHash: UInt64 {
        utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
