import KeelCore
import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore
import Synchronization

/// The streams of Firestore's Listen and Write methods, which carriers such as WebChannel transmit.
extension StorageServer {
    /// Serves a stream until its requests end, the task is canceled, the stream fails, or the server shuts down.
    ///
    /// - Parameters:
    ///   - call: `listen` or `write`.
    ///   - database: The database; nil if the first request names it.
    ///   - caller: The caller, whose streams share what a stream of Listen takes; nil if it is unknown.
    ///   - joinsCurrent: Whether the client takes the messages of ``ListenSession/joinsCurrent``.
    ///   - requests: The messages of the client, in the JSON form of the protocol. An error means that the client is
    ///     gone; a ``StreamFailure`` is returned.
    ///   - send: Sends a message to the client; must return if the task is canceled. Its errors end the stream.
    /// - Returns: The status for the client; nil if the stream has ended without a failure.
    func stream<Requests: AsyncSequence & Sendable>(
        _ call: FirestoreRoute.Call,
        in database: String? = nil,
        by caller: ListenCaller.ID? = nil,
        joinsCurrent: Bool = false,
        _ requests: Requests,
        send: @escaping @Sendable (FirestoreJSON) async throws -> Void
    ) async -> StreamFailure? where Requests.Element == FirestoreJSON {
        guard call != .write else { return await write(in: database, requests, send: send) }
        var settings = ListenStream.Configuration()
        (settings.caller, settings.joinsCurrent) = (caller, joinsCurrent)
        return await listen(in: database, settings, requests, send: send)
    }

    private var hasTooManyStreams: StreamFailure {
        let message = "the server has \(configuration.maximumListeners) streams already"
        return StreamFailure(.resourceExhausted, message)
    }

    private func write<Requests: AsyncSequence & Sendable>(
        in database: String?,
        _ requests: Requests,
        send: @escaping @Sendable (FirestoreJSON) async throws -> Void
    ) async -> StreamFailure? where Requests.Element == FirestoreJSON {
        let stream = WriteStream(adapter: adapter, configuration: configuration)
        let result = await untilShutDown(after: stream.commits) {
            () async -> Result<Void, StreamFailure> in
            if let failure = await stream.run(in: database, requests, send: send) {
                return .failure(failure)
            }
            return .success(())
        }
        if case .failure(let failure) = result { return failure }
        return nil
    }

    /// Performs a stream, or a part of one, that counts among the open ones and is canceled when the server shuts down.
    ///
    /// - Parameters:
    ///   - turns: Admits the work that the cancellation must wait for.
    ///   - work: The stream.
    /// - Returns: The result of the stream, or the failure of the server.
    func untilShutDown<Value: Sendable>(
        after turns: TaskQueue = TaskQueue(),
        _ work: @escaping @Sendable () async -> Result<Value, StreamFailure>
    ) async -> Result<Value, StreamFailure> {
        let (end, ending) = AsyncStream.makeStream(of: Never.self)
        guard let id = streams.open(onShutDown: { ending.finish() }) else {
            return .failure(hasTooManyStreams)
        }
        defer { streams.close(id) }
        return await withTaskGroup(of: Result<Value, StreamFailure>.self) { group in
            group.addTask { await work() }
            group.addTask {
                for await _ in end {}
                // The place is kept, so that no further work begins.
                _ = await turns.enter()
                return .failure(.shutDown)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(.shutDown)
        }
    }

    private func listen<Requests: AsyncSequence & Sendable>(
        in database: String?,
        _ settings: ListenStream.Configuration,
        _ requests: Requests,
        send: @escaping @Sendable (FirestoreJSON) async throws -> Void
    ) async -> StreamFailure? where Requests.Element == FirestoreJSON {
        let coding = Mutex(database.map { ListenCoding(database: $0) })
        var settings = settings
        settings.clock = configuration.clock
        settings.mostBytesAtOnce = configuration.mostBytesAtOnce
        settings.pageBytes = configuration.pageBytes
        settings.scannedPageBytes = configuration.firstPageBytes
        settings.maximumHoldTime = configuration.maximumHoldTime
        settings.readTimeout = configuration.readTimeout
        settings.principal = StorageContext.current.principal
        settings.permission = configuration.permission
        settings.checkIndexes = { [configuration] operation throws(StorageError) in
            try configuration.checkIndexes(of: operation)
        }
        let stream = ListenStream(hub: listening, configuration: settings) { response in
            guard let coding = coding.withLock({ $0 }) else { return }
            try await send(coding.response(response))
        }
        // A task for each of many streams that only waits for this would take memory.
        guard let id = streams.open(onShutDown: { stream.end(.shutDown) }) else {
            return hasTooManyStreams
        }
        defer { streams.close(id) }
        return await stream.run(
            requests.map { json in
                do throws(StorageError) {
                    let name = try json.text("database")
                    let coding = coding.withLock { coding in
                        coding = coding ?? name.map { ListenCoding(database: $0) }
                        return coding
                    }
                    guard let coding else {
                        throw FirestoreDecoding.flaw("the first request names the “database”")
                    }
                    return try coding.request(json)
                } catch {
                    throw StreamFailure(error)
                }
            }
        )
    }
}

extension StreamFailure {
    fileprivate static var shutDown: StreamFailure {
        StreamFailure(.unavailable, "the server is shutting down")
    }
}

/// The open streams of a server, which end when it shuts down.
final class OpenStreams: Sendable {
    typealias ID = UInt64

    private struct State {
        var isShutDown = false
        var next: ID = 0
        var ends: [ID: @Sendable () -> Void] = [:]
    }

    private let maximum: Int
    private let state = Mutex(State())

    init(maximum: Int) { self.maximum = maximum }

    /// Adds a stream; `end` is called when the server drains or shuts down, at once if it already has.
    ///
    /// - Returns: The stream's number; nil if there are too many streams.
    func open(onShutDown end: @escaping @Sendable () -> Void) -> ID? {
        let (id, isShutDown) = state.withLock { state -> (ID?, Bool) in
            guard state.ends.count < maximum else { return (nil, false) }
            state.next += 1
            state.ends[state.next] = end
            return (state.next, state.isShutDown)
        }
        if isShutDown { end() }
        return id
    }

    func close(_ id: ID) { state.withLock { $0.ends[id] = nil } }

    /// Ends one of so many streams, at least one.
    func end(oneOf count: Int) {
        let ends = state.withLock { state in
            Array(state.ends.values.prefix((state.ends.count + count - 1) / count))
        }
        for end in ends { end() }
    }

    func shutDown() {
        let ends = state.withLock { state in
            state.isShutDown = true
            return state.ends.values
        }
        for end in ends { end() }
    }
}
