internal import KeelCore
import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

/// The JSON form of the messages of a Listen stream, for one database.
///
/// Source: googleapis/googleapis `google/firestore/v1/firestore.proto`, `write.proto`.
struct ListenCoding: Sendable {
    private let decoding: FirestoreDecoding
    private let encoding: FirestoreEncoding
    private let reserved = ReservedNames(allowsOwn: false)

    init(database: String) {
        decoding = FirestoreDecoding(database: database)
        encoding = FirestoreEncoding(database: database)
    }

    // MARK: Requests

    /// Decodes a `ListenRequest`.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the message is malformed, which ends the stream. A target that
    ///   cannot be served becomes ``ListenRequest/reject(_:_:)``.
    func request(_ json: FirestoreJSON) throws(StorageError) -> ListenRequest {
        if let target = try json.object("addTarget") {
            guard let id = Int32(exactly: try target.wholeNumber("targetId") ?? 0), id >= 0 else {
                throw FirestoreDecoding.flaw("“targetId” must be a positive number of 32 bits")
            }
            do throws(StorageError) {
                return .add(try self.target(target, id))
            } catch {
                return .reject(id, StreamFailure(error))
            }
        }
        guard let number = try json.wholeNumber("removeTarget") else {
            throw FirestoreDecoding.flaw("a request has “addTarget” or “removeTarget”")
        }
        guard let id = Int32(exactly: number) else {
            throw FirestoreDecoding.flaw("“removeTarget” must be a number of 32 bits")
        }
        return .remove(id)
    }

    private func target(_ json: FirestoreJSON, _ id: Int32) throws(StorageError) -> ListenTarget {
        var target = ListenTarget(id: id, content: try content(json))
        if let text = try json.text("resumeToken"), !text.isEmpty {
            target.isResumed = true
            target.resumption = Base64.decode(text).flatMap { ResumeToken(bytes: $0) }
        }
        if json.member("readTime") != nil { target.isResumed = true }
        if let count = try json.wholeNumber("expectedCount"), (0...Int64(Int32.max)).contains(count)
        {
            target.expectedCount = Int(count)
        }
        target.isOnce = try json.flag("once") ?? false
        return target
    }

    private func content(_ json: FirestoreJSON) throws(StorageError) -> ListenTarget.Content {
        if let documents = try json.object("documents") {
            var paths: [DocumentPath] = []
            for name in try documents.list("documents") {
                guard let name = name.text else {
                    throw FirestoreDecoding.flaw("“documents” must be a list of names")
                }
                let path = try decoding.path(of: name)
                try reserved.check(path)
                paths.append(path)
            }
            guard !paths.isEmpty else { throw FirestoreDecoding.flaw("“documents” is empty") }
            return .documents(paths)
        }
        guard let query = try json.object("query") else {
            throw FirestoreDecoding.flaw("a target has “documents” or “query”")
        }
        let parent = try query.text("parent") ?? "\(decoding.database)/documents"
        let decoded = try decoding.query(
            try query.object("structuredQuery"),
            under: try decoding.parent(of: parent)
        )
        try reserved.check(decoded.scope)
        return .query(try QueryValidation.checked(decoded))
    }

    // MARK: Responses

    /// Encodes a `ListenResponse`; a document whose body cannot be decoded leaves its targets.
    func response(_ response: ListenResponse) -> FirestoreJSON {
        switch response {
        case .target(let change): return ["targetChange": self.change(change)]
        case .document(let change):
            guard let document = try? encoding.document(change.document) else {
                let targets = change.targets + change.removed
                let path = change.document.path
                return departure(.init(path: path, isDeleted: false, targets: targets))
            }
            return [
                "documentChange": .members([
                    "document": document,
                    "targetIds": Self.list(change.targets),
                    "removedTargetIds": Self.list(change.removed),
                ])
            ]
        case .departure(let departure): return self.departure(departure)
        case .filter(let filter): return ["filter": self.filter(filter)]
        }
    }

    private func filter(_ filter: ListenResponse.Filter) -> FirestoreJSON {
        let names = filter.paths.flatMap { BloomFilter($0.map(encoding.name)) }
        return .members([
            "targetId": .integer(Int64(filter.target)),
            "count": .integer(Int64(filter.count)),
            "unchangedNames": names.map { names in
                [
                    "bits": [
                        "bitmap": .string(Base64.encode(names.bits)),
                        "padding": .integer(Int64(names.padding)),
                    ],
                    "hashCount": .integer(Int64(names.hashCount)),
                ]
            },
        ])
    }

    private func departure(_ departure: ListenResponse.DocumentDeparture) -> FirestoreJSON {
        let content = FirestoreJSON.members([
            "document": .string(encoding.name(of: departure.path)),
            "removedTargetIds": Self.list(departure.targets),
            "readTime": Self.time(departure.readTime),
        ])
        return departure.isDeleted ? ["documentDelete": content] : ["documentRemove": content]
    }

    private func change(_ change: ListenResponse.TargetChange) -> FirestoreJSON {
        .members([
            "targetChangeType": Self.name(of: change.kind).map { .string($0) },
            "targetIds": Self.list(change.targets),
            "cause": change.cause?.json,
            "resumeToken": change.token.map { .string(Base64.encode($0.bytes)) },
            "readTime": Self.time(change.readTime),
        ])
    }

    /// Returns the name of a kind; nil for `NO_CHANGE`, which JSON leaves out.
    private static func name(of kind: ListenResponse.TargetChange.Kind) -> String? {
        switch kind {
        case .noChange: nil
        case .add: "ADD"
        case .remove: "REMOVE"
        case .current: "CURRENT"
        case .reset: "RESET"
        }
    }

    private static func list(_ targets: [Int32]) -> FirestoreJSON? {
        targets.isEmpty ? nil : .array(targets.map { .integer(Int64($0)) })
    }

    private static func time(_ time: Timestamp?) -> FirestoreJSON? {
        time.map { .string(FirestoreTime.text(of: $0)) }
    }
}
