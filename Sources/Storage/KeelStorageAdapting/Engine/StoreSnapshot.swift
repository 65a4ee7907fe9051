package import KeelDocuments

/// One consistent state of a store, which is read on the thread of its connection.
///
/// An adapter may read a set in pages, and may answer for many paths or collections at once. Errors of the database
/// pass through the engine unchanged.
///
/// A function that reads rows calls `take` with each row until it returns false, and returns whether it never did.
/// While it runs, `take` may ask the snapshot for other sets. If ``isCancellable`` is true, reading ends with
/// `StorageError/Code/cancelled` soon after the task is canceled.
package protocol StoreSnapshot: CollectionDirectory {
    var sealing: BodySealing { get }

    /// Whether reading belongs to one task, and ends when that task is canceled.
    var isCancellable: Bool { get }

    /// The number of documents that a query may examine; a query that needs more throws ``LongRead``.
    var maximumExamined: Int { get }

    /// Returns the path of a collection.
    ///
    /// - Throws: `StorageError/Code/corrupted` if the store has no collection with the number.
    func path(of number: Int64) throws -> CollectionPath

    /// Returns the names of the collections under a document, or at the top level, that have documents, or only deeper
    /// ones, in the order of their bytes, at a time in microseconds or at present.
    func names(under parent: DocumentPath?, asOf time: Int64?) throws -> [String]

    // MARK: Documents

    /// Reads the documents at paths, with the positions of their paths, in the order of the paths.
    ///
    /// Missing documents have no rows, and a path may occur several times. With a time, in microseconds, the state of a
    /// document is its earliest later image, or else its present row; an image without a body counts as missing.
    @discardableResult
    func eachDocument(
        at paths: [DocumentPath],
        asOf time: Int64?,
        _ take: (Int, borrowing StoredRow) throws -> Bool
    ) throws -> Bool

    @discardableResult
    func eachDocument(
        of collections: [Int64],
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool

    /// Reads the document of each entry in a range of an index, in the order of the entries or its exact reverse.
    ///
    /// The rows have the lengths of the entries' keys. Probably `count` rows will be taken; nil means all.
    @discardableResult
    func eachDocument(
        in stretch: IndexStretch,
        expecting count: Int?,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool

    /// Reads the documents in a range of ids, in the order of the bytes of the ids or its reverse, without the first
    /// `offset` documents.
    ///
    /// Probably `count` rows will be taken; nil means all.
    @discardableResult
    func eachDocument(
        in stretch: IdentifierStretch,
        after offset: Int,
        expecting count: Int?,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool

    /// Reads the documents of collections that contain all terms of a search, in any order.
    ///
    /// Words of ``SearchFilter/longestWord`` bytes and more may be taken for others with the same beginning.
    @discardableResult
    func eachDocument(
        matching search: SearchFilter,
        in index: StoredIndex,
        of collections: [Int64],
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool

    func count(of stretch: IndexStretch, upTo most: Int) throws -> Int

    func count(of stretch: IdentifierStretch, upTo most: Int) throws -> Int

    // MARK: The past

    /// Reads the earliest image later than a time, in microseconds, of each document that has one, in any order.
    ///
    /// The documents are those of the given collections, or all.
    @discardableResult
    func eachImage(
        of collections: [Int64]?,
        after time: Int64,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool
}

extension StoreSnapshot {
    package var maximumExamined: Int { .max }
}

/// The error of a query that has examined ``StoreSnapshot/maximumExamined`` documents and needs more.
///
/// An adapter repeats the query where it may take longer.
package struct LongRead: Error {
    package init() {}
}
