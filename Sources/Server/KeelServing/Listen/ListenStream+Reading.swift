internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// Reads what the targets of a stream need.
extension ListenStream {
    /// The cause of an error of a read that has reached the time limit twice.
    private struct ReadIsTooSlow: Error {}

    /// Performs a read, and hands its result to the session.
    func read(_ id: ListenSession.ReadID, _ operation: ReadOperation) async {
        // Other stores could not read the pages from one state.
        let keepsStates = !adapter.capabilities.isDisjoint(with: [.heldReads, .pointInTimeReads])
        guard keepsStates, let query = operation.queryInParts else {
            return await handle(await result(id, operation))
        }
        guard await loads.enter() else { return }
        defer { loads.leave() }
        await load(id, query)
    }

    /// Reads the documents of a query page by page, each page after the client has taken the one before it.
    private func load(_ id: ListenSession.ReadID, _ query: DocumentQuery) async {
        let moment = HeldMoment(in: hub)
        var pages = self.pages(of: query, at: moment)
        var point: ListenSession.Point?
        let size = hub.count()
        do throws(StorageError) {
            while let page = try await pages.next() {
                guard !pages.isCutShort else {
                    guard point == nil else { return await handle(Self.unreadable(id)) }
                    return await handle(await result(id, .query(query)))
                }
                if point == nil {
                    guard let position = page.result.position, let time = page.result.time else {
                        await pages.end()
                        return await handle(.failed(id, Self.lacksTimes))
                    }
                    point = .init(position: position, time: time)
                }
                guard let point else { continue }
                size.set(page.documents.reduce(0) { $0 + $1.body.bytes.count })
                guard pages.mayHaveMore else {
                    return await handle(.loaded(id, page.documents, at: point))
                }
                await moment.whileHeld(on: configuration.clock) {
                    await self.handle(.part(id, page.documents, at: point))
                }
                size.set(0)
                guard isWaiting(for: id) else { return await pages.end() }
            }
            if let point { await handle(.loaded(id, [], at: point)) }
        } catch {
            // A store has room for a few states only, and streams take only some of it.
            guard point == nil, error.code == .snapshotTooOld else {
                return await handle(Self.failure(id, error))
            }
            await handle(await result(id, .query(query)))
        }
    }

    private func pages(of query: DocumentQuery, at moment: HeldMoment) -> QueryPages {
        let limits = configuration
        return QueryPages(
            of: query,
            sizes: .init(
                first: limits.pageBytes,
                further: limits.pageBytes,
                scanned: limits.scannedPageBytes,
                whole: nil,
                firstCount: QueryPages.mostDocuments
            ),
            from: adapter.capabilities,
            reportsUnreadable: true,
            holdMoment: { () async throws(StorageError) -> ReadMoment? in
                try await moment.take(on: limits.clock, upTo: limits.maximumHoldTime)
            },
            readPage: { (request: ReadRequest) async throws(StorageError) -> ReadResult in
                var request = request
                if case .query(let page) = request.operation {
                    request.needsPosition = page.start == query.start
                }
                let bytes = request.maximumBytes ?? .max
                // A larger page gets past documents that cannot be read: with a limit, it would be tried for ever.
                if bytes <= max(limits.pageBytes, limits.scannedPageBytes) {
                    request.maximumBytes = min(bytes, self.hub.room)
                }
                let page = request
                // A read may wait until others have ended, for longer than the store holds a state.
                let result = await moment.whileHeld(on: limits.clock) {
                    () async -> Result<ReadResult, StorageError> in
                    do throws(StorageError) {
                        return .success(try await self.answer(page))
                    } catch {
                        return .failure(error)
                    }
                }
                return try result.get()
            }
        )
    }

    /// Performs a read at once, and returns its result as an event.
    private func result(
        _ id: ListenSession.ReadID,
        _ operation: ReadOperation
    ) async -> ListenSession.Event {
        var request = ReadRequest(operation)
        (request.needsPosition, request.needsTime) = (true, true)
        request.reportsUnreadable = true
        request.maximumBytes = configuration.mostBytesAtOnce
        do throws(StorageError) {
            let result = try await answer(request)
            guard !result.isPartial else { return .failed(id, isTooLarge) }
            guard let position = result.position, let time = result.time else {
                return .failed(id, Self.lacksTimes)
            }
            let point = ListenSession.Point(position: position, time: time)
            let unreadable = result.unreadable.map(\.path)
            switch result.payload {
            case .found(let documents):
                return .loaded(id, documents, unreadable: unreadable, at: point)
            case .documents(let documents):
                let found = documents.compactMap { $0 }
                return .loaded(id, found, unreadable: unreadable, at: point)
            case .values(let values):
                return .counted(id, Int(values.first?.integerValue ?? 0), at: point)
            case .names: return .loaded(id, [], at: point)
            }
        } catch {
            return Self.failure(id, error)
        }
    }

    private static func failure(
        _ id: ListenSession.ReadID,
        _ error: StorageError
    ) -> ListenSession.Event {
        // Clients would come back from a stream that ends, and ask for the same again.
        let isSlow = error.cause is ReadIsTooSlow
        return .failed(id, isSlow ? StorageError(.tooLarge, error.message) : error)
    }

    /// The end of a target in which too many documents follow each other that cannot be read.
    private static func unreadable(_ id: ListenSession.ReadID) -> ListenSession.Event {
        let count = UnreadableDocument.mostPassedOver
        return .failed(
            id,
            StorageError(
                .tooLarge,
                "more than \(count) documents in a row cannot be read; narrow the query"
            )
        )
    }

    private var isTooLarge: StorageError {
        let size = "\(configuration.mostBytesAtOnce) bytes"
        return StorageError(
            .tooLarge,
            "the documents have more than \(size); narrow the query, or limit it"
        )
    }

    /// Performs a read: one of a few documents at once, and others when they are admitted, with a time limit.
    private func answer(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        // A few documents do not wait for slow queries; a timer would cost more than reading them.
        if case .documents(let paths) = request.operation, paths.count < 10 {
            return try await adapter.read(request)
        }
        // The store may have been busy the first time.
        if let result = try await admittedAnswer(request) { return result }
        if let result = try await admittedAnswer(request) { return result }
        let limit = configuration.readTimeout
        // With the code of a result that is too large, a page would be read again with fewer documents.
        throw StorageError(
            .timeout,
            "reading the documents takes more than \(limit); narrow the query, or limit it",
            cause: ReadIsTooSlow()
        )
    }

    /// Performs a read when it is admitted; returns nil if it has reached the time limit.
    private func admittedAnswer(
        _ request: ReadRequest
    ) async throws(StorageError) -> ReadResult? {
        guard await hub.reads.enter() else { throw .cancellation }
        defer { hub.reads.leave() }
        let limit = configuration.readTimeout
        let context = StorageContext.current.limited(to: limit, on: configuration.clock)
        do throws(StorageError) {
            return try await context.run {
                [adapter] () async throws(StorageError) -> ReadResult in
                try await adapter.read(request)
            }
        } catch {
            // Other timeouts are those of the store itself.
            guard error.code == .timeout, context.isOver else { throw error }
            return nil
        }
    }
}

/// The moment at which the pages of a target are read, if the store has to hold it.
private final class HeldMoment: Sendable {
    private let hub: ListenHub
    private let moment = Mutex<ReadMoment?>(nil)
    /// Whether the moment is counted among those of the hub.
    private let isCounted = Mutex(false)

    init(in hub: ListenHub) { self.hub = hub }

    deinit { release() }

    /// Gives the place of the moment back to other streams.
    private func release() {
        let wasCounted = isCounted.withLock { isCounted in
            defer { isCounted = false }
            return isCounted
        }
        if wasCounted { hub.endHold() }
    }

    /// Takes the present moment of the store, once.
    ///
    /// - Throws: `StorageError/Code/snapshotTooOld` if the store already holds as many states as it can, or as streams
    ///   may take.
    func take(
        on clock: any Clock<Duration>,
        upTo longest: Duration
    ) async throws(StorageError) -> ReadMoment {
        let mayHold = hub.beginHold()
        isCounted.withLock { $0 = mayHold }
        guard mayHold,
            let taken = try await ReadMoment.present(of: hub.adapter, on: clock, upTo: longest)
        else {
            throw StorageError(.snapshotTooOld, "the store cannot hold another state")
        }
        moment.withLock { $0 = taken }
        return taken
    }

    /// Performs work that can take longer than the store holds a state.
    func whileHeld<Value: Sendable>(
        on clock: any Clock<Duration>,
        _ work: @Sendable () async -> Value
    ) async -> Value {
        guard let moment = moment.withLock({ $0 }) else { return await work() }
        return await withDiscardingTaskGroup { group -> Value in
            group.addTask {
                while (try? await clock.sleep(for: .seconds(10))) != nil {
                    // In a task of its own: a store may lose a state whose read is canceled.
                    let isHeld = await Task { (try? await moment.renew()) != nil }.value
                    // The next read finds the failure, but may be long in coming.
                    if !isHeld { self.release() }
                }
            }
            let value = await work()
            group.cancelAll()
            return value
        }
    }
}
