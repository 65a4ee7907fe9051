package import KeelDocuments

/// A build of a store's incomplete indexes, one step per transaction.
///
/// ``StoredIndex/built`` is the progress of an index. Several builders, in one or several processes, share the work,
/// because each step begins with the progress in the store.
package struct IndexBuild: Sendable {
    /// The progress of a dropped index, which is not maintained, and is removed after its entries.
    package static let dropped: Int64 = -1
    package static let entriesPerStep = 2_000
    fileprivate static let bytesPerStep = 4 << 20

    /// The indexes that cover an unreadable document.
    ///
    /// Until it is readable, replaced or removed, they stay incomplete, and queries scan and report it.
    fileprivate var heldUp: Set<Int64> = []

    package init() {}

    package func next(of indexes: [StoredIndex]) -> IndexBuildStep? {
        let open = indexes.compactMap { index in
            index.built.map { IndexBuildStep.Open(index: index, built: $0) }
        }.filter { !heldUp.contains($0.index.number) }
        guard let start = open.map(\.built).min() else { return nil }
        return IndexBuildStep(
            after: start,
            // Indexes with more progress join when the others have caught up.
            through: open.map(\.built).filter { $0 > start }.min() ?? .max,
            group: open.filter { $0.built == start }
        )
    }
}

/// A step of an ``IndexBuild``: some documents, in the order of their numbers.
package struct IndexBuildStep {
    fileprivate struct Open {
        let index: StoredIndex
        var built: Int64
    }

    /// The range of the numbers of the documents: after the first, up to and including the second.
    package let after: Int64
    package let through: Int64

    private var group: [Open]
    private var size = AnswerSize(most: IndexBuild.bytesPerStep)
    private var isStopped = false

    fileprivate init(after: Int64, through: Int64, group: [Open]) {
        self.after = after
        self.through = through
        self.group = group
    }

    /// Adds the next document to the indexes that cover it.
    ///
    /// - Parameters:
    ///   - row: The document's row.
    ///   - store: The snapshot that the row comes from.
    ///   - build: The build.
    ///   - opensProof: Returns whether the store's key is available. Without the key, no document can be read.
    ///   - write: Writes the entries of a document in an index.
    /// - Returns: Whether the document was added; false if the step has read enough, or the task is canceled.
    /// - Throws: The error of an unreadable document if the key is not available, and errors of the closures.
    package mutating func add(
        _ row: borrowing StoredRow,
        in store: any StoreSnapshot,
        _ build: inout IndexBuild,
        opensProof: () throws -> Bool,
        write: (Document, StoredIndex) throws -> Void
    ) throws -> Bool {
        // Cancellation keeps the entries written so far.
        isStopped = size.isFull || Task.isCancelled
        if isStopped { return false }
        let collection = try store.path(of: row.collection)
        var content: Result<Document, StorageError>?
        for position in group.indices where !build.heldUp.contains(group[position].index.number) {
            let index = group[position].index
            guard StoredName.same(collection.name, index.collection) else {
                group[position].built = row.number
                continue
            }
            // Read once, and only if an index covers it.
            if content == nil {
                do throws(StorageError) {
                    let path = row.path(in: collection)
                    content = .success(try row.document(at: path, openedBy: store.sealing))
                } catch {
                    guard try opensProof() else { throw error }
                    content = .failure(error)
                }
            }
            if case .success(let document)? = content {
                try write(document, index)
            } else if case .fields = index.kind {
                build.heldUp.insert(index.number)
                continue
            }
            // A text search cannot scan, so it is built without an unreadable document.
            group[position].built = row.number
        }
        if case .success(let document)? = content { size.add(document) }
        return true
    }

    /// Returns the progress of the indexes after the step; `isAtEnd` if the range had no further documents.
    ///
    /// - Returns: Each index with the number of the last row it covers; nil for a complete index.
    package func progress(
        isAtEnd: Bool,
        _ build: IndexBuild
    ) -> [(index: StoredIndex, built: Int64?)] {
        let isAtEnd = isAtEnd && !isStopped
        return group.map { open in
            guard isAtEnd, !build.heldUp.contains(open.index.number) else {
                return (open.index, open.built)
            }
            return (open.index, through == .max ? nil : through)
        }
    }
}
