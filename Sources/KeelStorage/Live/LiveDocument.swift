public import Observation

/// One document as a value, for a view: always current, on the main actor.
///
/// ```swift
/// @State var profile = LiveDocument(storage.collection("users", as: Profile.self), id: userID)
/// // …
/// Text(profile.value?.name ?? "").task { await profile.run() }
/// ```
///
/// It listens while ``run()`` does; without it, it shows what it saw last.
@MainActor
@Observable
public final class LiveDocument<Value: Codable & Sendable> {
    /// The value; nil while there is no document.
    public private(set) var value: Value?
    /// How far the first result has come.
    public private(set) var phase = LivePhase.loading
    /// Why listening ended, if it failed.
    public private(set) var error: StorageError?
    /// Whether the document has a write that the server has not accepted yet.
    public private(set) var hasPendingWrites = false
    /// Whether the value comes from a local copy that may be behind the server.
    public private(set) var isFromCache = false

    @ObservationIgnored private let collection: DocumentCollection<Value>
    @ObservationIgnored private let path: DocumentPath

    /// Creates a live view of the document with an id.
    public init(_ collection: DocumentCollection<Value>, id: String) {
        self.collection = collection
        path = collection.path.document(id)
    }

    /// Keeps the value current until the task is cancelled or listening fails.
    public func run() async {
        do throws(StorageError) {
            error = nil
            for try await snapshot in collection.client.listenToDocument(path) {
                value = try await decode(snapshot.document)
                hasPendingWrites = snapshot.hasPendingWrites
                isFromCache = snapshot.isFromCache
                phase = .ready
            }
        } catch {
            self.error = error
            phase = .failed
        }
    }

    @concurrent
    private func decode(_ document: Document?) async throws(StorageError) -> Value? {
        guard let document else { return nil }
        return try collection.decode(document)
    }
}
