package import KeelDocuments

/// One consistent state of a store, which is read on the thread of its connection.
///
/// The engine asks for sets of rows and for counts, and each adapter answers with statements of its own. An adapter may
/// read a set in pages, and may answer for many paths or collections at once. Errors of the database pass through the
/// engine unchanged.
///
/// A function that reads rows calls `take` with each row until it returns false, and returns whether it never did.
/// While it runs, `take` may ask the snapshot for other sets. If ``isCancellable`` is true, reading ends with
/// `StorageError/Code/cancelled` soon after the task is canceled.
package protocol StoreSnapshot: CollectionDirectory {
    /// The encryption of the bodies.
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
    /// ones, in the order of their bytes.
    ///
    /// - Parameters:
    ///   - parent: The document; nil for the top level.
    ///   - time: The time, in microseconds, whose state counts; nil for the present.
    func names(under parent: DocumentPath?, asOf time: Int64?) throws -> [String]

    // MARK: Documents

    /// Reads the documents at paths, with the positions of their paths, in the order of the paths.
    ///
    /// Missing documents have no rows. A path may occur several times.
    ///
    /// - Parameters:
    ///   - paths: The paths.
    ///   - time: The time, in microseconds, whose state to read: the earliest later image of each document, or else
    ///     the present document. Nil for the present.
    ///   - take: Receives the rows.
    @discardableResult
    func eachDocument(
        at paths: [DocumentPath],
        asOf time: Int64?,
        _ take: (Int, borrowing StoredRow) throws -> Bool
    ) throws -> Bool

    /// Reads all documents of collections, in any order.
    @discardableResult
    func eachDocument(
        of collections: [Int64],
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool

    /// Reads the document of each entry in a range of an index, in the order of the entries or its exact reverse.
    ///
    /// The rows have the lengths of the entries' keys.
    ///
    /// - Parameters:
    ///   - stretch: The range.
    ///   - count: The number of rows that will probably be taken; nil for all.
    ///   - take: Receives the rows.
    @discardableResult
    func eachDocument(
        in stretch: IndexStretch,
        expecting count: Int?,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool

    /// Reads the documents in a range of ids, in the order of the bytes of the ids or its reverse.
    ///
    /// - Parameters:
    ///   - stretch: The range.
    ///   - offset: The number of documents at the start of the range that are not read.
    ///   - count: The number of rows that will probably be taken; nil for all.
    ///   - take: Receives the rows.
    @discardableResult
    func eachDocument(
        in stretch: IdentifierStretch,
        after offset: Int,
        expecting count: Int?,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool

    /// Reads the documents of collections that contain all terms of a search, in any order.
    @discardableResult
    func eachDocument(
        matching search: SearchFilter,
        in index: StoredIndex,
        of collections: [Int64],
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool

    /// Counts the entries in a range of an index up to a limit, without reading documents.
    func count(of stretch: IndexStretch, upTo most: Int) throws -> Int

    /// Counts the documents in a range of ids up to a limit, without reading them.
    func count(of stretch: IdentifierStretch, upTo most: Int) throws -> Int

    // MARK: The past

    /// Reads the earliest image later than a time of each document that has one, in any order.
    ///
    /// - Parameters:
    ///   - collections: The documents' collections; nil for all.
    ///   - time: The time in microseconds.
    ///   - take: Receives the images.
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
