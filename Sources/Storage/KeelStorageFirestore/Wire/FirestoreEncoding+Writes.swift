package import KeelStorageAdapting

extension FirestoreEncoding {
    /// Encodes the body of a `commit` request.
    ///
    /// - Throws: `StorageError/Code/unsupported` for a write that Firestore does not support.
    package func commit(_ writes: [DocumentWrite]) throws(StorageError) -> FirestoreJSON {
        ["database": .string(database), "writes": .array(try self.writes(writes))]
    }

    /// Encodes the body of a `commit` request with the batch's id, reads and origin, which only Keel's servers
    /// understand.
    package func commit(_ batch: WriteBatch) throws(StorageError) -> FirestoreJSON {
        let reads = try batch.reads.map { reads throws(StorageError) in try self.reads(reads) }
        return .members([
            "database": .string(database),
            "writes": .array(try writes(batch.writes)),
            Self.extensionName: .members([
                "batchId": batch.id.map(FirestoreJSON.string), "reads": reads,
                "origin": batch.origin.map { origin in
                    ["client": .string(origin.client), "mutation": .string("\(origin.mutation)")]
                },
            ]),
        ])
    }

    private func writes(_ writes: [DocumentWrite]) throws(StorageError) -> [FirestoreJSON] {
        var encoded: [FirestoreJSON] = []
        encoded.reserveCapacity(writes.count)
        for write in writes { encoded.append(try self.write(write)) }
        return encoded
    }

    /// Encodes a `Write`.
    ///
    /// A set is an `update` without a mask. The mask of an update names the fields to set or remove; a field that is in
    /// the mask but not in the document is removed. Transforms are separate and never in the mask.
    ///
    /// - Throws: `StorageError/Code/unsupported` for a replica without Keel's extensions, because Firestore assigns
    ///   times itself.
    package func write(_ write: DocumentWrite) throws(StorageError) -> FirestoreJSON {
        let name = FirestoreJSON.string(name(of: write.path))
        let condition = precondition(write.condition)
        switch write.operation {
        case .set(let body, let transforms):
            return .members([
                "update": ["name": name, "fields": fields(try body.fields())],
                "updateTransforms": self.transforms(transforms),
                "currentDocument": condition,
            ])
        case .update(let changes):
            var values: [(path: FieldPath, value: DocumentValue?)] = []
            var mask: [FieldPath] = []
            var transforms: [FieldTransform] = []
            for change in changes {
                switch change.action {
                case .set(let value):
                    values.append((path: change.field, value: value))
                    mask.append(change.field)
                case .remove: mask.append(change.field)
                case .transform(let operation):
                    transforms.append(FieldTransform(change.field, operation))
                }
            }
            var fields = DocumentFields()
            fields.apply(values)
            return .members([
                "update": ["name": name, "fields": self.fields(fields)],
                "updateMask": [
                    "fieldPaths": .array(mask.sorted().map { .string($0.description) })
                ],
                "updateTransforms": self.transforms(transforms),
                "currentDocument": condition,
            ])
        case .delete: return .members(["delete": name, "currentDocument": condition])
        case .verify: return .members(["verify": name, "currentDocument": condition])
        case .replicate(let document):
            guard isExtended else {
                throw StorageError(
                    .unsupported,
                    "Firestore sets times itself; a replica of “\(write.path)” cannot be stored",
                    resource: write.path.string
                )
            }
            return .members([
                Self.extensionName: ["replicate": try self.document(document)],
                "currentDocument": condition,
            ])
        }
    }

    /// Encodes a `Precondition`; returns nil if there is no condition.
    ///
    /// Firestore has no revisions: the revision of its documents is the update time in microseconds.
    private func precondition(_ condition: WriteCondition) -> FirestoreJSON? {
        switch condition {
        case .none: nil
        case .exists: ["exists": true]
        case .isMissing: ["exists": false]
        case .revision(let revision) where isExtended:
            [Self.extensionName: self.revision(revision)]
        case .revision(let revision):
            [
                "updateTime": .string(
                    FirestoreTime.text(of: Timestamp(microseconds: revision.number))
                )
            ]
        case .updateTime(let time): ["updateTime": .string(FirestoreTime.text(of: time))]
        }
    }

    private func transforms(_ transforms: [FieldTransform]) -> FirestoreJSON? {
        guard !transforms.isEmpty else { return nil }
        return .array(
            transforms.map { transform in
                let (name, operand) = self.operation(transform.operation)
                return ["fieldPath": .string(transform.field.description), name: operand]
            }
        )
    }

    private func operation(
        _ operation: FieldTransform.Operation
    ) -> (name: String, operand: FirestoreJSON) {
        switch operation {
        case .increment(let operand): ("increment", value(operand))
        case .maximum(let operand): ("maximum", value(operand))
        case .minimum(let operand): ("minimum", value(operand))
        case .arrayUnion(let values):
            ("appendMissingElements", ["values": .array(values.map(value))])
        case .arrayRemove(let values):
            ("removeAllFromArray", ["values": .array(values.map(value))])
        case .serverTimestamp: ("setToServerValue", "REQUEST_TIME")
        case .commitTime:
            isExtended
                ? (Self.extensionName, ["commitTime": true]) : ("setToServerValue", "REQUEST_TIME")
        }
    }

    // MARK: Transaction reads

    /// Encodes the reads of a transaction, without their position.
    package func reads(_ reads: TransactionReads) throws(StorageError) -> FirestoreJSON {
        var queries: [FirestoreJSON] = []
        for read in reads.queries {
            queries.append([
                "parent": .string(parent(of: read.query.scope)),
                "structuredQuery": try query(read.query, turnsRound: false),
                "found": .array(read.found.map(self.read)),
            ])
        }
        return ["documents": .array(reads.documents.map(read)), "queries": .array(queries)]
    }

    private func read(_ read: TransactionReads.DocumentRead) -> FirestoreJSON {
        .members([
            "name": .string(name(of: read.path)),
            "revision": read.revision.map { .string("\($0.number)") },
        ])
    }
}
