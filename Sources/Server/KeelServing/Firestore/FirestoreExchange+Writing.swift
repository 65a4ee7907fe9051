import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

extension FirestoreExchange {
    /// `createDocument`: creates a document, with a new id if the request has none.
    func createDocument(in collection: CollectionPath) async throws(StorageError) -> [UInt8] {
        try items.check("documentId", "mask.fieldPaths")
        let id = items["documentId"].flatMap { $0.isEmpty ? nil : $0 } ?? configuration.makeID()
        let path = DocumentPath(collection, id)
        let fields = try fields(of: path)
        let write = DocumentWrite(path, .set(DocumentBody(fields)), if: .isMissing)
        return try await reply(to: write, try mask("mask.fieldPaths"))
    }

    /// `patch`: replaces a document, or the fields of a mask.
    func patchDocument(_ path: DocumentPath) async throws(StorageError) -> [UInt8] {
        try items.check(
            "updateMask.fieldPaths",
            "mask.fieldPaths",
            "currentDocument.exists",
            "currentDocument.updateTime"
        )
        let fields = try fields(of: path)
        let operation: DocumentWrite.Operation =
            if let mask = try mask("updateMask.fieldPaths") {
                .update(
                    mask.map { field in
                        FieldChange(field, fields[field].map { .set($0) } ?? .remove)
                    }
                )
            } else {
                .set(DocumentBody(fields))
            }
        let write = DocumentWrite(path, operation, if: try condition())
        return try await reply(to: write, try mask("mask.fieldPaths"))
    }

    /// `delete`: deletes a document.
    func deleteDocument(_ path: DocumentPath) async throws(StorageError) -> [UInt8] {
        try items.check("currentDocument.exists", "currentDocument.updateTime")
        _ = try await commit(DocumentWrite(path, .delete, if: try condition()))
        return Self.nothing
    }

    private func fields(of path: DocumentPath) throws(StorageError) -> DocumentFields {
        if let name = try body.text("name"), !name.isEmpty {
            guard try decoding.path(of: name) == path else {
                throw FirestoreDecoding.flaw("“\(name)” is not the document of the request’s path")
            }
        }
        let fields = try decoding.fields(body.member("fields"))
        try DocumentValidation.check(fields, of: path)
        return fields
    }

    private func condition() throws(StorageError) -> WriteCondition {
        let exists = try items.flag("currentDocument.exists")
        return try decoding.condition(
            .members([
                "exists": exists.map(FirestoreJSON.boolean),
                "updateTime": items.text("currentDocument.updateTime"),
            ])
        )
    }

    private func commit(_ write: DocumentWrite) async throws(StorageError) -> CommitReceipt {
        let batch = WriteBatch([write])
        try WriteRules.check(batch, reserved, for: adapter.capabilities)
        return try await receipt(of: batch)
    }

    private func reply(
        to write: DocumentWrite,
        _ mask: [FieldPath]?
    ) async throws(StorageError) -> [UInt8] {
        let receipt = try await commit(write)
        var bytes: [UInt8] = []
        try append(await document(after: write, receipt), mask, to: &bytes)
        return bytes
    }

    /// Returns the document that resulted from a write.
    ///
    /// If the document has been deleted or cannot be read by then, the result has the written fields, because the write
    /// has taken effect.
    private func document(
        after write: DocumentWrite,
        _ receipt: CommitReceipt
    ) async -> Document {
        if write.condition != .isMissing,
            let result = try? await adapter.read(ReadRequest(.documents([write.path]))),
            case .documents(let documents) = result.payload, let document = documents[0]
        {
            return document
        }
        let time = receipt.outcomes.first?.updateTime ?? receipt.commitTime
        return Document(
            path: write.path,
            body: Self.body(of: write),
            revision: receipt.revision ?? Revision(number: time.microseconds),
            createTime: time,
            updateTime: time
        )
    }

    private static func body(of write: DocumentWrite) -> DocumentBody {
        switch write.operation {
        case .set(let body, _): return body
        case .update(let changes):
            var values: [(path: FieldPath, value: DocumentValue?)] = []
            for change in changes {
                guard case .set(let value) = change.action else { continue }
                values.append((path: change.field, value: value))
            }
            var fields = DocumentFields()
            fields.apply(values)
            return DocumentBody(fields)
        case .delete, .verify: return DocumentBody(DocumentFields())
        case .replicate(let document): return document.body
        }
    }
}
