import KeelCore
import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore
import Synchronization

extension StorageServer {
    /// Serves a stream until its requests end, the task is canceled, the stream fails, or the server shuts down.
    ///
    /// - Parameters:
    ///   - call: `listen` or `write`.
    ///   - database: The database; nil if the first request names it.
    ///   - caller: The caller, whose streams share limits; nil if it is unknown.
    ///   - joinsCurrent: Whether the client takes the messages of ``ListenSession/joinsCurrent``.
    ///   - requests: The messages of the client, in the JSON form of the protocol. An error means that the client is
    ///     gone; a ``StreamFailure`` is returned.
    ///   - send: Sends a message to the client; must return if the task is canceled. Its errors end the stream.
    /// - Returns: The status for the client; nil if the stream has ended without a failure.
    func stream<Requests: AsyncSequence & Sendable>(
        _ call: FirestoreRoute.Call,
        in database: String? = nil,
        by caller: CallerID? = nil,
        joinsCurrent: Bool = false,
        _ requests: Requests,
        send: @escaping @Sendable (FirestoreJSON) async throws -> Void
    ) async -> StreamFailure? where Requests.Element == FirestoreJSON {
        guard call != .write else {
            return await write(in: database, by: caller, requests, send: send)
        }
        var settings = ListenStream.Configuration()
        (settings.caller, settings.joinsCurrent) = (caller, joinsCurrent)
        return await listen(in: database, settings, requests, send: send)
    }

    private func write<Requests: AsyncSequence & Sendable>(
        in database: String?,
        by caller: CallerID?,
        _ requests: Requests,
        send: @escaping @Sendable (FirestoreJSON) async throws -> Void
    ) async -> StreamFailure? where Requests.Element == FirestoreJSON {
        let stream = WriteStream(adapter: adapter, configuration: configuration)
        let result = await untilShutDown(by: caller, after: stream.commits) {
            () async -> Result<Void, StreamFailure> in
            if let failure = await stream.run(in: database, requests, send: send) {
                return .failure(failure)
            }
            return .success(())
        }
        if case .failure(let failure) = result { return failure }
        return nil
    }

    /// Performs a stream, or a part of one, which counts as open and is canceled when the server shuts down, after the
    /// work that `turns` admits.
    func untilShutDown<Value: Sendable>(
        by caller: CallerID?,
        after turns: TaskQueue = TaskQueue(),
        _ work: @escaping @Sendable () async -> Result<Value, StreamFailure>
    ) async -> Result<Value, StreamFailure> {
        let (end, ending) = AsyncStream.makeStream(of: Never.self)
        let id: OpenStreams.ID
        do throws(CallerPlaces.Refusal) {
            id = try streams.open(by: caller, onShutDown: { ending.finish() })
        } catch {
            return .failure(StreamFailure(.resourceExhausted, error.message))
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
        let id: OpenStreams.ID
        do throws(CallerPlaces.Refusal) {
            id = try streams.open(by: settings.caller, onShutDown: { stream.end(.shutDown) })
        } catch {
            return StreamFailure(.resourceExhausted, error.message)
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

final class OpenStreams: Sendable {
    typealias ID = UInt64

    private struct State {
        var isShutDown = false
        var next: ID = 0
        var places: CallerPlaces
        var streams: [ID: (caller: CallerID?, end: @Sendable () -> Void)] = [:]
    }

    private let state: Mutex<State>

    init(_ places: CallerPlaces) { state = Mutex(State(places: places)) }

    /// Adds a stream; `end` is called when the server drains or shuts down, at once if it has shut down.
    ///
    /// - Returns: The stream's number, for ``close(_:)``.
    func open(
        by caller: CallerID? = nil,
        onShutDown end: @escaping @Sendable () -> Void
    ) throws(CallerPlaces.Refusal) -> ID {
        let (id, isShutDown) = try state.withLock {
            state throws(CallerPlaces.Refusal) -> (ID, Bool) in
            try state.places.enter(caller)
            state.next += 1
            state.streams[state.next] = (caller: caller, end: end)
            return (state.next, state.isShutDown)
        }
        if isShutDown { end() }
        return id
    }

    func close(_ id: ID) {
        state.withLock { state in
            guard let stream = state.streams.removeValue(forKey: id) else { return }
            state.places.leave(stream.caller)
        }
    }

    /// Ends one in `count` streams, rounded up.
    func end(oneOf count: Int) {
        let streams = state.withLock { state in
            Array(state.streams.values.prefix((state.streams.count + count - 1) / count))
        }
        for stream in streams { stream.end() }
    }

    func shutDown() {
        let streams = state.withLock { state in
            state.isShutDown = true
            return Array(state.streams.values)
        }
        for stream in streams { stream.end() }
    }
}
