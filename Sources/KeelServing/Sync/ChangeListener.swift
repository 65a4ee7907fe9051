internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// What a listener wants to be told, equal for all who want the same.
struct ChangeInterest: Sendable, Hashable {
    var scope: ChangeScope
    var database: String
    var tellsContent: Bool
    /// The clients whose mutations are acknowledged to it.
    var clients: Set<String> = []
}

/// One listener's place: how far it has been told, and what waits for it.
///
/// A listener begins *behind* and reads pages itself. Before each of these reads it *attends*: from
/// then on it also collects what the shared reader tells. When a read has come to where that began,
/// it is *live* and needs no reads of its own. Locks are taken in the order hub, then listener.
final class ChangeListener: Sendable {
    typealias Waiter = CheckedContinuation<[UInt8]?, Never>

    /// A reader to be woken, outside of all locks, and what it gets.
    struct Wake {
        let waiter: Waiter
        var bytes: [UInt8]?

        func resume() { waiter.resume(returning: bytes) }
    }

    /// What the listener's reader does next.
    enum Step: Sendable {
        case send([UInt8])
        case readPage
        case wait
        case end
    }

    private enum Phase { case behind, attending, live, ended }

    /// The bytes of a page of the shared reader, and the position after it.
    private struct Parcel {
        let events: BufferedEvents
        let position: ChangeCursor?
    }

    private struct State {
        var phase = Phase.behind
        /// How far the listener has been told; nil before its first page.
        var told: ChangeCursor?
        /// Where the collecting began; nil if the shared reader did not run then.
        var coverage: ChangeCursor?
        var parcels: [Parcel] = []
        var size = 0
        var quietBeats = 0
        var waiter: Waiter?

        /// Hands bytes to the reader that waits, or puts them into the mailbox.
        mutating func give(_ events: BufferedEvents, _ position: ChangeCursor?) -> Wake? {
            if phase == .live, let waiter = waiter.take() {
                return Wake(waiter: waiter, bytes: events.bytes)
            }
            parcels.append(Parcel(events: events, position: position))
            size += events.bytes.count
            return nil
        }

        /// Drops what waits.
        mutating func clear() {
            parcels = []
            size = 0
        }

        /// Sends the reader to see what is to be done.
        mutating func wake() -> Wake? { waiter.take().map { Wake(waiter: $0, bytes: nil) } }
    }

    let interest: ChangeInterest
    private let maximumBytes: Int
    private let state: Mutex<State>

    init(interest: ChangeInterest, after cursor: ChangeCursor?, maximumBytes: Int) {
        self.interest = interest
        self.maximumBytes = maximumBytes
        state = Mutex(State(told: cursor))
    }

    /// How far the listener has been told.
    var told: ChangeCursor? { state.withLock { $0.told } }

    // MARK: The reader's side

    /// What is to be done now.
    func step() -> Step {
        state.withLock { state in
            switch state.phase {
            case .ended: return .end
            case .attending: return .readPage
            case .behind, .live:
                guard let first = state.parcels.first else {
                    return state.phase == .live ? .wait : .readPage
                }
                let isAlone = state.parcels.count == 1
                let bytes =
                    isAlone ? first.events.bytes : state.parcels.flatMap(\.events.bytes)
                state.clear()
                return .send(bytes)
            }
        }
    }

    /// Waits until there is something to do, or the task is cancelled.
    ///
    /// - Returns: What is to be sent, handed over without a way through the mailbox; nil if
    ///   ``step()`` says what is to be done.
    func wait() async -> [UInt8]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let due = state.withLock { state -> Waiter? in
                    let isIdle = state.phase == .live && state.parcels.isEmpty
                    guard isIdle, !Task.isCancelled else { return continuation }
                    defer { state.waiter = continuation }
                    return state.waiter
                }
                due?.resume(returning: nil)
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume(returning: nil)
        }
    }

    /// Notes how far a page of the listener's own has brought it.
    func tell(_ position: ChangeCursor) { state.withLock { $0.told = position } }

    /// Ends the listener.
    func end() { abandon()?.resume() }

    // MARK: The hub's side

    /// Begins to collect anew.
    func attend(from coverage: ChangeCursor?) {
        state.withLock { state in
            guard state.phase != .ended else { return }
            state.phase = .attending
            state.coverage = coverage
            state.clear()
        }
    }

    /// Goes live at a position, if what has been collected follows it without a gap.
    func join(at position: ChangeCursor, start: ChangeCursor) -> Bool {
        state.withLock { state in
            guard state.phase == .attending, (state.coverage ?? start) <= position else {
                return false
            }
            // Pages up to here were read before the listener's own, and may show older states.
            state.parcels.removeAll { $0.position.map { $0 <= position } ?? true }
            state.size = state.parcels.reduce(0) { $0 + $1.events.bytes.count }
            state.told = state.parcels.last?.position ?? position
            state.quietBeats = 0
            state.phase = .live
            return true
        }
    }

    /// Takes a page of the shared reader.
    ///
    /// - Returns: Who is to be woken.
    func push(_ events: BufferedEvents, at position: ChangeCursor) -> Wake? {
        state.withLock { state in
            switch state.phase {
            case .behind, .ended: return nil
            case .live: if let told = state.told, position <= told { return nil }
            case .attending: break
            }
            let size = state.size + events.bytes.count
            guard state.parcels.isEmpty || size <= maximumBytes else { return Self.cutOff(&state) }
            state.quietBeats = 0
            if state.phase == .live { state.told = position }
            return state.give(events, position)
        }
    }

    /// How many bytes wait for the listener.
    var waitingBytes: Int { state.withLock { $0.size } }

    /// Drops what waits for a listener that is too slow.
    ///
    /// - Returns: Who is to be woken.
    func cutOff() -> Wake? { state.withLock { Self.cutOff(&$0) } }

    /// A listener that is live ends, and comes back; one that reads by itself anyway reads on.
    private static func cutOff(_ state: inout State) -> Wake? {
        guard state.phase != .ended else { return nil }
        state.phase = state.phase == .live ? .ended : .behind
        state.clear()
        return state.wake()
    }

    /// Ends the listener.
    ///
    /// - Returns: Who is to be woken.
    func abandon() -> Wake? {
        state.withLock { state in
            state.phase = .ended
            state.clear()
            return state.wake()
        }
    }

    /// Counts a beat of the clock; after three without an event, something is sent.
    ///
    /// - Returns: Who is to be woken.
    func beat(reached: ChangeCursor?, mark: BufferedEvents, comment: BufferedEvents) -> Wake? {
        state.withLock { state in
            guard state.phase == .live, state.parcels.isEmpty else { return nil }
            state.quietBeats += 1
            guard state.quietBeats >= 3 else { return nil }
            state.quietBeats = 0
            if let reached, let told = state.told, told < reached {
                state.told = reached
                return state.give(mark, reached)
            }
            return state.give(comment, state.told)
        }
    }

    /// Goes back to reading by itself, because the shared reader has stopped.
    func fallBehind() -> Wake? {
        state.withLock { state in
            guard state.phase != .ended else { return nil }
            // What a live listener has counts as told and is still sent; what was collected for
            // one that attends is covered by its next read.
            if state.phase == .attending { state.clear() }
            state.phase = .behind
            return state.wake()
        }
    }
}
