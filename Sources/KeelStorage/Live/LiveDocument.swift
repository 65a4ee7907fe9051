public import KeelDocuments
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
/// It listens while ``run()`` does, or from ``start()`` until it is let go; without either it shows what
/// it saw last. A failure does not end it: ``error`` tells it, the last value stays, and it listens again
/// by itself, after a pause of half a minute at the most. So it is where the document cannot be read or
/// decoded.
@MainActor
@Observable
public final class LiveDocument<Value: Sendable> {
    /// The value; nil while there is no document.
    public private(set) var value: Value?
    /// How far the first result has come.
    public private(set) var phase = LivePhase.loading
    /// Why the value is not kept current, or why the document cannot be read as it is now.
    public private(set) var error: StorageError?

    @ObservationIgnored private let reader: TypedReader<Value>
    @ObservationIgnored private let path: DocumentPath
    @ObservationIgnored private let listening = LiveListening()

    /// Creates a live view of the document with an id.
    public init(_ collection: some TypedCollection<Value>, id: String) {
        reader = TypedReader(collection)
        path = collection.path.document(id)
    }

    deinit { listening.stop() }

    /// Keeps the value current from now on, until the live document is let go or stopped.
    public func start() {
        listening.start { [weak self] in await Self.listen { self } }
    }

    /// Ends what ``start()`` has begun; the value stays.
    public func stop() { listening.stop() }

    /// Keeps the value current until the task is cancelled.
    ///
    /// It can be called again afterwards, for example when a view reappears.
    public func run() async {
        await listening.run { [weak self] in await Self.listen { self } }
    }

    /// Listens to the document, and again after each failure.
    ///
    /// The live document is not held while it waits.
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
