import KeelStorage
import KeelStorageAdapting
import KeelTestKit

/// A store, its reader, and listeners that come and go, in an order determined by a seed.
///
/// Replies are made at one step and delivered at a later one, including those to readers that have been replaced.
struct ListenerSimulation {
    private typealias States = [DocumentPath: Int64]

    /// A listener, which continues from its own read.
    private struct Listener {
        let id: ListenerTable.ID
        let mailbox: Subscription
        let filter: ScopeFilter
        /// A read from which it has not been able to continue yet.
        var read: (states: States, position: Int)?
        var needsRead = true
        var view: States = [:]
    }

    /// A request of a reader.
    private struct Flight {
        let reader: UInt64
        let turn: ChangeRequest
        var page: ChangePage?
    }

    private(set) var flaws: [String] = []
    private var random: Xorshift
    private var table = ListenerTable()
    private var listeners: [Listener] = []
    private var flights: [Flight] = []
    /// The documents that changed; `history` has the states after each change.
    private var log: [DocumentPath] = []
    private var history: [States] = [[:]]
    /// Positions before this one have expired.
    private var start = 0

    private static let paths: [DocumentPath] = [
        "a/1", "a/2", "b/1", "b/2", "c/1", "d/1", "e/1", "a/1/g/1", "b/2/g/1",
    ]

    /// A document that no listener may read or follow.
    private static let refused: DocumentPath = "x/1"

    init(seed: UInt64) { random = Xorshift(seed: (seed + 1) &* 0x9e37_79b9_7f4a_7c15) }

    // MARK: Steps

    mutating func step() {
        // Requests take many steps, so that much happens in between.
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<20: write()
        case 20..<33: if listeners.count < 8 { subscribe() }
        case 33..<41: unsubscribe()
        case 41..<57: read()
        case 57..<70: activate()
        case 70..<80: beginTurn()
        case 80..<87: answer()
        case 87..<92: deliver(isLost: false)
        case 92: deliver(isLost: true)
        case 93: start = Int.random(in: start...log.count, using: &random)
        default: take()
        }
    }

    private mutating func write() {
        guard let path = Self.paths.randomElement(using: &random) else { return }
        var states = history[log.count]
        let isRemoval = Int.random(in: 0..<4, using: &random) == 0
        states[path] = isRemoval ? nil : Int64.random(in: 0..<10, using: &random)
        log.append(path)
        history.append(states)
    }

    private mutating func subscribe() {
        let interests: [Subscription.Interest] = [
            .document("a/1"), .document("b/2"), .document(Self.refused), .document("c/1"),
            .document("d/1"),
            .query(DocumentQuery("a")), .query(DocumentQuery("e")),
            .query(DocumentQuery("b").where(.greater("n", 4))), .query(DocumentQuery(group: "g")),
            .query(DocumentQuery(group: "g", under: "a/1").where(.less("n", 5))),
        ]
        guard let interest = interests.randomElement(using: &random) else { return }
        let mailbox = Subscription(interest)
        let (id, _) = table.subscribe(mailbox)
        listeners.append(Listener(id: id, mailbox: mailbox, filter: ScopeFilter(mailbox.scope)))
    }

    private mutating func unsubscribe() {
        guard let index = listeners.indices.randomElement(using: &random) else { return }
        _ = table.unsubscribe(listeners.remove(at: index).id)
    }

    private mutating func read() {
        guard let index = listeners.indices.randomElement(using: &random),
            listeners[index].needsRead, listeners[index].read == nil,
            !listeners[index].mailbox.scope.documents.contains(Self.refused)
        else { return }
        // A replica may be behind the reader's changes.
        let position = max(0, log.count - Int.random(in: 0...2, using: &random))
        listeners[index].read = (seen(position, by: listeners[index]), position)
    }

    private mutating func activate() {
        guard let index = listeners.indices.randomElement(using: &random),
            let read = listeners[index].read
        else { return }
        activate(index, read)
    }

    private mutating func activate(_ index: Int, _ read: (states: States, position: Int)) {
        switch table.activate(listeners[index].id, at: cursor(read.position)).state {
        case .covered:
            listeners[index].view = read.states
            listeners[index].mailbox.hold(until: cursor(read.position))
            listeners[index].needsRead = false
            listeners[index].read = nil
        case .tooEarly: listeners[index].read = nil
        case .unknown: break
        }
    }

    private mutating func beginTurn() {
        let reader = table.generation
        guard !flights.contains(where: { $0.reader == reader }),
            let turn = table.nextTurn(of: reader)
        else { return }
        flights.append(Flight(reader: reader, turn: turn))
    }

    /// Makes the store's reply to a request; a waiting request gets none before a change.
    private mutating func answer(isOver: Bool = false) {
        guard let index = flights.indices.randomElement(using: &random),
            flights[index].page == nil
        else { return }
        let turn = flights[index].turn
        let first = Int((turn.after?.bytes ?? []).reduce(0) { $0 << 8 | UInt64($1) })
        guard first >= start else {
            let reader = flights.remove(at: index).reader
            _ = table.restart(at: cursor(log.count), of: reader)
            return
        }
        guard !turn.scope.documents.contains(Self.refused) else {
            let error = StorageError(.permissionDenied, "not yours")
            _ = table.refuse(error, of: flights.remove(at: index).reader)
            return
        }
        let filter = ScopeFilter(turn.scope)
        let wanted = log.indices[first...].filter { filter.contains(log[$0]) }
        if turn.waitTimeout != nil, wanted.isEmpty, !isOver { return }
        let part = wanted.prefix(Int.random(in: 1...4, using: &random))
        let isCaughtUp = part.count == wanted.count
        let paths = Set(part.map { log[$0] }).sorted()
        flights[index].page = ChangePage(
            changes: paths.compactMap { filter.told(change(of: $0)) },
            next: cursor(isCaughtUp ? log.count : part.last.map { $0 + 1 } ?? log.count),
            isCaughtUp: isCaughtUp
        )
    }

    private mutating func deliver(isLost: Bool) {
        guard let index = flights.indices.randomElement(using: &random),
            let page = flights[index].page
        else { return }
        let reader = flights.remove(at: index).reader
        _ = isLost ? table.miss(of: reader, isLost: true) : table.deliver(page, of: reader)
    }

    private mutating func take() {
        guard let index = listeners.indices.randomElement(using: &random),
            !listeners[index].needsRead
        else { return }
        take(index)
    }

    private mutating func take(_ index: Int) {
        switch listeners[index].mailbox.take() {
        case .changes(let changes, let position):
            for (path, change) in changes {
                guard case .current(let document) = change,
                    listeners[index].filter.matches(document)
                else {
                    listeners[index].view[path] = nil
                    continue
                }
                listeners[index].view[path] = document["n"]?.integerValue
            }
            let number = Int(position.bytes.reduce(0) { $0 << 8 | UInt64($1) })
            check(index, at: number)
        case .reset: listeners[index].needsRead = true
        case .failure(let error): flaws.append("\(error)")
        case .connection, .cancelled, nil: break
        }
    }

    private mutating func check(_ index: Int, at position: Int) {
        let expected = seen(position, by: listeners[index])
        guard listeners[index].view != expected else { return }
        flaws.append(
            "\(listeners[index].mailbox.interest) at \(position): \(listeners[index].view), not \(expected)"
        )
    }

    // MARK: The end

    /// Delivers everything that is in progress, and compares each view with the store.
    mutating func settle() {
        for listener in listeners where listener.mailbox.scope.documents.contains(Self.refused) {
            _ = table.unsubscribe(listener.id)
        }
        listeners.removeAll { $0.mailbox.scope.documents.contains(Self.refused) }
        for _ in 0..<100_000 {
            for index in listeners.indices {
                if listeners[index].needsRead, listeners[index].read == nil {
                    listeners[index].read = (seen(log.count, by: listeners[index]), log.count)
                }
                if let read = listeners[index].read { activate(index, read) }
                if !listeners[index].needsRead { take(index) }
            }
            beginTurn()
            answer()
            deliver(isLost: false)
            let isIdle = flights.allSatisfy { $0.page == nil && $0.turn.waitTimeout != nil }
            if isIdle, listeners.allSatisfy({ !$0.needsRead }), hasReaderOrNobody, !hasNews {
                break
            }
        }
        for index in listeners.indices {
            take(index)
            check(index, at: log.count)
        }
    }

    private var hasReaderOrNobody: Bool {
        listeners.isEmpty || flights.contains { $0.reader == table.generation }
    }

    /// Whether a waiting request can be answered.
    private var hasNews: Bool {
        flights.contains { flight in
            guard flight.reader == table.generation else { return false }
            let first = Int((flight.turn.after?.bytes ?? []).reduce(0) { $0 << 8 | UInt64($1) })
            let filter = ScopeFilter(flight.turn.scope)
            return first < start || log[first...].contains(where: filter.contains)
        }
    }

    // MARK: The store

    private func seen(_ position: Int, by listener: Listener) -> States {
        history[position].filter { path, number in listener.filter.matches(document(path, number)) }
    }

    private func change(of path: DocumentPath) -> ChangePage.Change {
        guard let number = history[log.count][path] else {
            return .removed(path, Revision(number: Int64(log.count)))
        }
        return .current(document(path, number))
    }

    private func document(_ path: DocumentPath, _ number: Int64) -> Document {
        Document.stub(path, ["n": .integer(number)], revision: Int64(log.count))
    }

    private func cursor(_ position: Int) -> ChangeCursor {
        ChangeCursor(bytes: (0..<8).map { UInt8(truncatingIfNeeded: position >> (56 - 8 * $0)) })
    }
}
