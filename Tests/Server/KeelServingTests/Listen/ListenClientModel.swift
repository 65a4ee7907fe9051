import KeelStorage
import KeelStorageAdapting

@testable import KeelServing

/// A client of Firestore's Listen method that checks what the SDKs assert, and remembers what they keep.
///
/// Sources of the rules: firebase/firebase-js-sdk `packages/firestore/src/remote/watch_change.ts`,
/// firebase/firebase-ios-sdk `Firestore/core/src/remote/remote_event.cc`.
struct ListenClientModel {
    struct Violation: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    struct Target {
        let content: ListenTarget.Content
        /// The requests that the server has not acknowledged.
        var pending = 0
        var isCurrent = false
        var paths: Set<DocumentPath> = []
        /// The token that a later stream would send, and the time of the state that it names.
        var token: ResumeToken?
    }

    private(set) var targets: [Int32: Target] = [:]
    private(set) var documents: [DocumentPath: Document] = [:]
    private(set) var lastTime: Timestamp?
    /// Documents that arrived since the last consistent point, per target.
    private var staged: [Int32: [DocumentPath: Bool]] = [:]
    /// The last message about each of them: its state, nil if it does not exist, and the time of the state.
    private var stagedDocuments: [DocumentPath: (document: Document?, time: Timestamp?)] = [:]
    private(set) var snapshotCount = 0
    private(set) var messageCount = 0
    private(set) var filterCount = 0
    /// How often a target was read again after a filter.
    private(set) var repetitionCount = 0

    // MARK: The app

    mutating func add(_ id: Int32, _ content: ListenTarget.Content) -> ListenRequest {
        targets[id] = Target(content: content, pending: 1)
        drifted.remove(id)
        return .add(ListenTarget(id: id, content: content))
    }

    mutating func remove(_ id: Int32) -> ListenRequest {
        // The SDKs forget a target at once, and count the answers that are still to come.
        targets[id]?.pending += 1
        removed.insert(id)
        staged[id] = nil
        return .remove(id)
    }

    /// The targets that the app no longer wants, until the server has acknowledged this.
    private(set) var removed: Set<Int32> = []

    /// The targets that the client reads again, until the server has acknowledged their removal.
    private var repeated: Set<Int32> = []
    /// The requests with which the client reads targets again.
    private(set) var requests: [ListenRequest] = []
    /// The targets whose documents the client has lost track of.
    private(set) var drifted: Set<Int32> = []

    mutating func takeRequests() -> [ListenRequest] {
        defer { requests = [] }
        return requests
    }

    /// Loses a document of a target, or gets one too many.
    mutating func drift(_ id: Int32, _ path: DocumentPath) {
        if targets[id]?.paths.remove(path) == nil { targets[id]?.paths.insert(path) }
        drifted.insert(id)
    }

    /// Opens another stream, and returns its requests.
    mutating func reconnect() -> [ListenRequest] {
        staged = [:]
        stagedDocuments = [:]
        for id in removed { targets[id] = nil }
        (removed, repeated, requests) = ([], [], [])
        return targets.keys.sorted().compactMap { id in
            guard var target = targets[id] else { return nil }
            target.pending = 1
            target.isCurrent = false
            targets[id] = target
            var request = ListenTarget(id: id, content: target.content)
            request.resumption = target.token
            request.isResumed = target.token != nil
            if target.token != nil { request.expectedCount = target.paths.count }
            // Without a token, the SDKs start anew: what they have of a target is replaced by its documents.
            if target.token == nil { forget(id) }
            return .add(request)
        }
    }

    // MARK: The server

    /// Takes a message.
    ///
    /// - Returns: The time of a new consistent point.
    mutating func receive(_ response: ListenResponse) throws -> Timestamp? {
        messageCount += 1
        switch response {
        case .target(let change): return try receive(change)
        case .document(let change):
            let document = change.document
            if isActive(change.targets + change.removed) {
                stagedDocuments[document.path] = (document, document.updateTime)
            }
            try stage(document.path, in: change.targets, notIn: change.removed)
        case .departure(let departure):
            if departure.isDeleted, isActive(departure.targets) {
                stagedDocuments[departure.path] = (nil, departure.readTime)
            }
            try stage(departure.path, in: [], notIn: departure.targets)
        case .filter(let filter): try compare(filter)
        }
        return nil
    }

    /// Compares a target with the server's: `handleExistenceFilter` of the SDKs.
    private mutating func compare(_ filter: ListenResponse.Filter) throws {
        let id = filter.target
        guard let target = targets[id], target.pending == 0 else {
            if targets[id] == nil { throw Violation("a filter of an unknown target") }
            return
        }
        filterCount += 1
        var paths = target.paths
        for (path, isIn) in staged[id] ?? [:] {
            if isIn { paths.insert(path) } else { paths.remove(path) }
        }
        guard paths.count != filter.count else { return }
        if let names = filter.paths.map(Set.init) {
            for path in paths.subtracting(names) { staged[id, default: [:]][path] = false }
            guard paths.intersection(names).count != filter.count else { return healed(id) }
        }
        repetitionCount += 1
        forget(id)
        staged[id] = nil
        targets[id]?.isCurrent = false
        targets[id]?.pending = 2
        repeated.insert(id)
        requests += [.remove(id), .add(ListenTarget(id: id, content: target.content))]
    }

    private mutating func forget(_ id: Int32) {
        targets[id]?.paths = []
        targets[id]?.token = nil
        healed(id)
    }

    private mutating func healed(_ id: Int32) { drifted.remove(id) }

    /// Whether the client takes messages about one of some targets.
    private func isActive(_ ids: [Int32]) -> Bool { ids.contains { targets[$0]?.pending == 0 } }

    private mutating func stage(
        _ path: DocumentPath,
        in added: [Int32],
        notIn removed: [Int32]
    ) throws {
        for (ids, isIn) in [(added, true), (removed, false)] {
            for id in ids {
                guard let target = targets[id] else {
                    throw Violation("a document for a target \(id) that is unknown")
                }
                if target.pending == 0 { staged[id, default: [:]][path] = isIn }
            }
        }
    }

    private mutating func receive(_ change: ListenResponse.TargetChange) throws -> Timestamp? {
        switch change.kind {
        case .add, .remove:
            guard change.targets.count == 1 else { throw Violation("not one target") }
            let id = change.targets[0]
            guard let target = targets[id], target.pending > 0 || change.cause != nil else {
                throw Violation("\(change.kind) of target \(id) was not asked for")
            }
            if change.cause != nil {
                targets[id] = nil
                staged[id] = nil
                removed.remove(id)
                return nil
            }
            targets[id]?.pending -= 1
            guard change.kind == .remove else {
                staged[id] = nil
                return nil
            }
            if repeated.remove(id) != nil { return nil }
            guard removed.remove(id) != nil else { throw Violation("target \(id) was removed") }
            targets[id] = nil
        case .current:
            let isOfAll = change.targets.isEmpty
            for id in isOfAll ? Array(targets.keys) : change.targets
            where targets[id]?.pending == 0 {
                guard isOfAll || targets[id]?.isCurrent == false else {
                    throw Violation("CURRENT twice")
                }
                targets[id]?.isCurrent = true
                // As in the SDKs: a message without a token keeps the last one.
                if let token = change.token { targets[id]?.token = token }
            }
            if isOfAll { return try raise(change) }
        case .reset:
            for id in change.targets where targets[id]?.pending == 0 {
                forget(id)
                targets[id]?.isCurrent = false
                staged[id] = nil
            }
        case .noChange:
            guard change.targets.isEmpty else { throw Violation("NO_CHANGE of targets") }
            return try raise(change)
        }
        return nil
    }

    /// Shows the state of a message about all targets.
    private mutating func raise(_ change: ListenResponse.TargetChange) throws -> Timestamp {
        guard let time = change.readTime else { throw Violation("a change of all without a time") }
        if let lastTime, time < lastTime { throw Violation("the time went back") }
        lastTime = time
        snapshotCount += 1
        for (path, state) in stagedDocuments {
            // The SDKs compare a state with the one that they show, and not with those that arrive with it.
            if let known = documents[path], let time = state.time, time < known.updateTime {
                continue
            }
            documents[path] = state.document
        }
        stagedDocuments = [:]
        for (id, changes) in staged {
            for (path, isIn) in changes {
                if isIn { targets[id]?.paths.insert(path) } else { targets[id]?.paths.remove(path) }
            }
        }
        staged = [:]
        for id in targets.keys where targets[id]?.pending == 0 {
            if let token = change.token { targets[id]?.token = token }
        }
        return time
    }

    /// Returns the documents that the client shows for a target, by path; nil if it waits for them.
    func shown(_ id: Int32) -> [DocumentPath: Document]? {
        guard let target = targets[id], target.pending == 0, target.isCurrent else { return nil }
        var shown: [DocumentPath: Document] = [:]
        for path in target.paths { if let document = documents[path] { shown[path] = document } }
        return shown
    }
}
