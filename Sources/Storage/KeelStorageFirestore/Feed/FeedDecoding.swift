internal import KeelStorageAdapting

/// Decodes the messages of Keel Sync; malformed ones throw `StorageError/Code/invalidReply`.
struct FeedDecoding: Sendable {
    private let documents: FirestoreDecoding

    init(database: String) {
        documents = FirestoreDecoding(database: database, isExtended: true)
    }

    func page(_ json: FirestoreJSON) throws(StorageError) -> FeedConnection.Page {
        do throws(StorageError) {
            var changes: [ChangePage.Change] = []
            var origins: [DocumentPath: ChangeOrigin] = [:]
            for element in try json.list("changes") {
                let change = try change(element)
                changes.append(change)
                if let origin = try origin(of: element) { origins[change.path] = origin }
            }
            guard let next = try documents.cursor("next", of: json) else {
                throw FirestoreDecoding.flaw("a page has no “next”")
            }
            let isCaughtUp = try json.flag("complete") ?? false
            let epoch = try json.text("epoch") ?? ""
            let page = ChangePage(
                changes: changes,
                next: next,
                isCaughtUp: isCaughtUp,
                time: try json.text("time").flatMap(FirestoreTime.time),
                origins: origins,
                acknowledged: try acknowledged(in: json)
            )
            return FeedConnection.Page(page: page, epoch: epoch)
        } catch {
            throw Self.unreadable(error)
        }
    }

    private func origin(of json: FirestoreJSON) throws(StorageError) -> ChangeOrigin? {
        try json.object("origin").map { json throws(StorageError) in try documents.origin(json) }
    }

    private func acknowledged(in json: FirestoreJSON) throws(StorageError) -> [String: Int64] {
        var mutations: [String: Int64] = [:]
        for member in try json.object("acknowledged")?.members ?? [] {
            guard let mutation = member.value.wholeNumber else {
                throw FirestoreDecoding.flaw("“acknowledged” has something other than numbers")
            }
            mutations[member.name] = mutation
        }
        return mutations
    }

    func change(
        data: String
    ) throws(StorageError) -> (change: ChangePage.Change, origin: ChangeOrigin?) {
        let json: FirestoreJSON
        do throws(FirestoreJSONError) {
            json = try FirestoreJSON(parsing: data.utf8)
        } catch {
            throw .invalidReply("its change is not JSON: \(error)")
        }
        do throws(StorageError) {
            return (try change(json), try origin(of: json))
        } catch {
            throw Self.unreadable(error)
        }
    }

    func checkpoint(_ data: String) -> (epoch: String?, acknowledged: [String: Int64]) {
        guard let json = try? FirestoreJSON(parsing: data.utf8) else { return (nil, [:]) }
        return (json["epoch"]?.text, (try? acknowledged(in: json)) ?? [:])
    }

    func time(of data: String) -> Timestamp? {
        (try? FirestoreJSON(parsing: data.utf8))?["time"]?.text.flatMap(FirestoreTime.time)
    }

    private func document(
        _ document: Document,
        of change: FirestoreJSON
    ) throws(StorageError) -> Document {
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
            var unreadable: [UnreadableDocument]? = []
            if let document = try documents.document(document, orAddTo: &unreadable) {
                return .current(try self.document(document, of: json))
            }
            if let document = unreadable?.first { return .unreadable(document) }
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
                "a change of “\(text)” is neither a document nor a deletion"
            )
        }
        let time = try json.text("deleteTime").flatMap(FirestoreTime.time)
        return .removed(path, Revision(number: number), at: time)
    }

    private static func unreadable(_ error: StorageError) -> StorageError {
        .invalidReply("its changes cannot be read: \(error.message)")
    }
}
