internal import KeelStorage

/// Reads the messages of Keel Sync.
struct FeedDecoding: Sendable {
    private let documents: FirestoreDecoding

    init(database: String) {
        documents = FirestoreDecoding(database: database, isExtended: true)
    }

    /// A page.
    ///
    /// - Throws: `StorageError/Code/invalidReply` if the server has sent something else.
    func page(_ json: FirestoreJSON) throws(StorageError) -> FeedConnection.Page {
        do throws(StorageError) {
            var changes: [ChangePage.Change] = []
            for element in try json.list("changes") { changes.append(try change(element)) }
            guard let next = try documents.cursor("next", of: json) else {
                throw FirestoreDecoding.flaw("a page has no “next”")
            }
            let isCaughtUp = try json.flag("complete") ?? false
            let epoch = try json.text("epoch") ?? ""
            let page = ChangePage(changes: changes, next: next, isCaughtUp: isCaughtUp)
            return FeedConnection.Page(page: page, epoch: epoch)
        } catch {
            throw Self.unreadable(error)
        }
    }

    /// The data of a `change` event.
    ///
    /// - Throws: `StorageError/Code/invalidReply` if the server has sent something else.
    func change(data: String) throws(StorageError) -> ChangePage.Change {
        let json: FirestoreJSON
        do throws(FirestoreJSONError) {
            json = try FirestoreJSON(parsing: data.utf8)
        } catch {
            throw .invalidReply("its change is not JSON: \(error)")
        }
        do throws(StorageError) { return try change(json) } catch { throw Self.unreadable(error) }
    }

    /// The epoch that the data of a `checkpoint` event names, nil if it names none.
    func epoch(of data: String) -> String? {
        (try? FirestoreJSON(parsing: data.utf8))?["epoch"]?.text
    }

    /// The document of a change, at the revision that the change names.
    private func document(
        _ json: FirestoreJSON,
        of change: FirestoreJSON
    ) throws(StorageError) -> Document {
        let document = try documents.document(json)
        guard let number = try change.wholeNumber("rev") else { return document }
        return Document(
            path: document.path,
            body: document.body,
            revision: Revision(number: number),
            createTime: document.createTime,
            updateTime: document.updateTime
        )
    }

    private func change(_ json: FirestoreJSON) throws(StorageError) -> ChangePage.Change {
        if let document = try json.object("doc") {
            return .current(try self.document(document, of: json))
        }
        guard let text = try json.text("path") else {
            throw FirestoreDecoding.flaw("a change has no “path”")
        }
        let path = DocumentPath(text)
        if let flaw = path.flaw { throw FirestoreDecoding.flaw(flaw) }
        if let failure = try json.object("unreadable") {
            return .unreadable(try documents.unreadable(failure, at: path))
        }
        if try json.flag("left") == true { return .leftScope(path) }
        guard try json.flag("deleted") == true, let number = try json.wholeNumber("rev") else {
            throw FirestoreDecoding.flaw(
                "a change of “\(text)” says neither what it is nor what not"
            )
        }
        return .removed(path, Revision(number: number))
    }

    private static func unreadable(_ error: StorageError) -> StorageError {
        .invalidReply("its changes cannot be read: \(error.message)")
    }
}
