import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import Testing

/// A case of the public vectors about listening: messages of a server and the snapshots that a client shows.
struct ListenVector {
    /// What a client shows: the documents, and the kinds of the changes by document.
    private struct Snapshot: Equatable {
        var documents: [DocumentPath: Timestamp] = [:]
        var changes: [DocumentPath: String] = [:]
        var time: Timestamp?
    }

    private static let database = "projects/projectID/databases/(default)"
    /// The target of all vectors.
    private static let target: Int32 = 1

    private let vector: FirestoreVector
    private let documents = FirestoreDecoding(database: database)

    init(_ vector: FirestoreVector) { self.vector = vector }

    func check() throws {
        let shown: [Snapshot]
        do {
            shown = try snapshots()
        } catch let error as StorageError {
            #expect(vector.isError, "\(error)")
            return
        }
        #expect(!vector.isError, "the messages had to be refused")
        #expect(try shown == vector.content.list("snapshots").map(expected))
    }

    /// Returns the snapshots of a client that receives the messages.
    private func snapshots() throws -> [Snapshot] {
        var machine = WatchMachine(database: Self.database)
        _ = machine.add(Self.target, [])
        // The vectors begin after the acknowledgement.
        var acknowledgement = WatchMessage.TargetChange(kind: .add)
        acknowledgement.targets = [Self.target]
        _ = try machine.receive(.target(acknowledgement))
        let decoding = WatchDecoding(database: Self.database)
        var shown: [Snapshot] = []
        for json in try vector.content.list("responses") {
            for effect in try machine.receive(try decoding.message(json)) {
                guard case .publish(_, let publication) = effect else { continue }
                // A state without changes shows nothing new, unless it is the first.
                guard !publication.changes.isEmpty || shown.isEmpty else { continue }
                let old = shown.last?.documents ?? [:]
                var snapshot = Snapshot(documents: old, time: publication.time)
                for change in publication.changes {
                    if case .current(let document) = change {
                        let isNew = old[document.path] == nil
                        snapshot.changes[document.path] = isNew ? "ADDED" : "MODIFIED"
                        snapshot.documents[document.path] = document.updateTime
                    } else {
                        snapshot.changes[change.path] = "REMOVED"
                        snapshot.documents[change.path] = nil
                    }
                }
                shown.append(snapshot)
            }
        }
        return shown
    }

    private func expected(_ json: FirestoreJSON) throws -> Snapshot {
        var snapshot = Snapshot()
        for document in try json.list("docs").map(documents.document) {
            snapshot.documents[document.path] = document.updateTime
        }
        for change in try json.list("changes") {
            let document = try documents.document(try #require(try change.object("doc")))
            snapshot.changes[document.path] = try change.text("kind")
        }
        snapshot.time = try json.text("readTime").flatMap(FirestoreTime.time)
        return snapshot
    }
}
