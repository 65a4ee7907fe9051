package import KeelDocuments

/// The rules of writes and batches, which the client checks.
package enum WriteValidation {
    package static let mostWrites = 500
    /// The maximum number of transforms of one document in a batch, as in Firestore.
    package static let mostTransforms = 500

    /// Checks the writes of a batch; `own` are those to reserved paths.
    package static func check(
        _ writes: [DocumentWrite],
        own: [DocumentWrite] = []
    ) throws(StorageError) {
        let count = writes.count + own.count
        guard count <= mostWrites else {
            throw StorageError(
                .tooLarge,
                "a batch has \(count) writes; the maximum is \(mostWrites)"
            )
        }
        for write in writes {
            try DocumentValidation.check(write.path)
            try check(write)
        }
        if writes.count > 1 { try checkSequence(of: writes) }
        try checkTransforms(of: writes + own)
        for write in own {
            if let flaw = write.path.flaw { throw StorageError(.invalidArgument, flaw) }
            try check(write)
        }
    }

    /// Refuses a write that requires a document which the same batch deletes earlier.
    private static func checkSequence(of writes: [DocumentWrite]) throws(StorageError) {
        var deleted: Set<DocumentPath> = []
        for write in writes {
            switch (write.operation, write.condition) {
            case (.delete, .none): deleted.insert(write.path)
            case (.verify, _): continue
            case (_, .exists) where deleted.contains(write.path):
                throw StorageError(
                    .invalidArgument,
                    "the batch deletes “\(write.path)” and then requires it to exist",
                    resource: write.path.string
                )
            default: deleted.remove(write.path)
            }
        }
    }

    /// Refuses many transforms of one document, each of which may compare all elements of a large array.
    private static func checkTransforms(of writes: [DocumentWrite]) throws(StorageError) {
        var counts: [DocumentPath: Int] = [:]
        for write in writes {
            let own = transformCount(of: write.operation)
            guard own > 0 else { continue }
            let count = counts[write.path, default: 0] + own
            guard count <= mostTransforms else {
                throw StorageError(
                    .invalidArgument,
                    "the batch has more than \(mostTransforms) transforms of “\(write.path)”; commit "
                        + "some of them later",
                    resource: write.path.string
                )
            }
            counts[write.path] = count
        }
    }

    private static func transformCount(of operation: DocumentWrite.Operation) -> Int {
        switch operation {
        case .set(_, let transforms): transforms.count
        case .update(let changes):
            changes.count(where: { if case .transform = $0.action { true } else { false } })
        case .delete, .verify, .replicate: 0
        }
    }

    private static func check(_ write: DocumentWrite) throws(StorageError) {
        switch write.operation {
        case .set(let body, let transforms):
            try DocumentValidation.check(body, of: write.path)
            try check(transformed: transforms.map(\.field), of: write.path)
            for transform in transforms {
                try check(transform.operation, of: transform.field, in: write.path)
            }
        case .update(let changes):
            // An empty merge creates a missing document; an empty update would do nothing.
            guard !changes.isEmpty || write.condition == .none else {
                throw StorageError(
                    .invalidArgument,
                    "the update of “\(write.path)” has no fields; use verify to check existence only",
                    resource: write.path.string
                )
            }
            try check(changes, of: write.path)
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
                    "“\(document.path)” cannot be replicated to “\(write.path)”"
                )
            }
        case .delete, .verify: return
        }
    }

    /// Refuses changes whose order a request cannot express: transforms are computed after all other changes.
    private static func check(
        _ changes: [FieldChange],
        of path: DocumentPath
    ) throws(StorageError) {
        var (set, transformed): ([FieldPath], [FieldPath]) = ([], [])
        for change in changes {
            if case .transform = change.action {
                transformed.append(change.field)
                continue
            }
            if let before = transformed.first(where: { field in
                field.contains(change.field) || change.field.contains(field)
            }) {
                throw StorageError(
                    .invalidArgument,
                    "the write to “\(path)” transforms “\(before)” and then changes "
                        + "“\(change.field)”; transforms come last",
                    resource: path.string
                )
            }
            set.append(change.field)
        }
        try check(fields: set, of: path)
        try check(transformed: transformed, of: path)
    }

    private static func check(
        transformed fields: [FieldPath],
        of path: DocumentPath
    ) throws(StorageError) {
        // Several transforms of one field build on each other, so a field may occur more than once.
        try check(fields: Array(Set(fields)), of: path)
    }

    private static func check(
        fields: [FieldPath],
        of path: DocumentPath
    ) throws(StorageError) {
        for field in fields {
            if field.isDocumentID {
                throw StorageError(
                    .invalidArgument,
                    "a document’s id is not a field and cannot be written",
                    resource: path.string
                )
            }
            if let flaw = field.flaw {
                throw StorageError(.invalidArgument, flaw, resource: path.string)
            }
            // Queries may name it, but only a vector has it, and a vector is written whole.
            if field.names.contains(VectorValue.typeName) {
                throw StorageError(
                    .invalidArgument,
                    "“\(field)” cannot be written: “\(VectorValue.typeName)” is reserved for vectors",
                    resource: path.string
                )
            }
        }
        // In sorted order, a path directly precedes the first path that it contains.
        let sorted = fields.sorted()
        for (one, next) in zip(sorted, sorted.dropFirst()) where one.contains(next) {
            throw StorageError(
                .invalidArgument,
                "the write to “\(path)” changes both “\(one)” and “\(next)”, and one "
                    + "contains the other",
                resource: path.string
            )
        }
    }

    private static func check(
        _ transform: FieldTransform.Operation,
        of field: FieldPath,
        in path: DocumentPath
    ) throws(StorageError) {
        // A transform creates the maps that contain its field.
        try DocumentValidation.check(.null, in: field, of: path)
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
        case .serverTimestamp, .commitTime: return
        }
    }
}
