internal import KeelStorage
internal import KeelStorageFirestore

/// Writes the messages of Keel Sync: pages, and the events of a stream.
enum ChangeMessages {
    /// A comment, which readers of a stream pass over.
    static let heartbeat = Array(":\n\n".utf8)

    /// The changes of a page that clients are told: not those of the server's own records.
    static func visible(_ changes: [ChangePage.Change]) -> [ChangePage.Change] {
        changes.filter { !isServers($0.path) }
    }

    /// Whether a document is one of the server's own.
    static func isServers(_ path: DocumentPath) -> Bool {
        path.collection.string.utf8.elementsEqual(ReservedNames.server.utf8)
    }

    /// One element of `changes`; a document that cannot be decoded says so and hides no other one.
    static func change(_ change: ChangePage.Change, database: String) -> FirestoreJSON {
        let path = FirestoreJSON.string(change.path.string)
        switch change {
        case .current(let document):
            let encoding = FirestoreEncoding(database: database, isExtended: true)
            do throws(StorageError) {
                return [
                    "path": path, "rev": .string("\(document.revision)"),
                    "doc": try encoding.document(document),
                ]
            } catch {
                return self.change(
                    .unreadable(UnreadableDocument(document.path, error)),
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
        case .removed(_, let revision):
            return ["path": path, "rev": .string("\(revision)"), "deleted": true]
        case .leftScope: return ["path": path, "left": true]
        }
    }

    /// A page.
    static func page(_ page: ChangePage, database: String, epoch: String) -> FirestoreJSON {
        let changes = visible(page.changes).map { change($0, database: database) }
        return [
            "epoch": .string(epoch), "changes": .array(changes),
            "next": .string(text(of: page.next)), "complete": .boolean(page.isCaughtUp),
        ]
    }

    // MARK: Events

    /// A `change` event.
    static func event(_ change: ChangePage.Change, database: String) -> [UInt8] {
        event("change", data: self.change(change, database: database))
    }

    /// The event that ends a page: `checkpoint` where the point is consistent, else `progress`.
    static func mark(_ position: ChangeCursor, isConsistent: Bool, epoch: String) -> [UInt8] {
        isConsistent
            ? event("checkpoint", id: position, data: ["epoch": .string(epoch)])
            : event("progress", id: position, data: .object([]))
    }

    /// A `reset` event.
    static func reset(_ error: StorageError) -> [UInt8] {
        event("reset", data: ["reason": .string(error.message)])
    }

    // JSON without spaces has no line ends, so that the data is one line.
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
