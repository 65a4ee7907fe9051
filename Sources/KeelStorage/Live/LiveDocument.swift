public import Observation

/// One document as a value, for a view: always current, on the main actor.
///
/// ```swift
/// // SwiftUI
/// @State var profile = LiveDocument(storage.collection("users", as: Profile.self), id: userID)
/// // …
/// Text(profile.value?.name ?? "").task { await profile.run() }
/// ```
///
/// It listens while ``run()`` does; without it, it shows what it saw last. What passes, such as a lost
/// connection, does not end it. Where the document cannot be read or decoded, ``error`` says so, the
/// last value stays, and listening goes on.
@MainActor
@Observable
public final class LiveDocument<Value: Codable & Sendable> {
    /// The value; nil while there is no document.
    public private(set) var value: Value?
    /// How far the first result has come.
    public private(set) var phase = LivePhase.loading
    /// Why listening ended, or why the document cannot be read as it is now.
    public private(set) var error: StorageError?

    @ObservationIgnored private let collection: DocumentCollection<Value>
    @ObservationIgnored private let path: DocumentPath

    /// Creates a live view of the document with an id.
    public init(_ collection: DocumentCollection<Value>, id: String) {
        self.collection = collection
        path = collection.path.document(id)
    }

    /// Keeps the value current until the task is cancelled or listening fails for good.
    public func run() async {
        do throws(StorageError) {
            error = nil
            for try await snapshot in collection.client.listenToDocument(path) {
                await show(snapshot)
            }
        } catch {
            self.error = error
            phase = .failed
        }
    }

    private func show(_ snapshot: DocumentSnapshot) async {
        do throws(StorageError) {
            if let failure = snapshot.failure { throw failure.error }
            value = try await decode(snapshot.document)
            error = nil
            phase = .ready
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
