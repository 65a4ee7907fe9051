import KeelStorage
import KeelStorageAdapting
import KeelTestKit

@testable import KeelServing

/// The states of a store that clients of a simulation listen to, and what they do at random.
struct ListenHistory {
    private static let colors = ["red", "blue", "green"]

    /// The store's documents after each commit.
    private var states: [Timestamp: [Document]] = [:]

    // MARK: Chance

    static func writes(_ random: inout SeededRandom) -> [DocumentWrite] {
        var writes: [DocumentWrite] = []
        for _ in 0...Int.random(in: 0...2, using: &random) {
            let path = path(&random)
            guard !writes.contains(where: { $0.path == path }) else { continue }
            if Int.random(in: 0..<4, using: &random) == 0 {
                writes.append(DocumentWrite(path, .delete))
            } else {
                let fields: DocumentFields = [
                    "color": .string(colors[Int.random(in: 0..<3, using: &random)]),
                    "size": .integer(Int64.random(in: 0..<9, using: &random)),
                ]
                writes.append(DocumentWrite(path, .set(DocumentBody(fields))))
            }
        }
        return writes
    }

    private static func path(_ random: inout SeededRandom) -> DocumentPath {
        let collection = ["notes", "notes", "users/a/notes", "tags"].randomElement(using: &random)
        return DocumentPath("\(collection ?? "notes")/\(Int.random(in: 0..<6, using: &random))")
    }

    static func content(_ random: inout SeededRandom) -> ListenTarget.Content {
        let notes = DocumentQuery("notes")
        let color = colors[Int.random(in: 0..<3, using: &random)]
        let red = notes.where(.equal("color", .string(color)))
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return .documents([path(&random), path(&random)])
        case 1: return .query(notes)
        case 2: return .query(red)
        case 3: return .query(DocumentQuery(group: "notes"))
        case 4: return .query(notes.with { $0.limit = .first(2) })
        case 5: return .query(notes.order(by: "size").with { $0.limit = .last(3) })
        default: return .query(red.order(by: "size").with { $0.limit = .first(1) })
        }
    }

    // MARK: States

    /// Commits a batch, and remembers the state behind it.
    mutating func commit(_ writes: [DocumentWrite], to store: InMemoryStorageAdapter) async throws {
        for result in try await store.commit([WriteBatch(writes)]) { _ = try result.get() }
        var request = ReadRequest(.query(.everything()))
        request.needsTime = true
        let result = try await store.read(request)
        if case .found(let documents) = result.payload, let time = result.time {
            states[time] = documents
        }
    }

    /// Compares what a client shows of a target with the target's result at a time, or at the end.
    func check(
        _ shown: [DocumentPath: Document],
        of content: ListenTarget.Content?,
        at time: Timestamp?
    ) throws {
        guard let content,
            let state = states[time ?? states.keys.max() ?? Timestamp(microseconds: 0)]
        else { throw ListenClientModel.Violation("the time of the point is not that of a state") }
        let expected: [Document] =
            switch content {
            case .documents(let paths): state.filter { paths.contains($0.path) }
            case .query(let query): try StorageEvaluator.result(of: query, among: state)
            }
        let wanted = Dictionary(uniqueKeysWithValues: expected.map { ($0.path, $0) })
        guard shown != wanted else { return }
        throw ListenClientModel.Violation(
            """
            a target of \(content) shows \(shown.values.map(ListenWords.words).sorted()) and not \
            \(wanted.values.map(ListenWords.words).sorted())
            """
        )
    }
}

extension ListenSession.Event {
    /// Returns the events of a read, one after the other: in parts if the operation allows it.
    ///
    /// Once, the store may lose the snapshot.
    static func loading(
        _ id: ListenSession.ReadID,
        _ documents: [Document],
        of operation: ReadOperation,
        at point: ListenSession.Point,
        _ random: inout SeededRandom,
        _ hasLost: inout Bool
    ) -> [Self] {
        guard operation.queryInParts != nil else { return [.loaded(id, documents, at: point)] }
        var rest = documents[...]
        var events: [Self] = []
        while Bool.random(using: &random), !rest.isEmpty {
            let count = Int.random(in: 1...2, using: &random)
            events.append(.part(id, Array(rest.prefix(count)), at: point))
            rest = rest.dropFirst(count)
        }
        guard !hasLost, !events.isEmpty, Int.random(in: 0..<10, using: &random) == 0 else {
            return events + [.loaded(id, Array(rest), at: point)]
        }
        hasLost = true
        return events + [.failed(id, StorageError(.snapshotTooOld, "the snapshot is lost"))]
    }
}

/// Names events and messages in the trace of a simulation.
enum ListenWords {
    static func words(_ document: Document) -> String {
        let (color, size) = (document["color"]?.stringValue, document["size"]?.integerValue)
        return "\(document.path) \(color ?? "") \(size ?? 0)"
    }

    static func words(_ event: ListenSession.Event) -> String {
        switch event {
        case .request(.add(let target)):
            "add \(target.id) \(target.content)\(target.resumption == nil ? "" : " with a token")"
        case .request(.reject(let id, _)): "reject \(id)"
        case .request(.remove(let id)): "remove \(id)"
        case .loaded(let id, let documents, _, _): "loaded \(id) \(documents.map(words))"
        case .part(let id, let documents, _): "part \(id) \(documents.map(words))"
        case .counted(let id, let count, _): "counted \(id) \(count)"
        case .caughtUp(let id, let changes, _): "caught up \(id) \(changes.map(\.path.string))"
        case .cannotResume(let id): "cannot resume \(id)"
        case .failed(let id, let error): "failed \(id) \(error)"
        case .denied(let id, _): "denied \(id)"
        case .page(let page):
            "page \(page.changes.map(\.path.string))\(page.isCaughtUp ? ", caught up" : "")"
        case .restarted: "restarted"
        case .beat: "beat"
        }
    }

    static func words(_ response: ListenResponse) -> String {
        switch response {
        case .target(let change):
            "\(change.kind) \(change.targets)\(change.token == nil ? "" : " with a token")"
        case .document(let change):
            "document \(words(change.document)) in \(change.targets), not in \(change.removed)"
        case .departure(let change):
            "\(change.isDeleted ? "deleted" : "removed") \(change.path) of \(change.targets)"
        case .filter(let filter):
            "filter of \(filter.target): \(filter.count) \(filter.paths?.map(\.string) ?? [])"
        }
    }
}
