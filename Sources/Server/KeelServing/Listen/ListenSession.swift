internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore

/// A stream of Firestore's Listen method, as a state machine without input and output.
///
/// A driver passes events, and performs the effects in their order. All targets of a stream are shown at one consistent
/// point: clients show nothing before a message that names no target and has a time. It changes no target
/// (``ListenResponse/TargetChange/Kind/noChange``), apart from ``joinsCurrent``.
///
/// A target's first read can be newer than the position up to which the stream has followed the log, and older than
/// pages that arrived meanwhile. Such pages are kept and applied afterwards, and nothing is published until the log has
/// reached the read.
///
/// The Firebase SDKs fail an assertion if a message was not asked for: each target that a client adds is acknowledged
/// once, and each that it removes once, unless the server has removed it first.
struct ListenSession {
    /// The number of a read, by which its result is recognized as outdated.
    typealias ReadID = UInt64

    indirect enum Event {
        case request(ListenRequest)
        /// A complete read, in a snapshot at a position, and the unreadable documents.
        case loaded(ReadID, [Document], unreadable: [UnreadableDocument] = [], at: Point)
        /// Documents of a complete read, in the snapshot of the ``loaded(_:_:unreadable:at:)`` that follows.
        ///
        /// Only ``ReadOperation/queryInParts`` arrives in parts.
        case part(ReadID, [Document], at: Point)
        /// The number of documents in a target's result, in a snapshot at a position.
        case counted(ReadID, Int, at: Point)
        /// All changes of a target after the position of its token.
        case caughtUp(ReadID, [ChangePage.Change], at: Point)
        case cannotResume(ReadID)
        case failed(ReadID, StorageError)
        case denied(Int32, StreamFailure)
        /// The next page of the log, also without changes.
        case page(ChangePage)
        /// The log no longer reaches the stream's position.
        case restarted
        /// The client has not received anything for a while.
        case beat
    }

    enum Effect {
        case read(ReadID, ReadOperation)
        /// Read all changes in a scope after a position, up to a consistent point.
        case catchUp(ReadID, after: ChangeCursor, ChangeScope)
        case follow(ChangeCursor)
        case send(ListenResponse)
        case end(StreamFailure)
    }

    struct Point: Sendable {
        var position: ChangeCursor
        var time: Timestamp
    }

    struct Target {
        enum Phase {
            case reading(ReadID)
            case loading(ReadID, from: ChangeCursor)
            /// Shown as of a position that the stream has not reached yet.
            case ahead(ChangeCursor)
            case settled
        }

        let target: ListenTarget
        var view: TargetView
        var phase: Phase
        /// Whether the client must forget earlier documents.
        var needsReset = false
        /// Whether the client knows that the target is complete.
        var isCurrent = false
        var isPartial = false
        /// Whether the target has begun again after the store lost the snapshot of its parts.
        var hasBegunAgain = false
        var check: ResultCheck?
        var naming: Naming?
        var repetitions = 0
    }

    static let mostTargets = 1_000
    /// The maximum number of documents that the targets of a stream name.
    static let mostDocuments = 100_000

    var targets: [Int32: Target] = [:]
    var nextRead: ReadID = 0
    /// The position up to which the stream has followed the log; nil before the first read.
    private(set) var position: ChangeCursor?
    /// The state at ``position``, if it is consistent.
    private(set) var point: Point?
    /// The position of the newest read whose documents were sent; clients keep showing these, even without their
    /// target.
    var reach: ChangeCursor?
    private(set) var kept: KeptPages
    /// Whether documents have been sent since the last point that was published.
    var hasNews = false

    /// The approximate maximum size of the documents that the targets with a limit keep together, in bytes.
    let mostWindowBytes: Int

    /// The approximate maximum number of documents that the targets without a limit remember together.
    let mostNames: Int

    /// Whether one message about all targets, with a time, both completes them and makes a client show them.
    ///
    /// Clients of WebChannel, such as the SDK for web pages, allow it; clients of gRPC show nothing before a message
    /// that changes no target.
    ///
    /// Source: firebase/firebase-js-sdk, packages/firestore/src/remote/serializer.ts, `versionFromListenResponse`, and
    /// watch_change.ts, `handleTargetChange`.
    let joinsCurrent: Bool

    /// Creates a session, which repeats a read during which more changes arrive than it keeps.
    init(
        mostKeptChanges: Int = 10_000,
        mostKeptBytes: Int = .max,
        mostWindowBytes: Int = 64 << 20,
        mostNames: Int = 100_000,
        joinsCurrent: Bool = false
    ) {
        kept = KeptPages(mostChanges: mostKeptChanges, mostBytes: mostKeptBytes)
        self.mostWindowBytes = mostWindowBytes
        self.mostNames = mostNames
        self.joinsCurrent = joinsCurrent
    }

    // MARK: Events

    mutating func handle(_ event: Event) -> [Effect] {
        var effects: [Effect] = []
        switch event {
        case .request(.add(let target)): add(target, &effects)
        case .request(.reject(let id, let failure)): reject(id, failure, &effects)
        case .request(.remove(let id)):
            // The server may have removed the target first; its message is on the way.
            guard targets.removeValue(forKey: id) != nil else { return [] }
            effects.append(Self.change(.remove, [id]))
        case .loaded(let read, let documents, let unreadable, let point):
            if let id = target(naming: read) {
                answer(id, documents.map(\.path) + unreadable.map(\.path), at: point.position)
                break
            }
            guard let id = target(of: read) else { break }
            if case .loading(_, let start)? = targets[id]?.phase {
                endLoad(id, documents, from: start, at: point.time, &effects)
                break
            }
            guard accepts(point, &effects) else {
                repeatRead(of: id, &effects)
                break
            }
            if targets[id]?.check != nil {
                let paths = documents.map(\.path)
                targets[id]?.check?.result = .init(
                    position: point.position,
                    count: paths.count,
                    paths: paths
                )
                compare(id, &effects)
            } else {
                load(id, documents, unreadable, at: point, &effects)
            }
        case .part(let read, let documents, let point):
            guard let id = target(of: read) else { break }
            loadPart(id, documents, of: read, at: point, &effects)
        case .counted(let read, let count, let point):
            guard let id = target(of: read) else { break }
            guard accepts(point, &effects) else {
                repeatRead(of: id, &effects)
                break
            }
            targets[id]?.check?.result = .init(position: point.position, count: count)
            compare(id, &effects)
        case .caughtUp(let read, let changes, let point):
            guard let id = target(of: read) else { break }
            guard accepts(point, &effects) else {
                repeatRead(of: id, &effects)
                break
            }
            catchUp(id, changes, at: point, &effects)
        case .cannotResume(let read):
            guard let id = target(of: read) else { break }
            targets[id]?.needsReset = true
            self.read(id, &effects)
        case .failed(let read, let error):
            if let id = target(naming: read) {
                answer(id, nil, at: nil)
                break
            }
            guard let id = target(of: read) else { break }
            fail(id, error, &effects)
        case .denied(let id, let failure):
            guard targets.removeValue(forKey: id) != nil else { return [] }
            effects.append(Self.change(.remove, [id], cause: failure))
        case .page(let page): apply(page, &effects)
        case .restarted: restart(&effects)
        case .beat:
            guard isShowable, let point else { break }
            effects.append(noChange(at: point))
        }
        forgetPages()
        publish(&effects)
        limitNames()
        return effects
    }

    /// Whether the session waits for a position, and needs all pages.
    var needsEveryPage: Bool {
        guard position != nil else { return false }
        guard let point, reach.map({ $0 <= point.position }) ?? true else { return true }
        return targets.values.contains { target in
            if case .ahead = target.phase { return true }
            if case .answered? = target.naming { return true }
            return target.check?.result != nil
        }
    }

    var contents: [Int32: ListenTarget.Content] { targets.mapValues(\.target.content) }

    /// The targets that a hub can find by a condition, and their documents.
    var equalities: [Int32: (TargetIndex.Equality, Set<DocumentPath>)] {
        targets.compactMapValues { target in
            guard target.isCurrent, case .settled = target.phase else { return nil }
            return target.view.equality
        }
    }

    // MARK: Targets

    private mutating func add(_ target: ListenTarget, _ effects: inout [Effect]) {
        let id = number(target.id)
        guard targets.count < Self.mostTargets || targets[id] != nil else {
            let message =
                "a stream has up to \(Self.mostTargets) targets; remove some, or open another stream"
            return reject(id, StreamFailure(.resourceExhausted, message), &effects)
        }
        let count = targets.values.reduce(target.documentCount) { $0 + $1.target.documentCount }
        guard count <= Self.mostDocuments else {
            let message = "the targets of a stream name up to \(Self.mostDocuments) documents"
            return reject(id, StreamFailure(.resourceExhausted, message), &effects)
        }
        guard acknowledge(id, &effects) else { return }
        targets[id] = Target(
            target: target,
            view: TargetView(target.content),
            phase: .settled,
            needsReset: target.isResumed && target.resumption == nil
        )
        guard let token = target.resumption else { return read(id, &effects) }
        targets[id]?.view.resume()
        effects.append(.catchUp(begin(id), after: token.position, target.scope))
    }

    /// Returns the number of a new target: the client's, or a free one instead of 0.
    func number(_ id: Int32) -> Int32 {
        guard id == 0 else { return id }
        let last = targets.keys.max() ?? 0
        guard last == .max else { return last + 1 }
        return (1...Int32.max).first { targets[$0] == nil } ?? id
    }

    /// Acknowledges a new target; a number that is in use ends the stream.
    private func acknowledge(_ id: Int32, _ effects: inout [Effect]) -> Bool {
        guard targets[id] == nil else {
            let message = "the stream has a target \(id) already"
            effects.append(.end(StreamFailure(.invalidArgument, message)))
            return false
        }
        effects.append(Self.change(.add, [id]))
        return true
    }

    private func reject(_ id: Int32, _ failure: StreamFailure, _ effects: inout [Effect]) {
        let id = number(id)
        guard acknowledge(id, &effects) else { return }
        effects.append(Self.change(.remove, [id], cause: failure))
    }

    mutating func read(_ id: Int32, _ effects: inout [Effect]) {
        guard let operation = targets[id]?.view.read else { return }
        targets[id]?.check = nil
        targets[id]?.naming = nil
        effects.append(.read(begin(id), operation))
    }

    mutating func begin(_ id: Int32) -> ReadID {
        nextRead += 1
        kept.begin(after: position)
        targets[id]?.phase = .reading(nextRead)
        return nextRead
    }

    func target(of read: ReadID) -> Int32? {
        targets.first { _, target in
            switch target.phase {
            case .reading(let id), .loading(let id, _): id == read
            case .ahead, .settled: false
            }
        }?.key
    }

    /// Returns whether the kept pages continue a read; the first read starts to follow the log.
    mutating func accepts(_ point: Point, _ effects: inout [Effect]) -> Bool {
        guard position != nil else {
            (position, self.point) = (point.position, point)
            kept.restart(after: point.position)
            effects.append(.follow(point.position))
            return true
        }
        return kept.start.map { $0 <= point.position } ?? false
    }

    // MARK: The log

    private mutating func apply(_ page: ChangePage, _ effects: inout [Effect]) {
        guard position.map({ $0 <= page.next }) ?? false else { return }
        kept.append(page)
        position = page.next
        point = page.time.flatMap { time in
            page.isCaughtUp ? Point(position: page.next, time: time) : nil
        }
        var steps: [Int32: [TargetView.Step]] = [:]
        // A copy of the keys: in a loop over the dictionary’s own, the first change would copy all targets.
        for id in Array(targets.keys) {
            // A target that is ahead repeats the changes up to its read: with a page, the client may receive an earlier
            // state of a document for another target, and takes the last message for the newest state.
            var shown: ChangeCursor?
            switch targets[id]?.phase {
            case .ahead(let start)?:
                shown = start
                if start <= page.next { targets[id]?.phase = .settled }
            case .loading?, .settled?: break
            case .reading?:
                // A comparison takes the later pages itself.
                guard let end = targets[id]?.check?.shown, page.next <= end else { continue }
                shown = end
            case nil: continue
            }
            var own = targets[id]?.view.repeated(page.changes) ?? []
            let isEarlier = shown.map { page.next <= $0 } ?? false
            if !isEarlier || targets[id]?.view.isWindow == false {
                guard let steps = targets[id]?.view.apply(page.changes) else {
                    if shown != nil { forget(id) }
                    read(id, &effects)
                    continue
                }
                own += steps
            }
            targets[id]?.check?.advance(to: page.next, by: own)
            if !own.isEmpty { steps[id] = own }
        }
        send(steps, at: page.time, &effects)
        for id in targets.keys.sorted() where targets[id]?.check?.result != nil {
            compare(id, &effects)
        }
        // Documents of the reserve alone are noticed with the next change of the result.
        if steps.keys.contains(where: { targets[$0].map { $0.view.bytes > 0 } ?? false }) {
            limitWindows(&effects)
        }
    }

    /// Reads all targets again; the log is followed from the first read on.
    private mutating func restart(_ effects: inout [Effect]) {
        let isBehind = if let reach, let position { position < reach } else { false }
        (position, point, reach) = (nil, nil, nil)
        kept.clear()
        for id in targets.keys.sorted() {
            if isBehind, targets[id]?.view.isWindow == true { forget(id) }
            read(id, &effects)
        }
    }

    /// Makes the next read of a target send all documents, because the client may have received earlier states for
    /// other targets.
    private mutating func forget(_ id: Int32) {
        guard let content = targets[id]?.target.content else { return }
        targets[id]?.view = TargetView(content)
        targets[id]?.needsReset = true
    }

    private mutating func forgetPages() {
        let isReading = targets.values.contains {
            if case .reading = $0.phase { true } else { false }
        }
        if !isReading { kept.clear() }
    }
}
