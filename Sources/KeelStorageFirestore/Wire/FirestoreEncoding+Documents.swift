package import KeelStorage

extension FirestoreEncoding {
    /// A `Document`.
    ///
    /// - Throws: `StorageError/Code/corrupted` if the document's body cannot be decoded.
    package func document(_ document: Document) throws(StorageError) -> FirestoreJSON {
        .members([
            "name": .string(name(of: document.path)),
            "fields": fields(try document.fields()),
            "createTime": .string(FirestoreTime.text(of: document.createTime)),
            "updateTime": .string(FirestoreTime.text(of: document.updateTime)),
            Self.extensionName: isExtended ? revision(document.revision) : nil,
        ])
    }

    /// What a commit says: `CommitResponse`.
    ///
    /// - Parameters:
    ///   - receipt: What the store said.
    ///   - unchanged: The times of the last change of documents that a write left as they were, by
    ///     the write's position.
    /// - Returns: The message.
    package func receipt(
        _ receipt: CommitReceipt,
        unchanged: [Int: Timestamp] = [:]
    ) -> FirestoreJSON {
        let results = receipt.outcomes.enumerated().map { position, outcome in
            result(outcome, at: unchanged[position] ?? receipt.commitTime)
        }
        return .members([
            "writeResults": .array(results),
            "commitTime": .string(FirestoreTime.text(of: receipt.commitTime)),
            Self.extensionName: isExtended
                ? .members(["position": receipt.position.map(cursor)]) : nil,
        ])
    }

    /// A `WriteResult`; that of a deletion has no time.
    package func result(
        _ outcome: CommitReceipt.WriteOutcome,
        at time: Timestamp
    ) -> FirestoreJSON {
        .members([
            "updateTime": outcome.revision.map { _ in .string(FirestoreTime.text(of: time)) },
            "transformResults": outcome.transformResults.isEmpty
                ? nil : .array(outcome.transformResults.map(value)),
            Self.extensionName: isExtended ? outcome.revision.map(revision) : nil,
        ])
    }

    /// A document that the server cannot read.
    package func unreadable(_ document: UnreadableDocument) -> FirestoreJSON {
        [
            "name": .string(name(of: document.path)),
            "code": .string(document.error.code.name),
            "message": .string(document.error.message),
        ]
    }

    /// The member that holds a revision, as 64-bit integers stand in proto3's JSON form.
    package func revision(_ revision: Revision) -> FirestoreJSON {
        ["revision": .string("\(revision.number)")]
    }

    /// A position of the change log as text, fit for a URL and for `Last-Event-ID`.
    package func cursor(_ cursor: ChangeCursor) -> FirestoreJSON {
        .string(Base64.encodeForURL(cursor.bytes))
    }
}
