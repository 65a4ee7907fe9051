internal import KeelCore
package import KeelStorageAdapting

extension FirestoreDecoding {
    /// Decodes a `Document` of a reply.
    ///
    /// Firestore has no revisions: the revision of its documents is the update time in microseconds.
    package func document(_ json: FirestoreJSON) throws(StorageError) -> Document {
        guard let name = try json.text("name") else { throw Self.flaw("a document has no name") }
        let path = try path(of: name)
        let updateTime = try time("updateTime", of: json)
        return Document(
            path: path,
            body: DocumentBody(try fields(json.member("fields"))),
            revision: try revision(json) ?? Revision(number: updateTime.microseconds),
            createTime: try time("createTime", of: json),
            updateTime: updateTime
        )
    }

    /// Decodes a document; adds it to `unreadable`, and returns nil, if its fields cannot be decoded.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if it has no valid name, or if `unreadable` is nil.
    func document(
        _ json: FirestoreJSON,
        orAddTo unreadable: inout [UnreadableDocument]?
    ) throws(StorageError) -> Document? {
        do throws(StorageError) { return try document(json) } catch {
            guard unreadable != nil, let name = try json.text("name") else { throw error }
            let path = try path(of: name)
            let failure = StorageError(.invalidReply, error.message, resource: path.string)
            unreadable?.append(UnreadableDocument(path, failure))
            return nil
        }
    }

    package func unreadable(
        in addition: FirestoreJSON?
    ) throws(StorageError) -> [UnreadableDocument] {
        var documents: [UnreadableDocument] = []
        for json in try addition?.list("unreadable") ?? [] {
            guard let name = try json.text("name") else {
                throw Self.flaw("a document that cannot be read has no name")
            }
            documents.append(try unreadable(json, at: try path(of: name)))
        }
        return documents
    }

    package func unreadable(
        _ json: FirestoreJSON,
        at path: DocumentPath
    ) throws(StorageError) -> UnreadableDocument {
        let name = try json.text("code")
        let code = StorageError.Code.known.first { $0.name == name } ?? .corrupted
        let message = try json.text("message") ?? "the server cannot read “\(path)”"
        return UnreadableDocument(path, StorageError(code, message, resource: path.string))
    }

    package func revision(_ json: FirestoreJSON) throws(StorageError) -> Revision? {
        let number = try addition(to: json)?.wholeNumber("revision")
        return number.map(Revision.init(number:))
    }

    /// Returns the extension member of a message, unless extensions are disabled.
    package func addition(to json: FirestoreJSON) throws(StorageError) -> FirestoreJSON? {
        isExtended ? try json.object(FirestoreEncoding.extensionName) : nil
    }

    package func time(
        _ name: String,
        of json: FirestoreJSON
    ) throws(StorageError) -> Timestamp {
        guard let time = try json.text(name).flatMap(FirestoreTime.time) else {
            throw Self.flaw("“\(name)” is missing, or no time in the form of RFC 3339")
        }
        return time
    }

    /// Decodes the change log position of a member; returns nil if there is none.
    package func cursor(
        _ name: String,
        of json: FirestoreJSON
    ) throws(StorageError) -> ChangeCursor? {
        guard let text = try json.text(name) else { return nil }
        guard let cursor = Self.cursor(text) else {
            throw Self.flaw("“\(name)” is not a valid position")
        }
        return cursor
    }

    /// Decodes a nonnegative duration in proto3's JSON form; returns nil if the member is absent.
    package func duration(
        _ name: String,
        of json: FirestoreJSON
    ) throws(StorageError) -> Duration? {
        guard let text = try json.text(name) else { return nil }
        guard text.hasSuffix("s"), let seconds = Double(text.dropLast()),
            (0...1e9).contains(seconds)
        else { throw Self.flaw("“\(name)” is not a duration such as “1.5s”") }
        return .seconds(seconds)
    }

    /// Decodes a change log position; returns nil if the text is malformed.
    package static func cursor(_ text: String) -> ChangeCursor? {
        Base64.decode(text).map(ChangeCursor.init(bytes:))
    }

    package func receipt(
        _ json: FirestoreJSON,
        for batch: WriteBatch
    ) throws(StorageError) -> CommitReceipt {
        var outcomes: [CommitReceipt.WriteOutcome] = []
        for result in try json.list("writeResults") { outcomes.append(try outcome(result)) }
        // A repeated batch id returns the first receipt, which may be for other writes.
        let isRepetition = isExtended && batch.id != nil
        guard outcomes.count == batch.writes.count || isRepetition else {
            throw Self.flaw("\(batch.writes.count) writes have \(outcomes.count) results")
        }
        var receipt = CommitReceipt(
            batchID: batch.id,
            commitTime: try time("commitTime", of: json),
            outcomes: outcomes,
            position: try addition(to: json).flatMap { addition throws(StorageError) in
                try cursor("position", of: addition)
            }
        )
        if try addition(to: json)?.flag("unchanged") == true {
            receipt.isWithoutChanges = true
            receipt.commitTime = receipt.commitTime.advanced(by: .microseconds(-1))
        }
        return receipt
    }

    private func outcome(
        _ json: FirestoreJSON
    ) throws(StorageError) -> CommitReceipt.WriteOutcome {
        var results: [DocumentValue] = []
        for result in try json.list("transformResults") { results.append(try value(result)) }
        let time = try json.text("updateTime").flatMap(FirestoreTime.time)
        let removal = try addition(to: json)?.text("deleteTime").flatMap(FirestoreTime.time)
        return CommitReceipt.WriteOutcome(
            revision: try revision(json) ?? time.map { Revision(number: $0.microseconds) },
            updateTime: time ?? removal,
            transformResults: results
        )
    }
}
