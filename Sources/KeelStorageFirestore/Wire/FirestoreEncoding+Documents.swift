package import KeelStorageAdapting

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
    package func receipt(_ receipt: CommitReceipt) -> FirestoreJSON {
        .members([
            "writeResults": .array(receipt.outcomes.map(result)),
            "commitTime": .string(FirestoreTime.text(of: receipt.commitTime)),
            Self.extensionName: isExtended
                ? .members(["position": receipt.position.map(cursor)]) : nil,
        ])
    }

    /// A `WriteResult`; that of a deletion has its time beside Firestore's own members.
    package func result(_ outcome: CommitReceipt.WriteOutcome) -> FirestoreJSON {
        let time = outcome.updateTime.map { FirestoreJSON.string(FirestoreTime.text(of: $0)) }
        var addition = outcome.revision.map(revision)
        if addition == nil, let time { addition = ["deleteTime": time] }
        return .members([
            "updateTime": outcome.revision == nil ? nil : time,
            "transformResults": outcome.transformResults.isEmpty
                ? nil : .array(outcome.transformResults.map(value)),
            Self.extensionName: isExtended ? addition : nil,
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

    /// A duration in proto3's JSON form: seconds with nine digits.
    package static func duration(_ duration: Duration) -> FirestoreJSON {
        let (seconds, attoseconds) = duration.components
        let digits = "\(attoseconds / 1_000_000_000)"
        let zeros = String(repeating: "0", count: max(0, 9 - digits.count))
        return .string("\(seconds).\(zeros)\(digits)s")
    }

    /// A position of the change log as text, fit for a URL and for `Last-Event-ID`.
    package func cursor(_ cursor: ChangeCursor) -> FirestoreJSON {
        .string(Base64.encodeForURL(cursor.bytes))
    }
}
