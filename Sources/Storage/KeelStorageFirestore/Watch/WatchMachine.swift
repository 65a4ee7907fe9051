internal import KeelCore
package import KeelStorageAdapting

/// The client's side of a stream of Firestore's Listen method, as a state machine without input and output.
///
/// A *target* is a query or a set of documents that the server follows. The server marks the points at which all
/// targets of a stream are consistent, by a target change with a time and without targets; until then, changes are
/// *staged*. A stream that breaks off is continued on another one with the token of the last such point.
///
/// The rules are those of Google's clients: firebase-js-sdk `packages/firestore/src/remote/watch_change.ts`,
/// nodejs-firestore `dev/src/watch.ts`.
package struct WatchMachine: Sendable {
    package typealias TargetID = Int32

    package enum Effect: Sendable {
        /// Send a request: a `ListenRequest`.
        case send(FirestoreJSON)
        /// A target is consistent at a time.
        case publish(TargetID, Publication)
        /// The changes since the point from which a target was resumed are unknown; the next publication is the
        /// whole result.
        case expire(TargetID)
        /// The result is not that of the server until the next publication.
        case reload(TargetID)
        /// The server has refused or ended a target, which is removed.
        case fail(TargetID, StorageError)
    }

    package struct Publication: Sendable {
        /// The changes since the last publication, one per document.
        package var changes: [ChangePage.Change]
        package var time: Timestamp
        /// The number of the state among those at this time.
        package var number = 0
        package var token: [UInt8]
    }

    package struct Resumption: Sendable, Hashable {
        package var token: [UInt8]
        package var time: Timestamp
        /// The number of the state among those at this time.
        ///
        /// A server corrects a target at an unchanged time, such as after an existence filter.
        package var number: Int
        package var count: Int?

        package init(token: [UInt8], time: Timestamp, number: Int = 0, count: Int? = nil) {
            self.token = token
            self.time = time
            self.number = number
            self.count = count
        }
    }

    private typealias Changes = [DocumentPath: ChangePage.Change]

    private struct Target {
        let content: [FirestoreJSON.Member]
        /// The number of requests about the target that the server has not acknowledged.
        var pending = 0
        var isLeaving = false
        /// Whether the server has sent everything up to now.
        var isCurrent = false
        /// The published result; nil if it is not known, after a resumption from an earlier process.
        var members: Changes?
        /// The result since the server started over; nil if it has not.
        var fresh: Changes?
        var staged: Changes = [:]
        var token: [UInt8] = []
        var point: Resumption?

        /// The number of documents with the staged changes; nil if it is unknown.
        var count: Int? {
            if let fresh { return fresh.count }
            guard var members else { return staged.isEmpty ? point?.count : nil }
            for change in staged.values { members.apply(change) }
            return members.count
        }
    }

    private let database: String
    private var targets: [TargetID: Target] = [:]
    private var lastID: TargetID = 0

    package init(database: String) { self.database = database }

    package var ids: [TargetID] { targets.filter { !$0.value.isLeaving }.keys.sorted() }

    package func members(of id: TargetID) -> [ChangePage.Change]? {
        guard let target = targets[id], target.point != nil, let members = target.members else {
            return nil
        }
        return members.values.sorted { $0.path < $1.path }
    }

    package func count(of id: TargetID) -> Int? { targets[id]?.point?.count }

    // MARK: Requests

    /// Adds a target, which continues at a point of an earlier stream if one is given.
    package mutating func add(
        _ id: TargetID,
        _ content: [FirestoreJSON.Member],
        from point: Resumption? = nil
    ) -> [Effect] {
        var target = Target(content: content)
        target.point = point
        target.members = point == nil ? [:] : nil
        targets[id] = target
        lastID = max(lastID, id)
        begin(id)
        return [ask(id)]
    }

    package mutating func remove(_ id: TargetID) -> [Effect] {
        guard targets[id]?.isLeaving == false else { return [] }
        targets[id]?.isLeaving = true
        targets[id]?.pending += 1
        return [dismiss(id)]
    }

    /// Begins a new stream, on which all targets continue where they were published last.
    package mutating func reconnect() -> [Effect] {
        targets = targets.filter { !$0.value.isLeaving }
        return targets.keys.sorted().map { id in
            targets[id]?.pending = 0
            begin(id)
            return ask(id)
        }
    }

    private mutating func begin(_ id: TargetID) {
        targets[id]?.isCurrent = false
        targets[id]?.staged = [:]
        // Without a point to continue from, the server sends the whole result.
        let token = targets[id]?.point?.token ?? []
        targets[id]?.fresh = token.isEmpty ? [:] : nil
        targets[id]?.token = token
    }

    package mutating func reload(_ id: TargetID) -> [Effect] {
        guard targets[id]?.isLeaving == false else { return [] }
        targets[id]?.point?.token = []
        begin(id)
        targets[id]?.pending += 1
        return [.reload(id), dismiss(id), ask(id)]
    }

    private mutating func ask(_ id: TargetID) -> Effect {
        targets[id]?.pending += 1
        let target = targets[id]
        var members = target?.content ?? []
        members.append(.init("targetId", .integer(Int64(id))))
        if let point = target?.point, !point.token.isEmpty {
            members.append(.init("resumeToken", .string(Base64.encode(point.token))))
            // The number is sent to have names to drop, which cannot be done without the documents.
            if let count = point.count, target?.members != nil {
                members.append(.init("expectedCount", .integer(Int64(count))))
            }
        }
        return .send(["database": .string(database), "addTarget": .object(members)])
    }

    private func dismiss(_ id: TargetID) -> Effect {
        .send(["database": .string(database), "removeTarget": .integer(Int64(id))])
    }

    // MARK: Messages

    /// - Throws: `StorageError/Code/invalidReply` if it acknowledges what was not requested.
    package mutating func receive(_ message: WatchMessage) throws(StorageError) -> [Effect] {
        switch message {
        case .target(let change): return try receive(change)
        case .document(let change, let ids, let removed):
            for id in removed where !ids.contains(id) { stage(.leftScope(change.path), id) }
            for id in ids { stage(change, id) }
        case .departure(let path, let isDeleted, let ids, let time):
            let change: ChangePage.Change =
                isDeleted
                ? .removed(path, Revision(number: time?.microseconds ?? 0), at: time)
                : .leftScope(path)
            for id in ids.isEmpty ? Array(targets.keys) : ids { stage(change, id) }
        case .filter(let filter): return check(filter)
        case .other: break
        }
        return []
    }

    private func isActive(_ id: TargetID) -> Bool {
        targets[id].map { $0.pending == 0 && !$0.isLeaving } ?? false
    }

    private mutating func stage(_ change: ChangePage.Change, _ id: TargetID) {
        guard isActive(id) else { return }
        if targets[id]?.fresh != nil {
            targets[id]?.fresh?.apply(change)
        } else {
            targets[id]?.staged[change.path] = change
        }
    }

    private mutating func receive(
        _ change: WatchMessage.TargetChange
    ) throws(StorageError) -> [Effect] {
        let named = change.targets.isEmpty ? targets.keys.sorted() : change.targets
        switch change.kind {
        case .add:
            for id in change.targets {
                guard let target = targets[id] else {
                    // The server may have ended the target before it saw the last request about it.
                    if id <= lastID { continue }
                    throw .invalidReply("it adds target \(id), which was not requested")
                }
                // A second acknowledgement says nothing new.
                if target.pending > 0 { acknowledge(id) }
            }
        case .remove:
            var effects: [Effect] = []
            for id in named { effects += try end(id, change.cause) }
            return effects
        case .reset:
            for id in named where isActive(id) {
                targets[id]?.isCurrent = false
                targets[id]?.fresh = [:]
                targets[id]?.staged = [:]
            }
        case .current, .noChange:
            for id in named where isActive(id) {
                if change.kind == .current { targets[id]?.isCurrent = true }
                if !change.token.isEmpty { targets[id]?.token = change.token }
            }
            guard change.targets.isEmpty, let time = change.time else { return [] }
            return named.flatMap { publish($0, at: time) }
        }
        return []
    }

    private mutating func acknowledge(_ id: TargetID) {
        targets[id]?.pending -= 1
        if targets[id]?.pending == 0, targets[id]?.isLeaving == true { targets[id] = nil }
    }

    private mutating func end(
        _ id: TargetID,
        _ cause: StorageError?
    ) throws(StorageError) -> [Effect] {
        guard let target = targets[id] else { return [] }
        guard target.pending > 0 || cause != nil else {
            throw .invalidReply("it removes target \(id), which was not requested")
        }
        guard let cause else {
            acknowledge(id)
            return []
        }
        targets[id] = nil
        guard !target.isLeaving else { return [] }
        guard target.pending > 1 else { return [.fail(id, cause)] }
        // The server has ended the target before it saw a reload, which will begin it again.
        return [dismiss(id), .fail(id, cause)]
    }

    // MARK: Publishing

    private mutating func publish(_ id: TargetID, at time: Timestamp) -> [Effect] {
        guard isActive(id), var target = targets[id], target.isCurrent else { return [] }
        // The server’s time may not go back, as the state that it names would.
        if let last = target.point?.time, time < last { return [] }
        var effects: [Effect] = []
        var changes: [ChangePage.Change]
        if let fresh = target.fresh {
            if target.members == nil { effects.append(.expire(id)) }
            let old = target.members ?? [:]
            changes = old.keys.filter { fresh[$0] == nil }.map { .leftScope($0) }
            changes += fresh.values.filter { old[$0.path] != $0 }
            target.members = fresh
            target.fresh = nil
        } else if var members = target.members {
            changes = target.staged.values.filter { members.apply($0) }
            target.members = members
        } else {
            changes = Array(target.staged.values)
        }
        let count = target.members?.count ?? (changes.isEmpty ? target.point?.count : nil)
        var number = 0
        if let last = target.point, last.time == time {
            number = last.number + (changes.isEmpty && effects.isEmpty ? 0 : 1)
        }
        target.staged = [:]
        target.point = Resumption(token: target.token, time: time, number: number, count: count)
        targets[id] = target
        changes.sort { $0.path < $1.path }
        let publication = Publication(
            changes: changes,
            time: time,
            number: number,
            token: target.token
        )
        effects.append(.publish(id, publication))
        return effects
    }

    private mutating func check(_ filter: ExistenceFilter) -> [Effect] {
        let id = filter.target
        guard isActive(id), let target = targets[id], target.count != filter.count else {
            return []
        }
        if let names = filter.names, target.count != nil {
            var present = target.fresh ?? target.members ?? [:]
            if target.fresh == nil { for change in target.staged.values { present.apply(change) } }
            let gone = present.keys.filter {
                !names.mayContain("\(database)/documents/\($0.string)")
            }
            if target.members != nil, present.count - gone.count == filter.count {
                for path in gone { stage(.leftScope(path), id) }
                return []
            }
        }
        return reload(id)
    }
}

extension [DocumentPath: ChangePage.Change] {
    /// Returns whether the result is then another.
    @discardableResult
    fileprivate mutating func apply(_ change: ChangePage.Change) -> Bool {
        switch change {
        case .current, .unreadable: return updateValue(change, forKey: change.path) != change
        case .removed, .leftScope: return removeValue(forKey: change.path) != nil
        }
    }
}
