internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore

enum ChangeMessages {
    static let heartbeat = Array(":\n\n".utf8)

    static func visible(_ changes: [ChangePage.Change]) -> [ChangePage.Change] {
        changes.filter { !isServers($0.path) }
    }

    static func isServers(_ path: DocumentPath) -> Bool {
        path.collection.string.utf8.elementsEqual(ReservedNames.server.utf8)
    }

    /// Encodes an element of `changes`.
    ///
    /// A document that cannot be decoded is reported as unreadable.
    static func change(
        _ change: ChangePage.Change,
        _ origin: ChangeOrigin?,
        database: String
    ) -> FirestoreJSON {
        let path = FirestoreJSON.string(change.path.string)
        let origin = origin.map { origin -> FirestoreJSON in
            ["client": .string(origin.client), "mutation": .string("\(origin.mutation)")]
        }
        switch change {
        case .current(let document):
            let encoding = FirestoreEncoding(database: database, isExtended: true)
            do throws(StorageError) {
                return .members([
                    "path": path, "rev": .string("\(document.revision)"),
                    "doc": try encoding.document(document), "origin": origin,
                ])
            } catch {
                return self.change(
                    .unreadable(UnreadableDocument(document.path, error)),
                    nil,
                    database: database
                )
            }
        case .unreadable(let document):
            return [
                "path": path,
                "unreadable": [
                    "code": .string(document.error.code.name),
                    "message": .string(document.error.message),
                ],
            ]
        case .removed(_, let revision, let time):
            return .members([
                "path": path, "rev": .string("\(revision)"), "deleted": true,
                "deleteTime": time.map { .string(FirestoreTime.text(of: $0)) }, "origin": origin,
            ])
        case .leftScope: return ["path": path, "left": true]
        }
    }

    static func page(_ page: ChangePage, database: String, epoch: String) -> FirestoreJSON {
        let changes = visible(page.changes).map {
            change($0, page.origins[$0.path], database: database)
        }
        return .members([
            "epoch": .string(epoch), "changes": .array(changes),
            "next": .string(text(of: page.next)), "complete": .boolean(page.isCaughtUp),
            "time": page.time.map { .string(FirestoreTime.text(of: $0)) },
            "acknowledged": acknowledged(page.acknowledged),
        ])
    }

    private static func acknowledged(_ mutations: [String: Int64]) -> FirestoreJSON? {
        guard !mutations.isEmpty else { return nil }
        return .object(
            mutations.sorted { $0.key < $1.key }
                .map { FirestoreJSON.Member($0.key, .string("\($0.value)")) }
        )
    }

    // MARK: Events

    static func event(
        _ change: ChangePage.Change,
        _ origin: ChangeOrigin?,
        database: String
    ) -> [UInt8] {
        event("change", data: self.change(change, origin, database: database))
    }

    /// Encodes the event that ends a page: `checkpoint` at a consistent point, otherwise `progress`.
    static func mark(
        _ page: ChangePage,
        for interest: ChangeInterest? = nil,
        epoch: String
    ) -> [UInt8] {
        guard page.isCaughtUp else { return event("progress", id: page.next, data: .object([])) }
        let own = page.acknowledged.filter { interest?.clients.contains($0.key) ?? false }
        return event(
            "checkpoint",
            id: page.next,
            data: .members([
                "epoch": .string(epoch),
                "time": page.time.map { .string(FirestoreTime.text(of: $0)) },
                "acknowledged": acknowledged(own),
            ])
        )
    }

    static func reset(_ error: StorageError) -> [UInt8] {
        event("reset", data: ["reason": .string(error.message)])
    }

    // JSON without spaces has no line breaks, so the data is a single line.
    private static func event(
        _ name: String,
        id: ChangeCursor? = nil,
        data: FirestoreJSON
    ) -> [UInt8] {
        var bytes = Array("event: \(name)\n".utf8)
        if let id { bytes += "id: \(text(of: id))\n".utf8 }
        bytes += "data: ".utf8
        data.append(to: &bytes)
        bytes += "\n\n".utf8
        return bytes
    }

    private static func text(of cursor: ChangeCursor) -> String {
        Base64.encodeForURL(cursor.bytes)
    }
}
