public import KeelDocuments
public import Observation

/// The value of a document, kept up to date on the main actor for a view.
///
/// ```swift
/// // SwiftUI
/// @State var profile = LiveDocument(storage.collection("users", as: Profile.self), id: userID)
/// // …
/// Text(profile.value?.name ?? "").task { await profile.run() }
/// ```
///
/// It listens during ``run()``, or from ``start()`` until it is stopped or released. If listening fails, or the
/// document cannot be read or decoded, it sets ``error`` and keeps the last value. A failed listener begins again after
/// a delay of up to 30 seconds, unless the call itself is refused, as for an invalid path.
@MainActor
@Observable
public final class LiveDocument<Value: Sendable> {
    /// The value; nil while there is no document.
    public private(set) var value: Value?
    /// The loading state of the document.
    public private(set) var phase = LivePhase.loading
    /// The error of listening or decoding; nil after a new value.
    public private(set) var error: StorageError?
    /// Whether the store cannot be reached, so that the value may be out of date.
    public private(set) var isFromCache = false

    @ObservationIgnored private let reader: TypedReader<Value>
    @ObservationIgnored private let path: DocumentPath
    @ObservationIgnored private let listening = LiveListening()

    /// Creates a live document for the document with an id.
    public init(_ collection: some TypedCollection<Value>, id: String) {
        reader = TypedReader(collection)
        path = collection.path.document(id)
    }

    deinit { listening.stop() }

    /// Keeps the value up to date until ``stop()`` or its release.
    public func start() {
        listening.start { [weak self] in await Self.listen { self } }
    }

    /// Stops the listener that ``start()`` started; the value remains.
    public func stop() { listening.stop() }

    /// Keeps the value up to date until the task is canceled; can be called again.
    public func run() async {
        await listening.run { [weak self] in await Self.listen { self } }
    }

    /// Listens to the document, and again after each failure, without retaining the live document during waits.
    private static func listen(to live: () -> LiveDocument?) async {
        guard let reader = live()?.reader, let path = live()?.path else { return }
        var failures = LiveFailures()
        while true {
            do throws(StorageError) {
                var iterator = reader.client.listenToDocument(path).makeAsyncIterator()
                while let snapshot = try await iterator.next() {
                    let value = await Self.value(of: snapshot, reader.decode)
                    guard !Task.isCancelled else { return }
                    live()?.take(value, of: snapshot)
                    failures.reset()
                }
                return
            } catch {
                guard !Task.isCancelled else { return }
                live()?.fail(error)
                let clock = reader.client.configuration.clock
                guard await failures.pause(after: error, on: clock) else { return }
            }
        }
    }

    private func take(_ value: Result<Value?, StorageError>, of snapshot: DocumentSnapshot) {
        isFromCache = snapshot.isFromCache
        switch value {
        case .success(let value):
            self.value = value
            error = nil
            phase = .ready
        case .failure(let error): fail(error)
        }
    }

    private func fail(_ error: StorageError) {
        self.error = error
        phase = .failed
    }

    @concurrent
    private static func value(
        of snapshot: DocumentSnapshot,
        _ decode: @Sendable (Document) throws(StorageError) -> Value
    ) async -> Result<Value?, StorageError> {
        do throws(StorageError) {
            if let failure = snapshot.failure { throw failure.error }
            guard let document = snapshot.document else { return .success(nil) }
            return .success(try decode(document))
        } catch {
            return .failure(error)
        }
    }
}
