internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

extension ChangeHub {
    struct ToldChange {
        let position: Int
        /// Whether the change is told as a departure from the scope.
        let hasLeft: Bool
    }

    private typealias Found = (names: Set<DocumentPath>, first: ChangeCursor, last: ChangeCursor)

    static func readDocuments(
        of channels: AsyncStream<Int>,
        _ hub: @Sendable () -> ChangeHub?
    ) async {
        for await channel in channels { await hub()?.readDocuments(of: channel) }
    }

    private func readDocuments(of channel: Int) async {
        guard let scope = state.withLock({ $0.beginReading(channel) }) else { return }
        // After a failure, listeners receive every change in the collections until their streams begin again.
        let result = try? await documents(in: scope)
        guard !Task.isCancelled else { return }
        state.withLock { state in
            guard let result, result.names.count <= configuration.mostHeldDocuments,
                state.heldCount + result.names.count <= configuration.maximumHeldDocuments
            else { return state.refuse(channel) }
            state.hold(result.names, in: channel, from: result.first, to: result.last)
        }
    }

    /// Returns nil if the store does not report the position of its reads.
    private func documents(in scope: ChangeScope) async throws(StorageError) -> Found? {
        var all: Found?
        for selection in scope.selections {
            let query = selection.query.with {
                $0.projection = []
                $0.limit = .first(configuration.mostHeldDocuments + 1)
            }
            var request = ReadRequest(.query(query))
            request.needsPosition = true
            request.reportsUnreadable = true
            let result = try await adapter.read(request)
            guard case .found(let documents) = result.payload, let position = result.position else {
                return nil
            }
            var sum: Found = all ?? (names: [], first: position, last: position)
            sum.names.formUnion(documents.map(\.path))
            sum.names.formUnion(result.unreadable.map(\.path))
            sum.first = min(sum.first, position)
            sum.last = max(sum.last, position)
            all = sum
        }
        return all
    }
}

// MARK: Held documents

extension ChangeHub.State {
    /// The number of channels whose documents are known.
    var knownCount: Int { channels.values.count { $0.held.isKnown } }

    mutating func requestDocuments(of interest: ChangeInterest) {
        guard !interest.scope.selections.isEmpty, let channel = byInterest[interest],
            channels[channel]?.held.request() == true
        else { return }
        requests?.yield(channel)
    }

    fileprivate mutating func beginReading(_ channel: Int) -> ChangeScope? {
        guard let reached, channels[channel]?.held.begin(from: reached) == true else { return nil }
        return channels[channel]?.interest.scope
    }

    fileprivate mutating func hold(
        _ names: Set<DocumentPath>,
        in channel: Int,
        from first: ChangeCursor,
        to last: ChangeCursor
    ) {
        change(channel) { $0.add(names, from: first, to: last) }
        ahead.insert(channel)
        if let taken { reach(taken) }
    }

    /// From now on, sends a channel every change in its collections.
    fileprivate mutating func refuse(_ channel: Int) {
        change(channel) { $0.refuse() }
        widen(channel)
    }

    mutating func forgetDocuments() {
        for channel in Array(channels.keys) {
            widen(channel)
            channels[channel]?.held = HeldDocuments()
        }
        (heldCount, ahead, unseen) = (0, [], UnseenStates())
        requests?.finish()
        requests = nil
    }

    private mutating func change(_ channel: Int, _ body: (inout HeldDocuments) -> Void) {
        guard let place = channels.index(forKey: channel) else { return }
        heldCount -= channels.values[place].held.paths.count
        body(&channels.values[place].held)
        heldCount += channels.values[place].held.paths.count
    }

    /// Narrows the channels whose documents are known at a position.
    private mutating func reach(_ position: ChangeCursor) {
        for channel in ahead {
            channels[channel]?.held.reach(position)
            if channels[channel]?.held.isKnown == true { narrow(channel) }
        }
        ahead = ahead.filter { channels[$0]?.held.isAhead == true }
    }
}

// MARK: Index

extension ChangeHub.State {
    private static func key(_ channel: Int, _ part: Int) -> TargetIndex.Key {
        TargetIndex.Key(stream: UInt64(channel), target: Int32(part))
    }

    mutating func addToIndexes(_ channel: Int, _ scope: ChangeScope) {
        interested.insert(channel, for: scope)
        targets.insert(Self.key(channel, 0), for: scope)
    }

    mutating func removeFromIndexes(_ channel: Int) {
        widen(channel)
        guard let scope = channels[channel]?.interest.scope else { return }
        interested.remove(channel, for: scope)
        targets.remove(Self.key(channel, 0), for: scope)
    }

    /// Indexes a channel by the equalities of its queries and by its documents.
    private mutating func narrow(_ channel: Int) {
        guard let scope = channels[channel]?.interest.scope,
            let held = channels[channel]?.held.paths
        else { return }
        var rest = ChangeScope.documents(scope.documents)
        rest.formUnion(.collections(scope.collections))
        rest.formUnion(.groups(scope.groups))
        var equalities: [TargetIndex.Equality] = []
        for selection in scope.selections {
            if let equality = TargetIndex.Equality(selection.query) {
                equalities.append(equality)
            } else {
                rest.formUnion(.query(selection.query))
            }
        }
        guard !equalities.isEmpty else { return }
        targets.remove(Self.key(channel, 0), for: scope)
        targets.insert(Self.key(channel, 0), for: rest)
        for (part, equality) in equalities.enumerated() {
            let documents = held.filter { $0.collection == equality.collection }
            targets.insert(Self.key(channel, part + 1), equality, documents: documents)
        }
        channels[channel]?.narrowed = (rest, equalities.count)
    }

    private mutating func widen(_ channel: Int) {
        guard let scope = channels[channel]?.interest.scope,
            let (rest, count) = channels[channel]?.narrowed
        else { return }
        channels[channel]?.narrowed = nil
        targets.remove(Self.key(channel, 0), for: rest)
        for part in 1...count { targets.remove(Self.key(channel, part), for: scope) }
        targets.insert(Self.key(channel, 0), for: scope)
    }
}

// MARK: Changes

extension ChangeHub.State {
    mutating func take(
        _ page: ChangePage,
        _ limits: ChangeService.Configuration
    ) -> [Int: [ChangeHub.ToldChange]] {
        unseen.begin(page)
        defer { unseen.end(page) }
        var told: [Int: [ChangeHub.ToldChange]] = [:]
        for (position, change) in page.changes.enumerated()
        where !ChangeMessages.isServers(change.path) {
            let mayHaveMatched = unseen.precede(change)
            let found = targets.targets(of: change)
            let concerned =
                mayHaveMatched
                ? interested.keys(for: change.path) : Set(found.map { Int($0.stream) })
            for channel in concerned {
                guard let own = tell(change, to: channel, mayHaveMatched, limits) else {
                    continue
                }
                let hasLeft = if case .leftScope = own { true } else { false }
                told[channel, default: []].append(.init(position: position, hasLeft: hasLeft))
            }
        }
        if page.isCaughtUp {
            taken = page.next
            reach(page.next)
        }
        return told
    }

    /// Returns the change to send to a channel; nil if there is none.
    private mutating func tell(
        _ change: ChangePage.Change,
        to channel: Int,
        _ mayHaveMatched: Bool,
        _ limits: ChangeService.Configuration
    ) -> ChangePage.Change? {
        guard let scope = channels[channel]?.interest.scope,
            let told = channels[channel]?.filter.told(change)
        else { return nil }
        let path = change.path
        if scope.documents.contains(path) || scope.isWhole(path.collection) { return told }
        var isTold = true
        self.change(channel) { isTold = $0.tells(told, mayHaveMatched: mayHaveMatched) }
        let count = channels[channel]?.held.paths.count ?? 0
        if count > limits.mostHeldDocuments || heldCount > limits.maximumHeldDocuments {
            refuse(channel)
        }
        return isTold ? told : nil
    }
}
