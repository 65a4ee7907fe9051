package import KeelStorage

extension FirestoreRequestCoding {
    /// The body of a `commit` request.
    ///
    /// - Throws: ``StorageError/Code/unsupported`` for a write that Firestore has no form for.
    package func commit(_ writes: [DocumentWrite]) throws(StorageError) -> FirestoreJSON {
        var encoded: [FirestoreJSON] = []
        for write in writes { encoded.append(try self.write(write)) }
        return ["database": .string(database), "writes": .array(encoded)]
    }

    /// A `Write`.
    ///
    /// A set is an `update` without a mask. An update names the fields it sets or removes in its
    /// mask; a field that is in the mask and not in the document is removed. Transforms stand
    /// beside both and are never in the mask.
    ///
    /// - Throws: ``StorageError/Code/unsupported`` for a replica: Firestore decides about times.
    package func write(_ write: DocumentWrite) throws(StorageError) -> FirestoreJSON {
        var members: [String: FirestoreJSON] = [:]
        let name = FirestoreJSON.string(name(of: write.path))
        switch write.operation {
        case .set(let body, let transforms):
            members["update"] = ["name": name, "fields": fields(try body.fields())]
            members["updateTransforms"] = self.transforms(
                transforms.map { ($0.field, $0.operation) }
            )
        case .update(let changes):
            var fields = DocumentFields()
            var mask: [FieldPath] = []
            var transforms: [(FieldPath, FieldTransform.Operation)] = []
            for change in changes {
                switch change.action {
                case .set(let value):
                    fields[change.field] = value
                    mask.append(change.field)
                case .remove: mask.append(change.field)
                case .transform(let operation): transforms.append((change.field, operation))
                }
            }
            members["update"] = ["name": name, "fields": self.fields(fields)]
            members["updateMask"] = [
                "fieldPaths": .array(mask.sorted().map { .string($0.description) })
            ]
            members["updateTransforms"] = self.transforms(transforms)
        case .delete: members["delete"] = name
        case .verify: members["verify"] = name
        case .replicate:
            throw StorageError(
                .unsupported,
                "Firestore sets times itself; a replica of “\(write.path)” cannot be stored",
                resource: write.path.string
            )
        }
        members["currentDocument"] = precondition(write.condition)
        return .object(members)
    }

    /// A `Precondition`, or nil where there is none.
    ///
    /// Firestore knows no revisions: those of its documents are their update times, as microseconds.
    private func precondition(_ condition: WriteCondition) -> FirestoreJSON? {
        switch condition {
        case .none: nil
        case .exists: ["exists": true]
        case .isMissing: ["exists": false]
        case .revision(let revision):
            ["updateTime": .string(Self.text(of: Timestamp(microseconds: revision.number)))]
        case .updateTime(let time): ["updateTime": .string(Self.text(of: time))]
        }
    }

    /// The `FieldTransform`s of a write, or nil where there are none.
    private func transforms(
        _ transforms: [(FieldPath, FieldTransform.Operation)]
    ) -> FirestoreJSON? {
        guard !transforms.isEmpty else { return nil }
        return .array(
            transforms.map { field, operation in
                var members: [String: FirestoreJSON] = ["fieldPath": .string(field.description)]
                switch operation {
                case .increment(let operand): members["increment"] = value(operand)
                case .maximum(let operand): members["maximum"] = value(operand)
                case .minimum(let operand): members["minimum"] = value(operand)
                case .arrayUnion(let values):
                    members["appendMissingElements"] = ["values": .array(values.map(value))]
                case .arrayRemove(let values):
                    members["removeAllFromArray"] = ["values": .array(values.map(value))]
                case .serverTimestamp: members["setToServerValue"] = "REQUEST_TIME"
                }
                return .object(members)
            }
        )
    }
}
