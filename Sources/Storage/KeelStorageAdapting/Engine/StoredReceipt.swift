package import KeelDocuments

package enum StoredReceipt {
    package static func encoded(_ receipt: CommitReceipt, sequence: Int64) -> [UInt8] {
        let outcomes = receipt.outcomes.map { outcome -> DocumentValue in
            .map([
                "revision": outcome.revision.map { .integer($0.number) } ?? .null,
                "updated": outcome.updateTime.map { .timestamp($0) } ?? .null,
                "results": .array(outcome.transformResults),
            ])
        }
        var fields: DocumentFields = [
            "time": .timestamp(receipt.commitTime),
            "sequence": .integer(sequence),
            "outcomes": .array(outcomes),
        ]
        if receipt.isWithoutChanges { fields["unchanged"] = true }
        return DocumentBody(fields).bytes
    }

    package static func decoded(
        _ bytes: [UInt8],
        id: String,
        position: (Int64) throws -> ChangeCursor
    ) throws -> CommitReceipt {
        let fields = try DocumentBody(bytes: bytes).fields()
        guard let time = fields["time"]?.timestampValue,
            let sequence = fields["sequence"]?.integerValue,
            let outcomes = fields["outcomes"]?.arrayValue
        else {
            throw StorageError(.corrupted, "the receipt of a repeated batch is damaged")
        }
        var receipt = CommitReceipt(
            batchID: id,
            commitTime: time,
            outcomes: outcomes.map { outcome in
                let fields = outcome.mapValue ?? DocumentFields()
                let revision = fields["revision"]?.integerValue.map(Revision.init(number:))
                return CommitReceipt.WriteOutcome(
                    revision: revision,
                    // Receipts of earlier versions contain only the time of the commit.
                    updateTime: fields["updated"]?.timestampValue ?? revision.map { _ in time },
                    transformResults: fields["results"]?.arrayValue ?? []
                )
            },
            position: try position(sequence)
        )
        receipt.isWithoutChanges = fields["unchanged"]?.booleanValue ?? false
        return receipt
    }
}
