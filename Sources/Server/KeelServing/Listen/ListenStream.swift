internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore
internal import Synchronization

/// Serves a stream of Firestore's Listen method from a store, over any carrier.
///
/// Each stream reads the change log for itself. A slow client slows only its own stream down: while a message is being
/// sent, the stream neither reads the log nor takes requests.
final class ListenStream: Sendable {
    struct Configuration: Sendable {
        /// The interval at which a stream looks whether it has been quiet.
        ///
        /// A quiet client receives a message after one to two intervals. The SDK for Node.js ends a stream that is quiet
        /// for two minutes.
        var heartbeat = Duration.seconds(30)
        /// The maximum number of changes that a resumption repeats; with more, a target is read again.
        var mostRepeatedChanges = 10_000
        var clock: any Clock<Duration> = ContinuousClock()
    }

    private enum Work: Sendable {
        case read(ListenSession.ReadID, ReadOperation)
        case catchUp(ListenSession.ReadID, after: ChangeCursor, ChangeScope)
        case follow(ChangeCursor, UInt64)
    }

    private struct State {
        var session = ListenSession()
        /// Distinguishes the current reader of the log from those before a restart.
        var reader: UInt64 = 0
        var hasSent = false
        var failure: StreamFailure?
    }

    private let adapter: any StorageAdapter
    private let configuration: Configuration
    private let send: @Sendable (ListenResponse) async throws -> Void
    private let state = Mutex(State())
    /// Admits one event at a time, so that messages keep their order.
    private let turns = TaskQueue()
    private let (work, works) = AsyncStream.makeStream(of: Work.self)

    /// Creates a stream that sends its messages to a client by `send`, whose errors end the stream.
    init(
        adapter: any StorageAdapter,
        configuration: Configuration = Configuration(),
        send: @escaping @Sendable (ListenResponse) async throws -> Void
    ) {
        self.adapter = adapter
        self.configuration = configuration
        self.send = send
    }

    /// Serves a client's requests until they end, the task is canceled, or the stream fails.
    ///
    /// - Returns: The status for the client; nil if the client has ended the stream, or is gone.
    func run<Requests: AsyncSequence & Sendable>(
        _ requests: Requests
    ) async -> StreamFailure? where Requests.Element == ListenRequest {
        guard adapter.capabilities.contains(.changeLog) else {
            return StreamFailure(.unimplemented, "listening needs a store with a change log")
        }
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.take(requests) }
                group.addTask { await self.beat() }
                for await work in work { group.addTask { await self.perform(work) } }
                group.cancelAll()
            }
        } onCancel: {
            works.finish()
        }
        return state.withLock { $0.failure }
    }

    private func end(_ failure: StreamFailure? = nil) {
        state.withLock { $0.failure = $0.failure ?? failure }
        works.finish()
    }

    // MARK: Events

    private func take<Requests: AsyncSequence>(
        _ requests: Requests
    ) async where Requests.Element == ListenRequest {
        do {
            for try await request in requests { await handle(.request(request)) }
        } catch {
            // Of other errors, the client is gone.
            return end(error as? StreamFailure)
        }
        end()
    }

    /// Handles an event, unless it comes from a reader of the log that has been replaced.
    private func handle(_ event: ListenSession.Event, of reader: UInt64? = nil) async {
        guard await turns.enter() else { return }
        defer { turns.leave() }
        let effects = state.withLock { state in
            guard reader == nil || reader == state.reader else { return [ListenSession.Effect]() }
            return state.session.handle(event)
        }
        for effect in effects {
            switch effect {
            case .read(let id, let operation): works.yield(.read(id, operation))
            case .catchUp(let id, let cursor, let scope):
                works.yield(.catchUp(id, after: cursor, scope))
            case .follow(let cursor):
                let reader = state.withLock { state in
                    state.reader += 1
                    return state.reader
                }
                works.yield(.follow(cursor, reader))
            case .end(let failure): return end(failure)
            case .send(let response):
                state.withLock { $0.hasSent = true }
                do { try await send(response) } catch { return end() }
            }
        }
    }

    /// Tells a quiet client the stream's position, so that it can resume from there, and knows that the stream is open.
    private func beat() async {
        while (try? await configuration.clock.sleep(for: configuration.heartbeat)) != nil {
            let isQuiet = state.withLock { state in
                defer { state.hasSent = false }
                return !state.hasSent
            }
            if isQuiet { await handle(.beat) }
        }
    }

    // MARK: The store

    private func perform(_ work: Work) async {
        switch work {
        case .read(let id, let operation):
            await handle(await read(id, operation))
        case .catchUp(let id, let cursor, let scope):
            await handle(await catchUp(id, cursor, scope))
        case .follow(let cursor, let reader):
            await follow(cursor, reader)
        }
    }

    private func read(
        _ id: ListenSession.ReadID,
        _ operation: ReadOperation
    ) async -> ListenSession.Event {
        var request = ReadRequest(operation)
        (request.needsPosition, request.needsTime) = (true, true)
        request.reportsUnreadable = true
        do throws(StorageError) {
            let result = try await adapter.read(request)
            let documents: [Document] =
                switch result.payload {
                case .found(let documents): documents
                case .documents(let documents): documents.compactMap { $0 }
                case .names, .values: []
                }
            guard let position = result.position, let time = result.time else {
                return .failed(id, Self.lacksTimes)
            }
            return .loaded(id, documents, at: .init(position: position, time: time))
        } catch {
            return .failed(id, error)
        }
    }

    private func catchUp(
        _ id: ListenSession.ReadID,
        _ cursor: ChangeCursor,
        _ scope: ChangeScope
    ) async -> ListenSession.Event {
        var request = ChangeRequest(after: cursor, scope: scope)
        var changes: [ChangePage.Change] = []
        do throws(StorageError) {
            while true {
                let page = try await adapter.changes(request)
                changes += page.changes
                guard changes.count <= configuration.mostRepeatedChanges else {
                    return .cannotResume(id)
                }
                request.after = page.next
                guard page.isCaughtUp else { continue }
                guard let time = page.time else { return .failed(id, Self.lacksTimes) }
                return .caughtUp(id, changes, at: .init(position: page.next, time: time))
            }
        } catch {
            // A token of other data, or of changes that the log has removed.
            let isUseless = [.cursorExpired, .invalidArgument].contains(error.code)
            return isUseless ? .cannotResume(id) : .failed(id, error)
        }
    }

    private static var lacksTimes: StorageError {
        StorageError(.unsupported, "listening needs a store that tells the times of its states")
    }

    private func follow(_ cursor: ChangeCursor, _ reader: UInt64) async {
        var request = ChangeRequest(after: cursor, waitTimeout: .seconds(30))
        var isCaughtUp = true
        var failures = 0
        var generator = SystemRandomNumberGenerator()
        while !Task.isCancelled, state.withLock({ $0.reader == reader }) {
            do throws(StorageError) {
                let page = try await adapter.changes(request)
                failures = 0
                // Behind a page that is not the last one, a page without changes may follow that is.
                request.waitTimeout = page.isCaughtUp ? .seconds(30) : nil
                guard page.next != request.after || page.isCaughtUp != isCaughtUp else { continue }
                (request.after, isCaughtUp) = (page.next, page.isCaughtUp)
                await handle(.page(page), of: reader)
            } catch {
                if error.isCancellation { return }
                guard error.code != .cursorExpired else {
                    return await handle(.restarted, of: reader)
                }
                guard error.isTransient else { return end(StreamFailure(error)) }
                failures += 1
                let pause = RetryPolicy.listening.delay(before: failures, using: &generator)
                try? await configuration.clock.sleep(for: pause)
            }
        }
    }
}
