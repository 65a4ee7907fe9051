package import KeelDocuments

package struct CheckedDocument {
    package let document: Document
    package let collection: Int64
    package let row: Int64

    package init(_ document: Document, collection: Int64, row: Int64) {
        self.document = document
        self.collection = collection
        self.row = row
    }
}

package struct CheckedEntry {
    package let index: StoredIndex
    package let key: [UInt8]
    package let path: DocumentPath
    package let collection: Int64
    package let row: Int64

    package func storedKey(sealedBy sealing: BodySealing) throws -> [UInt8] {
        try index.entryKey(key, of: path, sealedBy: sealing)
    }
}

/// The tables of a store, as an integrity check reads them.
package protocol CheckedTables {
    func damage() throws -> [String]
    func indexes() throws -> [StoredIndex]
    func hasChanges() throws -> Bool
    func eachDocument(_ take: (Result<CheckedDocument, StorageError>) throws -> Void) throws
    /// Returns which of some entries the indexes lack, by their positions in ascending order.
    func missing(_ entries: [CheckedEntry]) throws -> [Int]
    /// Returns the number of entries, or texts, in an index.
    func entryCount(of index: StoredIndex) throws -> Int
    /// Returns the numbers of dangling rows, by a description of the rows.
    func loose() throws -> [(name: String, count: Int)]
    func historyStart() throws -> Int64?
    /// Calls `take` with each image in the history and its time, in the order of their numbers.
    func eachImage(_ take: (Result<Document?, StorageError>, _ time: Int64) throws -> Void) throws
}

extension CheckedTables {
    package func result<Value>(_ read: () throws -> Value) throws -> Result<Value, StorageError> {
        do { return .success(try read()) } catch let error as StorageError {
            return .failure(error)
        }
    }
}

/// The result of a check of a store's integrity.
public struct IntegrityReport: Sendable, Hashable {
    /// The problems, one sentence each and without contents; empty for a sound store.
    public var problems: [String]
    /// The number of documents that were checked.
    public var documentCount: Int

    /// Whether the check found nothing.
    public var isSound: Bool { problems.isEmpty }

    package init(problems: [String], documentCount: Int) {
        self.problems = problems
        self.documentCount = documentCount
    }

    /// Checks the tables of a store; `onProgress` receives the number of checked documents, every thousand.
    ///
    /// - Throws: An error of the tables.
    package init(
        of tables: some CheckedTables,
        onProgress: (@Sendable (Int) -> Void)? = nil
    ) throws {
        var check = IntegrityCheck(tables, onProgress: onProgress)
        try check.run()
        self.init(problems: check.problems, documentCount: check.documentCount)
    }
}

package struct IntegrityCheck {
    private let tables: any CheckedTables
    package private(set) var problems: [String] = []
    package private(set) var documentCount = 0
    private var pending: [CheckedEntry] = []

    private static let mostPending = 500
    private static let documentsPerReport = 1_000

    private let onProgress: (@Sendable (Int) -> Void)?

    package init(_ tables: any CheckedTables, onProgress: (@Sendable (Int) -> Void)? = nil) {
        self.tables = tables
        self.onProgress = onProgress
    }

    package mutating func run() throws {
        problems += try tables.damage()
        let indexes = try tables.indexes()
        var expected = Array(repeating: 0, count: indexes.count)
        try checkDocuments(indexes, &expected)
        for (index, expected) in zip(indexes, expected) where index.built == nil {
            try checkCount(of: index, expected)
        }
        for (name, count) in try tables.loose() where count > 0 {
            problems.append("there are \(count) \(name)")
        }
        try checkHistory()
    }

    private mutating func checkDocuments(
        _ indexes: [StoredIndex],
        _ expected: inout [Int]
    ) throws {
        let hasChanges = try tables.hasChanges()
        try tables.eachDocument { result in
            documentCount += 1
            if documentCount.isMultiple(of: Self.documentsPerReport) { onProgress?(documentCount) }
            let found: CheckedDocument
            do throws(StorageError) {
                found = try result.get()
                _ = try found.document.fields()
            } catch {
                problems.append(error.message)
                return
            }
            if !hasChanges { problems.append("there are documents but no change log") }
            let name = found.document.path.collection.name
            for (position, index) in indexes.enumerated()
            where StoredName.same(index.collection, name) {
                expected[position] += try entries(of: found, in: index)
            }
        }
        try lookUp()
    }

    private mutating func entries(
        of found: CheckedDocument,
        in index: StoredIndex
    ) throws -> Int {
        let body = found.document.body
        guard case .fields = index.kind else {
            return index.texts(of: body).contains { !$0.isEmpty } ? 1 : 0
        }
        let keys = index.keys(of: body)
        for key in keys where index.built == nil {
            pending.append(
                CheckedEntry(
                    index: index,
                    key: key,
                    path: found.document.path,
                    collection: found.collection,
                    row: found.row
                )
            )
            if pending.count == Self.mostPending { try lookUp() }
        }
        return keys.count
    }

    private mutating func lookUp() throws {
        for position in try tables.missing(pending) {
            let entry = pending[position]
            problems.append("the index \(entry.index.number) lacks an entry of “\(entry.path)”")
        }
        pending = []
    }

    private mutating func checkCount(of index: StoredIndex, _ expected: Int) throws {
        let count = try tables.entryCount(of: index)
        guard count != expected else { return }
        problems.append("the index \(index.number) has \(count) entries instead of \(expected)")
    }

    private mutating func checkHistory() throws {
        guard var last = try tables.historyStart() else { return }
        try tables.eachImage { result, time in
            do throws(StorageError) {
                _ = try result.get()?.fields()
            } catch {
                problems.append("in the history: \(error.message)")
            }
            if time < last { problems.append("the history is not in time order") }
            last = time
        }
    }
}
