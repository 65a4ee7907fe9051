package import KeelDocuments

package struct LoggedChange {
    package let sequence: Int64
    package let collection: Int64
    package let id: String
    /// The revision of the document, or of its removal.
    package let revision: Int64
    package let isRemoval: Bool
    package let mark: Int64
    /// The number of the client, and the mutation.
    package let origin: (client: Int64, mutation: Int64)?

    package init(
        sequence: Int64,
        collection: Int64,
        id: String,
        revision: Int64,
        isRemoval: Bool,
        mark: Int64,
        origin: (client: Int64, mutation: Int64)?
    ) {
        self.sequence = sequence
        self.collection = collection
        self.id = id
        self.revision = revision
        self.isRemoval = isRemoval
        self.mark = mark
        self.origin = origin
    }
}

package struct LogExtent {
    package let sequence: Int64
    package let time: Timestamp
    package let trimmed: Int64
    package let compacted: Int64
    /// The marks of changes that have been read already, by their sequences.
    package var marks: [Int64: Int64] = [:]

    package init(sequence: Int64, time: Timestamp, trimmed: Int64, compacted: Int64) {
        self.sequence = sequence
        self.time = time
        self.trimmed = trimmed
        self.compacted = compacted
    }
}
