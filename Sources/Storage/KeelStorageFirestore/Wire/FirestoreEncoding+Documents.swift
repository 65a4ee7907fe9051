internal import KeelCore
package import KeelStorageAdapting

extension FirestoreEncoding {
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

    /// Encodes a `CommitResponse`.
    ///
    /// A batch without changes gets the next microsecond after the state that it found, which no other commit has:
    /// clients of Google's protocol expect every commit to be later than the one before.
    package func receipt(_ receipt: CommitReceipt) -> FirestoreJSON {
        let isUnchanged = receipt.isWithoutChanges
        let time = receipt.commitTime.advanced(by: .microseconds(isUnchanged ? 1 : 0))
        return .members([
            "writeResults": .array(receipt.outcomes.map(result)),
            "commitTime": .string(FirestoreTime.text(of: time)),
            Self.extensionName: isExtended
                ? .members([
                    "position": receipt.position.map(cursor),
                    "unchanged": isUnchanged ? true : nil,
                ]) : nil,
        ])
    }

    /// Encodes a `WriteResult`, with the time of a deletion in the extension member.
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

    package func unreadable(_ document: UnreadableDocument) -> FirestoreJSON {
        [
            "name": .string(name(of: document.path)),
            "code": .string(document.error.code.name),
            "message": .string(document.error.message),
        ]
    }

    package func revision(_ revision: Revision) -> FirestoreJSON {
        ["revision": .string("\(revision.number)")]
    }

    /// Encodes a duration in proto3's JSON form: seconds with nine digits.
    package static func duration(_ duration: Duration) -> FirestoreJSON {
        let (seconds, attoseconds) = duration.components
        let digits = "\(attoseconds / 1_000_000_000)"
        let zeros = String(repeating: "0", count: max(0, 9 - digits.count))
        return .string("\(seconds).\(zeros)\(digits)s")
    }

    /// Encodes a change log position as text that is valid in a URL and in `Last-Event-ID`.
    package func cursor(_ cursor: ChangeCursor) -> FirestoreJSON {
        .string(Base64.encodeForURL(cursor.bytes))
    }
}
