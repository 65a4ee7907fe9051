/// The rules of writes and batches, checked by the front before an adapter sees them.
package enum WriteValidation {
    /// The most writes in one batch.
    package static let mostWrites = 500

    /// Checks the writes of a batch; `own` are those to Keel's own part of the store.
    package static func check(
        _ writes: [DocumentWrite],
        own: [DocumentWrite] = []
    ) throws(StorageError) {
        let count = writes.count + own.count
        guard count <= mostWrites else {
            throw StorageError(
                .tooLarge,
                "a batch has \(count) writes; \(mostWrites) is the most"
            )
        }
        for write in writes {
            try DocumentValidation.check(write.path)
            try check(write)
        }
        for write in own {
            if let flaw = write.path.flaw { throw StorageError(.invalidArgument, flaw) }
            try check(write)
        }
    }

    private static func check(_ write: DocumentWrite) throws(StorageError) {
        switch write.operation {
        case .set(let body, let transforms):
            try DocumentValidation.check(body, of: write.path)
            try check(fields: transforms.map(\.field), of: write.path)
            for transform in transforms {
                try check(transform.operation, of: transform.field, in: write.path)
            }
        case .update(let changes):
            // A merge of no fields makes sure that there is a document; an update would do nothing.
            guard !changes.isEmpty || write.condition == .none else {
                throw StorageError(
                    .invalidArgument,
                    "the update of “\(write.path)” names no field; verify asks for existence alone",
                    resource: write.path.string
                )
            }
            try check(fields: changes.map(\.field), of: write.path)
            for change in changes {
                switch change.action {
                case .set(let value):
                    try DocumentValidation.check(value, in: change.field, of: write.path)
                case .transform(let operation):
                    try check(operation, of: change.field, in: write.path)
                case .remove: continue
                }
            }
        case .replicate(let document):
            guard document.path == write.path else {
                throw StorageError(
                    .invalidArgument,
                    "“\(document.path)” is replicated to “\(write.path)”"
                )
            }
        case .delete, .verify: return
        }
    }

    /// Refuses bad field paths and paths of which one contains the other.
    private static func check(
        fields: [FieldPath],
        of path: DocumentPath
    ) throws(StorageError) {
        for field in fields {
            if field.isDocumentID {
                throw StorageError(
                    .invalidArgument,
                    "a document’s id is no field; it cannot be written",
                    resource: path.string
                )
            }
            if let flaw = field.flaw {
                throw StorageError(.invalidArgument, flaw, resource: path.string)
            }
        }
        // Sorted, a path stands directly before the first of those it contains.
        let sorted = fields.sorted()
        for (one, next) in zip(sorted, sorted.dropFirst()) where one.contains(next) {
            throw StorageError(
                .invalidArgument,
                "the write to “\(path)” changes both “\(one)” and “\(next)”, of which one contains "
                    + "the other",
                resource: path.string
            )
        }
    }

    private static func check(
        _ transform: FieldTransform.Operation,
        of field: FieldPath,
        in path: DocumentPath
    ) throws(StorageError) {
        switch transform {
        case .increment(let operand), .maximum(let operand), .minimum(let operand):
            guard operand.isNumber else {
                throw StorageError(
                    .invalidArgument,
                    "the transform of “\(field)” needs an integer or a double, not a "
                        + operand.kindName,
                    resource: path.string
                )
            }
        case .arrayUnion(let values), .arrayRemove(let values):
            try DocumentValidation.check(.array(values), in: field, of: path)
        case .serverTimestamp: return
        }
    }
}
