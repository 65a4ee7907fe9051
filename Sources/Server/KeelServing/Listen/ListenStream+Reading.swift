internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

extension ListenStream {
    private struct ReadIsTooSlow: Error {}

    func read(_ id: ListenSession.ReadID, _ operation: ReadOperation) async {
        // A number takes next to no memory, however long the client takes.
        guard operation.findsDocuments else { return await readAtOnce(id, operation) }
        let queue = operation.isOfFewDocuments ? share.smallLoads : share.loads
        guard await queue.enter() else { return }
        defer { queue.leave() }
        // The target may have been removed meanwhile.
        guard isWaiting(for: id) else { return }
        // Other stores could not read the pages from one state.
        let keepsStates = !adapter.capabilities.isDisjoint(with: [.heldReads, .pointInTimeReads])
        guard keepsStates, let query = operation.queryInParts else {
            return await readAtOnce(id, operation)
        }
        await load(id, query)
    }

    func catchUp(
        _ id: ListenSession.ReadID,
        _ cursor: ChangeCursor,
        _ scope: ChangeScope
    ) async {
        guard await share.loads.enter() else { return }
        defer { share.loads.leave() }
        guard isWaiting(for: id) else { return }
        await handOver(id) { await changes(id, after: cursor, scope, countedIn: $0) }
    }

    /// The count of the documents of a read that the client has not taken yet.
    private struct Found {
        let size: CountedBytes
        /// Whether the stream may hold more than its share.
        let isAlone: Bool
    }

    /// Reads, and hands over the result, which counts until the client has taken it.
    ///
    /// If `read` returns nil because the result does not fit into the stream's share, reads again after the client has
    /// taken the others.
    private func handOver(
        _ id: ListenSession.ReadID,
        _ read: (Found) async -> ListenSession.Event?
    ) async {
        let size = CountedBytes(in: share.unsent)
        if let event = await read(Found(size: size, isAlone: false)) {
            await handle(event)
            return size.set(0)
        }
        guard await share.repetitions.enter() else { return }
        defer { share.repetitions.leave() }
        await share.waitUntilTaken()
        // The target may have been removed meanwhile.
        guard isWaiting(for: id), let event = await read(Found(size: size, isAlone: true)) else {
            return
        }
        await handle(event)
        size.set(0)
    }

    /// Performs a read at once, and hands its result to the session; `cause` is the error if the documents are too
    /// large.
    private func readAtOnce(
        _ id: ListenSession.ReadID,
        _ operation: ReadOperation,
        because cause: StorageError? = nil
    ) async {
        await handOver(id) { await result(id, operation, because: cause, countedIn: $0) }
    }

    /// Counts the documents of a read, if they fit.
    ///
    /// - Returns: Whether they fit into the stream's share, or are all that the stream holds.
    /// - Throws: `StorageError/Code/unavailable` if they are larger than the guaranteed size, and the limit of the
    ///   server or of the caller is reached without them.
    private func count(_ bytes: Int, in found: Found) throws(StorageError) -> Bool {
        guard found.size.raise(to: bytes, upTo: found.isAlone ? .max : share.mostBytes) else {
            found.size.set(0)
            return false
        }
        // A result that is larger than the limit is sent alone: its client would ask for it again and again.
        guard bytes <= Self.guaranteedBytes || !isFull(besides: bytes) else {
            found.size.set(0)
            throw Self.hasNoRoom
        }
        return true
    }

    /// Returns whether a limit is exceeded, that of the caller or of all, apart from some bytes.
    func isFull(besides bytes: Int) -> Bool {
        hub.isFull(besides: bytes) || share.caller.isFull(besides: bytes)
    }

    /// The size of the documents of a page that the stream may read to send them, in bytes.
    private var room: Int {
        let own = min(share.caller.room, share.mostBytes - share.unsent.value)
        return min(hub.room, max(ListenHub.leastRoom, own))
    }

    private static func size(of documents: [Document]) -> Int {
        var size = AnswerSize(most: Int.max)
        for document in documents { size.add(document) }
        return size.bytes
    }

    /// Reads the documents of a query page by page, each page after the client has taken the one before it.
    private func load(_ id: ListenSession.ReadID, _ query: DocumentQuery) async {
        let moment = HeldMoment(in: hub, for: share)
        var pages = self.pages(of: query, at: moment)
        var point: ListenSession.Point?
        let size = CountedBytes(in: share.unsent)
        do throws(StorageError) {
            while let page = try await pages.next() {
                guard !pages.isCutShort else {
                    guard point == nil else { return await handle(Self.unreadable(id)) }
                    return await readAtOnce(id, .query(query))
                }
                if point == nil {
                    guard let position = page.result.position, let time = page.result.time else {
                        await pages.end()
                        return await handle(.failed(id, Self.lacksTimes))
                    }
                    point = .init(position: position, time: time)
                }
                guard let point else { continue }
                size.set(Self.size(of: page.documents))
                guard pages.mayHaveMore else {
                    // The last page is here, however long the client takes.
                    moment.release()
                    await handle(.loaded(id, page.documents, at: point))
                    return size.set(0)
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
            // The read that replaces it needs no held state, however long the client takes.
            moment.release()
            await readAtOnce(id, .query(query), because: Self.lacksStates)
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
                    request.maximumBytes = min(bytes, self.room)
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

    /// Performs a read at once, and returns its result; nil if the stream's share has no room.
    private func result(
        _ id: ListenSession.ReadID,
        _ operation: ReadOperation,
        because cause: StorageError?,
        countedIn found: Found
    ) async -> ListenSession.Event? {
        var request = ReadRequest(operation)
        (request.needsPosition, request.needsTime) = (true, true)
        request.reportsUnreadable = true
        // Without room, the admitted reads share the limit that a single read has otherwise.
        let least = configuration.mostBytesAtOnce / ListenHub.mostReads
        // A larger result ends its target. If the limit were all of the room, the data of other streams would make its
        // client reconnect instead, again and again.
        let most = min(configuration.mostBytesAtOnce, max(least, hub.mostWaitingBytes / 2))
        let limit = min(most, max(least, hub.room))
        request.maximumBytes = limit
        do throws(StorageError) {
            let result = try await answer(request)
            guard !result.isPartial else {
                return .failed(id, limit < most ? Self.hasNoRoom : cause ?? Self.tooLarge(most))
            }
            guard let position = result.position, let time = result.time else {
                return .failed(id, Self.lacksTimes)
            }
            let point = ListenSession.Point(position: position, time: time)
            let unreadable = result.unreadable
            switch result.payload {
            case .found(let documents):
                guard try count(Self.size(of: documents), in: found) else { return nil }
                return .loaded(id, documents, unreadable: unreadable, at: point)
            case .documents(let all):
                let documents = all.compactMap { $0 }
                guard try count(Self.size(of: documents), in: found) else { return nil }
                return .loaded(id, documents, unreadable: unreadable, at: point)
            case .values(let values):
                return .counted(id, Int(values.first?.integerValue ?? 0), at: point)
            case .names: return .loaded(id, [], at: point)
            }
        } catch {
            return Self.failure(id, error)
        }
    }

    /// Reads the changes after a position; returns nil if the stream's share has no room.
    private func changes(
        _ id: ListenSession.ReadID,
        after cursor: ChangeCursor,
        _ scope: ChangeScope,
        countedIn found: Found
    ) async -> ListenSession.Event? {
        var request = ChangeRequest(after: cursor, scope: scope)
        var changes: [ChangePage.Change] = []
        var size = AnswerSize(most: configuration.mostBytesAtOnce)
        do throws(StorageError) {
            while true {
                // Reading the target anew has a time limit of its own.
                guard let page = try await self.page(request) else {
                    found.size.set(0)
                    return .cannotResume(id)
                }
                changes += page.changes
                for change in page.changes { size.add(change) }
                guard changes.count <= configuration.mostRepeatedChanges, !size.isFull else {
                    found.size.set(0)
                    return .cannotResume(id)
                }
                guard try count(size.bytes, in: found) else { return nil }
                request.after = page.next
                guard page.isCaughtUp else { continue }
                guard let time = page.time else { return .failed(id, Self.lacksTimes) }
                return .caughtUp(id, changes, at: .init(position: page.next, time: time))
            }
        } catch {
            found.size.set(0)
            // A token of other data, or of changes that the log has removed.
            let isUseless = [.cursorExpired, .invalidArgument].contains(error.code)
            return isUseless ? .cannotResume(id) : .failed(id, error)
        }
    }

    /// Reads a page of the log when it is admitted; returns nil if the read has reached the time limit.
    private func page(_ request: ChangeRequest) async throws(StorageError) -> ChangePage? {
        do throws(StorageError) {
            return try await admitted { [adapter] () async throws(StorageError) -> ChangePage in
                try await adapter.changes(request)
            }
        } catch {
            throw Self.judged(error)
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

    static var lacksTimes: StorageError {
        StorageError(.unsupported, "listening needs a store that reports the times of its states")
    }

    /// The error of a read whose result would exceed a limit of the server; the client resumes the stream.
    static var hasNoRoom: StorageError {
        StorageError(.unavailable, "too many changes and documents wait for all streams")
    }

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

    /// The error of a large target while the store holds as many states as it can.
    private static var lacksStates: StorageError {
        StorageError(.unavailable, "the store cannot hold a state for another large target")
    }

    private static func tooLarge(_ bytes: Int) -> StorageError {
        StorageError(
            .tooLarge,
            "the documents have more than \(bytes) bytes; narrow the query, or limit it"
        )
    }

    private func answer(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        do throws(StorageError) {
            return try await storedAnswer(request)
        } catch {
            throw Self.judged(error)
        }
    }

    /// Returns the error of a read, with the cause ``RefusedCaller`` if access rules refuse the caller.
    private static func judged(_ error: StorageError) -> StorageError {
        guard error.refusesCaller else { return error }
        return StorageError(error.code, error.message, cause: RefusedCaller())
    }

    /// Reads a few documents at once, and others when admitted, with a time limit.
    private func storedAnswer(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        // A few documents do not wait for slow queries; a timer would cost more than reading them.
        guard !request.operation.isOfFewDocuments else {
            guard await share.caller.smallReads.enter() else { throw .cancellation }
            defer { share.caller.smallReads.leave() }
            return try await adapter.read(request)
        }
        // The store may have been busy the first time.
        for _ in 0..<2 {
            let result = try await admitted {
                [adapter] () async throws(StorageError) -> ReadResult in
                try await adapter.read(request)
            }
            if let result { return result }
        }
        let limit = configuration.readTimeout
        // With the code of a result that is too large, a page would be read again with fewer documents.
        throw StorageError(
            .timeout,
            "reading the documents takes more than \(limit); narrow the query, or limit it",
            cause: ReadIsTooSlow()
        )
    }

    /// Performs a read when it is admitted; returns nil if it has reached the time limit.
    private func admitted<Value: Sendable>(
        _ read: @escaping @Sendable () async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value? {
        // The caller's first: a place among the reads of all that waits would keep others from it.
        guard await share.caller.reads.enter() else { throw .cancellation }
        defer { share.caller.reads.leave() }
        guard await hub.reads.enter() else { throw .cancellation }
        defer { hub.reads.leave() }
        let limit = configuration.readTimeout
        let context = StorageContext.current.limited(to: limit, on: configuration.clock)
        do throws(StorageError) {
            return try await context.run(read)
        } catch {
            // Other timeouts are those of the store itself.
            guard error.code == .timeout, context.isOver else { throw error }
            return nil
        }
    }
}

extension ReadOperation {
    fileprivate var isOfFewDocuments: Bool {
        if case .documents(let paths) = self { paths.count < 10 } else { false }
    }

    fileprivate var findsDocuments: Bool {
        switch self {
        case .documents, .query: true
        case .aggregate, .collections: false
        }
    }
}

/// The moment at which the pages of a target are read, if the store has to hold it.
private final class HeldMoment: Sendable {
    private let hub: ListenHub
    private let share: ListenShare
    private let moment = Mutex<ReadMoment?>(nil)
    /// Whether the moment has a place among those of its stream and of the hub.
    private let places = Mutex((ofStream: false, ofHub: false))

    init(in hub: ListenHub, for share: ListenShare) {
        self.hub = hub
        self.share = share
    }

    deinit { release() }

    func release() {
        let former = places.withLock { places in
            defer { places = (false, false) }
            return places
        }
        if former.ofHub { hub.endHold(for: share.caller) }
        if former.ofStream { share.holds.leave() }
    }

    /// Takes the present moment of the store, once there is a place for it in the stream.
    ///
    /// - Throws: `StorageError/Code/snapshotTooOld` if the store can hold no other state for all, for streams, or for
    ///   the caller; `StorageError/Code/cancelled`.
    func take(
        on clock: any Clock<Duration>,
        upTo longest: Duration
    ) async throws(StorageError) -> ReadMoment {
        guard await share.holds.enter() else { throw .cancellation }
        let mayHold = hub.beginHold(for: share.caller)
        places.withLock { $0 = (true, mayHold) }
        guard mayHold,
            let taken = try await ReadMoment.present(of: hub.adapter, on: clock, upTo: longest)
        else {
            throw StorageError(.snapshotTooOld, "the store cannot hold another state")
        }
        moment.withLock { $0 = taken }
        return taken
    }

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
