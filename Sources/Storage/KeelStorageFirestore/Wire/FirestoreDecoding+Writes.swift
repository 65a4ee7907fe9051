internal import KeelCore
package import KeelStorageAdapting

extension FirestoreDecoding {
    /// Decodes the writes of a request, with the id, the reads and the origin from the extension member.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`, with the position of the write.
    package func batch(_ json: FirestoreJSON) throws(StorageError) -> WriteBatch {
        var writes: [DocumentWrite] = []
        for (position, element) in try json.list("writes").enumerated() {
            do throws(StorageError) {
                writes.append(try write(element))
            } catch {
                throw Self.flaw("write \(position): \(error.message)")
            }
        }
        let addition = try addition(to: json)
        return WriteBatch(
            id: try addition?.text("batchId"),
            writes,
            reads: try addition?.object("reads").map { json throws(StorageError) in
                try reads(json)
            },
            origin: try addition?.object("origin").map { json throws(StorageError) in
                try origin(json)
            }
        )
    }

    package func origin(_ json: FirestoreJSON) throws(StorageError) -> ChangeOrigin {
        guard let client = try json.text("client"), (1...1_500).contains(client.utf8.count) else {
            throw Self.flaw("“client” of “origin” must be text of up to 1,500 bytes")
        }
        guard let mutation = try json.wholeNumber("mutation") else {
            throw Self.flaw("“mutation” of “origin” is missing")
        }
        return ChangeOrigin(client: client, mutation: mutation)
    }

    package func write(_ json: FirestoreJSON) throws(StorageError) -> DocumentWrite {
        let condition = try condition(try json.object("currentDocument"))
        let isUpdate = json.member("update") != nil
        guard isUpdate || json.member("updateMask") == nil else {
            throw Self.flaw("“updateMask” belongs to an “update”")
        }
        let transforms = try json.list("updateTransforms")
        guard isUpdate || transforms.isEmpty else {
            throw Self.flaw("“updateTransforms” belong to an “update”")
        }
        if let name = try json.text("delete") {
            return DocumentWrite(try path(of: name), .delete, if: condition)
        }
        if let name = try json.text("verify") {
            return DocumentWrite(try path(of: name), .verify, if: condition)
        }
        if let replica = try addition(to: json)?.object("replicate") {
            let document = try document(replica)
            try DocumentValidation.check(try document.fields(), of: document.path)
            return DocumentWrite(document.path, .replicate(document), if: condition)
        }
        if let transform = try json.object("transform") {
            let path = try path(of: try transform.text("document") ?? "")
            let transforms = try self.transforms(try transform.list("fieldTransforms"))
            let changes = transforms.map { FieldChange($0.field, .transform($0.operation)) }
            return DocumentWrite(path, .update(changes), if: condition)
        }
        guard let document = try json.object("update") else {
            throw Self.flaw("it has none of “update”, “delete”, “verify” and “transform”")
        }
        let path = try path(of: try document.text("name") ?? "")
        let operation = try update(document, json, of: path)
        // An empty merge changes nothing, or creates an empty document.
        if case .update([]) = operation, condition != .none {
            let isNew = condition == .isMissing
            return DocumentWrite(
                path,
                isNew ? .set(DocumentBody(DocumentFields())) : .verify,
                if: condition
            )
        }
        return DocumentWrite(path, operation, if: condition)
    }

    /// Decodes an update: a set without a mask, otherwise changes to the fields of the mask.
    private func update(
        _ document: FirestoreJSON,
        _ json: FirestoreJSON,
        of path: DocumentPath
    ) throws(StorageError) -> DocumentWrite.Operation {
        let fields = try fields(document.member("fields"))
        let transforms = try self.transforms(try json.list("updateTransforms"))
        guard let mask = try json.object("updateMask") else {
            // Checked before encoding, because checking the body would decode it again.
            try DocumentValidation.check(fields, of: path)
            return .set(DocumentBody(fields), transforms: transforms)
        }
        var changes: [FieldChange] = []
        for field in try self.mask(mask) {
            let action: FieldChange.Action = fields[field].map { .set($0) } ?? .remove
            changes.append(FieldChange(field, action))
        }
        return .update(changes + transforms.map { FieldChange($0.field, .transform($0.operation)) })
    }

    /// Decodes the paths of a `DocumentMask`, without paths that are contained in others.
    package func mask(_ json: FirestoreJSON) throws(StorageError) -> [FieldPath] {
        var paths: [FieldPath] = []
        for element in try json.list("fieldPaths") { paths.append(try field(element.text)) }
        // In sorted order, a path directly precedes the paths that it contains.
        var outermost: [FieldPath] = []
        for path in paths.sorted() where outermost.last?.contains(path) != true {
            outermost.append(path)
        }
        return outermost
    }

    package func field(_ text: String?) throws(StorageError) -> FieldPath {
        guard let text else { throw Self.flaw("the path of a field is missing") }
        guard Self.isWellFormed(text) else {
            throw Self.flaw(
                "“\(text)” is not a valid field path: enclose names with other characters than letters, "
                    + "digits and underscores, or with a digit first, in backticks"
            )
        }
        let field = FieldPath(text)
        if let flaw = field.flaw { throw Self.flaw(flaw) }
        return field
    }

    /// Returns whether a path has the form required by the protocol (`StructuredQuery.FieldReference`).
    private static func isWellFormed(_ path: String) -> Bool {
        let (tick, backslash) = (UInt8(ascii: "`"), UInt8(ascii: "\\"))
        var rest = path.utf8[...]
        while true {
            if rest.first == tick {
                rest = rest.dropFirst()
                let start = rest.startIndex
                while let byte = rest.first, byte != tick {
                    rest = rest.dropFirst(byte == backslash ? 2 : 1)
                }
                guard !rest.isEmpty, rest.startIndex != start else { return false }
                rest = rest.dropFirst()
            } else {
                let name = rest.prefix(while: isPlain)
                guard let first = name.first, !first.isASCIIDigit else { return false }
                rest = rest.dropFirst(name.count)
            }
            guard let next = rest.first else { return true }
            guard next == UInt8(ascii: ".") else { return false }
            rest = rest.dropFirst()
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: "_")
    }

    package func condition(_ json: FirestoreJSON?) throws(StorageError) -> WriteCondition {
        guard let json else { return .none }
        if let revision = try revision(json) { return .revision(revision) }
        if let exists = try json.flag("exists") { return exists ? .exists : .isMissing }
        guard let text = try json.text("updateTime") else { return .none }
        let decimals = text.utf8.drop { $0 != UInt8(ascii: ".") }.dropFirst()
        guard decimals.prefix(while: \.isASCIIDigit).dropFirst(6).allSatisfy({ $0 == 0x30 }) else {
            throw Self.flaw("“updateTime” is finer than the microseconds that times have")
        }
        return .updateTime(try time("updateTime", of: json))
    }

    // MARK: Transforms

    private func transforms(
        _ list: [FirestoreJSON]
    ) throws(StorageError) -> [FieldTransform] {
        var transforms: [FieldTransform] = []
        for json in list {
            let field = try field(try json.text("fieldPath"))
            transforms.append(FieldTransform(field, try operation(json)))
        }
        return transforms
    }

    private func operation(
        _ json: FirestoreJSON
    ) throws(StorageError) -> FieldTransform.Operation {
        if let operand = try json.object("increment") { return .increment(try value(operand)) }
        if let operand = try json.object("maximum") { return .maximum(try value(operand)) }
        if let operand = try json.object("minimum") { return .minimum(try value(operand)) }
        if let list = try json.object("appendMissingElements") {
            return .arrayUnion(try values(list))
        }
        if let list = try json.object("removeAllFromArray") {
            return .arrayRemove(try values(list))
        }
        if let name = json.member("setToServerValue"), ["REQUEST_TIME", .integer(1)].contains(name)
        {
            return .serverTimestamp
        }
        if try addition(to: json)?.flag("commitTime") == true { return .commitTime }
        throw Self.flaw("unknown operation of a transform")
    }

    // MARK: Transaction reads

    package func reads(_ json: FirestoreJSON) throws(StorageError) -> TransactionReads {
        var reads = TransactionReads()
        reads.documents = try documentReads(try json.list("documents"))
        for element in try json.list("queries") {
            let parent = try parent(of: try element.text("parent") ?? "")
            reads.queries.append(
                TransactionReads.QueryRead(
                    query: try query(try element.object("structuredQuery"), under: parent),
                    found: try documentReads(try element.list("found"))
                )
            )
        }
        return reads
    }

    private func documentReads(
        _ list: [FirestoreJSON]
    ) throws(StorageError) -> [TransactionReads.DocumentRead] {
        var reads: [TransactionReads.DocumentRead] = []
        for json in list {
            let revision = try json.wholeNumber("revision").map(Revision.init(number:))
            let path = try path(of: try json.text("name") ?? "")
            reads.append(TransactionReads.DocumentRead(path: path, revision: revision))
        }
        return reads
    }
}
